// RUN: tegula-opt %s --split-input-file --tegula-cpu-lower-tiles --cse --canonicalize | FileCheck %s

// A kernel becomes a function that keeps the names of its arguments; the first coordinate of the grid is the innermost loop.
// CHECK-LABEL: func.func @grid(
// CHECK-SAME: %{{.*}}: memref<?xf32, strided<[?]>>, %[[M:.*]]: i64, %[[H:.*]]: i64)
// CHECK-SAME: llvm.emit_c_interface
// CHECK-SAME: arguments = [{kind = "pointer", tensor = "x"}, {dim = "M", kind = "dim", type = "i64"}, {dim = "H", kind = "dim", type = "i64"}]
// CHECK-SAME: signature = ["x"]
// CHECK-SAME: tensors = [{dims = ["M"], name = "x", role = "out", type = "f32"}]
// CHECK: scf.for %[[OUTER:.*]] = %{{.*}} to %[[H]]
// CHECK:   scf.for %[[INNER:.*]] = %{{.*}} to %[[M]]
// CHECK:     arith.addi %[[INNER]], %[[OUTER]]
// CHECK-NOT: tile.
tile.kernel @grid(%x: memref<?xf32, strided<[?]>> {tile.name = "x", tile.dims = ["M"], tile.role = "out"}, %M: i64 {tile.dim = "M"},
                  %H: i64 {tile.dim = "H"}) {
  %m, %h = tile.program_id of (%M, %H) : i64, i64
  %i = arith.addi %m, %h : i64
  %t = arith.constant dense<1.0> : tensor<1xf32>
  tile.store %t, %x[%i] axes [0] : tensor<1xf32>, memref<?xf32, strided<[?]>>
  tile.return
}

// -----

// A load fills with zeros only where the tile passes an extent, and copies what exists; axes of memory may come in any order.
// CHECK-LABEL: func.func @load(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x8xf32
// CHECK-DAG: %[[ROWS:.*]] = memref.dim %[[X]], %c0
// CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<8x4xf32>
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: linalg.fill ins(%cst{{.*}}) outs(%[[BUFFER]]
// CHECK: scf.for %[[COL:.*]] = %c0 to %c8
// CHECK:   scf.for %[[ROW:.*]] = %{{.*}} to
// CHECK:     %[[V:.*]] = memref.load %[[X]][%{{.*}}, %[[COL]]]
// CHECK:     memref.store %[[V]], %[[BUFFER]][%[[COL]], %[[ROW]]]
// CHECK: bufferization.to_tensor %[[BUFFER]] restrict writable
// The store writes only what exists.
// CHECK: %[[V2:.*]] = tensor.extract
// CHECK: memref.store %[[V2]], %[[X]]
tile.kernel @load(%x: memref<?x8xf32, strided<[?, ?]>> {tile.name = "x", tile.dims = ["M", 8 : i64], tile.role = "out"}, %M: i64 {tile.dim = "M"}) {
  %zero = arith.constant 0 : i64
  %t = tile.load %x[%M, %zero] axes [1, 0] : memref<?x8xf32, strided<[?, ?]>> -> tensor<8x4xf32>
  tile.store %t, %x[%M, %zero] axes [1, 0] : tensor<8x4xf32>, memref<?x8xf32, strided<[?, ?]>>
  tile.return
}

// -----

// The column is the innermost loop, and a transposed operand is laid out for it first; the accumulator is the destination.
// CHECK: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #[[ACC:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @dot(
// CHECK: %[[C:.*]] = bufferization.to_tensor %{{.*}} : memref<4x16xf32>
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : tensor<4x8xbf16> to tensor<4x8xf32>
// CHECK: %[[TURNED:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<16x8xbf16>) outs(%{{.*}} : tensor<8x16xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[ACC]]], iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK-SAME: ins(%[[WIDE]], %[[TURNED]] : tensor<4x8xf32>, tensor<8x16xf32>) outs(%[[C]] : tensor<4x16xf32>)
tile.kernel @dot(%a: memref<4x8xbf16, strided<[?, ?]>> {tile.name = "a", tile.dims = [4 : i64, 8 : i64], tile.role = "in"},
                 %b: memref<16x8xbf16, strided<[?, ?]>> {tile.name = "b", tile.dims = [16 : i64, 8 : i64], tile.role = "in"},
                 %c: memref<4x16xf32, strided<[?, ?]>> {tile.name = "c", tile.dims = [4 : i64, 16 : i64], tile.role = "out"}) {
  %zero = arith.constant 0 : i64
  %A = tile.load %a[%zero, %zero] axes [0, 1] : memref<4x8xbf16, strided<[?, ?]>> -> tensor<4x8xbf16>
  %B = tile.load %b[%zero, %zero] axes [0, 1] : memref<16x8xbf16, strided<[?, ?]>> -> tensor<16x8xbf16>
  %C = tile.load %c[%zero, %zero] axes [0, 1] : memref<4x16xf32, strided<[?, ?]>> -> tensor<4x16xf32>
  %r = tile.dot %A, %B transpose_b acc(%C : tensor<4x16xf32>) : tensor<4x8xbf16>, tensor<16x8xbf16> -> tensor<4x16xf32>
  tile.store %r, %c[%zero, %zero] axes [0, 1] : tensor<4x16xf32>, memref<4x16xf32, strided<[?, ?]>>
  tile.return
}

// -----

// A lookup clamps its index; a table that may be empty reads as zero.
// CHECK-LABEL: func.func @lookup(
// CHECK-SAME: %[[T:[^:]*]]: memref<8xf32, strided<[?]>>, %[[U:[^:]*]]: memref<?xf32, strided<[?]>>,
// CHECK: %[[LOW:.*]] = arith.minsi %[[I:.*]], %c7_i64
// CHECK: %[[CLAMPED:.*]] = arith.maxsi %[[LOW]], %c0_i64
// CHECK: %[[AT:.*]] = arith.index_cast %[[CLAMPED]]
// CHECK-NOT: scf.if
// CHECK: memref.load %[[T]][%[[AT]]]
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %{{.*}}, %c0
// CHECK: scf.if %[[SOME]] -> (f32) {
// CHECK-NEXT: memref.load %[[U]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %cst
tile.kernel @lookup(%t: memref<8xf32, strided<[?]>> {tile.name = "t", tile.dims = [8 : i64], tile.role = "in"},
                    %u: memref<?xf32, strided<[?]>> {tile.name = "u", tile.dims = ["A"], tile.role = "in"},
                    %y: memref<?xf32, strided<[?]>> {tile.name = "y", tile.dims = ["A"], tile.role = "out"}, %A: i64 {tile.dim = "A"}) {
  %i = tile.program_id of (%A) : i64
  %a = tile.lookup %t[%i] : memref<8xf32, strided<[?]>>
  %b = tile.lookup %u[%i] : memref<?xf32, strided<[?]>>
  %c = arith.addf %a, %b : f32
  %r = tensor.splat %c : tensor<1xf32>
  tile.store %r, %y[%i] axes [0] : tensor<1xf32>, memref<?xf32, strided<[?]>>
  tile.return
}
