// RUN: tegula-opt %s --tegula-count-visits --canonicalize --split-input-file | FileCheck %s

// Grid, loop and test stay; tiles, loads and stores go. The rows that a warpgroup works on are those of the program. What computes rows again is no visit.
// CHECK-LABEL: tile.kernel @guarded
// CHECK-SAME: %[[O:[^ ]*]]: memref<?x?xf32> {tile.dims = ["M", 64], tile.name = "o", tile.role = "in"}
// CHECK-SAME: %[[N:[^ ]*]]: i64 {tile.dim = "N"},
// CHECK-SAME: %[[COUNTS:[^ ]*]]: memref<?xi64, strided<[?]>> {tile.dims = ["visits.kinds"], tile.name = "visits.counts", tile.role = "inout"}
// CHECK-SAME: %[[GRID:[^ ]*]]: memref<?xi64, strided<[?]>> {{{.*}}tile.name = "visits.grid"
// CHECK-SAME: %[[CLASSES:[^ ]*]]: memref<?x?xi8, strided<[?, ?]>> {{{.*}}tile.name = "visits.classes"
// CHECK-SAME: visits = {keys = 32 : i64, reference = "running max", rows = 128 : i64}
tile.kernel @guarded(%S: memref<?x?xf32>, %o: memref<?x?xf32> {tile.name = "o", tile.role = "out", tile.dims = ["M", 64]}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c32 = arith.constant 32 : i64
  %c0 = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %tiles = arith.ceildivsi %M, %c128 : i64
  // CHECK: %[[T:.*]]:2 = tile.program_id
  %t, %h = tile.program_id of (%tiles, %N) : i64, i64
  // CHECK-DAG: tile.scatter %{{.*}}, %[[GRID]][%c0_i64]
  // CHECK-DAG: tile.scatter %[[N]], %[[GRID]][%c1_i64]
  // CHECK-DAG: %[[PAST:.*]] = arith.muli %[[T]]#1, %{{.*}}
  // CHECK-DAG: %[[PROGRAM:.*]] = arith.addi %[[T]]#0, %[[PAST]]
  %row = arith.muli %t, %c128 : i64
  %first, %last = tile.row_span %row for 128
  // CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %c127_i64
  // CHECK: tile.for_blocks %[[J:[^ ]*]] = %c0_i64 to %[[LAST]] step 32 {
  %r:2 = tile.for_blocks %n = %c0 to %last step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    // CHECK-NEXT: %[[TESTED:.*]] = arith.cmpi sge, %[[J]], %[[N]]
    // CHECK-NEXT: %[[CLASS:.*]] = arith.select %[[TESTED]], %c1_i8, %c2_i8 : i8
    // CHECK-NEXT: %[[FULL:.*]] = arith.cmpi slt, %[[J]], %[[N]]
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %full = arith.cmpi slt, %n, %N : i64
    %x = scf.if %full -> (tensor<128x32xf32>) {
      scf.yield %s : tensor<128x32xf32>
    } else {
      %keep = tile.mask rows(%row) cols(%n) {
      ^bb0(%i: i64, %j: i64):
        %sees = arith.cmpi sge, %i, %j : i64
        tile.yield %sees : i1
      } : tensor<128x32xi1>
      %y = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
      scf.yield %y : tensor<128x32xf32>
    }
    // CHECK-NEXT: %[[KIND:.*]] = arith.extui %[[FULL]] : i1 to i64
    // CHECK-NEXT: %[[BLOCK:.*]] = arith.divsi %[[J]], %c32_i64
    // CHECK-NEXT: tile.atomic_add %c1_i64, %[[COUNTS]][%[[KIND]]]
    // CHECK-NEXT: tile.scatter %[[CLASS]], %[[CLASSES]][%[[PROGRAM]], %[[BLOCK]]]
    // CHECK-NEXT: tile.yield
    %w, %mm, %ll, %rescale = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %mm, %ll : tensor<128xf32>, tensor<128xf32>
  }
  // CHECK: tile.return
  %valid = arith.constant dense<true> : tensor<128xi1>
  tile.redo unless %valid by @again : tensor<128xi1> {
    tile.store %r#0, %o[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  }
  tile.return
}
// CHECK-NOT: @again
tile.kernel @again(%S: memref<?x?xf32>, %o: memref<?x?xf32>, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  tile.return
}

