// One case a constraint of the ops that make tiles, change their shape, or reduce them.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

func.func @iota() {
  // expected-error@+1 {{constraint 1: expected a tile of rank 1 of i32 or i64, but got 'tensor<8xf32>'}}
  %r = tile.iota : tensor<8xf32>
  return
}

// -----

func.func @iota() {
  // expected-error@+1 {{constraint 1: expected a tile of rank 1 of i32 or i64, but got 'tensor<2x4xi32>'}}
  %r = tile.iota : tensor<2x4xi32>
  return
}

// -----

func.func @broadcast(%x: tensor<8xf32>) {
  // expected-error@+1 {{constraint 1: expected the axes of 'tensor<8xf32>' to be axes [0] of 'tensor<8x16xf64>'}}
  %r = tile.broadcast %x : tensor<8xf32> -> tensor<8x16xf64>
  return
}

// -----

func.func @extent(%x: tensor<8xf32>) {
  // expected-error@+1 {{constraint 1: expected the axes of 'tensor<8xf32>' to be axes [1] of 'tensor<8x16xf32>'}}
  %r = tile.broadcast %x axes [1] : tensor<8xf32> -> tensor<8x16xf32>
  return
}

// -----

func.func @order(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{constraint 1: expected the axes of 'tensor<4x4xf32>' to be axes [1, 0] of 'tensor<4x4xf32>'}}
  %r = tile.broadcast %x axes [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @count(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{constraint 1: expected the axes of 'tensor<4x4xf32>' to be axes [0] of 'tensor<4x4xf32>'}}
  %r = tile.broadcast %x : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @range(%x: tensor<4xf32>) {
  // expected-error@+1 {{constraint 1: expected the axes of 'tensor<4xf32>' to be axes [2] of 'tensor<4x4xf32>'}}
  %r = tile.broadcast %x axes [2] : tensor<4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @transpose(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{constraint 1: expected 'tensor<4x8xf32>' to be 'tensor<4x8xf32>' with its axes in the order [1, 0]}}
  %r = tile.transpose %x permutation [1, 0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @permutation(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{constraint 1: expected 'tensor<4x4xf32>' to be 'tensor<4x4xf32>' with its axes in the order [0, 0]}}
  %r = tile.transpose %x permutation [0, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @reshape(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{constraint 1: expected as many elements of one type, but got 'tensor<4x8xf32>' and 'tensor<16xf32>'}}
  %r = tile.reshape %x : tensor<4x8xf32> -> tensor<16xf32>
  return
}

// -----

func.func @reduce(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{constraint 1: expected a result of 'tensor<8xf32>', but got 'tensor<16xf32>'}}
  %r = tile.reduce max %x : tensor<8x16xf32> -> tensor<16xf32>
  return
}

// -----

func.func @scalar(%x: tensor<8xf32>) {
  // expected-error@+1 {{constraint 1: expected a result of 'f32', but got 'tensor<1xf32>'}}
  %r = tile.reduce add %x : tensor<8xf32> -> tensor<1xf32>
  return
}

// -----

func.func @axis(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{constraint 1: expected an axis of 'tensor<8x16xf32>', but got 2}}
  %r = tile.reduce add %x axis 2 : tensor<8x16xf32> -> tensor<8xf32>
  return
}

// -----

func.func @argmax(%x: tensor<8x16xf32>) {
  // expected-error@+1 {{constraint 1: expected a result of 'tensor<8xi32>', but got 'tensor<8xf32>'}}
  %r = tile.reduce argmax %x : tensor<8x16xf32> -> tensor<8xf32>
  return
}

// -----

func.func @max(%x: tensor<8x16xi32>) {
  // expected-error@+1 {{constraint 2: `max` does not take elements of 'i32'}}
  %r = tile.reduce max %x : tensor<8x16xi32> -> tensor<8xi32>
  return
}

// -----

func.func @flags(%x: tensor<8x16xi1>) {
  // expected-error@+1 {{constraint 2: `add` does not take elements of 'i1'}}
  %r = tile.reduce add %x : tensor<8x16xi1> -> tensor<8xi1>
  return
}

// -----

func.func @and(%x: tensor<8x16xi32>) {
  // expected-error@+1 {{constraint 2: `and` does not take elements of 'i32'}}
  %r = tile.reduce and %x : tensor<8x16xi32> -> tensor<8xi32>
  return
}

// -----

func.func @combine(%x: tensor<8xf32>, %i: f32) {
  // expected-error@+1 {{constraint 1: expected a result of 'f32', but got 'tensor<8xf32>'}}
  %r = tile.combine %x init %i axis 0 { ^bb0(%a: f32, %b: f32): tile.yield %a : f32 } : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @init(%x: tensor<8xf32>, %i: f64) {
  // expected-error@+1 {{constraint 2: init is an element of the tile}}
  %r = "tile.combine"(%x, %i) <{axis = 0 : i64}> ({ ^bb0(%a: f32, %b: f32): tile.yield %a : f32 }) : (tensor<8xf32>, f64) -> f32
  return
}

// -----

func.func @region(%x: tensor<8xf32>, %i: f32) {
  // expected-error@+1 {{constraint 3: the combining region expects arguments 'f32', 'f32', but has 'f32'}}
  %r = tile.combine %x init %i axis 0 { ^bb0(%a: f32): tile.yield %a : f32 } : tensor<8xf32> -> f32
  return
}

// -----

func.func @cumsum(%x: tensor<8xf32>) {
  // expected-error@+1 {{constraint 1: expected an axis of 'tensor<8xf32>', but got 1}}
  %r = tile.cumsum %x axis 1 : tensor<8xf32>
  return
}

// -----

func.func @cumsum_flags(%x: tensor<8xi1>) {
  // expected-error@+1 {{constraint 2: expected numbers, but got i1}}
  %r = tile.cumsum %x axis 0 : tensor<8xi1>
  return
}

// -----

func.func @dot(%a: tensor<8x8xi16>) {
  // expected-error@+1 {{constraint 3: expected operands of floats, i8 or i32, but got 'i16'}}
  %r = tile.dot %a, %a : tensor<8x8xi16>, tensor<8x8xi16> -> tensor<8x8xi32>
  return
}

// -----

func.func @dot_result(%a: tensor<8x8xi8>) {
  // expected-error@+1 {{constraint 3: expected a result of 'i32', but got 'i8'}}
  %r = tile.dot %a, %a : tensor<8x8xi8>, tensor<8x8xi8> -> tensor<8x8xi8>
  return
}
