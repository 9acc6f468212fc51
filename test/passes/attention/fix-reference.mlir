// Weights are one multiply-add; under `fixed`, the reference of a row is the max over its first block; stores wait for a check, and a second kernel computes the rows that fail it.
// RUN: tegula-opt %s --tegula-fix-reference -split-input-file | FileCheck %s

!k = memref<?x64xbf16>
#fixed = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 3, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = true, softmax = fixed, tiles = counter>

// CHECK-LABEL: tile.kernel @causal
// CHECK-SAME: attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, {{.*}} softmax = fixed, tiles = counter>}
tile.kernel @causal(%q: !k, %k: !k, %v: !k, %o: memref<?x64xf32>, %lse: memref<?xf32>, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x64xf32>
  %row = tile.program_id of (%M) : i64
  %qt = tile.load %q[%row, %zero] axes [0, 1] : !k -> tensor<128x64xbf16>
  // CHECK: %[[R:.*]]:3 = tile.for_blocks {{.*}} step 64
  %r:3 = tile.for_blocks %n = %zero to %N step 64 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %kt = tile.load %k[%n, %zero] axes [0, 1] : !k -> tensor<64x64xbf16>
    %s = tile.dot %qt, %kt transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %sees = arith.cmpi sge, %i, %j : i64
      tile.yield %sees : i1
    } : tensor<128x64xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x64xi1>, tensor<128x64xf32>
    // CHECK: tile.online_softmax %{{.*}} scale 1.250000e-01 folded fixed from_first_block :
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 0.125 threshold 8 : tensor<128x64xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xbf16>
    %vt = tile.load %v[%n, %zero] axes [0, 1] : !k -> tensor<64x64xbf16>
    %u2 = tile.dot %w, %vt acc(%u1 : tensor<128x64xf32>) : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  // The sum is in range: 2^-60 to 2^100.
  // CHECK: %[[LEAST:.*]] = arith.constant dense<8.67361737E-19> : tensor<128xf32>
  // CHECK-NEXT: %[[ATLEAST:.*]] = arith.cmpf ogt, %[[R]]#1, %[[LEAST]]
  // CHECK: %[[MOST:.*]] = arith.constant dense<1.2676506E+30> : tensor<128xf32>
  // CHECK-NEXT: %[[ATMOST:.*]] = arith.cmpf olt, %[[R]]#1, %[[MOST]]
  // Only where some sum is above 2^20 is the accumulator looked at.
  // CHECK: %[[ORDINARY:.*]] = arith.constant dense<0x49800000> : tensor<128xf32>
  // CHECK-NEXT: %[[BIG:.*]] = arith.cmpf ogt, %[[R]]#1, %[[ORDINARY]]
  // CHECK-NEXT: %[[SOME:.*]] = tile.any %[[BIG]]
  // CHECK-NEXT: %[[FINITE:.*]] = scf.if %[[SOME]]
  // CHECK-NEXT: %[[ZEROS:.*]] = arith.subf %[[R]]#2, %[[R]]#2
  // CHECK-NEXT: %[[TOTAL:.*]] = tile.reduce add %[[ZEROS]]
  // CHECK: %[[ISZERO:.*]] = arith.cmpf oeq, %[[TOTAL]], %{{.*}}
  // CHECK-NEXT: scf.yield %[[ISZERO]]
  // CHECK: } else {
  // CHECK-NEXT: scf.yield %[[ATLEAST]]
  // CHECK: %[[RANGE:.*]] = arith.andi %[[ATLEAST]], %[[ATMOST]]
  // CHECK: %[[STANDS:.*]] = arith.andi %[[RANGE]], %[[FINITE]]
  // A row that saw no key stands, too: nothing in its sum, relative to 0 or, without a block, to nothing.
  // CHECK: %[[ZEROMAX:.*]] = arith.cmpf oeq, %[[R]]#0, %{{.*}}
  // CHECK: %[[NOMAX:.*]] = arith.cmpf oeq, %[[R]]#0, %{{.*}}
  // CHECK: %[[NONE:.*]] = arith.ori %[[ZEROMAX]], %[[NOMAX]]
  // CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[R]]#1, %{{.*}}
  // CHECK: %[[UNSEEN:.*]] = arith.andi %[[EMPTY]], %[[NONE]]
  // CHECK: %[[VALID:.*]] = arith.ori %[[STANDS]], %[[UNSEEN]]
  // CHECK: tile.redo unless %[[VALID]] by @causal_again : tensor<128xi1> {
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: tile.store
  // CHECK-NEXT: }
  // CHECK-NEXT: tile.return
  %out, %log = tile.finish %r#0, %r#1, %r#2 scale 0.125 : tensor<128xf32>, tensor<128x64xf32>
  tile.store %out, %o[%row, %zero] axes [0, 1] : tensor<128x64xf32>, memref<?x64xf32>
  tile.store %log, %lse[%row] axes [0] : tensor<128xf32>, memref<?xf32>
  tile.return
}

