// Folds of the tile dialect, one a function.
// RUN: tegula-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: tile.kernel @folds
tile.kernel @folds(%o: memref<?x?xf32, strided<[?, ?]>>, %i: memref<?x?xf32, strided<[?, ?]>>) {
  %z = arith.constant 0 : i64
  %S = tile.load %i[%z, %z] axes [0, 1] : memref<?x?xf32, strided<[?, ?]>> -> tensor<64x64xf32>
  %hidden = arith.constant dense<0.0> : tensor<64x64xf32>
  // A mask that is true everywhere hides nothing.
  // CHECK-NOT: tile.mask
  %keep = tile.mask rows(%z) cols(%z) { ^bb0(%r: i64, %c: i64): %t = arith.constant true tile.yield %t : i1 } : tensor<64x64xi1>
  %v = arith.select %keep, %S, %hidden : tensor<64x64xi1>, tensor<64x64xf32>
  // CHECK-NOT: tile.map
  %s = tile.map %v rows(%z) cols(%z) { ^bb0(%x: f32, %r: i64, %c: i64): tile.yield %x : f32 } : (tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK-NOT: tile.scale_rows
  %ones = arith.constant dense<1.0> : tensor<64xf32>
  %u = tile.scale_rows %s, %ones : tensor<64x64xf32>, tensor<64xf32>
  // CHECK-NOT: tile.any
  %flags = arith.constant dense<false> : tensor<64xi1>
  %any = tile.any %flags : tensor<64xi1>
  // CHECK-NOT: tile.broadcast
  %two = arith.constant dense<2.0> : tensor<64xf32>
  %b = tile.broadcast %two : tensor<64xf32> -> tensor<64x64xf32>
  %p = arith.select %any, %b, %u : tensor<64x64xf32>
  // CHECK: %[[S:.*]] = tile.load
  // CHECK: tile.store %[[S]],
  tile.store %p, %o[%z, %z] axes [0, 1] : tensor<64x64xf32>, memref<?x?xf32, strided<[?, ?]>>
  tile.return
}

// CHECK-LABEL: tile.kernel @classes
tile.kernel @classes(%lo: i64, %hi: i64, %x: f32) {
  // Classes that let every block pass, and say nothing else.
  // CHECK: tile.for_blocks
  // CHECK-NOT: classes
  // CHECK: tile.return
  tile.for_blocks %n = %lo to %hi step 16 {
    tile.print "{}" (%n) : i64
  } classes {
  ^bb0(%k: i64):
    %live = arith.constant true
    tile.yield %live : i1
  }
  tile.return
}

// What the arguments say of the extents of tables.
// CHECK-LABEL: tile.kernel @extents
// CHECK-SAME: %[[X:[^:]*]]: memref<?x7x?xf32>
// CHECK-SAME: %[[O:[^:]*]]: memref<?xf32>
// CHECK-SAME: %[[N:[^:]*]]: i64 {tile.dim = "N"}
tile.kernel @extents(%x: memref<?x7x?xf32> {tile.name = "x", tile.role = "in", tile.dims = ["N", 7, "(+ N 1)"]},
                     %o: memref<?xf32> {tile.name = "o", tile.role = "out", tile.dims = ["N"]}, %N: i64 {tile.dim = "N"}) {
  %a = tile.extent %x axis 0 : memref<?x7x?xf32>
  %b = tile.extent %x axis 1 : memref<?x7x?xf32>
  // CHECK: %[[C:.*]] = tile.extent %[[X]] axis 2
  %c = tile.extent %x axis 2 : memref<?x7x?xf32>
  // An output that is not wanted has none.
  // CHECK: %[[D:.*]] = tile.extent %[[O]] axis 0
  %d = tile.extent %o axis 0 : memref<?xf32>
  // CHECK: tile.print "extents"(%[[N]], %c7{{.*}}, %[[C]], %[[D]])
  tile.print "extents" (%a, %b, %c, %d) : i64, i64, i64, i64
  tile.return
}
