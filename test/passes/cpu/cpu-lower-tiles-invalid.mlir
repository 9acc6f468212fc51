// RUN: tegula-opt %s --split-input-file --verify-diagnostics --tegula-cpu-lower-tiles

tile.kernel @twice(%M: i64 {tile.dim = "M"}) {
  %a = tile.program_id of (%M) : i64 // expected-note {{the other one is here}}
  // expected-error @below {{expected at most one in a kernel}}
  %b = tile.program_id of (%M) : i64
  tile.return
}

// -----

tile.kernel @nested(%M: i64 {tile.dim = "M"}, %c: i1 {tile.name = "c"}) {
  scf.if %c {
    // expected-error @below {{expected it in the outermost block of the kernel}}
    %a = tile.program_id of (%M) : i64
  }
  tile.return
}

// -----

// expected-error @below {{expected argument 1 to have 'tile.name' or 'tile.dim'}}
tile.kernel @nameless(%M: i64 {tile.dim = "M"}, %c: i1) {
  tile.return
}

// -----

// expected-error @below {{expected argument 'x' to have 'tile.role', and 'tile.dims' for each axis}}
tile.kernel @extents(%x: memref<?x?xf32, strided<[?, ?]>> {tile.name = "x", tile.dims = ["M"], tile.role = "in"}) {
  tile.return
}

// -----

// expected-error @below {{the name 'malloc' belongs to the C library on the CPU; give the item another name}}
tile.kernel @malloc() {
  tile.return
}
