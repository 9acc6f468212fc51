// One case a constraint of what takes tiles from a counter, adds sums by lane, and marks rows.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

warp.kernel @no_queue(%n: i64) {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      // expected-error@+1 {{constraint 2: `dynamic` needs a `warp.queue` in its kernel}}
      warp.for_tiles %t of %n {
      } {dynamic}
    }
  }
  warp.return
}

// -----

warp.kernel @two_queues(%n: i64) {
  warp.queue consumers 1
  warp.queue consumers 1
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      // expected-error@+1 {{constraint 2: `dynamic` needs a `warp.queue` in its kernel}}
      warp.for_tiles %t of %n {
      } {dynamic}
    }
  }
  warp.return
}

// -----

func.func @partial(%p: tensor<64x32xi1, #warp.fragment>) {
  // expected-error@+1 {{constraint 1: expected a fragment of floats and its rows, but got 'tensor<64x32xi1, #warp.fragment>' and 'tensor<64xi1, #warp.rows>'}}
  %l = warp.partial_sum %p : tensor<64x32xi1, #warp.fragment> -> tensor<64xi1, #warp.rows>
  return
}

// -----

func.func @partial(%p: tensor<64x32xf16, #warp.fragment>) {
  // expected-error@+1 {{constraint 1: expected a fragment of floats and its rows, but got 'tensor<64x32xf16, #warp.fragment>' and 'tensor<64xf32, #warp.rows>'}}
  %l = warp.partial_sum %p : tensor<64x32xf16, #warp.fragment> -> tensor<64xf32, #warp.rows>
  return
}

// -----

func.func @partial(%p: tensor<64xf32, #warp.rows>) {
  // expected-error@+1 {{constraint 1: expected a fragment of floats and its rows, but got}}
  %l = warp.partial_sum %p : tensor<64xf32, #warp.rows> -> tensor<64xf32, #warp.rows>
  return
}

// -----

func.func @complete(%p: tensor<64x32xf32, #warp.fragment>) {
  // expected-error@+1 {{constraint 1: expected row values, but got 'tensor<64x32xf32, #warp.fragment>'}}
  %l = warp.complete_sum %p : tensor<64x32xf32, #warp.fragment>
  return
}

// -----

func.func @vote(%flags: tensor<64xf32, #warp.rows>) {
  // expected-error@+1 {{constraint 1: expected an i1 or rows of i1, but got 'tensor<64xf32, #warp.rows>'}}
  %any = warp.vote %flags : tensor<64xf32, #warp.rows>
  return
}

// -----

func.func @vote(%flags: tensor<64x8xi1, #warp.fragment>) {
  // expected-error@+1 {{constraint 1: expected an i1 or rows of i1, but got 'tensor<64x8xi1, #warp.fragment>'}}
  %any = warp.vote %flags : tensor<64x8xi1, #warp.fragment>
  return
}

// -----

func.func @mark(%o: memref<?x?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 1: expected 2 indices, but got 1}}
  warp.mark %o[%i] : memref<?x?xf32>
  return
}

// -----

func.func @mark(%o: memref<?xi32>, %i: i64) {
  // expected-error@+1 {{constraint 2: expected floats of 16 or 32 bits, but got 'i32'}}
  warp.mark %o[%i] : memref<?xi32>
  return
}

// -----

func.func @is_marked(%o: memref<?x?xf32>, %i: i64) {
  // expected-error@+1 {{constraint 1: expected 2 indices, but got 3}}
  %r = warp.is_marked %o[%i, %i, %i] : memref<?x?xf32>
  return
}

// -----

func.func @is_marked(%o: memref<?xf64>, %i: i64) {
  // expected-error@+1 {{constraint 2: expected floats of 16 or 32 bits, but got 'f64'}}
  %r = warp.is_marked %o[%i] : memref<?xf64>
  return
}

// -----

func.func @claim(%o: memref<?x?xf32>, %i: i64, %no: i1) {
  // expected-error@+1 {{constraint 1: expected 2 indices, but got 1}}
  %r = warp.claim %o[%i] axis 0 : memref<?x?xf32>
  return
}

// -----

func.func @claim(%o: memref<?xf8E5M2>, %i: i64, %no: i1) {
  // expected-error@+1 {{constraint 2: expected floats of 16 or 32 bits, but got 'f8E5M2'}}
  %r = warp.claim %o[%i] axis 0 : memref<?xf8E5M2>
  return
}

// -----

func.func @claim(%o: memref<?x?xf32>, %i: i64, %no: i1) {
  // expected-error@+1 {{constraint 3: expected an axis from 0 to 1, but got 2}}
  %r = warp.claim %o[%i, %i] axis 2 : memref<?x?xf32>
  return
}

// -----

func.func @claim(%o: memref<?x?xf32>, %i: i64, %no: i1) {
  // expected-error@+1 {{constraint 3: expected an axis from 0 to 1, but got -1}}
  %r = warp.claim %o[%i, %i] axis -1 : memref<?x?xf32>
  return
}
