// What the types of the warp dialect refuse, and the constraints of its matrix ops.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{constraint 1: expected 1 to 8 stages, but got 9}}
func.func private @ring(!warp.ring<64x64xbf16, stages 9>)

// -----

// expected-error@+1 {{constraint 2: expected rows of a ring from 8 to 256 in steps of 8, but got 12}}
func.func private @ring(!warp.ring<12x64xbf16, stages 2>)

// -----

// expected-error@+1 {{constraint 3: expected columns of a ring from 8 to 1024 in steps of 8, but got 0}}
func.func private @ring(!warp.ring<64x0xbf16, stages 2>)

// -----

// expected-error@+1 {{constraint 3: expected columns of a ring from 8 to 1024 in steps of 8, but got 20}}
func.func private @ring(!warp.ring<64x20xbf16, stages 2>)

// -----

// expected-error@+1 {{constraint 4: expected a ring of f16, bf16, i8, f32 or i32, but got 'f64'}}
func.func private @ring(!warp.ring<64x64xf64, stages 2>)

// -----

// expected-error@+1 {{expected 'stages'}}
func.func private @ring(!warp.ring<64x64xbf16, depth 2>)

// -----

// expected-error@+1 {{expected rows and columns, but got 3 extents}}
func.func private @slot(!warp.slot<2x64x64xbf16>)

// -----

// expected-error@+1 {{expected rows and columns, but got 1 extents}}
func.func private @global(!warp.global<64xbf16>)

// -----

// expected-error@+1 {{constraint 1: expected at least one row and one column, but got 64x0}}
func.func private @slot(!warp.slot<64x0xbf16>)

// -----

// expected-error@+1 {{constraint 1: expected at least one row and one column, but got 0x64}}
func.func private @global(!warp.global<0x64xbf16>)

// -----

// expected-error@+1 {{constraint 1: expected a tile with the encoding #warp.fragment, but got 'tensor<64x64xf32>'}}
func.func private @pending(!warp.pending<tensor<64x64xf32>>)

// -----

func.func @global(%x: memref<?x?x64xbf16>, %i: i64) {
  // expected-error@+1 {{constraint 1: expected 3 indices, but got 2}}
  %g = warp.global %x[%i, %i] axes [1, 2] : memref<?x?x64xbf16> -> !warp.global<16x64xbf16>
  return
}

// -----

func.func @global(%x: memref<?x?x64xbf16>, %i: i64) {
  // expected-error@+1 {{constraint 2: expected two distinct axes of 'memref<?x?x64xbf16>', but got [2, 2]}}
  %g = warp.global %x[%i, %i, %i] axes [2, 2] : memref<?x?x64xbf16> -> !warp.global<16x64xbf16>
  return
}

// -----

func.func @global(%x: memref<?x?x64xbf16>, %i: i64) {
  // expected-error@+1 {{constraint 2: expected two distinct axes of 'memref<?x?x64xbf16>', but got [1, 3]}}
  %g = warp.global %x[%i, %i, %i] axes [1, 3] : memref<?x?x64xbf16> -> !warp.global<16x64xbf16>
  return
}

// -----

func.func @global(%x: memref<?x?x64xbf16>, %i: i64) {
  // expected-error@+1 {{constraint 3: expected equal element types, but got 'bf16' and 'f16'}}
  %g = warp.global %x[%i, %i, %i] axes [1, 2] : memref<?x?x64xbf16> -> !warp.global<16x64xf16>
  return
}

// -----

func.func @mma(%a: !warp.slot<128x64xbf16>, %b: !warp.slot<128x64xbf16>) {
  // expected-error@+1 {{constraint 1: shapes do not agree: '!warp.slot<128x64xbf16>', '!warp.slot<128x64xbf16>' (transposed), 'tensor<64x128xf32, #warp.fragment>'}}
  %p = warp.mma %a, %b transpose_b : !warp.slot<128x64xbf16>, !warp.slot<128x64xbf16> -> !warp.pending<tensor<64x128xf32, #warp.fragment>>
  return
}

// -----

