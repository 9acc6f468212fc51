// One case a constraint of tile.redo and of a fixed reference.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

func.func @softmax(%s: tensor<8x16xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{constraint 3: `threshold` and `fixed` exclude each other}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 threshold 8 folded fixed : tensor<8x16xf32>, tensor<8xf32>
  return
}

// -----

func.func @softmax(%s: tensor<8x16xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{constraint 3: `continued` needs `from_first_block`}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 folded fixed continued : tensor<8x16xf32>, tensor<8xf32>
  return
}

// -----

func.func @softmax(%s: tensor<8x16xf32>, %m: tensor<8xf32>, %c: i1) {
  // expected-error@+1 {{constraint 3: `late` needs `fixed`}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 folded late %c : tensor<8x16xf32>, tensor<8xf32>
  return
}

// -----

func.func @softmax(%s: tensor<8x16xf32>, %m: tensor<8xf32>, %c: i1) {
  // expected-error@+1 {{constraint 3: `late` and `from_first_block` exclude each other}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 folded fixed from_first_block late %c : tensor<8x16xf32>, tensor<8xf32>
  return
}

// -----

func.func @softmax(%s: tensor<8x16xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{constraint 3: `from_first_block` needs `fixed`}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 folded from_first_block : tensor<8x16xf32>, tensor<8xf32>
  return
}

// -----

func.func @softmax(%s: tensor<8x16xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{constraint 3: `basis` needs `from_first_block`}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 folded fixed basis %s : tensor<8x16xf32> bias %m : tensor<8xf32> : tensor<8x16xf32>, tensor<8xf32>
  return
}

// -----

func.func @softmax(%s: tensor<8x16xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{constraint 4: expected a `basis` of type 'tensor<8x16xf32>' and a `bias` of type 'tensor<8xf32>'}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 folded fixed from_first_block basis %s : tensor<8x16xf32> : tensor<8x16xf32>, tensor<8xf32>
  return
}

// -----

func.func @softmax(%s: tensor<8x16xf32>, %m: tensor<8xf32>) {
  // expected-error@+1 {{constraint 3: `fixed` needs `folded`}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 fixed : tensor<8x16xf32>, tensor<8xf32>
  return
}

// -----

tile.kernel @load(%valid: tensor<8xi1>, %x: tensor<8x16xf32>, %o: memref<?x?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 1: expected stores of 16- or 32-bit floats, and scalar code, but got tile.load}}
  tile.redo unless %valid by @load : tensor<8xi1> {
    %y = tile.load %o[%i, %i] axes [0, 1] : memref<?x?xf32> -> tensor<8x16xf32>
    tile.store %x, %o[%i, %i] axes [0, 1] : tensor<8x16xf32>, memref<?x?xf32>
  }
  tile.return
}

// -----

tile.kernel @integers(%valid: tensor<8xi1>, %x: tensor<8xi32>, %o: memref<?xi32>, %i: i64) {
  // expected-error@+1 {{constraint 1: expected stores of 16- or 32-bit floats, and scalar code, but got tile.store}}
  tile.redo unless %valid by @integers : tensor<8xi1> {
    tile.store %x, %o[%i] axes [0] : tensor<8xi32>, memref<?xi32>
  }
  tile.return
}

// -----

tile.kernel @doubles(%valid: tensor<8xi1>, %x: tensor<8xf64>, %o: memref<?xf64>, %i: i64) {
  // expected-error@+1 {{constraint 1: expected stores of 16- or 32-bit floats, and scalar code, but got tile.store}}
  tile.redo unless %valid by @doubles : tensor<8xi1> {
    tile.store %x, %o[%i] axes [0] : tensor<8xf64>, memref<?xf64>
  }
  tile.return
}

// -----

tile.kernel @bytes(%valid: tensor<8xi1>, %x: tensor<8xf8E4M3FN>, %o: memref<?xf8E4M3FN>, %i: i64) {
  // expected-error@+1 {{constraint 1: expected stores of 16- or 32-bit floats, and scalar code, but got tile.store}}
  tile.redo unless %valid by @bytes : tensor<8xi1> {
    tile.store %x, %o[%i] axes [0] : tensor<8xf8E4M3FN>, memref<?xf8E4M3FN>
  }
  tile.return
}

// -----

tile.kernel @nothing(%valid: tensor<8xi1>) {
  // expected-error@+1 {{constraint 1: expected at least one store}}
  tile.redo unless %valid by @nothing : tensor<8xi1> {
    %c = arith.constant 0 : i64
  }
  tile.return
}

// -----

tile.kernel @unknown(%valid: tensor<8xi1>, %x: tensor<8xf32>, %o: memref<?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 2: expected `elsewhere` to be a tile.kernel of the same type}}
  tile.redo unless %valid by @elsewhere : tensor<8xi1> {
    tile.store %x, %o[%i] axes [0] : tensor<8xf32>, memref<?xf32>
  }
  tile.return
}

// -----

tile.kernel @other(%valid: tensor<8xi1>, %x: tensor<8xf32>, %o: memref<?xf32>) {
  tile.return
}
tile.kernel @typed(%valid: tensor<8xi1>, %x: tensor<8xf32>, %o: memref<?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 2: expected `other` to be a tile.kernel of the same type}}
  tile.redo unless %valid by @other : tensor<8xi1> {
    tile.store %x, %o[%i] axes [0] : tensor<8xf32>, memref<?xf32>
  }
  tile.return
}

// -----

tile.kernel @nested(%valid: tensor<8xi1>, %x: tensor<8xf32>, %o: memref<?xf32>, %i: i64, %flag: i1) {
  scf.if %flag {
    // expected-error@+1 {{constraint 3: expected to stand at the top of a kernel}}
    tile.redo unless %valid by @nested : tensor<8xi1> {
      tile.store %x, %o[%i] axes [0] : tensor<8xf32>, memref<?xf32>
    }
  }
  tile.return
}

// -----

tile.kernel @again(%valid: tensor<8xi1>, %x: tensor<8xf32>, %o: memref<?xf32>, %i: i64) {
  tile.return
}
tile.kernel @twice(%valid: tensor<8xi1>, %x: tensor<8xf32>, %o: memref<?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 3: expected to be the only one of its kernel}}
  tile.redo unless %valid by @again : tensor<8xi1> {
    tile.store %x, %o[%i] axes [0] : tensor<8xf32>, memref<?xf32>
  }
  tile.redo unless %valid by @again : tensor<8xi1> {
    tile.store %x, %o[%i] axes [0] : tensor<8xf32>, memref<?xf32>
  }
  tile.return
}

// -----

func.func @times_of_differences(%s: tensor<8x16xf32>, %m: tensor<8xf32>, %f: f32) {
  // expected-error@+1 {{constraint 3: `times` needs `folded`}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 times %f : f32 : tensor<8x16xf32>, tensor<8xf32>
  return
}

// -----

func.func @times_of_another_type(%s: tensor<8x16xf32>, %m: tensor<8xf32>, %f: f64) {
  // expected-error@+1 {{constraint 5: expected `times` to be 'f32', as the scores are, but got 'f64'}}
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 1.0 folded times %f : f64 : tensor<8x16xf32>, tensor<8xf32>
  return
}
