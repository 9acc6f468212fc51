// Blocked layouts and the ops on tiles of the whole CTA, read and printed.
// RUN: tegula-opt %s | FileCheck %s

#row = #warp.blocked<registers = [[0, 1, 4]], threads = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [0, 256]]>
#copies = #warp.blocked<registers = [[0, 1, 4]], threads = [[0, 4], [0, 8], [], [], [], [], []]>
#product = #warp.blocked<registers = [[1, 1, 2], [0, 8, 2]], threads = [[1, 2], [1, 4], [0, 1], [0, 2], [0, 4], [], []]>
#lines = #warp.blocked<registers = [[1, 1, 2]], threads = [[1, 2], [1, 4], [0, 1], [0, 2], [0, 4], [0, 8], []]>

// CHECK-LABEL: func.func @layouts
// CHECK-SAME: tensor<512xf32, #warp.blocked<registers = {{\[\[}}0, 1, 4]], threads = {{\[\[}}0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128], [0, 256]]>>
// CHECK-SAME: tensor<16xf32, #warp.blocked<registers = {{\[\[}}0, 1, 4]], threads = {{\[\[}}0, 4], [0, 8], [], [], [], [], []]>>
func.func @layouts(%x: tensor<512xf32, #row>, %y: tensor<16xf32, #copies>, %a: tensor<16x8xbf16, #lines>, %b: tensor<8x8xbf16, #lines>, %c: tensor<16x8xf32, #product>) {
  // Places past an extent may be left over.
  // CHECK: warp.convert %{{.*}} : tensor<16xf32, {{.*}}> -> tensor<16xf32, {{.*}}>
  %0 = warp.convert %y : tensor<16xf32, #copies> -> tensor<16xf32, #row>
  // CHECK: warp.dot %{{.*}}, %{{.*}} transpose_b acc(%{{.*}} : tensor<16x8xf32, {{.*}}>) : tensor<16x8xbf16, {{.*}}>, tensor<8x8xbf16, {{.*}}> -> tensor<16x8xf32
  %1 = warp.dot %a, %b transpose_b acc(%c : tensor<16x8xf32, #product>) : tensor<16x8xbf16, #lines>, tensor<8x8xbf16, #lines> -> tensor<16x8xf32, #product>
  // CHECK: warp.fence
  warp.fence
  return
}
