// RUN: tegula-opt %s --tegula-assign-layouts -verify-diagnostics -split-input-file

// expected-error@+1 {{internal: has no schedule for a GPU}}
tile.kernel @free() {
  tile.return
}

// -----

// expected-error@+1 {{internal: has no schedule for a GPU}}
tile.kernel @cpu() attributes {schedule = #tile.schedule<form = sequential, block_m = 64, block_n = 32, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  tile.return
}

// -----

tile.kernel @rows(%m: memref<?x16xf16>, %i: i64)
    attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 32, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  // expected-error@+1 {{internal: expected a tile of 64 rows and a multiple of 8 columns, but got 'tensor<32x16xf16>'}}
  %t = tile.load %m[%i, %i] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
  tile.return
}

// -----

tile.kernel @columns(%m: memref<?x12xf16>, %i: i64)
    attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 32, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  // expected-error@+1 {{internal: expected a tile of 64 rows and a multiple of 8 columns, but got 'tensor<64x12xf16>'}}
  %t = tile.load %m[%i, %i] axes [0, 1] : memref<?x12xf16> -> tensor<64x12xf16>
  tile.return
}
