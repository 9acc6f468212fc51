// The threads of a tile program: by its largest tile, more for the result of a matrix op than for others.
// RUN: tegula-opt %s --tegula-choose-threads | FileCheck %s
// RUN: tegula-opt %s "--tegula-choose-threads=set=threads=512" | FileCheck %s --check-prefix=FIXED
// RUN: not tegula-opt %s "--tegula-choose-threads=set=block_m=64" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tegula-opt %s "--tegula-choose-threads=set=threads=96" 2>&1 | FileCheck %s --check-prefix=NUMBER
// UNKNOWN: field `block_m` of the schedule has no effect on a tile program; known: threads, ctas
// NUMBER: expected `threads` of the schedule to be 128, 256, 512 or 1024, but got 96

!x = memref<?xf32, strided<[?]>>

// CHECK-LABEL: tile.kernel @small
// CHECK-SAME: schedule = #tile.program<threads = 128, ctas = 8>
// FIXED: schedule = #tile.program<threads = 512, ctas = 2>
tile.kernel @small(%x: !x {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"}) {
  %a = tile.load %x[%N] axes [0] : !x -> tensor<512xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @large
// CHECK-SAME: schedule = #tile.program<threads = 256, ctas = 4>
tile.kernel @large(%x: !x {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"}) {
  %a = tile.load %x[%N] axes [0] : !x -> tensor<4096xf32>
  tile.return
}

// Lane numbers and comparisons with them are no tiles to keep, though i64 is wide.
// CHECK-LABEL: tile.kernel @indices
// CHECK-SAME: schedule = #tile.program<threads = 256, ctas = 4>
tile.kernel @indices(%x: !x {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"}) {
  %a = tile.load %x[%N] axes [0] : !x -> tensor<4096xf32>
  %i = tile.iota : tensor<4096xi64>
  %n = tensor.splat %N : tensor<4096xi64>
  %j = arith.addi %i, %n : tensor<4096xi64>
  %is = arith.cmpi slt, %j, %n : tensor<4096xi64>
  tile.store %a, %x[%N] axes [0] mask %is : tensor<4096xf32>, !x
  tile.return
}

// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: schedule = #tile.program<threads = 256, ctas = 1>
tile.kernel @product(%N: i64 {tile.dim = "N"}) {
  %a = arith.constant dense<1.0> : tensor<128x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x128xbf16>
  %c = tile.dot %a, %b : tensor<128x32xbf16>, tensor<32x128xbf16> -> tensor<128x128xf32>
  tile.return
}

// A schedule that is already there stays.
// CHECK-LABEL: tile.kernel @kept
// CHECK-SAME: schedule = #tile.program<threads = 1024, ctas = 1>
tile.kernel @kept(%N: i64 {tile.dim = "N"}) attributes {schedule = #tile.program<threads = 1024, ctas = 1>} {
  tile.return
}
