// One case a constraint and message of the tile dialect's verifiers and parsers; tile.attention and the schedule have files of their own.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{constraint 1: expected no results, but got 1}}
tile.kernel @results() -> i64 {
  tile.return
}

// -----

// expected-error@+1 {{constraint 2: expected a body of one block that ends in tile.return}}
tile.kernel @blocks() {
  cf.br ^end
^end:
  tile.return
}

// -----

// expected-error@+1 {{constraint 2: expected a body of one block that ends in tile.return}}
tile.kernel @terminator() {
  tile.yield
}

// -----

func.func @return() {
  // expected-error@+1 {{expects parent op 'tile.kernel'}}
  tile.return
}

// -----

func.func @lookup(%t: memref<?x?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 1: expected 2 indices, but got 1}}
  %s = tile.lookup %t[%i] : memref<?x?xf32>
  return
}

// -----

func.func @lookup(%t: memref<?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 2: result has the table's element type}}
  %s = "tile.lookup"(%t, %i) : (memref<?xf32>, i64) -> f16
  return
}

// -----

func.func @blocks(%n: i64, %x: f32) {
  // expected-error@+1 {{constraint 1: expected a body of the types 'i64', 'f32'}}
  %r = "tile.for_blocks"(%n, %n, %x) <{step = 16 : i64}> ({
  ^bb0(%i: i64):
    tile.yield %x : f32
  }, {}) : (i64, i64, f32) -> f32
  return
}

// -----

func.func @blocks(%n: i64, %x: f32) {
  // expected-error@+1 {{constraint 1: expected the body to yield 'f32'}}
  %r = tile.for_blocks %i = %n to %n step 16 iter_args(%y = %x) -> (f32) {
    tile.yield %i : i64
  }
  return
}

// -----

func.func @blocks(%n: i64, %x: f32) {
  // expected-error@+1 {{constraint 1: expected a body of the types 'i64', 'i1', 'f32'}}
  %r = tile.for_blocks %i = %n to %n step 16 iter_args(%y = %x) -> (f32) {
    tile.yield %y : f32
  } classes {
  ^bb0(%k: i64):
    %live = arith.cmpi sge, %k, %n : i64
    tile.yield %live, %live : i1, i1
  }
  return
}

// -----

func.func @blocks(%n: i64) {
  // expected-error@+1 {{constraint 3: expected classes that take an i64 and yield i1s}}
  tile.for_blocks %i = %n to %n step 16 {
  } classes {
  ^bb0(%k: i64):
    tile.yield %k : i64
  }
  return
}

// -----

func.func @blocks(%n: i64) {
  // expected-error@+1 {{constraint 2: expected a positive step, but got 0}}
  tile.for_blocks %i = %n to %n step 0 {
  }
  return
}

// -----

func.func @blocks(%n: i64, %x: f32) {
  // expected-error@+1 {{expected as many types as carried values}}
  %r = tile.for_blocks %i = %n to %n step 16 iter_args(%y = %x) -> (f32, f32) {
    tile.yield %y : f32
  }
  return
}

// -----

func.func @load(%m: memref<?x?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 1: expected 2 indices, but got 1}}
  %t = tile.load %m[%i] axes [0, 1] : memref<?x?xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @load(%m: memref<?x?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 2: expected 2 distinct axes of 'memref<?x?xf32>', but got [1, 1]}}
  %t = tile.load %m[%i, %i] axes [1, 1] : memref<?x?xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @load(%m: memref<?x?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 2: expected 2 distinct axes of 'memref<?x?xf32>', but got [0, 2]}}
  %t = tile.load %m[%i, %i] axes [0, 2] : memref<?x?xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @stages_across(%m: memref<?x?xf32>, %i: i64) {
  // expected-error @below {{constraint 4: `stages` go with a tile of rank 2 along memory's last axis, but got axes [1, 0]}}
  %t = tile.load %m[%i, %i] axes [1, 0] {stages = 2 : i64} : memref<?x?xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @load(%m: memref<?x?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 2: expected 1 distinct axes of 'memref<?x?xf32>', but got [0, 1]}}
  %t = tile.load %m[%i, %i] axes [0, 1] : memref<?x?xf32> -> tensor<8xf32>
  return
}

// -----

func.func @store(%t: tensor<8x8xf32>, %m: memref<?x?xf16>, %i: i64) {
  // expected-error@+1 {{constraint 3: expected equal element types, but got 'f16' and 'f32'}}
  tile.store %t, %m[%i, %i] axes [0, 1] : tensor<8x8xf32>, memref<?x?xf16>
  return
}

// -----

func.func @memory(%m: memref<?x?xf32, affine_map<(i, j) -> (i mod 4, j)>>, %i: i64) {
  // expected-error@+1 {{operand #0 must be}}
  %t = tile.load %m[%i, %i] axes [0, 1] : memref<?x?xf32, affine_map<(i, j) -> (i mod 4, j)>> -> tensor<8x8xf32>
  return
}

// -----

func.func @packed_without_heads(%m: memref<?x?xf32>, %i: i64) {
  // expected-error @below {{constraint 5: expected a shift, an end, and rows along an axis behind one that is none of the tile's, but got axes [0, 1]}}
  %t = tile.load %m[%i, %i] axes [0, 1] packed %i to %i : memref<?x?xf32> -> tensor<8x8xf32>
  return
}

// -----

func.func @packed_over_its_heads(%m: memref<?x?xf32>, %t: tensor<8x8xf32>, %i: i64) {
  // expected-error @below {{constraint 5: expected a shift, an end, and rows along an axis behind one that is none of the tile's, but got axes [1, 0]}}
  tile.store %t, %m[%i, %i] axes [1, 0] packed %i to %i : tensor<8x8xf32>, memref<?x?xf32>
  return
}
