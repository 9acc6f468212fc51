// A row sum that a loop only adds to and scales is carried as one part a lane, and completed behind the loop.
// RUN: tegula-opt %s --tegula-defer-sums -split-input-file | FileCheck %s

!s = tensor<64x32xf32, #warp.fragment>
!r = tensor<64xf32, #warp.rows>

// CHECK-LABEL: tile.kernel @carried
// CHECK-SAME: %[[P:[^ ]+]]: tensor<64x32xf32, #warp.fragment>, %[[A:[^ ]+]]: tensor<64xf32, #warp.rows>
tile.kernel @carried(%p: !s, %a: !r, %o: memref<?xf32>, %n: i64) {
  %zero = arith.constant 0 : i64
  // CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00>
  %l0 = arith.constant dense<0.0> : !r
  // CHECK: %[[R:.*]] = tile.for_blocks {{.*}} iter_args(%[[L:.*]] = %[[ZEROS]])
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%l = %l0) -> (!r) {
    // CHECK: %[[PART:.*]] = warp.partial_sum %[[P]] : tensor<64x32xf32, #warp.fragment> -> tensor<64xf32, #warp.rows>
    // CHECK: %[[OLD:.*]] = arith.mulf %[[L]], %[[A]]
    // CHECK: %[[NEXT:.*]] = arith.addf %[[OLD]], %[[PART]]
    // CHECK: tile.yield %[[NEXT]]
    %sum = tile.reduce add %p : !s -> !r
    %old = arith.mulf %l, %a : !r
    %l1 = arith.addf %old, %sum : !r
    tile.yield %l1 : !r
  }
  // CHECK: %[[SUM:.*]] = warp.complete_sum %[[R]]
  // CHECK-NEXT: tile.store %[[SUM]]
  tile.store %r, %o[%zero] axes [0] : !r, memref<?xf32>
  tile.return
}

// -----

!s = tensor<64x32xf32, #warp.fragment>
!r = tensor<64xf32, #warp.rows>

// The first block may stand before the loop: what it starts with is a row sum, or a factor times one.
// CHECK-LABEL: tile.kernel @peeled
// CHECK-SAME: %[[P:[^ ]+]]: tensor<64x32xf32, #warp.fragment>, %[[A:[^ ]+]]: tensor<64xf32, #warp.rows>
tile.kernel @peeled(%p: !s, %a: !r, %o: memref<?xf32>, %n: i64) {
  // CHECK: %[[PART:.*]] = warp.partial_sum %[[P]]
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[A]], %[[PART]]
  // CHECK: tile.for_blocks {{.*}} iter_args(%{{.*}} = %[[SCALED]])
  // CHECK: warp.complete_sum
  %zero = arith.constant 0 : i64
  %sum0 = tile.reduce add %p : !s -> !r
  %l0 = arith.mulf %a, %sum0 : !r
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%l = %l0) -> (!r) {
    %sum = tile.reduce add %p : !s -> !r
    %l1 = arith.addf %l, %sum : !r
    tile.yield %l1 : !r
  }
  tile.store %r, %o[%zero] axes [0] : !r, memref<?xf32>
  tile.return
}

// -----

!s = tensor<64x32xf32, #warp.fragment>
!r = tensor<64xf32, #warp.rows>

// A sum that starts as any row values, which all lanes hold in full.
// CHECK-LABEL: tile.kernel @given
// CHECK-NOT: warp.partial_sum
// CHECK-NOT: warp.complete_sum
tile.kernel @given(%p: !s, %l0: !r, %o: memref<?xf32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%l = %l0) -> (!r) {
    %sum = tile.reduce add %p : !s -> !r
    %l1 = arith.addf %l, %sum : !r
    tile.yield %l1 : !r
  }
  tile.store %r, %o[%zero] axes [0] : !r, memref<?xf32>
  tile.return
}

// -----

!s = tensor<64x32xf32, #warp.fragment>
!r = tensor<64xf32, #warp.rows>

// A sum that the loop reads.
// CHECK-LABEL: tile.kernel @read
// CHECK-NOT: warp.partial_sum
// CHECK-NOT: warp.complete_sum
tile.kernel @read(%p: !s, %o: memref<?xf32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %l0 = arith.constant dense<0.0> : !r
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%l = %l0) -> (!r) {
    tile.store %l, %o[%j] axes [0] : !r, memref<?xf32>
    %sum = tile.reduce add %p : !s -> !r
    %l1 = arith.addf %l, %sum : !r
    tile.yield %l1 : !r
  }
  tile.store %r, %o[%zero] axes [0] : !r, memref<?xf32>
  tile.return
}

