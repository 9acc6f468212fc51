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
