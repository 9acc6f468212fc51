// The threads of a tile program: by the results of matrix ops and its largest other tile.
// RUN: tegula-opt %s --tegula-choose-threads | FileCheck %s
// RUN: tegula-opt %s "--tegula-choose-threads=set=threads=512" | FileCheck %s --check-prefix=FIXED
// RUN: not tegula-opt %s "--tegula-choose-threads=set=block_m=64" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tegula-opt %s "--tegula-choose-threads=set=threads=96" 2>&1 | FileCheck %s --check-prefix=NUMBER
// UNKNOWN: field `block_m` of the schedule has no effect on a tile program; known: threads, ctas
// NUMBER: expected `threads` of the schedule to be 128, 256, 512 or 1024, but got 96

!x = memref<?xf32, strided<[?]>>

// CHECK-LABEL: tile.kernel @small
// CHECK-SAME: schedule = #tile.program<threads = 128, ctas = 10>
// FIXED: schedule = #tile.program<threads = 512, ctas = 3>
tile.kernel @small(%x: !x {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"}) {
  %a = tile.load %x[%N] axes [0] : !x -> tensor<512xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @large
// CHECK-SAME: schedule = #tile.program<threads = 256, ctas = 5>
tile.kernel @large(%x: !x {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"}) {
  %a = tile.load %x[%N] axes [0] : !x -> tensor<4096xf32>
  tile.return
}

// Lane numbers and comparisons with them are no tiles to keep, though i64 is wide.
// CHECK-LABEL: tile.kernel @indices
// CHECK-SAME: schedule = #tile.program<threads = 256, ctas = 5>
tile.kernel @indices(%x: !x {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"}) {
  %a = tile.load %x[%N] axes [0] : !x -> tensor<4096xf32>
  %i = tile.iota : tensor<4096xi64>
  %n = tensor.splat %N : tensor<4096xi64>
  %j = arith.addi %i, %n : tensor<4096xi64>
  %is = arith.cmpi slt, %j, %n : tensor<4096xi64>
  tile.store %a, %x[%N] axes [0] mask %is : tensor<4096xf32>, !x
  tile.return
}

// A result fills more registers than other tiles do, and what is computed of it alone takes its place.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: schedule = #tile.program<threads = 128, ctas = 1>
tile.kernel @product(%x: !x {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"}) {
  %a = arith.constant dense<1.0> : tensor<128x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x128xbf16>
  %c = tile.dot %a, %b : tensor<128x32xbf16>, tensor<32x128xbf16> -> tensor<128x128xf32>
  %half = arith.constant dense<0.5> : tensor<128x128xf32>
  %d = arith.mulf %c, %half : tensor<128x128xf32>
  %v = tile.load %x[%N] axes [0] : !x -> tensor<128xf32>
  %w = tile.broadcast %v axes [1] : tensor<128xf32> -> tensor<128x128xf32>
  %f = arith.addf %d, %w : tensor<128x128xf32>
  %e = arith.truncf %f : tensor<128x128xf32> to tensor<128x128xbf16>
  tile.return
}

// Beside another tile of that size it does not; nor do two results take one place.
// CHECK-LABEL: tile.kernel @beside
// CHECK-SAME: schedule = #tile.program<threads = 512, ctas = 1>
tile.kernel @beside(%x: memref<?x?xf32, strided<[?, ?]>> {tile.name = "x", tile.dims = ["N", "N"], tile.role = "in"}, %N: i64 {tile.dim = "N"}) {
  %a = arith.constant dense<1.0> : tensor<64x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x128xbf16>
  %c = tile.dot %a, %b : tensor<64x32xbf16>, tensor<32x128xbf16> -> tensor<64x128xf32>
  %l = tile.load %x[%N, %N] axes [0, 1] : memref<?x?xf32, strided<[?, ?]>> -> tensor<64x128xf32>
  %d = arith.addf %c, %l : tensor<64x128xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @both
// CHECK-SAME: schedule = #tile.program<threads = 256, ctas = 1>
tile.kernel @both(%N: i64 {tile.dim = "N"}) {
  %a = arith.constant dense<1.0> : tensor<128x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x128xbf16>
  %c = tile.dot %a, %b : tensor<128x32xbf16>, tensor<32x128xbf16> -> tensor<128x128xf32>
  %d = tile.dot %a, %b : tensor<128x32xbf16>, tensor<32x128xbf16> -> tensor<128x128xf32>
  tile.return
}

// A schedule that is already there stays.
// CHECK-LABEL: tile.kernel @kept
// CHECK-SAME: schedule = #tile.program<threads = 1024, ctas = 1>
tile.kernel @kept(%N: i64 {tile.dim = "N"}) attributes {schedule = #tile.program<threads = 1024, ctas = 1>} {
  tile.return
}
