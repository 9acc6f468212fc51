// One case a constraint and message of the warp dialect's structure, copies and types; matrix ops have a file of their own.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{constraint 1: expected no results, but got 1}}
warp.kernel @results() -> i64 {
  warp.return
}

// -----

// expected-error@+1 {{constraint 2: expected a body of one block that ends in warp.return}}
warp.kernel @blocks() {
  warp.yield
}

// -----

func.func @return() {
  // expected-error@+1 {{expects parent op 'warp.kernel'}}
  warp.return
}

// -----

func.func @roles() {
  warp.roles {
    // expected-error@+1 {{constraint 1: expected only warp.role in warp.roles}}
    %c = arith.constant 0 : i64
  }
  return
}

// -----

func.func @roles() {
  // expected-error@+1 {{constraint 1: expected at least one warp.role}}
  "warp.roles"() ({
  ^bb0:
  }) : () -> ()
  return
}

// -----

func.func @roles() {
  warp.roles {
    warp.role "a" warpgroups 1 registers 0 {
    }
    // expected-error@+1 {{constraint 2: expected different role names, but `a` stands twice}}
    warp.role "a" warpgroups 1 registers 0 {
    }
  }
  return
}

// -----

func.func @role() {
  // expected-error@+1 {{expects parent op 'warp.roles'}}
  warp.role "a" warpgroups 1 registers 0 {
  }
  return
}

// -----

func.func @tiles(%n: i64, %x: f32) {
  // expected-error@+1 {{constraint 1: expected a body that takes an i64 and the carried types and yields 'f32'}}
  %r = warp.for_tiles %t of %n iter_args(%c = %x) -> (f32) {
    warp.yield %t : i64
  }
  return
}

// -----

func.func @tiles(%n: i64, %x: f32) {
  // expected-error@+1 {{expected as many types as carried values}}
  %r = warp.for_tiles %t of %n iter_args(%c = %x) -> (f32, f32) {
    warp.yield %c : f32
  }
  return
}

// -----

func.func @copy(%m: memref<?x?xbf16>, %s: !warp.slot<64x64xbf16>, %r: !warp.ring<64x64xbf16, stages 1>, %i: i64) {
  // expected-error@+1 {{constraint 1: expected 2 indices, but got 1}}
  warp.copy engine(tma) %m[%i] axes [0, 1] to %s of %r[%i] copy %i : memref<?x?xbf16>, !warp.slot<64x64xbf16>, !warp.ring<64x64xbf16, stages 1>
  return
}

// -----

func.func @copy(%m: memref<?x?xbf16>, %s: !warp.slot<64x64xbf16>, %r: !warp.ring<64x64xbf16, stages 1>, %i: i64) {
  // expected-error@+1 {{constraint 2: expected two axes, the second of which is memory's last, but got [1, 0]}}
  warp.copy engine(tma) %m[%i, %i] axes [1, 0] to %s of %r[%i] copy %i : memref<?x?xbf16>, !warp.slot<64x64xbf16>, !warp.ring<64x64xbf16, stages 1>
  return
}

// -----

func.func @copy(%m: memref<?x?xbf16>, %s: !warp.slot<64x64xbf16>, %r: !warp.ring<64x64xbf16, stages 1>, %i: i64) {
  // expected-error@+1 {{constraint 3: expected packed rows along axis 2 of 4, but got axis 0 of 2}}
  warp.copy engine(tma) %m[%i, %i] axes [0, 1] packed %i to %s of %r[%i] copy %i : memref<?x?xbf16>, !warp.slot<64x64xbf16>, !warp.ring<64x64xbf16, stages 1>
  return
}

// -----

func.func @acquire(%r: !warp.ring<64x64xbf16, stages 1>, %i: i64) {
  // expected-error@+1 {{slot of the ring's tile}}
  %s = "warp.acquire"(%r, %i, %i) : (!warp.ring<64x64xbf16, stages 1>, i64, i64) -> !warp.slot<64x32xbf16>
  return
}

