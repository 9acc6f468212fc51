// Where a fixed reference is unsafe or would gain nothing, the schedule becomes `softmax = threshold`; where rows cannot be computed again, the program stays.
// RUN: tegula-opt %s --tegula-fix-reference -split-input-file | FileCheck %s --implicit-check-not=" fixed"

#fixed = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed>

// Weights relative to a first block may leave the range of f16.
// CHECK-LABEL: tile.kernel @f16
// CHECK-SAME: softmax = threshold
// CHECK: threshold 8 folded :
// CHECK: tile.redo
// CHECK: tile.kernel @f16_again
tile.kernel @f16(%q: tensor<64x16xf16>, %k: tensor<32x16xf16>, %v: tensor<32x16xf16>, %o: memref<?x16xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xf16>, tensor<32x16xf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
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

// Scores that are more than a product may grow along the keys without bound.
// CHECK-LABEL: tile.kernel @mapped
// CHECK-SAME: softmax = threshold
// CHECK: threshold 8 folded :
// CHECK: tile.redo
// CHECK: tile.kernel @mapped_again
tile.kernel @mapped(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %x = tile.map %s rows(%zero) cols(%j) {
    ^bb0(%score: f32, %row: i64, %key: i64):
      %place = arith.sitofp %key : i64 to f32
      %bias = math.exp %place : f32
      %sum = arith.addf %score, %bias : f32
      tile.yield %sum : f32
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

#fixed = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed>

// A factor that depends on the key may grow along them.
// CHECK-LABEL: tile.kernel @factor_of_keys
// CHECK-SAME: softmax = threshold
// CHECK: threshold 8 folded :
// CHECK: tile.redo
// CHECK: tile.kernel @factor_of_keys_again
tile.kernel @factor_of_keys(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %x = tile.map %s rows(%zero) cols(%j) {
    ^bb0(%score: f32, %row: i64, %key: i64):
      %bias = arith.sitofp %key : i64 to f32
      %sum = arith.mulf %score, %bias : f32
      tile.yield %sum : f32
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

#fixed = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed>

// What is hidden by another number than -inf still weighs.
// CHECK-LABEL: tile.kernel @penalised
// CHECK-SAME: softmax = threshold
// CHECK: threshold 8 folded :
// CHECK: tile.redo
// CHECK: tile.kernel @penalised_again
tile.kernel @penalised(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %low = arith.constant dense<-1.0e4> : tensor<64x32xf32>
    %keep = tile.mask rows(%zero) cols(%j) {
    ^bb0(%row: i64, %key: i64):
      %sees = arith.cmpi sge, %row, %key : i64
      tile.yield %sees : i1
    } : tensor<64x32xi1>
    %x = arith.select %keep, %s, %low : tensor<64x32xi1>, tensor<64x32xf32>
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

// Without a threshold the running max is read, as itself.
// CHECK-LABEL: tile.kernel @exact
// CHECK-SAME: softmax = threshold
// CHECK-NOT: folded
// CHECK-NOT: tile.redo
// CHECK-NOT: _again
// CHECK: tile.return
tile.kernel @exact(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.25 : tensor<64x32xf32>, tensor<64xf32>
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

// A state that starts with some keys has a reference already; as the max, so the sum and the accumulator.
// CHECK-LABEL: tile.kernel @max_given
// CHECK-SAME: softmax = threshold
// CHECK-NOT: folded
// CHECK-NOT: tile.redo
// CHECK-NOT: _again
// CHECK: tile.return
tile.kernel @max_given(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0.0> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
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

// The rescale of the first block, which a fixed reference leaves out, would have made this sum 0.
// CHECK-LABEL: tile.kernel @sum_given
// CHECK-SAME: softmax = threshold
// CHECK-NOT: folded
// CHECK-NOT: tile.redo
// CHECK-NOT: _again
// CHECK: tile.return
tile.kernel @sum_given(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<1.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
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

// CHECK-LABEL: tile.kernel @acc_given
// CHECK-SAME: softmax = threshold
// CHECK-NOT: folded
// CHECK-NOT: tile.redo
// CHECK-NOT: _again
// CHECK: tile.return
tile.kernel @acc_given(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<1.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
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

// The check looks at one accumulator.
// CHECK-LABEL: tile.kernel @two_outputs
// CHECK-SAME: softmax = threshold
// CHECK-NOT: folded
// CHECK-NOT: tile.redo
// CHECK-NOT: _again
// CHECK: tile.return
tile.kernel @two_outputs(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:4 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0, %t = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xbf16>
    %u1 = tile.scale_rows %u, %a : tensor<64x16xf32>, tensor<64xf32>
    %u2 = tile.dot %w, %v acc(%u1 : tensor<64x16xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
    %t1 = tile.scale_rows %t, %a : tensor<64x16xf32>, tensor<64xf32>
    %t2 = tile.dot %w, %k acc(%t1 : tensor<64x16xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
    tile.yield %m1, %l1, %u2, %t2 : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>, tensor<64x16xf32>
  }
  tile.store %r#2, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}

// -----

#fixed = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed>

// Integers have no NaN to be a mark.
// CHECK-LABEL: tile.kernel @integers
// CHECK-SAME: softmax = threshold
// CHECK-NOT: folded
// CHECK-NOT: tile.redo
// CHECK-NOT: _again
// CHECK: tile.return
tile.kernel @integers(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xi32>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xbf16>
    %u1 = tile.scale_rows %u, %a : tensor<64x16xf32>, tensor<64xf32>
    %u2 = tile.dot %w, %v acc(%u1 : tensor<64x16xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>
  }
  %out = arith.fptosi %r#2 : tensor<64x16xf32> to tensor<64x16xi32>
  tile.store %out, %o[%zero, %zero] axes [0, 1] : tensor<64x16xi32>, memref<?x16xi32>
  tile.return
}

// -----

#fixed = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed>

// Nor have 8 bits room for one.
// CHECK-LABEL: tile.kernel @bytes
// CHECK-SAME: softmax = threshold
// CHECK-NOT: folded
// CHECK-NOT: tile.redo
// CHECK-NOT: _again
// CHECK: tile.return
tile.kernel @bytes(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf8E4M3FN>, %n: i64) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xbf16>
    %u1 = tile.scale_rows %u, %a : tensor<64x16xf32>, tensor<64xf32>
    %u2 = tile.dot %w, %v acc(%u1 : tensor<64x16xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>
  }
  %out = arith.truncf %r#2 : tensor<64x16xf32> to tensor<64x16xf8E4M3FN>
  tile.store %out, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf8E4M3FN>, memref<?x16xf8E4M3FN>
  tile.return
}

// -----

#fixed = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed>

// A mark must be stored, whatever a mask says.
// CHECK-LABEL: tile.kernel @masked
// CHECK-SAME: softmax = threshold
// CHECK-NOT: folded
// CHECK-NOT: tile.redo
// CHECK-NOT: _again
// CHECK: tile.return
tile.kernel @masked(%q: tensor<64x16xbf16>, %k: tensor<32x16xbf16>, %v: tensor<32x16xbf16>, %o: memref<?x16xf32>, %n: i64, %some: tensor<64x16xi1>) attributes {schedule = #fixed} {
  %zero = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x16xf32>
  %r:3 = tile.for_blocks %j = %zero to %n step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>) {
    %s = tile.dot %q, %k transpose_b : tensor<64x16xbf16>, tensor<32x16xbf16> -> tensor<64x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.25 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x32xf32> to tensor<64x32xbf16>
    %u1 = tile.scale_rows %u, %a : tensor<64x16xf32>, tensor<64xf32>
    %u2 = tile.dot %w, %v acc(%u1 : tensor<64x16xf32>) : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x16xf32>
  }
  tile.store %r#2, %o[%zero, %zero] axes [0, 1] mask %some : tensor<64x16xf32>, memref<?x16xf32>
  tile.return
}
