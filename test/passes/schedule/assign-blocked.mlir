// Layouts of a tile program: what memory and matrix ops choose, what follows from them, and where conversions stand.
// RUN: tegula-opt %s --tegula-assign-blocked --split-input-file --verify-diagnostics | FileCheck %s

!m = memref<?x?xf32, strided<[?, ?]>>
!v = memref<?xf32, strided<[?]>>
!h = memref<?x?xf16, strided<[?, ?]>>
#threads = #tile.program<threads = 128, ctas = 1>

// 16 bytes a thread along the last axis, then lanes along it and rows, then warps over rows; a reduction drops the axis, a broadcast's operand the others.
// CHECK-LABEL: tile.kernel @rows
tile.kernel @rows(%x: !m {tile.name = "x", tile.dims = ["R", "C"], tile.role = "in"}, %w: !v {tile.name = "w", tile.dims = ["C"], tile.role = "in"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #threads} {
  // CHECK: tile.load %{{.*}} -> tensor<16x64xf32, #warp.blocked<registers = {{\[\[}}1, 1, 4], [0, 8, 2]], threads = {{\[\[}}1, 4], [1, 8], [1, 16], [1, 32], [0, 1], [0, 2], [0, 4]]>>
  %a = tile.load %x[%N, %N] axes [0, 1] : !m -> tensor<16x64xf32>
  // CHECK: tile.load %{{.*}} -> tensor<64xf32, #warp.blocked<registers = {{\[\[}}0, 1, 4]], threads = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [], [], []]>>
  %b = tile.load %w[%N] axes [0] : !v -> tensor<64xf32>
  %c = tile.broadcast %b axes [1] : tensor<64xf32> -> tensor<16x64xf32>
  %d = arith.mulf %a, %c : tensor<16x64xf32>
  // CHECK: tile.reduce add %{{.*}} -> tensor<16xf32, #warp.blocked<registers = {{\[\[}}0, 8, 2]], threads = {{\[}}[], [], [], [], [0, 1], [0, 2], [0, 4]]>>
  // CHECK-NOT: warp.convert
  %e = tile.reduce add %d : tensor<16x64xf32> -> tensor<16xf32>
  tile.store %e, %w[%N] axes [0] : tensor<16xf32>, !v
  tile.return
}

// -----

!m = memref<?x?xf32, strided<[?, ?]>>
!h = memref<?x?xf16, strided<[?, ?]>>
#threads = #tile.program<threads = 128, ctas = 1>

// The result of a product lies as mma.sync accumulators do; operands that are loaded for it alone stay in memory, others as elementwise code has them.
// CHECK-LABEL: tile.kernel @product
tile.kernel @product(%x: !h {tile.name = "x", tile.dims = ["R", "C"], tile.role = "in"}, %o: !m {tile.name = "o", tile.dims = ["R", "C"], tile.role = "out"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #threads} {
  // CHECK: tile.load %{{.*}} -> tensor<32x64xf16, #warp.blocked<registers = {{\[\[}}1, 1, 8]
  %l = tile.load %x[%N, %N] axes [0, 1] : !h -> tensor<32x64xf16>
  %a = arith.negf %l : tensor<32x64xf16>
  // CHECK: warp.global %{{.*}} -> <64x16xf16>
  %b = tile.load %x[%N, %N] axes [0, 1] : !h -> tensor<64x16xf16>
  // CHECK: warp.dot %{{.*}}, %{{.*}} : {{.*}} -> tensor<32x16xf32, #warp.blocked<registers = {{\[\[}}1, 1, 2], [0, 8, 2]], threads = {{\[\[}}1, 2], [1, 4], [0, 1], [0, 2], [0, 4], [0, 16], [1, 8]]>>
  %c = tile.dot %a, %b : tensor<32x64xf16>, tensor<64x16xf16> -> tensor<32x16xf32>
  tile.store %c, %o[%N, %N] axes [0, 1] : tensor<32x16xf32>, !m
  tile.return
}

// -----

!m = memref<?x?xf32, strided<[?, ?]>>
#threads = #tile.program<threads = 128, ctas = 1>

// A transposition renames axes. Where the result is stored from, the other axis is fast: a conversion.
// CHECK-LABEL: tile.kernel @transposed
tile.kernel @transposed(%x: !m {tile.name = "x", tile.dims = ["R", "C"], tile.role = "in"}, %o: !m {tile.name = "o", tile.dims = ["C", "R"], tile.role = "out"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #threads} {
  %a = tile.load %x[%N, %N] axes [0, 1] : !m -> tensor<16x64xf32>
  // CHECK: tile.transpose %{{.*}} permutation [1, 0] : {{.*}} -> tensor<64x16xf32, #warp.blocked<registers = {{\[\[}}0, 1, 4]
  // CHECK: warp.convert %{{.*}} -> tensor<64x16xf32, #warp.blocked<registers = {{\[\[}}1, 1, 4]
  %b = tile.transpose %a permutation [1, 0] : tensor<16x64xf32> -> tensor<64x16xf32>
  tile.store %b, %o[%N, %N] axes [0, 1] : tensor<64x16xf32>, !m
  tile.return
}

// -----

!v = memref<?xf32, strided<[?]>>
#threads = #tile.program<threads = 128, ctas = 1>

// An element may be read by another thread than wrote it.
// CHECK-LABEL: tile.kernel @fences
tile.kernel @fences(%x: !v {tile.name = "x", tile.dims = ["N"], tile.role = "inout"}, %y: !v {tile.name = "y", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #threads} {
  // CHECK-NOT: warp.fence
  // CHECK: tile.load %arg0
  %a = tile.load %x[%N] axes [0] : !v -> tensor<512xf32>
  // CHECK-NEXT: warp.fence
  // CHECK-NEXT: tile.store
  tile.store %a, %x[%N] axes [0] : tensor<512xf32>, !v
  // CHECK-NEXT: tile.load %arg1
  %b = tile.load %y[%N] axes [0] : !v -> tensor<512xf32>
  // CHECK-NEXT: warp.fence
  // CHECK-NEXT: tile.store
  tile.store %b, %x[%N] axes [0] : tensor<512xf32>, !v
  tile.return
}

// -----

!i = memref<?xi32, strided<[?]>>
#threads = #tile.program<threads = 128, ctas = 1>

// Scalar code of one element works on tiles of indices; what no index meets stays scalar, a table read at indices is a gather.
// CHECK-LABEL: tile.kernel @elements
tile.kernel @elements(%x: !i {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #threads} {
  // CHECK: %[[SUM:.*]] = arith.addi %arg1, %arg1 : i64
  // CHECK: %[[G:.*]] = tile.gather %arg0[%{{.*}}] : {{.*}} -> tensor<16x32xi32
  // CHECK: arith.extsi %[[G]] : tensor<16x32xi32, {{.*}}> to tensor<16x32xi64
  // CHECK: tensor.splat %[[SUM]] : tensor<16x32xi64
  // CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<16x32xi64
  %keep = tile.mask rows(%N) cols(%N) {
  ^bb0(%i: i64, %j: i64):
    %s = arith.addi %N, %N : i64
    %g = tile.lookup %x[%j] : !i
    %w = arith.extsi %g : i32 to i64
    %d = arith.addi %w, %s : i64
    %c = arith.cmpi slt, %i, %d : i64
    tile.yield %c : i1
  } : tensor<16x32xi1>
  %any = tile.any %keep : tensor<16x32xi1>
  tile.return
}

// -----

#threads = #tile.program<threads = 128, ctas = 1>
tile.kernel @exponential(%x: f64 {tile.name = "x"}) attributes {schedule = #threads} {
  // expected-error@+1 {{`exp` of f64 runs on the CPU target only; use `--target cpu`, or f32}}
  %y = math.exp %x : f64
  tile.return
}

// -----

#threads = #tile.program<threads = 128, ctas = 1>
tile.kernel @double(%N: i64 {tile.dim = "N"}) attributes {schedule = #threads} {
  %a = arith.constant dense<1.0> : tensor<16x16xf64>
  // expected-error@+1 {{a dot of f64 runs on the CPU target only; use `--target cpu`, or f32, bf16 or f16}}
  %b = tile.dot %a, %a : tensor<16x16xf64>, tensor<16x16xf64> -> tensor<16x16xf64>
  tile.return
}

// -----

#threads = #tile.program<threads = 128, ctas = 1>
tile.kernel @narrow(%x: memref<?xi8, strided<[?]>> {tile.name = "x", tile.dims = ["N"], tile.role = "inout"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #threads} {
  %a = arith.constant 1 : i8
  // expected-error@+1 {{the GPU adds atomically to i32, i64, f16, bf16, f32 and f64, but got 'i8'}}
  tile.atomic_add %a, %x[%N] : i8, memref<?xi8, strided<[?]>>, i64
  tile.return
}

// -----

#threads = #tile.program<threads = 128, ctas = 1>
!v = memref<?xi32, strided<[?]>>

// A loop in the function of an element runs once for all: it carries tiles.
// CHECK-LABEL: tile.kernel @loop
tile.kernel @loop(%ids: !v {tile.name = "ids", tile.dims = ["L"], tile.role = "in"}, %L: i64 {tile.dim = "L"}) attributes {schedule = #threads} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %none = arith.constant false
  // CHECK-NOT: tile.mask
  // CHECK: %[[ANY:.*]] = scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (tensor<16x64xi1, {{.*}}>)
  // CHECK: %[[ID:.*]] = tile.lookup %{{.*}}[%[[T]]]
  // CHECK: tensor.splat %{{.*}} : tensor<16x64xi64, {{.*}}>
  // CHECK: %[[NEXT:.*]] = arith.ori %[[SO_FAR]], %{{.*}} : tensor<16x64xi1, {{.*}}>
  // CHECK: scf.yield %[[NEXT]]
  // CHECK: tile.assert %[[ANY]]
  %any = tile.mask rows(%c0) cols(%c0) {
  ^bb0(%i: i64, %j: i64):
    %found = scf.for %t = %c0 to %L step %c1 iter_args(%before = %none) -> (i1) : i64 {
      %id = tile.lookup %ids[%t] : !v
      %wide = arith.extsi %id : i32 to i64
      %same = arith.cmpi eq, %wide, %j : i64
      %now = arith.ori %before, %same : i1
      scf.yield %now : i1
    }
    tile.yield %found : i1
  } : tensor<16x64xi1>
  tile.assert %any, "" : tensor<16x64xi1>
  tile.return
}

// -----

#threads = #tile.program<threads = 128, ctas = 1>
tile.kernel @triangle(%N: i64 {tile.dim = "N"}) attributes {schedule = #threads} {
  %c1 = arith.constant 1 : i64
  %any = tile.mask rows(%N) cols(%N) {
  ^bb0(%i: i64, %j: i64):
    %none = arith.constant false
    // expected-error@+1 {{a loop in the function of an element needs bounds that are the same for all elements on the GPU}}
    %found = scf.for %t = %i to %j step %c1 iter_args(%before = %none) -> (i1) : i64 {
      scf.yield %before : i1
    }
    tile.yield %found : i1
  } : tensor<16x64xi1>
  tile.assert %any, "" : tensor<16x64xi1>
  tile.return
}
