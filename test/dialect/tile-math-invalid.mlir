// One case a constraint and message of the ops on tiles.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

func.func @mask(%n: i64) {
  // expected-error@+1 {{constraint 1: the mask region expects arguments 'i64', 'i64', but has 'i64'}}
  %k = tile.mask rows(%n) cols(%n) {
  ^bb0(%i: i64):
    %c = arith.constant true
    tile.yield %c : i1
  } : tensor<8x8xi1>
  return
}

// -----

func.func @mask(%n: i64) {
  // expected-error@+1 {{constraint 1: the mask region expects to yield one 'i1'}}
  %k = tile.mask rows(%n) cols(%n) {
  ^bb0(%i: i64, %j: i64):
    tile.yield %i : i64
  } : tensor<8x8xi1>
  return
}

// -----

func.func @mask(%n: i64) {
  // expected-error@+1 {{constraint 2: expected a tile of rank 2, but got 'tensor<8xi1>'}}
  %k = tile.mask rows(%n) cols(%n) {
  ^bb0(%i: i64, %j: i64):
    %c = arith.constant true
    tile.yield %c : i1
  } : tensor<8xi1>
  return
}

// -----

func.func @map(%S: tensor<8xf32>, %n: i64) {
  // expected-error@+1 {{constraint 1: expected a result of rank 2, but got 'tensor<8xf32>'}}
  %y = tile.map %S rows(%n) cols(%n) {
  ^bb0(%s: f32, %i: i64, %j: i64):
    tile.yield %s : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @map(%S: tensor<8xf32>, %n: i64) {
  // expected-error@+1 {{constraint 1: expected inputs of the shape of 'tensor<4x8xf32>', or one value a row, but got 'tensor<8xf32>'}}
  %y = tile.map %S rows(%n) cols(%n) {
  ^bb0(%s: f32, %i: i64, %j: i64):
    tile.yield %s : f32
  } : (tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dynamic(%A: tensor<?x8xbf16>, %B: tensor<8x8xbf16>) {
  // expected-error@+1 {{operand #0 must be tile (ranked tensor of static shape) of floating-point or signless integer values, but got 'tensor<?x8xbf16>'}}
  %r = tile.dot %A, %B : tensor<?x8xbf16>, tensor<8x8xbf16> -> tensor<8x8xf32>
  return
}

// -----

func.func @map(%S: tensor<8x8xf64>, %n: i64) {
  // expected-error@+1 {{constraint 2: the map region expects arguments 'f64', 'i64', 'i64', but has 'f32', 'i64', 'i64'}}
  %y = tile.map %S rows(%n) cols(%n) {
  ^bb0(%s: f32, %i: i64, %j: i64):
    tile.yield %s : f32
  } : (tensor<8x8xf64>) -> tensor<8x8xf64>
  return
}

// -----

func.func @map(%S: tensor<8x8xf32>, %n: i64) {
  // expected-error@+1 {{constraint 2: the map region expects to yield one 'f32'}}
  %y = tile.map %S rows(%n) cols(%n) {
  ^bb0(%s: f32, %i: i64, %j: i64):
    tile.yield %s, %s : f32, f32
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @dot(%a: tensor<8x8x8xf16>, %b: tensor<8x8xf16>) {
  // expected-error@+1 {{constraint 1: expected rank 2 tiles}}
  %r = tile.dot %a, %b : tensor<8x8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf32>
  return
}

// -----

func.func @dot(%a: tensor<16x8xf16>, %b: tensor<32x16xf16>) {
  // expected-error@+1 {{constraint 1: shapes do not agree: 'tensor<16x8xf16>', 'tensor<32x16xf16>' (transposed), 'tensor<16x32xf32>'}}
  %r = tile.dot %a, %b transpose_b : tensor<16x8xf16>, tensor<32x16xf16> -> tensor<16x32xf32>
  return
}

// -----

func.func @dot(%a: tensor<8x8xf16>, %b: tensor<8x8xbf16>) {
  // expected-error@+1 {{constraint 2: expected one element type, but got 'f16' and 'bf16'}}
  %r = tile.dot %a, %b : tensor<8x8xf16>, tensor<8x8xbf16> -> tensor<8x8xf32>
  return
}

// -----

func.func @dot(%a: tensor<8x8xf16>) {
  // expected-error@+1 {{constraint 3: expected a result of 'f32', but got 'f16'}}
  %r = tile.dot %a, %a : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  return
}

// -----

func.func @dot(%a: tensor<8x8xf64>) {
  // expected-error@+1 {{constraint 3: expected a result of 'f64', but got 'f32'}}
  %r = tile.dot %a, %a : tensor<8x8xf64>, tensor<8x8xf64> -> tensor<8x8xf32>
  return
}

// -----

func.func @dot(%a: tensor<8x8xf16>) {
  // expected-error@+1 {{constraint 3: expected an accumulator of 'tensor<8x8xf32>', but got 'tensor<8x8xf16>'}}
  %r = tile.dot %a, %a acc(%a : tensor<8x8xf16>) : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf32>
  return
}

// -----

func.func @rescale(%x: tensor<8x16xf32>, %f: tensor<8x1xf32>) {
  // expected-error@+1 {{constraint 1: expected a tile and one value of its type a row, but got 'tensor<8x16xf32>' and 'tensor<8x1xf32>'}}
  %r = tile.scale_rows %x, %f : tensor<8x16xf32>, tensor<8x1xf32>
  return
}

// -----

func.func @softmax(%s: tensor<8x16xf32>, %m: tensor<16xf32>) {
  // expected-error@+1 {{constraint 1: expected a tile and one value of its type a row, but got 'tensor<8x16xf32>' and 'tensor<16xf32>'}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 : tensor<8x16xf32>, tensor<16xf32>
  return
}

// -----

func.func @softmax(%s: tensor<8x16xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{constraint 2: expected a finite scale above 0, but got -1.0}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale -1.0 : tensor<8x16xf32>, tensor<8xf32>
  return
}

// -----

func.func @zero_unseen(%v: tensor<8xf16>, %n: i64) {
  // expected-error@+1 {{constraint 1: expected a tile of rank 2, but got 'tensor<8xf16>'}}
  %r = tile.zero_unseen %v rows(%n to %n) cols(%n to %n) seen { ^bb0(%i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 } : tensor<8xf16>
  return
}

// -----

func.func @zero_unseen(%v: tensor<8x8xf16>, %n: i64) {
  // expected-error@+1 {{constraint 2: the seen region expects to yield one 'i1'}}
  %r = tile.zero_unseen %v rows(%n to %n) cols(%n to %n) seen { ^bb0(%i: i64, %j: i64): tile.yield %i : i64 } : tensor<8x8xf16>
  return
}

// -----

func.func @zero_unseen(%v: tensor<8x8xf16>, %n: i64) {
  // expected-error@+1 {{constraint 2: the possible region expects arguments 'i64', but has 'i64', 'i64'}}
  %r = tile.zero_unseen %v rows(%n to %n) cols(%n to %n) seen { ^bb0(%i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    possible { ^bb0(%i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 } : tensor<8x8xf16>
  return
}
