// What reads neither an index nor an element is computed ahead of the loop; divisions, which may trap, and tables that the kernel writes stay.
// RUN: tegula-opt %s --tegula-hoist-uniform | FileCheck %s

// CHECK-LABEL: tile.kernel @slopes
// CHECK-SAME: %[[SLOPE:[^ ]+]]: memref<?xf32> {tile.name = "slope", tile.role = "in"}, %[[OUT:[^ ]+]]: memref<?xf32> {tile.name = "out", tile.role = "out"}
tile.kernel @slopes(%slope: memref<?xf32> {tile.name = "slope", tile.role = "in"}, %out: memref<?xf32> {tile.name = "out", tile.role = "out"}, %s: tensor<64x32xf32>, %o: memref<?x?xf32>,
                    %M: i64, %N: i64, %h: i64) {
  %zero = arith.constant 0 : i64
  %u0 = arith.constant dense<0.0> : tensor<64x32xf32>
  // CHECK: %[[ONCE:.*]] = tile.lookup %[[SLOPE]][%{{.*}}]
  // CHECK-NEXT: %[[D:.*]] = arith.subi %{{.*}}, %{{.*}} : i64
  // CHECK-NEXT: tile.for_blocks %[[J:[^ ]+]] = 
  %r = tile.for_blocks %n = %zero to %N step 32 iter_args(%u = %u0) -> (tensor<64x32xf32>) {
    // A function of the block's number goes ahead of the map.
    // CHECK-NEXT: %[[TWICE:.*]] = arith.addi %[[J]], %[[J]]
    // CHECK-NEXT: tile.map
    // CHECK: tile.lookup %[[OUT]]
    // CHECK-NEXT: arith.subi %{{.*}}, %[[D]]
    // CHECK-NEXT: arith.divsi
    // CHECK: arith.mulf %[[ONCE]], %{{.*}}
    %x = tile.map %s rows(%zero) cols(%n) {
    ^bb0(%score: f32, %i: i64, %j: i64):
      %c = tile.lookup %slope[%h] : memref<?xf32>
      %w = tile.lookup %out[%h] : memref<?xf32>
      %d = arith.subi %N, %M : i64
      %twice = arith.addi %n, %n : i64
      %back = arith.subi %j, %d : i64
      %q = arith.divsi %h, %M : i64
      %some = arith.addi %q, %twice : i64
      %all = arith.addi %back, %some : i64
      %f = arith.sitofp %all : i64 to f32
      %b = arith.mulf %c, %f : f32
      %bw = arith.mulf %b, %w : f32
      %y = arith.addf %score, %bw : f32
      tile.yield %y : f32
    } : (tensor<64x32xf32>) -> tensor<64x32xf32>
    %u1 = arith.addf %u, %x : tensor<64x32xf32>
    tile.yield %u1 : tensor<64x32xf32>
  }
  tile.store %r, %o[%zero, %zero] axes [0, 1] : tensor<64x32xf32>, memref<?x?xf32>
  tile.return
}