// The second one takes 16 keys a block, by the running max, without rings.
// CHECK: tile.kernel @causal_again
// CHECK-SAME: attributes {schedule = #tile.schedule<form = direct, block_m = 128, block_n = 16, consumers = 2, stages = 1, q_stages = 0, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>}
// CHECK: tile.for_blocks {{.*}} step 16
// CHECK: tile.load {{.*}} -> tensor<16x64xbf16>
// CHECK: tile.dot {{.*}} tensor<16x64xbf16> -> tensor<128x16xf32>
// CHECK: } : tensor<128x16xi1>
// CHECK-NEXT: %[[HIDDEN:.*]] = arith.constant dense<0xFF800000> : tensor<128x16xf32>
// CHECK-NEXT: arith.select {{.*}}, %[[HIDDEN]] : tensor<128x16xi1>, tensor<128x16xf32>
// CHECK-NEXT: tile.online_softmax %{{.*}} scale 1.250000e-01 : tensor<128x16xf32>, tensor<128xf32>
// CHECK: arith.truncf {{.*}} to tensor<128x16xbf16>
// CHECK: tile.load {{.*}} -> tensor<16x64xbf16>
// CHECK-NOT: tile.redo
// CHECK: tile.store
// CHECK-NEXT: tile.store

// What is no block of keys in memory cannot be narrowed: the second kernel takes as many at a time.
// CHECK: tile.kernel @given(
// CHECK: tile.redo unless %{{.*}} by @given_again
// CHECK: tile.kernel @given_again(
// CHECK-SAME: form = direct, block_m = 128, block_n = 64,
// CHECK: tile.for_blocks {{.*}} step 64
tile.kernel @given(%q: tensor<128x64xbf16>, %k: tensor<64x64xbf16>, %v: tensor<64x64xbf16>, %o: memref<?x64xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 64 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.25 threshold 8 : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xbf16>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %u2 = tile.dot %w, %v acc(%u1 : tensor<128x64xf32>) : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  tile.store %r#2, %o[%zero, %zero] axes [0, 1] : tensor<128x64xf32>, memref<?x64xf32>
  tile.return
}

// -----

#fixed = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed>

// A product times a number of the launch is as good as the product: the softmax multiplies anyway. The max is that of products, so rows stand only under a number above 0.
// CHECK-LABEL: tile.kernel @scaled
// CHECK-SAME: %[[FACTOR:[^ ]+]]: f32) attributes
// CHECK-SAME: softmax = fixed
// CHECK: %[[LOOP:.*]]:3 = tile.for_blocks
// CHECK: %[[S:.*]] = tile.dot
// CHECK-NEXT: tile.online_softmax %[[S]], {{.*}} folded fixed from_first_block times %[[FACTOR]] : f32
// CHECK: %[[ROWS:.*]] = tensor.splat %[[FACTOR]]
// CHECK: arith.mulf %[[LOOP]]#0, %[[ROWS]]
// CHECK: %[[SPLAT:.*]] = tensor.splat %[[FACTOR]]
// CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[SPLAT]], %{{.*}}
// CHECK-NEXT: %[[VALID:.*]] = arith.andi %{{.*}}, %[[ABOVE]]
// CHECK-NEXT: tile.redo unless %[[VALID]]
// CHECK: tile.kernel @scaled_again
// CHECK: arith.mulf
// CHECK-NOT: times
tile.kernel @scaled(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64, %factor: f32) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %x = tile.map %s rows(%zero) cols(%j) {
    ^bb0(%score: f32, %row: i64, %key: i64):
      %scaled = arith.mulf %factor, %score : f32
      tile.yield %scaled : f32
    } : (tensor<64x32xf32>) -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xbf16>
    %u1 = tile.scale_rows %u, %a : tensor<64x16xf32>, tensor<64xf32>
    %u2 = tile.dot %w, %v acc(%u1 : tensor<64x16xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>
  }
  tile.store %r#2, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}

// -----

#threshold = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = threshold>

// Scores that may grow along the keys: the running max stays, and is to be near 0 at the end.
// CHECK-LABEL: tile.kernel @grows
// CHECK: %[[R:.*]]:3 = tile.for_blocks
// CHECK: tile.online_softmax {{.*}} scale 2.500000e-01 threshold 8 folded :
// CHECK: %[[HIGH:.*]] = arith.constant dense<22713.0469> : tensor<64xf32>
// CHECK-NEXT: %[[BELOW:.*]] = arith.cmpf olt, %[[R]]#0, %[[HIGH]]
// CHECK: %[[LOW:.*]] = arith.constant dense<-22713.0469> : tensor<64xf32>
// CHECK-NEXT: %[[ABOVE:.*]] = arith.cmpf ogt, %[[R]]#0, %[[LOW]]
// CHECK: %[[NEAR:.*]] = arith.andi %[[BELOW]], %[[ABOVE]]
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[R]]#0, %{{.*}}
// CHECK: %[[VALID:.*]] = arith.ori %[[NEAR]], %[[NONE]]
// CHECK: tile.redo unless %[[VALID]] by @grows_again
// CHECK: tile.kernel @grows_again
// CHECK: tile.online_softmax %{{.*}} scale 2.500000e-01 : 
tile.kernel @grows(%q: tensor<64x16xf16>, %k: tensor<32x16xf16>, %v: tensor<32x16xf16>, %o: memref<?x16xf32>, %n: i64, %slope: f32) attributes {schedule = #threshold} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %x = tile.map %s rows(%zero) cols(%j) {
    ^bb0(%score: f32, %row: i64, %key: i64):
      %place = arith.sitofp %key : i64 to f32
      %more = arith.mulf %slope, %place : f32
      %sum = arith.addf %score, %more : f32
      tile.yield %sum : f32
    } : (tensor<64x32xf32>) -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xf16>
    %u1 = tile.scale_rows %u, %a : tensor<64x16xf32>, tensor<64xf32>
    %u2 = tile.dot %w, %v acc(%u1 : tensor<64x16xf32>) : tensor<64x32xf16>, tensor<32x16xf16> -> tensor<64x16xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>
  }
  tile.store %r#2, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}

