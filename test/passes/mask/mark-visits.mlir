// RUN: tegula-opt %s --tegula-mark-visits --split-input-file --verify-diagnostics | FileCheck %s

// The class is what the loop's own branch asks for, either way round; a mask that is always applied is one, and no mask is none.
// CHECK-LABEL: tile.kernel @loops
tile.kernel @loops(%S: memref<?x?xf32>, %o: memref<?xf32>, %N: i64 {tile.dim = "N"}) {
  %c32 = arith.constant 32 : i64
  %c0 = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %t = tile.program_id of (%N) : i64
  // CHECK: tile.for_blocks
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<64xf32>, tensor<64xf32>) {
    %s = tile.load %S[%c0, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
    // CHECK: %[[FULL:.*]] = arith.cmpi slt
    %full = arith.cmpi slt, %n, %N : i64
    %x = scf.if %full -> (tensor<64x32xf32>) {
      scf.yield %s : tensor<64x32xf32>
    } else {
      %keep = tile.mask rows(%c0) cols(%n) {
      ^bb0(%i: i64, %j: i64):
        %sees = arith.cmpi sge, %i, %j : i64
        tile.yield %sees : i1
      } : tensor<64x32xi1>
      %y = arith.select %keep, %s, %hidden : tensor<64x32xi1>, tensor<64x32xf32>
      scf.yield %y : tensor<64x32xf32>
    }
    %w, %mm, %ll, %rescale = tile.online_softmax %x, %m, %l scale 1.0 : tensor<64x32xf32>, tensor<64xf32>
    // CHECK: %[[NO:.*]] = arith.constant false
    // CHECK: %[[OTHER:.*]] = arith.xori %[[FULL]], %true
    // CHECK: %[[TESTED:.*]] = arith.ori %[[NO]], %[[OTHER]]
    // CHECK-NEXT: tile.visit tested %[[TESTED]]{{$}}
    // CHECK-NEXT: tile.yield
    tile.yield %mm, %ll : tensor<64xf32>, tensor<64xf32>
  }
  // CHECK: tile.for_blocks
  %q:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<64xf32>, tensor<64xf32>) {
    %s = tile.load %S[%c0, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
    %w, %mm, %ll, %rescale = tile.online_softmax %s, %m, %l scale 1.0 : tensor<64x32xf32>, tensor<64xf32>
    // CHECK: %[[NO:.*]] = arith.constant false
    // CHECK-NEXT: tile.visit tested %[[NO]]
    tile.yield %mm, %ll : tensor<64xf32>, tensor<64xf32>
  }
  // A loop over something else.
  // CHECK: tile.for_blocks
  // CHECK-NOT: tile.visit
  %z = tile.for_blocks %n = %c0 to %N step 32 iter_args(%l = %l0) -> (tensor<64xf32>) {
    %more = arith.addf %l, %l : tensor<64xf32>
    tile.yield %more : tensor<64xf32>
  }
  %valid = arith.constant dense<true> : tensor<64xi1>
  tile.redo unless %valid by @again : tensor<64xi1> {
    tile.store %r#0, %o[%c0] axes [0] : tensor<64xf32>, memref<?xf32>
  }
  tile.return
}
// To compute rows again is no visit.
// CHECK-LABEL: tile.kernel @again
// CHECK-NOT: tile.visit
tile.kernel @again(%S: memref<?x?xf32>, %o: memref<?xf32>, %N: i64 {tile.dim = "N"}) {
  %c0 = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %q:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %m0) -> (tensor<64xf32>, tensor<64xf32>) {
    %s = tile.load %S[%c0, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
    %w, %mm, %ll, %rescale = tile.online_softmax %s, %m, %l scale 1.0 : tensor<64x32xf32>, tensor<64xf32>
    tile.yield %mm, %ll : tensor<64xf32>, tensor<64xf32>
  }
  tile.return
}

// -----

#two = #tile.schedule<form = direct, block_m = 128, block_n = 32, consumers = 2, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
// CHECK-LABEL: tile.kernel @two
// CHECK-NOT: tile.visit
// expected-remark @below {{visits of blocks are not counted: each of the 2 warpgroups of a tile has a loop of its own}}
tile.kernel @two(%S: memref<?x?xf32>, %N: i64 {tile.dim = "N"}) attributes {schedule = #two} {
  %c0 = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %q:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %m0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%c0, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %w, %mm, %ll, %rescale = tile.online_softmax %s, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %mm, %ll : tensor<128xf32>, tensor<128xf32>
  }
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @asking
// CHECK-NOT: tile.visit
// expected-remark @below {{visits of blocks are not counted: which of them are tested depends on what tiles hold}}
tile.kernel @asking(%S: memref<?x?xf32>, %N: i64 {tile.dim = "N"}) {
  %c0 = arith.constant 0 : i64
  %hidden = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %q:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %m0) -> (tensor<64xf32>, tensor<64xf32>) {
    %s = tile.load %S[%c0, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
    %more = arith.cmpf ogt, %m, %l : tensor<64xf32>
    %some = tile.any %more : tensor<64xi1>
    %x = scf.if %some -> (tensor<64x32xf32>) {
      %keep = tile.mask rows(%c0) cols(%n) {
      ^bb0(%i: i64, %j: i64):
        %sees = arith.cmpi sge, %i, %j : i64
        tile.yield %sees : i1
      } : tensor<64x32xi1>
      %y = arith.select %keep, %s, %hidden : tensor<64x32xi1>, tensor<64x32xf32>
      scf.yield %y : tensor<64x32xf32>
    } else {
      scf.yield %s : tensor<64x32xf32>
    }
    %w, %mm, %ll, %rescale = tile.online_softmax %x, %m, %l scale 1.0 : tensor<64x32xf32>, tensor<64xf32>
    tile.yield %mm, %ll : tensor<64xf32>, tensor<64xf32>
  }
  tile.return
}
