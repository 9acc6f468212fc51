// Rotation is found by data flow: order of ops, order of carried values and origin do not matter.
// RUN: tegula-opt %s --tegula-rotate-loop | FileCheck %s

#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>
#in_step = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, overlap = false>
#descending = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, walk = descending>
#direct = #tile.schedule<form = direct, block_m = 64, block_n = 32, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>

// Carried values in the order sum, accumulator, max; the values' load first.
// CHECK-LABEL: tile.kernel @handwritten
// CHECK-SAME: %[[Q:[^ ]+]]: tensor<64x16xf16>, %[[K:[^ ]+]]: memref<?x16xf16>, %[[V:[^ ]+]]: memref<?x8xf16>, {{.*}} %[[LO:[^ ]+]]: i64, %[[HI:[^ ]+]]: i64, %[[M:[^ ]+]]: tensor<64xf32>, %[[L:[^ ]+]]: tensor<64xf32>, %[[U:[^ ]+]]: tensor<64x8xf32>)
tile.kernel @handwritten(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %o: memref<?x8xf32>, %lo: i64, %hi: i64, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x8xf32>)
    attributes {schedule = #pipelined} {
  // The prologue: scores and softmax of the first block.
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i64
  // CHECK: %[[STEP:.*]] = arith.constant 32 : i64
  // CHECK: %[[K0:.*]] = tile.load %[[K]][%[[LO]], %[[ZERO]]]
  // CHECK: %[[S0:.*]] = tile.dot %[[Q]], %[[K0]] transpose_b
  // CHECK-NOT: tile.dot
  // CHECK: %[[P0:.*]], %[[M0:.*]], %[[L0:.*]], %[[A0:.*]] = tile.online_softmax %[[S0]], %[[M]], %[[L]]
  // CHECK: %[[W0:.*]] = arith.truncf %[[P0]]
  // CHECK: %[[START:.*]] = arith.addi %[[LO]], %[[STEP]]
  // CHECK: %[[U0:.*]] = tile.scale_rows %[[U]], %[[A0]]
  // The loop: the scores of this block, then the output product of the last one.
  // CHECK: %[[R:.*]]:4 = tile.for_blocks %[[J:[^ ]+]] = %[[START]] to %[[HI]] step 32 iter_args(%[[LI:.*]] = %[[L0]], %[[UI:.*]] = %[[U0]], %[[MI:.*]] = %[[M0]], %[[WI:.*]] = %[[W0]])
  // CHECK: %[[KJ:.*]] = tile.load %[[K]][%[[J]], %[[ZERO]]]
  // CHECK: %[[S:.*]] = tile.dot %[[Q]], %[[KJ]] transpose_b
  // CHECK: %[[BEFORE:.*]] = arith.subi %[[J]], %[[STEP]]
  // CHECK: %[[VJ:.*]] = tile.load %[[V]][%[[BEFORE]], %[[ZERO]]]
  // CHECK: %[[U1:.*]] = tile.dot %[[WI]], %[[VJ]] acc(%[[UI]]
  // CHECK: %[[P:.*]], %[[M1:.*]], %[[L1:.*]], %[[A:.*]] = tile.online_softmax %[[S]], %[[MI]], %[[LI]]
  // CHECK: %[[W:.*]] = arith.truncf %[[P]]
  // CHECK: %[[UN:.*]] = tile.scale_rows %[[U1]], %[[A]]
  // CHECK: tile.yield %[[L1]], %[[UN]], %[[M1]], %[[W]]
  // The epilogue: the output product of the last block that there is.
  // CHECK: %[[SPAN:.*]] = arith.divsi %{{.*}}, %[[STEP]]
  // CHECK: %[[BLOCKS:.*]] = arith.muli %[[SPAN]], %[[STEP]]
  // CHECK: %[[LAST:.*]] = arith.addi %[[LO]], %[[BLOCKS]]
  // CHECK: %[[VL:.*]] = tile.load %[[V]][%[[LAST]], %[[ZERO]]]
  // CHECK: %[[OUT:.*]] = tile.dot %[[R]]#3, %[[VL]] acc(%[[R]]#1
  // CHECK: tile.store %[[OUT]]
  %zero = arith.constant 0 : i64
  %r:3 = tile.for_blocks %j = %lo to %hi step 32 iter_args(%sum = %l, %acc = %u, %max = %m) -> (tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>) {
    %values = tile.load %v[%j, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %old = tile.scale_rows %acc, %a : tensor<64x8xf32>, tensor<64xf32>
    %new = tile.dot %w, %values acc(%old : tensor<64x8xf32>) : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    tile.yield %l1, %new, %m1 : tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>
  }
  tile.store %r#1, %o[%lo, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// Without overlap, the products of a block follow each other; the first block stands ahead of the loop all the same, so that it alone looks for a fixed reference.
// CHECK-LABEL: tile.kernel @in_step
// CHECK-SAME: %[[LO:[^ ]+]]: i64, %[[HI:[^ ]+]]: i64
tile.kernel @in_step(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %o: memref<?x8xf32>, %lo: i64, %hi: i64, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x8xf32>)
    attributes {schedule = #in_step} {
  // CHECK: %[[P0:.*]], %{{.*}}, %[[L0:.*]], %[[A0:.*]] = tile.online_softmax
  // CHECK: %[[W0:.*]] = arith.truncf %[[P0]]
  // CHECK: %[[START:.*]] = arith.addi %[[LO]], %{{.*}}
  // CHECK: %[[U0:.*]] = tile.scale_rows %{{.*}}, %[[A0]]
  // CHECK: %[[V0:.*]] = tile.load %{{.*}}[%[[LO]],
  // CHECK: %[[O0:.*]] = tile.dot %[[W0]], %[[V0]] acc(%[[U0]]
  // CHECK: %[[R:.*]]:3 = tile.for_blocks %[[J:[^ ]+]] = %[[START]] to %[[HI]] step 32 iter_args(%{{.*}} = %[[L0]], %[[UI:.*]] = %[[O0]],
  // CHECK: tile.dot %{{.*}} transpose_b
  // CHECK: %[[P:.*]], %{{.*}}, %{{.*}}, %[[A:.*]] = tile.online_softmax
  // CHECK: %[[W:.*]] = arith.truncf %[[P]]
  // CHECK: %[[U:.*]] = tile.scale_rows %[[UI]], %[[A]]
  // CHECK: %[[V:.*]] = tile.load %{{.*}}[%[[J]],
  // CHECK: %[[UN:.*]] = tile.dot %[[W]], %[[V]] acc(%[[U]]
  // CHECK: tile.yield %{{.*}}, %[[UN]],
  // CHECK-NOT: tile.dot
  // CHECK: tile.store %[[R]]#1
  %zero = arith.constant 0 : i64
  %r:3 = tile.for_blocks %j = %lo to %hi step 32 iter_args(%sum = %l, %acc = %u, %max = %m) -> (tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %old = tile.scale_rows %acc, %a : tensor<64x8xf32>, tensor<64xf32>
    %values = tile.load %v[%j, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
    %new = tile.dot %w, %values acc(%old : tensor<64x8xf32>) : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    tile.yield %l1, %new, %m1 : tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>
  }
  tile.store %r#1, %o[%lo, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// Half an output product is for the last block: in the loop, the scores of the next one run beside it.
// CHECK-LABEL: tile.kernel @half
// CHECK-SAME: %[[LO:[^ ]+]]: i64, %[[HI:[^ ]+]]: i64
tile.kernel @half(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %o: memref<?x8xf32>, %lo: i64, %hi: i64, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x8xf32>)
    attributes {schedule = #pipelined} {
  // CHECK: tile.for_blocks
  // CHECK-NOT: half(
  // CHECK: tile.yield
  // CHECK: %[[LAST:.*]] = arith.addi %[[LO]], %{{.*}}
  // CHECK: %[[MIDDLE:.*]] = arith.addi %[[LAST]], %{{.*}}
  // CHECK: %[[HALF:.*]] = arith.cmpi sle, %[[HI]], %[[MIDDLE]]
  // CHECK: tile.dot {{.*}} half(%[[HALF]])
  %zero = arith.constant 0 : i64
  %sixteen = arith.constant 16 : i64
  %r:3 = tile.for_blocks %j = %lo to %hi step 32 iter_args(%sum = %l, %acc = %u, %max = %m) -> (tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %old = tile.scale_rows %acc, %a : tensor<64x8xf32>, tensor<64xf32>
    %values = tile.load %v[%j, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
    %middle = arith.addi %j, %sixteen : i64
    %half = arith.cmpi sle, %hi, %middle : i64
    %new = tile.dot %w, %values acc(%old : tensor<64x8xf32>) half(%half) : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    tile.yield %l1, %new, %m1 : tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>
  }
  tile.store %r#1, %o[%lo, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// A descending walk takes the last block first: where the loop counts up to n, the block is as far from the last one.
// CHECK-LABEL: tile.kernel @descending
// CHECK-SAME: %[[LO:[^ ]+]]: i64, %[[HI:[^ ]+]]: i64
tile.kernel @descending(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %o: memref<?x8xf32>, %lo: i64, %hi: i64, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x8xf32>)
    attributes {schedule = #descending} {
  // CHECK: %[[BLOCKS:.*]] = arith.muli
  // CHECK: %[[LAST:.*]] = arith.addi %[[LO]], %[[BLOCKS]]
  // CHECK: %[[ENDS:.*]] = arith.addi %[[LO]], %[[LAST]]
  // CHECK: %[[N0:.*]] = arith.subi %[[ENDS]], %[[LO]]
  // CHECK: tile.load %{{.*}}[%[[N0]],
  // CHECK: tile.for_blocks %[[J:[^ ]+]] =
  // CHECK: %[[N:.*]] = arith.subi %[[ENDS]], %[[J]]
  // CHECK: tile.load %{{.*}}[%[[N]],
  // CHECK: %[[BEFORE:.*]] = arith.subi %[[J]], %{{.*}}
  // CHECK: %[[NB:.*]] = arith.subi %[[ENDS]], %[[BEFORE]]
  // CHECK: tile.load %{{.*}}[%[[NB]],
  // CHECK: tile.yield
  // CHECK: %[[PLACE:.*]] = arith.addi %[[LO]], %{{.*}}
  // CHECK: %[[NL:.*]] = arith.subi %[[ENDS]], %[[PLACE]]
  // CHECK: tile.load %{{.*}}[%[[NL]],
  %zero = arith.constant 0 : i64
  %r:3 = tile.for_blocks %j = %lo to %hi step 32 iter_args(%sum = %l, %acc = %u, %max = %m) -> (tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %old = tile.scale_rows %acc, %a : tensor<64x8xf32>, tensor<64xf32>
    %values = tile.load %v[%j, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
    %new = tile.dot %w, %values acc(%old : tensor<64x8xf32>) : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    tile.yield %l1, %new, %m1 : tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>
  }
  tile.store %r#1, %o[%lo, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// Under a fixed reference, the first block finds it and the loop goes on with it: no block rescales, and only the first one looks for a max.
// CHECK-LABEL: tile.kernel @fixed
// CHECK-SAME: %[[U:[^ ]+]]: tensor<64x8xf32>)
tile.kernel @fixed(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %o: memref<?x8xf32>, %n: i64, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x8xf32>)
    attributes {schedule = #pipelined} {
  // CHECK: %[[P0:.*]], %[[M0:.*]], %[[L0:.*]], %{{.*}} = tile.online_softmax %{{.*}} scale 2.500000e-01 folded fixed from_first_block :
  // CHECK-NOT: tile.scale_rows
  // CHECK: tile.for_blocks {{.*}} iter_args(%[[LI:.*]] = %[[L0]], %[[UI:.*]] = %[[U]], %[[MI:.*]] = %[[M0]], %{{.*}} = %{{.*}})
  // CHECK: %[[NEW:.*]] = tile.dot %{{.*}} acc(%[[UI]]
  // CHECK: %{{.*}}, %[[M1:.*]], %[[L1:.*]], %{{.*}} = tile.online_softmax %{{.*}}, %[[MI]], %[[LI]] scale 2.500000e-01 folded fixed from_first_block continued :
  // CHECK-NOT: tile.scale_rows
  // CHECK: tile.yield %[[L1]], %[[NEW]], %[[M1]]
  %zero = arith.constant 0 : i64
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%sum = %l, %acc = %u, %max = %m) -> (tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %values = tile.load %v[%j, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 folded fixed from_first_block : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %old = tile.scale_rows %acc, %a : tensor<64x8xf32>, tensor<64xf32>
    %new = tile.dot %w, %values acc(%old : tensor<64x8xf32>) : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    tile.yield %l1, %new, %m1 : tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>
  }
  tile.store %r#1, %o[%zero, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// A row's first key may lie in any block: each looks for rows without a reference.
// CHECK-LABEL: tile.kernel @late
// CHECK: tile.online_softmax %{{.*}} scale 2.500000e-01 folded fixed :
// CHECK: tile.for_blocks
// CHECK: tile.online_softmax %{{.*}} scale 2.500000e-01 folded fixed :
tile.kernel @late(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %o: memref<?x8xf32>, %n: i64, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x8xf32>)
    attributes {schedule = #pipelined} {
  %zero = arith.constant 0 : i64
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%sum = %l, %acc = %u, %max = %m) -> (tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %values = tile.load %v[%j, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 folded fixed : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %old = tile.scale_rows %acc, %a : tensor<64x8xf32>, tensor<64xf32>
    %new = tile.dot %w, %values acc(%old : tensor<64x8xf32>) : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    tile.yield %l1, %new, %m1 : tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>
  }
  tile.store %r#1, %o[%zero, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}

// Without a running softmax: the weights are the scores, the accumulator is not rescaled, and starts as it comes.
// CHECK-LABEL: tile.kernel @summed
// CHECK-SAME: %[[U:[^ ]+]]: tensor<64x16xf32>)
tile.kernel @summed(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %o: memref<?x16xf32>, %n: i64, %u: tensor<64x16xf32>) attributes {schedule = #pipelined} {
  // CHECK: %[[S0:.*]] = tile.dot {{.*}} transpose_b
  // CHECK-NOT: tile.dot
  // CHECK: %[[W0:.*]] = arith.truncf %[[S0]]
  // CHECK: tile.for_blocks %{{.*}} iter_args(%[[UI:.*]] = %[[U]], %[[WI:.*]] = %[[W0]])
  // CHECK: %[[S:.*]] = tile.dot {{.*}} transpose_b
  // CHECK: %[[U1:.*]] = tile.dot %[[WI]], %{{.*}} acc(%[[UI]]
  // CHECK: %[[W:.*]] = arith.truncf %[[S]]
  // CHECK: tile.yield %[[U1]], %[[W]]
  %zero = arith.constant 0 : i64
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%acc = %u) -> (tensor<64x16xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %w = arith.truncf %s : tensor<64x32xf32> to tensor<64x32xf16>
    %new = tile.dot %w, %keys acc(%acc : tensor<64x16xf32>) : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
    tile.yield %new : tensor<64x16xf32>
  }
  tile.store %r, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}

// The same loop of a direct schedule stays.
// CHECK-LABEL: tile.kernel @direct
tile.kernel @direct(%q: tensor<64x16xf16>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %o: memref<?x8xf32>, %lo: i64, %hi: i64, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x8xf32>)
    attributes {schedule = #direct} {
  // CHECK-NOT: tile.dot
  // CHECK: %[[R:.*]]:3 = tile.for_blocks
  // CHECK: tile.store %[[R]]#1
  %zero = arith.constant 0 : i64
  %r:3 = tile.for_blocks %j = %lo to %hi step 32 iter_args(%sum = %l, %acc = %u, %max = %m) -> (tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>) {
    %keys = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %values = tile.load %v[%j, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
    %s = tile.dot %q, %keys transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %max, %sum scale 0.25 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %old = tile.scale_rows %acc, %a : tensor<64x8xf32>, tensor<64xf32>
    %new = tile.dot %w, %values acc(%old : tensor<64x8xf32>) : tensor<64x32xf16>, tensor<32x8xf16> -> tensor<64x8xf32>
    tile.yield %l1, %new, %m1 : tensor<64xf32>, tensor<64x8xf32>, tensor<64xf32>
  }
  tile.store %r#1, %o[%lo, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x8xf32>
  tile.return
}
