// A loop over live blocks is rotated over a list of them: what the next turn cannot find out again of a block, its number and the flags behind the first, is carried to its output product.
// RUN: tegula-opt %s --tegula-rotate-loop | FileCheck %s
// RUN: sed 's/softmax = online>/softmax = online, walk = descending>/' %s | not tegula-opt --tegula-rotate-loop 2>&1 | FileCheck %s --check-prefix=DESCENDING
// DESCENDING: error: `walk = descending` of the schedule does not go with this mask: its live blocks are taken from a list, those that need no test first; leave the field out

// CHECK-LABEL: tile.kernel @list
// CHECK-SAME: %[[LO:[^ ]+]]: i64, %[[HI:[^ ]+]]: i64, %{{.*}}: tensor<64xf32>
tile.kernel @list(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %o: memref<?x8xf32>, %lo: i64, %hi: i64, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x8xf32>)
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  // What is the same for all blocks is computed ahead of the list.
  // CHECK: %[[FIXED:.*]] = arith.muli %[[LO]], %[[LO]]
  // CHECK: %[[COUNT:.*]], %[[FREE:.*]] = tile.list_blocks %[[LO]] to %[[HI]] step 32 classes {
  // CHECK: arith.cmpi ne, %{{.*}}, %[[FIXED]]
  // CHECK: tile.yield %{{.*}}, %{{.*}}, %{{.*}} : i1, i1, i1
  // CHECK: %[[N0:.*]], %[[F0:.*]] = tile.listed_block %[[ZERO:.*]] of %[[COUNT]] : i64, i1
  // CHECK: %[[T0:.*]] = arith.cmpi sge, %[[ZERO]], %[[FREE]]
  // CHECK: %[[U0:.*]] = arith.andi %[[T0]], %[[F0]]
  // CHECK: tile.load %{{.*}}[%[[N0]],
  // CHECK: tile.for_blocks %[[T:[^ ]+]] = %{{.*}} to %[[COUNT]] step 1 iter_args({{.*}}, %[[N:.*]] = %[[N0]], %[[U:.*]] = %[[U0]])
  // CHECK: %[[N1:.*]], %[[F1:.*]] = tile.listed_block %[[T]] of %[[COUNT]]
  // CHECK: tile.load %{{.*}}[%[[N1]],
  // CHECK: %[[BEFORE:.*]] = arith.subi %[[T]]
  // CHECK: %[[TESTED:.*]] = arith.cmpi sge, %[[BEFORE]], %[[FREE]]
  // CHECK: %[[UNSEEN:.*]] = arith.andi %[[TESTED]], %[[U]]
  // CHECK: %[[V:.*]] = tile.load %{{.*}}[%[[N]],
  // CHECK: tile.zero_unseen %[[V]] rows(%{{.*}} to %{{.*}}) cols(%[[N]] to %{{.*}}) if(%[[UNSEEN]])
  %zero = arith.constant 0 : i64
  %r:3 = tile.for_blocks %j = %lo to %hi step 32 flags(%partial, %unseen) iter_args(%sum = %l, %acc = %u, %max = %m) -> (tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %old = tile.scale_rows %acc, %a : tensor<64x8xf32>, tensor<64xf32>
    %loaded = tile.load %v[%j, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
    %values = tile.zero_unseen %loaded rows(%lo to %hi) cols(%j to %hi) if(%unseen) seen {
    ^bb0(%row: i64, %key: i64):
      %sees = arith.cmpi sge, %row, %key : i64
      tile.yield %sees : i1
    } : tensor<32x8xf16>
    %new = tile.dot %w, %values acc(%old : tensor<64x8xf32>) : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    tile.yield %l1, %new, %m1 : tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>
  } classes {
  ^bb0(%n: i64):
    %fixed = arith.muli %lo, %lo : i64
    %live = arith.cmpi ne, %n, %fixed : i64
    tile.yield %live, %live, %live : i1, i1, i1
  }
  tile.store %r#1, %o[%lo, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}
