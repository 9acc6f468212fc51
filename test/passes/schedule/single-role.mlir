// A tile program with layouts becomes one role of all its warpgroups; its place in the grid a loop, its blocks another.
// RUN: tegula-opt %s --tegula-single-role | FileCheck %s

// CHECK-LABEL: warp.kernel @program
// CHECK-SAME: schedule = #tile.program<threads = 256, ctas = 4>
// CHECK: warp.role "compute" warpgroups 2 registers 0
// CHECK: %[[A:.*]] = arith.muli %{{.*}}, %arg0
// CHECK: %[[TOTAL:.*]] = arith.muli %[[A]], %arg1
// CHECK: warp.for_tiles %[[T:.*]] of %[[TOTAL]]
// CHECK: arith.remsi %[[T]], %arg0
// CHECK: %[[REST:.*]] = arith.divsi %[[T]], %arg0
// CHECK: scf.for %{{.*}} = %[[REST]] to %arg1 step %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (i64)
// CHECK: warp.return
tile.kernel @program(%M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #tile.program<threads = 256, ctas = 4>} {
  %m, %n = tile.program_id of (%M, %N) : i64, i64
  %r = tile.for_blocks %k = %n to %N step 16 iter_args(%u = %m) -> (i64) {
    %v = arith.addi %u, %k : i64
    tile.yield %v : i64
  }
  tile.return
}
