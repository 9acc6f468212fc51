// What is chosen by default: `pipelined` for 16-bit operands of head dims from 32 on, with key blocks that shrink until they fit; else `direct`.
// RUN: tegula-opt %s --tegula-choose-schedule | FileCheck %s
// RUN: tegula-opt %s --tegula-choose-schedule=target=cpu | FileCheck %s --check-prefix=CPU

// CPU-COUNT-8: #tile.schedule<form = sequential, block_m = 64, block_n = 64, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>

// CHECK-LABEL: tile.kernel @bf16_64
// CHECK: schedule = #tile.schedule<form = pipelined, block_m = 256, block_n = 64, consumers = 4, stages = 4, q_stages = 2, producer_registers = 32, consumer_registers = 112, ping_pong = true, softmax = fixed, tiles = counter>
tile.kernel @bf16_64(%q: memref<?x?x?x64xbf16>, %v: memref<?x?x?x64xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x64xbf16>, memref<?x?x?x64xbf16>, memref<?x?x?x64xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x64xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// CHECK-LABEL: tile.kernel @f16_128
// CHECK: schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 128, consumers = 2, stages = 2, q_stages = 2, producer_registers = 24, consumer_registers = 240, ping_pong = true, softmax = threshold, tiles = counter>
tile.kernel @f16_128(%q: memref<?x?x?x128xf16>, %v: memref<?x?x?x128xf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xf16>, memref<?x?x?x128xf16>, memref<?x?x?x128xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x128xf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// CHECK-LABEL: tile.kernel @bf16_256
// CHECK: schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed, tiles = counter>
tile.kernel @bf16_256(%q: memref<?x?x?x256xbf16>, %v: memref<?x?x?x256xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x256xbf16>, memref<?x?x?x256xbf16>, memref<?x?x?x256xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x256xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// CHECK-LABEL: tile.kernel @wide_values
// CHECK: schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 4, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = true, softmax = fixed, tiles = counter>
tile.kernel @wide_values(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x256xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x256xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x256xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// CHECK-LABEL: tile.kernel @f32_64
// CHECK: schedule = #tile.schedule<form = direct, block_m = 64, block_n = {{[0-9]+}}, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
tile.kernel @f32_64(%q: memref<?x?x?x64xf32>, %v: memref<?x?x?x64xf32>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x64xf32>, memref<?x?x?x64xf32>, memref<?x?x?x64xf32>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x64xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// The query tile does not fit beside the accumulator.
// CHECK-LABEL: tile.kernel @f32_256
// CHECK: schedule = #tile.schedule<form = direct, block_m = 64, block_n = {{[0-9]+}}, consumers = 1, stages = 1, q_stages = 0, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
tile.kernel @f32_256(%q: memref<?x?x?x256xf32>, %v: memref<?x?x?x256xf32>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x256xf32>, memref<?x?x?x256xf32>, memref<?x?x?x256xf32>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x256xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// CHECK-LABEL: tile.kernel @narrow
// CHECK: schedule = #tile.schedule<form = direct, block_m = 64, block_n = {{[0-9]+}}, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
tile.kernel @narrow(%q: memref<?x?x?x24xbf16>, %v: memref<?x?x?x24xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x24xbf16>, memref<?x?x?x24xbf16>, memref<?x?x?x24xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x24xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// Where a row sees what a list of its own names, a tile has few rows.
// CHECK-LABEL: tile.kernel @lists
// CHECK: schedule = #tile.schedule<form = pipelined, block_m = 64, block_n = 128, consumers = 1,
tile.kernel @lists(%q: memref<?x?x?x64xbf16>, %v: memref<?x?x?x64xbf16>, %list: memref<?x4xi64>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x64xbf16>, memref<?x?x?x64xbf16>, memref<?x?x?x64xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask {
    ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64):
      %none = arith.constant false
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %four = arith.constant 4 : i64
      %any = scf.for %t = %zero to %four step %one iter_args(%found = %none) -> (i1) : i64 {
        %key = tile.lookup %list[%i, %t] : memref<?x4xi64>
        %is = arith.cmpi eq, %key, %j : i64
        %either = arith.ori %found, %is : i1
        scf.yield %either : i1
      }
      tile.yield %any : i1
    }
    outs(%v : memref<?x?x?x64xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// A schedule that is there is kept.
// CHECK-LABEL: tile.kernel @kept
// CHECK: schedule = #tile.schedule<form = direct, block_m = 128, block_n = 48, consumers = 2, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
tile.kernel @kept(%q: memref<?x?x?x64xbf16>, %v: memref<?x?x?x64xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x64xbf16>, memref<?x?x?x64xbf16>, memref<?x?x?x64xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x64xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
    {schedule = #tile.schedule<form = direct, block_m = 128, block_n = 48, consumers = 2, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>}
  tile.return
}