func.func @mma(%a: !warp.slot<64x64xbf16>, %b: !warp.slot<128x64xbf16>) {
  // expected-error@+1 {{constraint 1: shapes do not agree: '!warp.slot<64x64xbf16>', '!warp.slot<128x64xbf16>', 'tensor<64x64xf32, #warp.fragment>'}}
  %p = warp.mma %a, %b : !warp.slot<64x64xbf16>, !warp.slot<128x64xbf16> -> !warp.pending<tensor<64x64xf32, #warp.fragment>>
  return
}

// -----

func.func @mma(%a: !warp.slot<64x64xbf16>, %b: !warp.slot<64x64xbf16>, %c: tensor<64x32xf32, #warp.fragment>) {
  // expected-error@+1 {{constraint 1: expected an accumulator of 'tensor<64x64xf32, #warp.fragment>', but got 'tensor<64x32xf32, #warp.fragment>'}}
  %p = warp.mma %a, %b acc(%c : tensor<64x32xf32, #warp.fragment>) : !warp.slot<64x64xbf16>, !warp.slot<64x64xbf16> -> !warp.pending<tensor<64x64xf32, #warp.fragment>>
  return
}

// -----

func.func @mma(%a: !warp.slot<64x64xbf16>, %b: !warp.global<64x64xbf16>) {
  // expected-error@+1 {{constraint 2: expected operands in memory of one kind, but got '!warp.slot<64x64xbf16>' and '!warp.global<64x64xbf16>'}}
  %p = warp.mma %a, %b : !warp.slot<64x64xbf16>, !warp.global<64x64xbf16> -> !warp.pending<tensor<64x64xf32, #warp.fragment>>
  return
}

// -----

func.func @mma(%a: !warp.slot<64x64xbf16>, %b: !warp.slot<64x64xbf16>) {
  // expected-error@+1 {{constraint 3: expected a result of f32, but got 'bf16'}}
  %p = warp.mma %a, %b : !warp.slot<64x64xbf16>, !warp.slot<64x64xbf16> -> !warp.pending<tensor<64x64xbf16, #warp.fragment>>
  return
}

// -----

func.func @await(%p: !warp.pending<tensor<64x64xf32, #warp.fragment>>) {
  // expected-error@+1 {{result is the pending tile}}
  %t = "warp.await"(%p) : (!warp.pending<tensor<64x64xf32, #warp.fragment>>) -> tensor<64x32xf32, #warp.fragment>
  return
}

// -----

func.func @pack(%a: tensor<64x64xbf16, #warp.fragment>, %b: !warp.slot<64x64xbf16>, %x: tensor<64x64xf32, #warp.fragment>) {
  // expected-note@+1 {{issued here; await it first}}
  %p = warp.mma %a, %b : tensor<64x64xbf16, #warp.fragment>, !warp.slot<64x64xbf16> -> !warp.pending<tensor<64x64xf32, #warp.fragment>>
  // expected-error@+1 {{constraint 1: a matrix op that reads a fragment is still running here}}
  %w = warp.pack %x : tensor<64x64xf32, #warp.fragment> -> tensor<64x64xbf16, #warp.fragment>
  return
}

// -----

func.func @pack(%x: tensor<64x64xf32, #warp.fragment>) {
  // expected-error@+1 {{constraint 2: expected equal shapes, but got 'tensor<64x64xf32, #warp.fragment>' and 'tensor<64x32xbf16, #warp.fragment>'}}
  %w = warp.pack %x : tensor<64x64xf32, #warp.fragment> -> tensor<64x32xbf16, #warp.fragment>
  return
}

// -----

// Neither an awaited one nor one that reads shared memory alone is in the way.
func.func @pack(%a: tensor<64x64xbf16, #warp.fragment>, %b: !warp.slot<64x64xbf16>, %x: tensor<64x64xf32, #warp.fragment>) {
  %p = warp.mma %a, %b : tensor<64x64xbf16, #warp.fragment>, !warp.slot<64x64xbf16> -> !warp.pending<tensor<64x64xf32, #warp.fragment>>
  %t = warp.await %p : !warp.pending<tensor<64x64xf32, #warp.fragment>>
  %s = warp.mma %b, %b : !warp.slot<64x64xbf16>, !warp.slot<64x64xbf16> -> !warp.pending<tensor<64x64xf32, #warp.fragment>>
  %w = warp.pack %x : tensor<64x64xf32, #warp.fragment> -> tensor<64x64xbf16, #warp.fragment>
  return
}
