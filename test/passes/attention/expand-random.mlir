// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-expand-random),canonicalize)' | FileCheck %s

// All operands constant, the number folds: the first word is 0x6627e8d5 for key and counter 0, 0x408f276d for all ones (the known answers of the Random123 library).
// CHECK-LABEL: tile.kernel @known
tile.kernel @known(%y: memref<?xf32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ones = arith.constant -1 : i64
  // CHECK: arith.constant 0.399046
  // CHECK: arith.constant 0.252184
  %a = tile.random %zero, %zero, %zero, %zero, %zero : i64 -> f32
  %b = tile.random %ones, %ones, %ones, %ones, %ones : i64 -> f32
  tile.scatter %a, %y[%zero] : f32, memref<?xf32>, i64
  tile.scatter %b, %y[%one] : f32, memref<?xf32>, i64
  tile.return
}

// Elementwise on tiles; of the last round one product is left out.
// CHECK-LABEL: tile.kernel @tiles
tile.kernel @tiles(%x: memref<?xi64>, %y: memref<?xf32>) {
  %zero = arith.constant 0 : i64
  %i = tile.load %x[%zero] axes [0] : memref<?xi64> -> tensor<8xi64>
  // CHECK-COUNT-19: arith.muli {{.*}} : tensor<8xi64>
  // CHECK-NOT: arith.muli
  // CHECK: arith.uitofp {{.*}} : tensor<8xi32> to tensor<8xf32>
  %a = tile.random %i, %i, %i, %i, %i : tensor<8xi64> -> tensor<8xf32>
  tile.store %a, %y[%zero] axes [0] : tensor<8xf32>, memref<?xf32>
  tile.return
}
