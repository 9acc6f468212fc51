// What joins and ends softmax states keeps the rules of tile.online_softmax; parser errors of other words; regions without an op.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

func.func @merge(%m: tensor<8xf32>, %u: tensor<4x16xf32>) {
  // expected-error@+1 {{constraint 1: expected a tile and one value of its type a row, but got 'tensor<4x16xf32>' and 'tensor<8xf32>'}}
  %m1, %l1, %u1 = tile.merge (%m, %m, %u), (%m, %m, %u) scale 1.0 : tensor<8xf32>, tensor<4x16xf32>
  return
}

// -----

func.func @merge(%m: tensor<8xf32>, %u: tensor<8x16xf32>) {
  // expected-error@+1 {{constraint 2: expected a finite scale above 0, but got 0}}
  %m1, %l1, %u1 = tile.merge (%m, %m, %u), (%m, %m, %u) scale 0.0 : tensor<8xf32>, tensor<8x16xf32>
  return
}

// -----

func.func @finish(%m: tensor<8xf64>, %u: tensor<8x16xf32>) {
  // expected-error@+1 {{constraint 1: expected a tile and one value of its type a row, but got 'tensor<8x16xf32>' and 'tensor<8xf64>'}}
  %o, %l = tile.finish %m, %m, %u scale 1.0 : tensor<8xf64>, tensor<8x16xf32>
  return
}

// -----

func.func @finish(%m: tensor<8xf32>, %u: tensor<8x16xf32>) {
  // expected-error@+1 {{constraint 2: expected a finite scale above 0, but got}}
  %o, %l = tile.finish %m, %m, %u scale 0x7FF0000000000000 : tensor<8xf32>, tensor<8x16xf32>
  return
}

// -----

func.func @reduce(%x: tensor<8x16xf32>) {
  // expected-error@+2 {{expected ::tegula::tile::ReduceKind to be one of: add, max, maximum, minimum, argmax, and, or}}
  // expected-error@+1 {{failed to parse Tile_ReduceKindAttr}}
  %r = tile.reduce min %x : tensor<8x16xf32> -> tensor<8xf32>
  return
}

// -----

func.func @tiles(%x: tensor<8xindex>) {
  // expected-error@+1 {{must be tile (ranked tensor of static shape) of floating-point or signless integer values, but got 'tensor<8xindex>'}}
  %r = tile.broadcast %x : tensor<8xindex> -> tensor<8x16xindex>
  return
}

// -----

func.func @program(%n: i64) {
  // expected-error@+1 {{failed to verify that all of {extents, indices} have same type}}
  %a = "tile.program_id"(%n, %n) : (i64, i64) -> i64
  return
}

// -----

func.func @rows(%n: i64) {
  // expected-error@+1 {{attribute 'count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %a, %b = tile.row_span %n for 0
  return
}

// -----

func.func @mask(%n: i64) {
  // expected-error@+1 {{constraint 1: the mask region expects to yield one 'i1'}}
  %k = "tile.mask"(%n, %n) ({
  ^bb0(%i: i64, %j: i64):
  }) : (i64, i64) -> tensor<8x8xi1>
  return
}

// -----

// expected-error@+1 {{constraint 2: expected a body of one block that ends in tile.return}}
"tile.kernel"() <{sym_name = "x", function_type = () -> ()}> ({
^bb0:
}) : () -> ()

// -----

// expected-error@+1 {{constraint 2: expected a body of one block that ends in warp.return}}
"warp.kernel"() <{sym_name = "x", function_type = () -> ()}> ({
^bb0:
}) : () -> ()
