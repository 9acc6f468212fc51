// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-fold-scale))' --split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @folded
// CHECK: arith.select %{{.*}}, %[[S:.*]], %{{.*}} :
// CHECK: tile.online_softmax %{{.*}} scale 1.250000e-01
// CHECK: tile.finish %{{.*}} scale 1.250000e-01
tile.kernel @folded(%x: memref<?x?xf32>, %keep: tensor<64x16xi1>, %v: tensor<16x8xf32>, %N: i64) {
  %zero = arith.constant 0 : i64
  %c = arith.constant dense<0.125> : tensor<64x16xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<64x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x8xf32>
  %r:3 = tile.for_blocks %n = %zero to %N step 16 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x8xf32>) {
    %s = tile.load %x[%zero, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x16xf32>
    // CHECK-NOT: arith.mulf
    %y = arith.mulf %s, %c : tensor<64x16xf32>
    %z = arith.select %keep, %y, %hidden : tensor<64x16xi1>, tensor<64x16xf32>
    %p, %m1, %l1, %a = tile.online_softmax %z, %m, %l scale 1.0 : tensor<64x16xf32>, tensor<64xf32>
    %u1 = tile.scale_rows %u, %a : tensor<64x8xf32>, tensor<64xf32>
    %u2 = tile.dot %p, %v acc(%u1 : tensor<64x8xf32>) : tensor<64x16xf32>, tensor<16x8xf32> -> tensor<64x8xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x8xf32>
  }
  %O, %L = tile.finish %r#0, %r#1, %r#2 scale 1.0 : tensor<64xf32>, tensor<64x8xf32>
  tile.store %O, %x[%zero, %zero] axes [0, 1] : tensor<64x8xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A negative factor keeps the multiplication. A max that is stored is multiplied behind the loop.
// CHECK-LABEL: tile.kernel @kept
tile.kernel @kept(%x: memref<?x?xf32>, %v: tensor<16x8xf32>, %N: i64) {
  %zero = arith.constant 0 : i64
  %c = arith.constant dense<-0.125> : tensor<64x16xf32>
  %d = arith.constant dense<0.125> : tensor<64x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %r:2 = tile.for_blocks %n = %zero to %N step 16 iter_args(%m = %m0, %l = %l0) -> (tensor<64xf32>, tensor<64xf32>) {
    %s = tile.load %x[%zero, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x16xf32>
    // CHECK: arith.mulf
    %y = arith.mulf %s, %c : tensor<64x16xf32>
    // CHECK: tile.online_softmax {{.*}} scale 1.0
    %p, %m1, %l1, %a = tile.online_softmax %y, %m, %l scale 1.0 : tensor<64x16xf32>, tensor<64xf32>
    tile.yield %m1, %l1 : tensor<64xf32>, tensor<64xf32>
  }
  %q:2 = tile.for_blocks %n = %zero to %N step 16 iter_args(%m = %m0, %l = %l0) -> (tensor<64xf32>, tensor<64xf32>) {
    %s = tile.load %x[%zero, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x16xf32>
    // CHECK-NOT: arith.mulf
    %y = arith.mulf %s, %d : tensor<64x16xf32>
    // CHECK: tile.online_softmax {{.*}} scale 1.250000e-01
    %p, %m1, %l1, %a = tile.online_softmax %y, %m, %l scale 1.0 : tensor<64x16xf32>, tensor<64xf32>
    tile.yield %m1, %l1 : tensor<64xf32>, tensor<64xf32>
  }
  // CHECK: %[[MAX:.*]] = arith.mulf %{{.*}}#0, %{{.*}} : tensor<64xf32>
  // CHECK: tile.store %{{.*}}#0
  // CHECK: tile.store %[[MAX]]
  tile.store %r#0, %x[%zero, %zero] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.store %q#0, %x[%zero, %zero] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}