// -----

#fixed = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed>

// A row that starts late has its reference from a later block.
// CHECK-LABEL: tile.kernel @late
// CHECK: tile.online_softmax {{.*}} folded fixed :
tile.kernel @late(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %keep = tile.mask rows(%zero) cols(%j) {
    ^bb0(%row: i64, %key: i64):
      %sees = arith.cmpi sge, %key, %row : i64
      tile.yield %sees : i1
    } : tensor<64x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<64x32xi1>, tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xbf16>
    %u1 = tile.scale_rows %u, %a : tensor<64x16xf32>, tensor<64xf32>
    %u2 = tile.dot %w, %v acc(%u1 : tensor<64x16xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>
  }
  tile.store %r#2, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}

// -----

#fixed = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed>

// A product and a bias: the reference is the largest product of the first block and the largest bias of the keys that the row sees, which an interval says.
// CHECK-LABEL: tile.kernel @biased
// CHECK-SAME: %[[SLOPE:[^ ]+]]: f32)
// CHECK: %[[BIAS:.*]] = tile.map rows(%[[ROW:.*]]) {
// CHECK-NEXT: ^bb0(%[[I:.*]]: i64):
// CHECK: %[[LAST:.*]] = arith.maxsi %{{.*}}, %{{.*}} : i64
// CHECK: %[[FAR:.*]] = arith.subi %{{.*}}, %[[I]] : i64
// CHECK: %[[NEAR:.*]] = arith.subi %[[LAST]], %[[I]] : i64
// CHECK: %[[LOW:.*]] = arith.sitofp %[[FAR]]
// CHECK: %[[HIGH:.*]] = arith.sitofp %[[NEAR]]
// CHECK: %[[X:.*]] = arith.mulf %[[SLOPE]], %[[LOW]]
// CHECK: %[[Y:.*]] = arith.mulf %[[SLOPE]], %[[HIGH]]
// CHECK: %[[MOST:.*]] = arith.maxnumf %[[X]], %[[Y]]
// CHECK-NEXT: tile.yield %[[MOST]]
// CHECK: tile.for_blocks
// CHECK: %[[S:.*]] = tile.dot
// CHECK: %[[SCORES:.*]] = arith.select
// The basis has a mask of its own.
// CHECK: %[[PRODUCT:.*]] = tile.map %[[S]]
// CHECK: tile.yield %{{.*}} : f32
// CHECK: %[[OWN:.*]] = tile.mask
// CHECK: %[[BASIS:.*]] = arith.select %[[OWN]], %[[PRODUCT]], %{{.*}}
// CHECK: tile.online_softmax %[[SCORES]], {{.*}} scale 1.000000e+00 folded fixed from_first_block basis %[[BASIS]] : tensor<64x32xf32> bias %[[BIAS]] : tensor<64xf32> :
tile.kernel @biased(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64 {tile.dim = "N"}, %slope: f32) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %row = tile.program_id of (%n) : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %y = tile.map %s rows(%row) cols(%j) {
    ^bb0(%score: f32, %at: i64, %key: i64):
      %c = arith.constant 0.25 : f32
      %scaled = arith.mulf %score, %c : f32
      %d = arith.subi %key, %at : i64
      %f = arith.sitofp %d : i64 to f32
      %b = arith.mulf %slope, %f : f32
      %sum = arith.addf %scaled, %b : f32
      tile.yield %sum : f32
    } : (tensor<64x32xf32>) -> tensor<64x32xf32>
    %keep = tile.mask rows(%row) cols(%j) {
    ^bb0(%at: i64, %key: i64):
      %sees = arith.cmpi sge, %at, %key : i64
      tile.yield %sees : i1
    } : tensor<64x32xi1>
    %x = arith.select %keep, %y, %hidden : tensor<64x32xi1>, tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xbf16>
    %u1 = tile.scale_rows %u, %a : tensor<64x16xf32>, tensor<64xf32>
    %u2 = tile.dot %w, %v acc(%u1 : tensor<64x16xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>
  }
  tile.store %r#2, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}
