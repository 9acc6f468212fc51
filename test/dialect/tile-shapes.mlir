// Ops that make tiles, change their shape, or reduce them: through text twice, and through the generic form.
// RUN: tegula-opt %s | FileCheck %s

// CHECK-LABEL: tile.kernel @shapes
tile.kernel @shapes(%x: tensor<8x16xf32>, %row: tensor<16xf32>, %unit: tensor<8x1xf32>, %cube: tensor<2x3x4xi32>) {
  // CHECK: tile.iota : tensor<128xi32>
  %lanes = tile.iota : tensor<128xi32>
  // CHECK: tile.iota : tensor<4xi64>
  %wide = tile.iota : tensor<4xi64>
  // CHECK: tile.broadcast %{{.*}} axes [1] : tensor<16xf32> -> tensor<8x16xf32>
  %along = tile.broadcast %row axes [1] : tensor<16xf32> -> tensor<8x16xf32>
  // CHECK: tile.broadcast %{{.*}} axes [0, 1] : tensor<8x1xf32> -> tensor<8x16xf32>
  %stretched = tile.broadcast %unit axes [0, 1] : tensor<8x1xf32> -> tensor<8x16xf32>
  // CHECK: tile.broadcast %{{.*}} axes [0, 2] : tensor<8x1xf32> -> tensor<8x3x16xf32>
  %between = tile.broadcast %unit axes [0, 2] : tensor<8x1xf32> -> tensor<8x3x16xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<16xf32> -> tensor<16x2xf32>
  %default = tile.broadcast %row axes [0] : tensor<16xf32> -> tensor<16x2xf32>
  // CHECK: tile.transpose %{{.*}} permutation [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  %turned = tile.transpose %x permutation [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>
  // CHECK: tile.transpose %{{.*}} permutation [2, 0, 1] : tensor<2x3x4xi32> -> tensor<4x2x3xi32>
  %rolled = tile.transpose %cube permutation [2, 0, 1] : tensor<2x3x4xi32> -> tensor<4x2x3xi32>
  // CHECK: tile.reshape %{{.*}} : tensor<8x16xf32> -> tensor<128xf32>
  %flat = tile.reshape %x : tensor<8x16xf32> -> tensor<128xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @reductions
tile.kernel @reductions(%x: tensor<8x16xf32>, %row: tensor<16xi32>, %flags: tensor<8x16xi1>, %one: f32) {
  // CHECK: tile.reduce max %{{.*}} : tensor<8x16xf32> -> tensor<8xf32>
  %max = tile.reduce max %x : tensor<8x16xf32> -> tensor<8xf32>
  // CHECK: tile.reduce add %{{.*}} axis 0 : tensor<8x16xf32> -> tensor<16xf32>
  %sum = tile.reduce add %x axis 0 : tensor<8x16xf32> -> tensor<16xf32>
  // CHECK: tile.reduce minimum %{{.*}} axis 1 : tensor<8x16xf32> -> tensor<8xf32>
  %min = tile.reduce minimum %x axis 1 : tensor<8x16xf32> -> tensor<8xf32>
  // CHECK: tile.reduce maximum %{{.*}} : tensor<16xi32> -> i32
  %largest = tile.reduce maximum %row : tensor<16xi32> -> i32
  // CHECK: tile.reduce argmax %{{.*}} axis 0 : tensor<8x16xf32> -> tensor<16xi32>
  %place = tile.reduce argmax %x axis 0 : tensor<8x16xf32> -> tensor<16xi32>
  // CHECK: tile.reduce and %{{.*}} : tensor<8x16xi1> -> tensor<8xi1>
  %all = tile.reduce and %flags : tensor<8x16xi1> -> tensor<8xi1>
  // CHECK: tile.reduce or %{{.*}} axis 0 : tensor<8xi1> -> i1
  %any = tile.reduce or %all axis 0 : tensor<8xi1> -> i1
  // CHECK: tile.combine %{{.*}} init %{{.*}} axis 1 {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[C:.*]] = arith.mulf %[[A]], %[[B]] : f32
  // CHECK-NEXT: tile.yield %[[C]] : f32
  // CHECK-NEXT: } : tensor<8x16xf32> -> tensor<8xf32>
  %product = tile.combine %x init %one axis 1 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    tile.yield %c : f32
  } : tensor<8x16xf32> -> tensor<8xf32>
  // CHECK: tile.cumsum %{{.*}} axis 1 : tensor<8x16xf32>
  %running = tile.cumsum %x axis 1 : tensor<8x16xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @integers
tile.kernel @integers(%a: tensor<8x16xi8>, %b: tensor<16x4xi8>, %c: tensor<8x4xi32>, %d: tensor<4x4xi32>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}} acc(%{{.*}} : tensor<8x4xi32>) : tensor<8x16xi8>, tensor<16x4xi8> -> tensor<8x4xi32>
  %x = tile.dot %a, %b acc(%c : tensor<8x4xi32>) : tensor<8x16xi8>, tensor<16x4xi8> -> tensor<8x4xi32>
  // CHECK: tile.dot %{{.*}}, %{{.*}} : tensor<8x4xi32>, tensor<4x4xi32> -> tensor<8x4xi32>
  %y = tile.dot %c, %d : tensor<8x4xi32>, tensor<4x4xi32> -> tensor<8x4xi32>
  tile.return
}
