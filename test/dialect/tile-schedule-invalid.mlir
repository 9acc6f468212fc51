// What the schedule attribute refuses, on its own, without a target.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{expected consumers from 1 to 4 in steps of 1, but got 5}}
module attributes {s = #tile.schedule<form = direct, block_m = 320, block_n = 16, consumers = 5, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{expected block_n from 16 to 256 in steps of 16, but got 24}}
module attributes {s = #tile.schedule<form = direct, block_m = 64, block_n = 24, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{expected stages from 1 to 8 in steps of 1, but got 0}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 0, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{expected q_stages from 1 to 4 in steps of 1, but got 5}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 5, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{expected producer_registers from 0 to 256 in steps of 8, but got 25}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 25, consumer_registers = 240, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{expected consumer_registers from 0 to 256 in steps of 8, but got 264}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 264, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{expected block_m = 64 * consumers = 128, but got 64}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 2, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{expected producer_registers and consumer_registers both 0 or both given, but got 0 and 240}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 240, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{expected block_m from 1 to 1024 in steps of 1, but got 2000}}
module attributes {s = #tile.schedule<form = sequential, block_m = 2000, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{expected block_n from 1 to 1024 in steps of 1, but got 0}}
module attributes {s = #tile.schedule<form = sequential, block_m = 1, block_n = 0, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+2 {{expected ::tegula::tile::Form to be one of: direct, pipelined, sequential}}
// expected-error@+1 {{failed to parse Tile_ScheduleAttr parameter 'form'}}
module attributes {s = #tile.schedule<form = fast, block_m = 1, block_n = 0, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{duplicate or unknown struct parameter name: warps}}
module attributes {s = #tile.schedule<form = direct, block_m = 64, block_n = 16, warps = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {}

// -----

// expected-error@+1 {{expected softmax = online or threshold under form = sequential, but got fixed}}
module attributes {s = #tile.schedule<form = sequential, block_m = 1, block_n = 1, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = fixed>} {}

// -----

// expected-error@+1 {{expected tiles = stride under form = direct, but got counter}}
module attributes {s = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online, tiles = counter>} {}

// -----

// expected-error@+1 {{expected overlap = true, walk = ascending, polynomial = 0, half_blocks = false and epilogue = wide under form = direct}}
module attributes {s = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online, overlap = false>} {}

// -----

// expected-error@+1 {{expected overlap = true, walk = ascending, polynomial = 0, half_blocks = false and epilogue = wide under form = direct}}
module attributes {s = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online, walk = descending>} {}

// -----

// expected-error@+1 {{expected softmax = online or threshold under walk = descending, but got fixed}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed, walk = descending>} {}

// -----

// expected-error@+1 {{expected polynomial = 0 under softmax = online, but got 3}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, polynomial = 3>} {}

// -----

// expected-error@+1 {{expected polynomial from 0 to 8 in steps of 1, but got -1}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed, polynomial = -1>} {}

// -----

// expected-error@+1 {{expected block_n to be a multiple of 32 under half_blocks = true, but got 48}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 48, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, half_blocks = true>} {}

// -----

// expected-error@+1 {{expected overlap = true, walk = ascending, polynomial = 0, half_blocks = false and epilogue = wide under form = direct}}
module attributes {s = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online, half_blocks = true>} {}

// -----

// expected-error@+1 {{expected overlap = true, walk = ascending, polynomial = 0, half_blocks = false and epilogue = wide under form = direct}}
module attributes {s = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online, epilogue = pairs>} {}

// -----

// expected-error@+1 {{expected overlap = true under half_blocks = true, but got false}}
module attributes {s = #tile.schedule<form = pipelined, block_m = 64, block_n = 64, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, overlap = false, half_blocks = true>} {}
