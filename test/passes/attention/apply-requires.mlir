// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-apply-requires))' --split-input-file | FileCheck %s

// A program that runs has heads, so G > 0 and H / G > 0 follow from what is required.
// CHECK-LABEL: tile.kernel @group
// CHECK-SAME: %[[H:[^ ]*]]: i64 {tile.dim = "H"}, %[[G:[^ ]*]]: i64
tile.kernel @group(%x: memref<?xi64>, %H: i64 {tile.dim = "H"}, %G: i64 {tile.dim = "G"})
    attributes {tile.requires = [{expr = "(|| (== H 0) (&& (> G 0) (== (% H G) 0)))", place = "", text = ""}]} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  // CHECK: %[[ID:.*]] = tile.program_id
  %h = tile.program_id of (%H) : i64
  // CHECK-NEXT: %[[RATIO:.*]] = arith.divsi %[[H]], %[[G]] : i64
  // CHECK-NEXT: %[[KV:.*]] = arith.divsi %[[ID]], %[[RATIO]] : i64
  // CHECK-NEXT: tile.scatter %[[KV]]
  %noGroups = arith.cmpi eq, %G, %zero : i64
  %groups = arith.select %noGroups, %one, %G : i64
  %q = arith.divsi %H, %groups : i64
  %ratio = arith.select %noGroups, %zero, %q : i64
  %noRatio = arith.cmpi eq, %ratio, %zero : i64
  %heads = arith.select %noRatio, %one, %ratio : i64
  %r = arith.divsi %h, %heads : i64
  %g = arith.select %noRatio, %zero, %r : i64
  tile.scatter %g, %x[%h] : i64, memref<?xi64>, i64
  tile.return
}

// -----

// Without `H % G == 0` the quotient may be 0, and without a grid over heads G may.
// CHECK-LABEL: tile.kernel @guarded
tile.kernel @guarded(%x: memref<?xi64>, %H: i64 {tile.dim = "H"}, %G: i64 {tile.dim = "G"}, %N: i64 {tile.dim = "N"})
    attributes {tile.requires = [{expr = "(|| (== H 0) (> G 0))", place = "", text = ""}]} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = tile.program_id of (%N) : i64
  // CHECK: %[[TEST:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}}
  // CHECK: arith.select %[[TEST]]
  // CHECK: arith.divsi
  // CHECK: arith.select %[[TEST]]
  %noGroups = arith.cmpi eq, %G, %zero : i64
  %groups = arith.select %noGroups, %one, %G : i64
  %q = arith.divsi %H, %groups : i64
  %ratio = arith.select %noGroups, %zero, %q : i64
  tile.scatter %ratio, %x[%n] : i64, memref<?xi64>, i64
  tile.return
}

// -----

// A scalar parameter, in element code and on a tile; blocks of a grid have an extent, too.
// CHECK-LABEL: tile.kernel @parameter
// CHECK-SAME: %[[BS:[^ ]*]]: i32 {tile.name = "BS"}
tile.kernel @parameter(%y: memref<?x?xi64>, %BS: i32 {tile.name = "BS"}, %N: i64 {tile.dim = "N"})
    attributes {tile.requires = [{expr = "(&& (>= BS 1) (< BS 64))", place = "", text = ""}]} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 8 : i64
  %blocks = arith.ceildivsi %N, %rows : i64
  %n = tile.program_id of (%blocks) : i64
  %size = arith.extsi %BS : i32 to i64
  // CHECK: tile.map
  // CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %{{.*}}: i64):
  // CHECK-NEXT: %[[Q:.*]] = arith.divsi %[[I]], %{{.*}} : i64
  // CHECK-NEXT: tile.yield %[[Q]]
  %map = tile.map rows(%zero) cols(%zero) {
  ^bb0(%i: i64, %j: i64):
    %none = arith.cmpi eq, %size, %zero : i64
    %safe = arith.select %none, %one, %size : i64
    %q = arith.divsi %i, %safe : i64
    %r = arith.select %none, %zero, %q : i64
    tile.yield %r : i64
  } : () -> tensor<8x8xi64>
  // CHECK-NOT: arith.select
  // CHECK: tile.store
  %zeros = arith.constant dense<0> : tensor<8x8xi64>
  %ones = arith.constant dense<1> : tensor<8x8xi64>
  %length = tensor.splat %N : tensor<8x8xi64>
  %empty = arith.cmpi eq, %length, %zeros : tensor<8x8xi64>
  %full = arith.select %empty, %ones, %length : tensor<8x8xi1>, tensor<8x8xi64>
  %rest = arith.remsi %map, %full : tensor<8x8xi64>
  tile.store %rest, %y[%zero, %zero] axes [0, 1] : tensor<8x8xi64>, memref<?x?xi64>
  tile.return
}