// -----

!s = tensor<64x32xf32, #warp.fragment>
!r = tensor<64xf32, #warp.rows>

// A sum that another carried value is made of.
// CHECK-LABEL: tile.kernel @two
// CHECK-NOT: warp.partial_sum
// CHECK-NOT: warp.complete_sum
tile.kernel @two(%p: !s, %a: !r, %o: memref<?xf32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %l0 = arith.constant dense<0.0> : !r
  %r:2 = tile.for_blocks %j = %zero to %n step 32 iter_args(%l = %l0, %b = %a) -> (!r, !r) {
    %sum = tile.reduce add %p : !s -> !r
    %l1 = arith.addf %l, %sum : !r
    tile.yield %l1, %l1 : !r, !r
  }
  tile.store %r#1, %o[%zero] axes [0] : !r, memref<?xf32>
  tile.return
}

// -----

!s = tensor<64x32xf32, #warp.fragment>
!r = tensor<64xf32, #warp.rows>

// The square of a sum is not that of its parts.
// CHECK-LABEL: tile.kernel @squared
// CHECK-NOT: warp.partial_sum
// CHECK-NOT: warp.complete_sum
tile.kernel @squared(%p: !s, %o: memref<?xf32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %l0 = arith.constant dense<0.0> : !r
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%l = %l0) -> (!r) {
    %sum = tile.reduce add %p : !s -> !r
    %square = arith.mulf %l, %l : !r
    %l1 = arith.addf %square, %sum : !r
    tile.yield %l1 : !r
  }
  tile.store %r, %o[%zero] axes [0] : !r, memref<?xf32>
  tile.return
}

// -----

!s = tensor<64x32xf32, #warp.fragment>
!r = tensor<64xf32, #warp.rows>

// What all lanes hold would count four times.
// CHECK-LABEL: tile.kernel @shared
// CHECK-NOT: warp.partial_sum
// CHECK-NOT: warp.complete_sum
tile.kernel @shared(%p: !s, %a: !r, %o: memref<?xf32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %l0 = arith.constant dense<0.0> : !r
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%l = %l0) -> (!r) {
    %sum = tile.reduce add %p : !s -> !r
    %more = arith.addf %sum, %a : !r
    %l1 = arith.addf %l, %more : !r
    tile.yield %l1 : !r
  }
  tile.store %r, %o[%zero] axes [0] : !r, memref<?xf32>
  tile.return
}

// -----

!s = tensor<64x32xf32, #warp.fragment>
!r = tensor<64xf32, #warp.rows>

// The greatest of the lanes' maxima is not linear.
// CHECK-LABEL: tile.kernel @max
// CHECK-NOT: warp.partial_sum
// CHECK-NOT: warp.complete_sum
tile.kernel @max(%p: !s, %o: memref<?xf32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %l0 = arith.constant dense<0.0> : !r
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%l = %l0) -> (!r) {
    %top = tile.reduce max %p : !s -> !r
    %l1 = arith.addf %l, %top : !r
    tile.yield %l1 : !r
  }
  tile.store %r, %o[%zero] axes [0] : !r, memref<?xf32>
  tile.return
}

// -----

!s = tensor<64x32xf32, #warp.fragment>
!r = tensor<64xf32, #warp.rows>

// A product of two row sums has one of them in parts, and the other one in full.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: %[[P:[^ ]+]]: tensor<64x32xf32, #warp.fragment>, %[[Q:[^ ]+]]: tensor<64x32xf32, #warp.fragment>
tile.kernel @product(%p: !s, %q: !s, %o: memref<?xf32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %l0 = arith.constant dense<0.0> : !r
  // CHECK: tile.for_blocks
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%l = %l0) -> (!r) {
    // CHECK: %[[PART:.*]] = warp.partial_sum %[[P]]
    // CHECK: %[[FULL:.*]] = tile.reduce add %[[Q]]
    // CHECK: %[[XY:.*]] = arith.mulf %[[PART]], %[[FULL]]
    // CHECK: %[[NEXT:.*]] = arith.addf %{{.*}}, %[[XY]]
    // CHECK: tile.yield %[[NEXT]]
    %x = tile.reduce add %p : !s -> !r
    %y = tile.reduce add %q : !s -> !r
    %xy = arith.mulf %x, %y : !r
    %l1 = arith.addf %l, %xy : !r
    tile.yield %l1 : !r
  }
  tile.store %r, %o[%zero] axes [0] : !r, memref<?xf32>
  tile.return
}
