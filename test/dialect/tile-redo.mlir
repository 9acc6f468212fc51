// Stores that a check guards, and the softmax that needs it: through text twice, and through the generic form.
// RUN: tegula-opt %s | FileCheck %s

// CHECK-LABEL: tile.kernel @first
tile.kernel @first(%s: tensor<64x32xf32>, %m: tensor<64xf32>, %valid: tensor<64xi1>, %o: memref<?x?xf32>, %i: i64) {
  // CHECK: tile.online_softmax %{{.*}}, %{{.*}}, %{{.*}} scale 1.250000e-01 folded fixed : tensor<64x32xf32>, tensor<64xf32>
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 0.125 folded fixed : tensor<64x32xf32>, tensor<64xf32>
  // CHECK: tile.online_softmax %{{.*}}, %{{.*}}, %{{.*}} scale 1.250000e-01 folded fixed from_first_block continued : tensor<64x32xf32>, tensor<64xf32>
  %p2, %m2, %l2, %a2 = tile.online_softmax %s, %m1, %l1 scale 0.125 folded fixed from_first_block continued : tensor<64x32xf32>, tensor<64xf32>
  // CHECK-NEXT: tile.redo unless %{{.*}} by @again {note = 1 : i64} : tensor<64xi1> {
  tile.redo unless %valid by @again {note = 1 : i64} : tensor<64xi1> {
    // CHECK-NEXT: %[[ROW:.*]] = arith.addi
    %row = arith.addi %i, %i : i64
    // CHECK-NEXT: tile.store %{{.*}}, %{{.*}}[%[[ROW]]
    tile.store %p2, %o[%row, %i] axes [0, 1] : tensor<64x32xf32>, memref<?x?xf32>
  }
  tile.return
}

tile.kernel @again(%s: tensor<64x32xf32>, %m: tensor<64xf32>, %valid: tensor<64xi1>, %o: memref<?x?xf32>, %i: i64) {
  tile.return
}
