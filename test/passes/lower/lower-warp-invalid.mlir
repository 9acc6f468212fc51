// What the lowering refuses: what earlier passes or the front end should have put there.
// RUN: tegula-opt %s --tegula-lower-warp -verify-diagnostics -split-input-file

// expected-error@+1 {{has no schedule}}
warp.kernel @free() {
  warp.return
}

// -----

// expected-error@+1 {{has no warp.roles}}
warp.kernel @idle() attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  warp.return
}

// -----

// expected-error@+1 {{argument 0 has neither `tile.name` nor `tile.dim`}}
warp.kernel @nameless(%n: i64) attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  warp.return
}

// -----

// expected-error@+1 {{argument 0 needs one entry of `tile.dims` an axis}}
warp.kernel @extents(%x: memref<?x16xf16, strided<[?, ?]>> {tile.name = "x", tile.dims = ["M"], tile.role = "in"})
    attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  warp.return
}

// -----

// expected-error@+1 {{cannot compute the extent `(^ M 2)`}}
warp.kernel @expression(%x: memref<?xf16, strided<[?]>> {tile.name = "x", tile.dims = ["(^ M 2)"], tile.role = "in"}, %M: i64 {tile.dim = "M"})
    attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  warp.return
}

// -----

warp.kernel @unallocated(%n: i64 {tile.dim = "N"}) attributes {schedule = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  %r = warp.ring "x" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 1>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      // expected-error@+1 {{internal: expected tegula-allocate-shared before}}
      %s = warp.wait %r[%zero] copy %zero : !warp.ring<64x64xbf16, stages 1>
    }
  }
  warp.return
}

// -----

// expected-error@+1 {{an extent of the grid is no expression of dims and integer parameters that a launch can evaluate}}
warp.kernel @grid(%N: i64 {tile.dim = "N"})
    attributes {shared_bytes = 0 : i64, schedule = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %two = arith.constant 2 : i64
      %total = arith.remsi %N, %two : i64
      %r = warp.for_tiles %t of %total iter_args(%c = %two) -> (i64) { warp.yield %c : i64 }
    }
  }
  warp.return
}
