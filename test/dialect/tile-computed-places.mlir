// Memory at computed indices, masks of stores, and help while writing a program: through text twice, and through the generic form.
// RUN: tegula-opt %s | FileCheck %s

!mem = memref<?x?xf32, strided<[?, ?]>>

// CHECK-LABEL: tile.kernel @places
tile.kernel @places(%x: !mem, %number: memref<f32>, %i: i64, %ids: tensor<8x4xi64>, %used: tensor<8x4xi1>, %t: tensor<8x4xf32>, %s: f32, %flag: i1) {
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] axes [0, 1] mask %{{.*}} : tensor<8x4xf32>, memref<?x?xf32, strided<[?, ?]>>
  tile.store %t, %x[%i, %i] axes [0, 1] mask %used : tensor<8x4xf32>, !mem
  // CHECK: tile.gather %{{.*}}[%[[I:.*]], %[[IDS:.*]]] : memref<?x?xf32, strided<[?, ?]>>, i64, tensor<8x4xi64> -> tensor<8x4xf32>
  %a = tile.gather %x[%i, %ids] : !mem, i64, tensor<8x4xi64> -> tensor<8x4xf32>
  // CHECK: tile.gather %{{.*}}[%[[IDS]], %[[IDS]]] mask %[[USED:.*]] : memref<?x?xf32, strided<[?, ?]>>, tensor<8x4xi64>, tensor<8x4xi64> -> tensor<8x4xf32>
  %b = tile.gather %x[%ids, %ids] mask %used : !mem, tensor<8x4xi64>, tensor<8x4xi64> -> tensor<8x4xf32>
  // CHECK: tile.gather %{{.*}}[%[[IDS]], %[[I]]] mask %[[USED]] fill %[[S:.*]] : memref<{{.*}}>, tensor<8x4xi64>, i64 -> tensor<8x4xf32>
  %c = tile.gather %x[%ids, %i] mask %used fill %s : !mem, tensor<8x4xi64>, i64 -> tensor<8x4xf32>
  // CHECK: tile.gather %{{.*}}[] : memref<f32> -> tensor<4xf32>
  %d = tile.gather %number[] : memref<f32> -> tensor<4xf32>
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%[[I]], %[[IDS]]] mask %[[USED]] : tensor<8x4xf32>, memref<{{.*}}>, i64, tensor<8x4xi64>
  tile.scatter %t, %x[%i, %ids] mask %used : tensor<8x4xf32>, !mem, i64, tensor<8x4xi64>
  // CHECK: tile.scatter %[[S]], %{{.*}}[%[[I]], %[[I]]] mask %{{.*}} : f32, memref<{{.*}}>, i64, i64
  tile.scatter %s, %x[%i, %i] mask %flag : f32, !mem, i64, i64
  // CHECK: tile.atomic_add %{{.*}}, %{{.*}}[%[[IDS]], %[[I]]] : tensor<8x4xf32>, memref<{{.*}}>, tensor<8x4xi64>, i64
  tile.atomic_add %t, %x[%ids, %i] : tensor<8x4xf32>, !mem, tensor<8x4xi64>, i64
  // CHECK: tile.atomic_add %[[S]], %{{.*}}[] : f32, memref<f32>
  tile.atomic_add %s, %number[] : f32, memref<f32>
  // CHECK: tile.extent %{{.*}} axis 1 : memref<?x?xf32, strided<[?, ?]>>
  %n = tile.extent %x axis 1 : !mem
  tile.return
}

// CHECK-LABEL: tile.kernel @help
tile.kernel @help(%i: i64, %x: f32, %t: tensor<4xf32>, %flag: i1, %flags: tensor<4xi1>) {
  // CHECK: tile.print "here"
  tile.print "here"
  // CHECK: tile.print "block {}:"(%{{.*}}, %{{.*}}) : i64, tensor<4xf32>
  tile.print "block {}:" (%i, %t) : i64, tensor<4xf32>
  // CHECK: tile.assert %{{.*}}, "in range" : i1
  tile.assert %flag, "in range" : i1
  // CHECK: tile.assert %{{.*}}, "sorted" : tensor<4xi1>
  tile.assert %flags, "sorted" : tensor<4xi1>
  // CHECK: tile.assert %{{.*}}, "{} of {}{}"(%{{.*}}, %{{.*}} : i64, f32) : i1
  tile.assert %flag, "{} of {}{}" (%i, %x : i64, f32) : i1
  tile.return
}
