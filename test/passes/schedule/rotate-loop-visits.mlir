// A visit goes where the scores go. The first block, which is computed ahead of the loop, is no visit where there is no block.
// RUN: tegula-opt %s --tegula-rotate-loop | FileCheck %s

#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

// CHECK-LABEL: tile.kernel @range
// CHECK-SAME: %[[LO:[^ ]+]]: i64, %[[HI:[^ ]+]]: i64, %{{.*}}: tensor<64xf32>
tile.kernel @range(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %o: memref<?x8xf32>, %lo: i64, %hi: i64, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x8xf32>)
    attributes {schedule = #pipelined} {
  // CHECK: %[[TESTED:.*]] = arith.cmpi sge, %[[LO]], %{{.*}}
  // CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[LO]], %[[HI]]
  // CHECK-NEXT: tile.visit tested %[[TESTED]] if %[[SOME]]
  // CHECK: tile.for_blocks %[[J:[^ ]+]] =
  // CHECK: %[[TESTED:.*]] = arith.cmpi sge, %[[J]], %{{.*}}
  // CHECK: tile.visit tested %[[TESTED]]{{$}}
  // CHECK: tile.yield
  // CHECK-NOT: tile.visit
  %zero = arith.constant 0 : i64
  %r:3 = tile.for_blocks %j = %lo to %hi step 32 iter_args(%sum = %l, %acc = %u, %max = %m) -> (tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %old = tile.scale_rows %acc, %a : tensor<64x8xf32>, tensor<64xf32>
    %values = tile.load %v[%j, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
    %new = tile.dot %w, %values acc(%old : tensor<64x8xf32>) : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    %tested = arith.cmpi sge, %j, %zero : i64
    tile.visit tested %tested
    tile.yield %l1, %new, %m1 : tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>
  }
  tile.store %r#1, %o[%lo, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @list
tile.kernel @list(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %o: memref<?x8xf32>, %lo: i64, %hi: i64, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x8xf32>)
    attributes {schedule = #pipelined} {
  // CHECK: %[[COUNT:.*]], %[[FREE:.*]] = tile.list_blocks
  // CHECK: %[[TESTED:.*]] = arith.cmpi sge, %[[ZERO:.*]], %[[FREE]]
  // CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[ZERO]], %[[COUNT]]
  // CHECK-NEXT: tile.visit tested %[[TESTED]] if %[[SOME]]
  // CHECK: tile.for_blocks %[[T:[^ ]+]] =
  // CHECK: %[[TESTED:.*]] = arith.cmpi sge, %[[T]], %[[FREE]]
  // CHECK: tile.visit tested %[[TESTED]]{{$}}
  %zero = arith.constant 0 : i64
  %r:3 = tile.for_blocks %j = %lo to %hi step 32 flags(%partial) iter_args(%sum = %l, %acc = %u, %max = %m) -> (tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %old = tile.scale_rows %acc, %a : tensor<64x8xf32>, tensor<64xf32>
    %values = tile.load %v[%j, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
    %new = tile.dot %w, %values acc(%old : tensor<64x8xf32>) : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    tile.visit tested %partial
    tile.yield %l1, %new, %m1 : tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>
  } classes {
  ^bb0(%n: i64):
    %live = arith.cmpi ne, %n, %lo : i64
    tile.yield %live, %live : i1, i1
  }
  tile.store %r#1, %o[%lo, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}
