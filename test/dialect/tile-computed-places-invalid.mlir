// One case a constraint of memory at computed indices, and of masks.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

func.func @store(%x: memref<?xf32>, %i: i64, %t: tensor<8xf32>, %m: tensor<4xi1>) {
  // expected-error@+1 {{the mask has one i1 for each element}}
  "tile.store"(%t, %x, %i, %m) <{axes = array<i64: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> : (tensor<8xf32>, memref<?xf32>, i64, tensor<4xi1>) -> ()
  return
}

// -----

func.func @gather(%x: memref<?x?xf32>, %i: tensor<8xi64>) {
  // expected-error@+1 {{constraint 1: expected 2 indices, but got 1}}
  %r = tile.gather %x[%i] : memref<?x?xf32>, tensor<8xi64> -> tensor<8xf32>
  return
}

// -----

func.func @elements(%x: memref<?xf32>, %i: tensor<8xi64>) {
  // expected-error@+1 {{constraint 2: expected equal element types, but got 'f64' and 'f32'}}
  %r = tile.gather %x[%i] : memref<?xf32>, tensor<8xi64> -> tensor<8xf64>
  return
}

// -----

func.func @lanes(%x: memref<?xf32>, %i: tensor<4xi64>) {
  // expected-error@+1 {{constraint 3: expected index tiles of the shape of 'tensor<8xf32>', but got 'tensor<4xi64>'}}
  %r = tile.gather %x[%i] : memref<?xf32>, tensor<4xi64> -> tensor<8xf32>
  return
}

// -----

func.func @index(%x: memref<?xf32>, %i: tensor<8xi32>) {
  // expected-error@+1 {{operand #1 must be variadic of 64-bit signless integer or tile (ranked tensor of static shape) of 64-bit signless integer values, but got 'tensor<8xi32>'}}
  %r = tile.gather %x[%i] : memref<?xf32>, tensor<8xi32> -> tensor<8xf32>
  return
}

// -----

func.func @fill(%x: memref<?xf32>, %i: i64, %f: f64) {
  // expected-error@+1 {{the fill value has memory's element type}}
  %r = "tile.gather"(%x, %i, %f) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (memref<?xf32>, i64, f64) -> tensor<8xf32>
  return
}

// -----

func.func @scatter(%x: memref<?xf32>, %t: tensor<8xf32>) {
  // expected-error@+1 {{constraint 1: expected 1 indices, but got 0}}
  tile.scatter %t, %x[] : tensor<8xf32>, memref<?xf32>
  return
}

// -----

func.func @scatter_elements(%x: memref<?xf32>, %i: i64, %t: f64) {
  // expected-error@+1 {{constraint 2: expected equal element types, but got 'f64' and 'f32'}}
  tile.scatter %t, %x[%i] : f64, memref<?xf32>, i64
  return
}

// -----

func.func @scatter_scalar(%x: memref<?xf32>, %i: tensor<8xi64>, %s: f32) {
  // expected-error@+1 {{constraint 3: expected index tiles of the shape of 'f32', but got 'tensor<8xi64>'}}
  tile.scatter %s, %x[%i] : f32, memref<?xf32>, tensor<8xi64>
  return
}

// -----

func.func @scatter_mask(%x: memref<?xf32>, %i: i64, %s: f32, %m: tensor<1xi1>) {
  // expected-error@+1 {{the mask has one i1 for each element}}
  "tile.scatter"(%s, %x, %i, %m) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (f32, memref<?xf32>, i64, tensor<1xi1>) -> ()
  return
}

// -----

func.func @atomic(%x: memref<?xf32>, %i: tensor<8xi64>, %s: tensor<4xf32>) {
  // expected-error@+1 {{constraint 3: expected index tiles of the shape of 'tensor<4xf32>', but got 'tensor<8xi64>'}}
  tile.atomic_add %s, %x[%i] : tensor<4xf32>, memref<?xf32>, tensor<8xi64>
  return
}

// -----

func.func @atomic_flags(%x: memref<?xi1>, %i: i64, %s: i1) {
  // expected-error@+1 {{constraint 4: expected numbers, but got i1}}
  tile.atomic_add %s, %x[%i] : i1, memref<?xi1>, i64
  return
}

// -----

func.func @assert(%x: i32) {
  // expected-error@+1 {{operand #0 must be 1-bit signless integer or tile (ranked tensor of static shape) of 1-bit signless integer values, but got 'i32'}}
  "tile.assert"(%x) <{message = "m"}> : (i32) -> ()
  return
}

// -----

func.func @assert_marks(%ok: i1, %x: i64) {
  // expected-error@+1 {{constraint 1: expected a `{}` in the message for each value, but got 1 and 2}}
  tile.assert %ok, "{} is wrong" (%x, %x : i64, i64) : i1
  return
}

// -----

func.func @assert_tile(%ok: tensor<4xi1>, %x: i64) {
  // expected-error@+1 {{constraint 2: expected a scalar condition beside values, but got 'tensor<4xi1>'}}
  tile.assert %ok, "{} is wrong" (%x : i64) : tensor<4xi1>
  return
}

// -----

func.func @extent(%x: memref<?xf32>) {
  // expected-error@+1 {{constraint 1: expected an axis of 'memref<?xf32>', but got 1}}
  %n = tile.extent %x axis 1 : memref<?xf32>
  return
}
