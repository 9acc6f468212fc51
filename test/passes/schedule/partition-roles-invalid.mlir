// RUN: tegula-opt %s --tegula-partition-roles -verify-diagnostics -split-input-file

// expected-error@+1 {{has no schedule}}
tile.kernel @free(%n: i64) {
  %t = tile.program_id of (%n) : i64
  tile.return
}

// -----

// expected-error@+1 {{expected one tile.program_id at the top of the kernel}}
tile.kernel @nowhere(%n: i64)
    attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 32, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  tile.return
}

// -----

tile.kernel @gathered(%k: memref<?x16xf16>, %flags: memref<?xi1>, %n: i64, %q: memref<?x16xf16>)
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 64, block_n = 32, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  %t = tile.program_id of (%n) : i64
  %qt = tile.load %q[%t, %t] axes [0, 1] : memref<?x16xf16> -> tensor<64x16xf16, #warp.fragment>
  %flag = tile.load %flags[%t] axes [0] : memref<?xi1> -> tensor<64xi1, #warp.rows>
  %some = tile.any %flag : tensor<64xi1, #warp.rows>
  %row = arith.extui %some : i1 to i64
  // expected-error@+1 {{the index of a load depends on values that its producer does not have}}
  %kt = tile.load %k[%row, %t] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
  %s = tile.dot %qt, %kt transpose_b : tensor<64x16xf16, #warp.fragment>, tensor<32x16xf16> -> tensor<64x32xf32, #warp.fragment>
  tile.return
}

// -----

// A mark is looked for from the tile's number alone.
tile.kernel @placed(%o: memref<?xf32>, %n: i64)
    attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 32, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  %t = tile.program_id of (%n) : i64
  %valid = arith.constant dense<true> : tensor<64xi1, #warp.rows>
  %l = arith.constant dense<1.0> : tensor<64xf32, #warp.rows>
  %some = tile.any %valid : tensor<64xi1, #warp.rows>
  %row = scf.if %some -> i64 {
    scf.yield %t : i64
  } else {
    scf.yield %n : i64
  }
  // expected-error@+1 {{the place of a store depends on more than the tile's number}}
  tile.redo unless %valid by @other : tensor<64xi1, #warp.rows> {
    tile.store %l, %o[%row] axes [0] : tensor<64xf32, #warp.rows>, memref<?xf32>
  }
  tile.return
}
tile.kernel @other(%o: memref<?xf32>, %n: i64)
    attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 32, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  %t = tile.program_id of (%n) : i64
  tile.return
}