// -----

// expected-error@+1 {{constraint 1: expected a fragment of 64 rows and a multiple of 8 columns, but got [128, 64]}}
func.func private @fragment(tensor<128x64xf32, #warp.fragment>)

// -----

// expected-error@+1 {{constraint 1: expected a fragment of 64 rows and a multiple of 8 columns, but got [64, 12]}}
func.func private @fragment(tensor<64x12xf32, #warp.fragment>)

// -----

// expected-error@+1 {{constraint 1: expected 64 row values, but got [64, 1]}}
func.func private @rows(tensor<64x1xf32, #warp.rows>)

// -----

func.func @read_other_elements(%s: !warp.slot<64x32xbf16>) {
  // expected-error @below {{constraint 1: expected a fragment of the shape and the elements of '!warp.slot<64x32xbf16>', but got 'tensor<64x32xf32, #warp.fragment>'}}
  %t = warp.read %s : !warp.slot<64x32xbf16> -> tensor<64x32xf32, #warp.fragment>
  return
}

// -----

func.func @read_plain(%s: !warp.slot<128x32xbf16>) {
  // expected-error @below {{constraint 1: expected a fragment of the shape and the elements of '!warp.slot<128x32xbf16>', but got 'tensor<128x32xbf16>'}}
  %t = warp.read %s : !warp.slot<128x32xbf16> -> tensor<128x32xbf16>
  return
}

// -----

!ring = !warp.ring<128x64xbf16, stages 2>
!pending = !warp.pending<tensor<64x128xf32, #warp.fragment>>
warp.kernel @release_while_read(%c: i64, %q: !warp.slot<64x64xbf16>) {
  %k = warp.ring "k" copies 1 consumers 2 : !ring
  warp.roles {
    warp.role "compute" warpgroups 2 registers 0 {
      %s = warp.wait %k[%c] copy %c : !ring
      // expected-note @below {{issued here; await it first}}
      %p = warp.mma %q, %s transpose_b : !warp.slot<64x64xbf16>, !warp.slot<128x64xbf16> -> !pending
      // expected-error @below {{constraint 1: a matrix op that reads the slot is still running here}}
      warp.release %k[%c] copy %c : !ring
    }
  }
  warp.return
}

// -----

!pending = !warp.pending<tensor<64x128xf32, #warp.fragment>>
warp.kernel @mixed(%q: !warp.slot<64x64xf16>, %k: !warp.slot<128x64xbf16>) {
  // expected-error @below {{constraint 4: expected one element type, but got 'f16' and 'bf16'}}
  %p = warp.mma %q, %k transpose_b : !warp.slot<64x64xf16>, !warp.slot<128x64xbf16> -> !pending
  warp.return
}

// -----

!pending = !warp.pending<tensor<64x128xf32, #warp.fragment>>
warp.kernel @seen(%q: !warp.slot<64x64xf16>, %k: !warp.slot<128x64xf16>, %seen: tensor<64x128xi1, #warp.fragment>) {
  // expected-error @below {{constraint 5: expected a right operand in global memory, not transposed, with `seen`, but got '!warp.slot<128x64xf16>'}}
  %p = warp.mma %q, %k transpose_b seen(%seen : tensor<64x128xi1, #warp.fragment>) : !warp.slot<64x64xf16>, !warp.slot<128x64xf16> -> !pending
  warp.return
}

// -----

!pending = !warp.pending<tensor<64x128xf32, #warp.fragment>>
warp.kernel @half(%q: !warp.slot<64x64xf16>, %k: !warp.slot<128x64xf16>, %half: i1) {
  // expected-error @below {{constraint 6: expected a right operand in a slot, not transposed, with `half`, but got '!warp.slot<128x64xf16>'}}
  %p = warp.mma %q, %k transpose_b half(%half) : !warp.slot<64x64xf16>, !warp.slot<128x64xf16> -> !pending
  warp.return
}
