// Loads move up to the load before them, past reductions and never past writes.
// RUN: tegula-opt %s --tegula-hoist-loads | FileCheck %s

!m = memref<?xf32, strided<[?]>>
!out = memref<?xf32, strided<[?]>>

// CHECK-LABEL: tile.kernel @norm
// CHECK: tile.load %arg0
// CHECK-NEXT: tile.load %arg1
// CHECK-NEXT: tile.reduce
tile.kernel @norm(%x: !m {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %w: !m {tile.name = "w", tile.dims = ["N"], tile.role = "in"},
                  %o: !m {tile.name = "o", tile.dims = ["N"], tile.role = "out"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #tile.program<threads = 128, ctas = 1>} {
  %zero = arith.constant 0 : i64
  %a = tile.load %x[%zero] axes [0] : !m -> tensor<1024xf32>
  %s = tile.reduce add %a : tensor<1024xf32> -> f32
  %b = tile.load %w[%zero] axes [0] : !m -> tensor<1024xf32>
  %t = tensor.splat %s : tensor<1024xf32>
  %c = arith.mulf %b, %t : tensor<1024xf32>
  tile.store %c, %o[%zero] axes [0] : tensor<1024xf32>, !m
  tile.return
}

// Not above what makes its index; not past a store; not what would take more registers than there is room for.
// CHECK-LABEL: tile.kernel @bounds
// CHECK: tile.load %arg0[%c0_i64] {{.*}} tensor<1024xf32>
// CHECK-NEXT: %[[R:.+]] = tile.reduce
// CHECK-NEXT: %[[AT:.+]] = arith.fptosi %[[R]]
// CHECK-NEXT: tile.load %arg0[%[[AT]]]
// CHECK-NEXT: tile.reduce
// CHECK: tile.store
// CHECK-NEXT: tile.reduce
// CHECK-NEXT: tile.load %arg0[%c0_i64] {{.*}} tensor<4096xf32>
tile.kernel @bounds(%x: !m {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %o: !m {tile.name = "o", tile.dims = ["N"], tile.role = "out"},
                    %N: i64 {tile.dim = "N"}) attributes {schedule = #tile.program<threads = 128, ctas = 1>} {
  %zero = arith.constant 0 : i64
  %a = tile.load %x[%zero] axes [0] : !m -> tensor<1024xf32>
  %s = tile.reduce add %a : tensor<1024xf32> -> f32
  %at = arith.fptosi %s : f32 to i64
  %m = tile.reduce maximum %a : tensor<1024xf32> -> f32
  %b = tile.load %x[%at] axes [0] : !m -> tensor<1024xf32>
  tile.store %b, %o[%zero] axes [0] : tensor<1024xf32>, !m
  %r = tile.reduce add %b : tensor<1024xf32> -> f32
  %c = tile.load %x[%zero] axes [0] : !m -> tensor<4096xf32>
  %t = tensor.splat %r : tensor<4096xf32>
  %n = tensor.splat %m : tensor<4096xf32>
  %d = arith.mulf %c, %t : tensor<4096xf32>
  %e = arith.mulf %d, %n : tensor<4096xf32>
  tile.store %e, %o[%zero] axes [0] : tensor<4096xf32>, !m
  tile.return
}