// -----

// Scores that are always masked: each visit is a tested one. A number that the loop carries stays, as a bound of an inner loop may read it.
// CHECK-LABEL: tile.kernel @tested
// CHECK-SAME: visits = {keys = 32 : i64, rows = 64 : i64}
tile.kernel @tested(%S: memref<?x?xf32>, %N: i64 {tile.dim = "N"}) {
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %sum = arith.constant dense<0.0> : tensor<64xf32>
  %t = tile.program_id of (%N) : i64
  // CHECK: tile.for_blocks %{{.*}} = %c0_i64 to %{{.*}} step 64 iter_args(%[[X:.*]] = %c0_i64) -> (i64) {
  // CHECK-NEXT: tile.for_blocks %{{.*}} = %[[X]] to %{{.*}} step 32 {
  // CHECK: tile.atomic_add %c1_i64, %{{.*}}[%c0_i64]
  // CHECK: tile.scatter %c1_i8
  %r:2 = tile.for_blocks %a = %c0 to %N step 64 iter_args(%x = %c0, %outer = %sum) -> (i64, tensor<64xf32>) {
    %q = tile.for_blocks %n = %x to %N step 32 iter_args(%l = %outer) -> (tensor<64xf32>) {
      %s = tile.load %S[%t, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
      %keep = tile.mask rows(%t) cols(%n) {
      ^bb0(%i: i64, %j: i64):
        %sees = arith.cmpi sge, %i, %j : i64
        tile.yield %sees : i1
      } : tensor<64x32xi1>
      %y = arith.select %keep, %s, %zero : tensor<64x32xi1>, tensor<64x32xf32>
      %b = tile.reduce add %y : tensor<64x32xf32> -> tensor<64xf32>
      %ll = arith.addf %l, %b : tensor<64xf32>
      tile.yield %ll : tensor<64xf32>
    }
    %next = arith.addi %x, %c64 : i64
    tile.yield %next, %q : i64, tensor<64xf32>
  }
  tile.return
}

// -----

// A mask that shows nothing has folded, and its scores with it: no block of it is free of tests.
// CHECK-LABEL: tile.kernel @hidden
// CHECK: tile.scatter %c1_i8
tile.kernel @hidden(%N: i64 {tile.dim = "N"}) {
  %c0 = arith.constant 0 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %s = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %t = tile.program_id of (%N) : i64
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<64xf32>, tensor<64xf32>) {
    %w, %mm, %ll, %rescale = tile.online_softmax %s, %m, %l scale 1.0 : tensor<64x32xf32>, tensor<64xf32>
    tile.yield %mm, %ll : tensor<64xf32>, tensor<64xf32>
  }
  tile.return
}

// -----

// Where the body makes the key of what the loop counts, as a search for live blocks does, its block is counted.
// CHECK-LABEL: tile.kernel @searched
// CHECK: tile.for_blocks %[[X:.*]] = %c0_i64 to %{{.*}} step 1 {
// CHECK: %[[KEY:.*]] = arith.muli %[[X]], %c64_i64
// CHECK: %[[BLOCK:.*]] = arith.divsi %[[KEY]], %c32_i64
// CHECK: tile.scatter %c1_i8, %{{.*}}[%{{.*}}, %[[BLOCK]]]
tile.kernel @searched(%S: memref<?x?xf32>, %N: i64 {tile.dim = "N"}) {
  %c0 = arith.constant 0 : i64
  %c64 = arith.constant 64 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  %t = tile.program_id of (%N) : i64
  %r:2 = tile.for_blocks %x = %c0 to %N step 1 iter_args(%m = %m0, %l = %l0) -> (tensor<64xf32>, tensor<64xf32>) {
    %n = arith.muli %x, %c64 : i64
    %s = tile.load %S[%t, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
    %keep = tile.mask rows(%t) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %sees = arith.cmpi sge, %i, %j : i64
      tile.yield %sees : i1
    } : tensor<64x32xi1>
    %y = arith.select %keep, %s, %hidden : tensor<64x32xi1>, tensor<64x32xf32>
    %w, %mm, %ll, %rescale = tile.online_softmax %y, %m, %l scale 1.0 : tensor<64x32xf32>, tensor<64xf32>
    tile.yield %mm, %ll : tensor<64xf32>, tensor<64xf32>
  }
  tile.return
}
