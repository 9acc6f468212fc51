// Indices of elements that fit are compared as i32, by the code that makes them.
// RUN: tegula-opt %s --tegula-narrow-tiles --cse | FileCheck %s

!m = memref<?xf32, strided<[?]>>

// Lanes against a dim, as bounds are tested; the lanes were i32 before.
// CHECK-LABEL: tile.kernel @bound
// CHECK: %[[LANES:.+]] = tile.iota : tensor<64xi32>
// CHECK: %[[N:.+]] = arith.trunci %arg1 : i64 to i32
// CHECK: %[[SPLAT:.+]] = tensor.splat %[[N]] : tensor<64xi32>
// CHECK: arith.cmpi slt, %[[LANES]], %[[SPLAT]] : tensor<64xi32>
// CHECK-NOT: tensor<64xi64>
// CHECK: tile.return
tile.kernel @bound(%x: !m {tile.name = "x", tile.dims = ["N"], tile.role = "out"}, %N: i64 {tile.dim = "N"}) {
  %zero = arith.constant 0 : i64
  %lane = tile.iota : tensor<64xi32>
  %wide = arith.extsi %lane : tensor<64xi32> to tensor<64xi64>
  %n = tensor.splat %N : tensor<64xi64>
  %in = arith.cmpi slt, %wide, %n : tensor<64xi64>
  %a = tile.load %x[%zero] axes [0] : !m -> tensor<64xf32>
  tile.store %a, %x[%zero] axes [0] mask %in : tensor<64xf32>, !m
  tile.return
}

// Sums and products with places in the grid and in a loop; a conversion and a truncation.
// CHECK-LABEL: tile.kernel @sums
// CHECK: arith.addi %{{.*}} : tensor<64xi32>
// CHECK: %[[I:.+]] = tile.broadcast %{{.*}} : tensor<64xi32> -> tensor<64x32xi32>
// CHECK: arith.remsi %[[I]], %{{.*}} : tensor<64x32xi32>
// CHECK: arith.cmpi eq, %{{.*}} : tensor<64x32xi32>
// CHECK: arith.sitofp %{{.*}} : tensor<64xi32> to tensor<64xf32>
tile.kernel @sums(%x: !m {tile.name = "x", tile.dims = ["N"], tile.role = "out"}, %N: i64 {tile.dim = "N"}) {
  %zero = arith.constant 0 : i64
  %size = arith.constant 64 : i64
  %p = tile.program_id of (%N) : i64
  %first = arith.addi %p, %size : i64
  %end = arith.addi %N, %size : i64
  tile.for_blocks %b = %first to %end step 64 {
    %lane = tile.iota : tensor<64xi64>
    %base = tensor.splat %b : tensor<64xi64>
    %i = arith.addi %base, %lane : tensor<64xi64>
    %rows = tile.broadcast %i axes [0] : tensor<64xi64> -> tensor<64x32xi64>
    %seven = arith.constant dense<7> : tensor<64x32xi64>
    %three = arith.constant dense<3> : tensor<64x32xi64>
    %rest = arith.remsi %rows, %seven : tensor<64x32xi64>
    %is = arith.cmpi eq, %rest, %three : tensor<64x32xi64>
    %any = tile.any %is : tensor<64x32xi1>
    %f = arith.sitofp %i : tensor<64xi64> to tensor<64xf32>
    scf.if %any {
      tile.store %f, %x[%b] axes [0] : tensor<64xf32>, !m
    }
  }
  tile.return
}

// What may not fit stays: a product of two dims, and a number that a tensor holds.
// CHECK-LABEL: tile.kernel @wide
// CHECK: arith.cmpi slt, %{{.*}} : tensor<64xi64>
// CHECK: arith.cmpi slt, %{{.*}} : tensor<64xi64>
tile.kernel @wide(%x: memref<?xi64, strided<[?]>> {tile.name = "x", tile.dims = ["N"], tile.role = "out"}, %N: i64 {tile.dim = "N"}) {
  %zero = arith.constant 0 : i64
  %square = arith.muli %N, %N : i64
  %lane = tile.iota : tensor<64xi64>
  %n = tensor.splat %square : tensor<64xi64>
  %a = tile.load %x[%zero] axes [0] : memref<?xi64, strided<[?]>> -> tensor<64xi64>
  %in = arith.cmpi slt, %lane, %n : tensor<64xi64>
  %less = arith.cmpi slt, %a, %lane : tensor<64xi64>
  %both = arith.andi %in, %less : tensor<64xi1>
  tile.store %a, %x[%zero] axes [0] mask %both : tensor<64xi64>, memref<?xi64, strided<[?]>>
  tile.return
}
