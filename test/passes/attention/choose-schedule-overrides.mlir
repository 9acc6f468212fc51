// What the user fixes is kept; the fields that are left free follow it.
// RUN: tegula-opt %s --tegula-choose-schedule="set=form=direct,block_m=128,block_n=48" | FileCheck %s --check-prefix=DIRECT
// RUN: tegula-opt %s --tegula-choose-schedule="set=consumers=1" | FileCheck %s --check-prefix=ONE
// RUN: tegula-opt %s --tegula-choose-schedule="set=block_m=192" | FileCheck %s --check-prefix=THREE
// RUN: tegula-opt %s --tegula-choose-schedule="set=stages=3" | FileCheck %s --check-prefix=STAGES
// RUN: tegula-opt %s --tegula-choose-schedule="set=stages=8,q_stages=2" | FileCheck %s --check-prefix=SHRUNK
// RUN: tegula-opt %s --tegula-choose-schedule="set=ping_pong=0,softmax=online,block_n=64,tiles=longest_first" | FileCheck %s --check-prefix=PLAIN
// RUN: tegula-opt %s --tegula-choose-schedule="set=overlap=false,polynomial=2" | FileCheck %s --check-prefix=INSTEP
// RUN: tegula-opt %s --tegula-choose-schedule="set=epilogue=pairs" | FileCheck %s --check-prefix=PAIRS
// RUN: tegula-opt %s --tegula-choose-schedule="set=walk=descending" | FileCheck %s --check-prefix=DESCENDING
// RUN: tegula-opt %s --tegula-choose-schedule="set=producer_registers=32,consumer_registers=232" | FileCheck %s --check-prefix=REGISTERS
// RUN: tegula-opt %s --tegula-choose-schedule="target=cpu set=block_m=10,block_n=7" | FileCheck %s --check-prefix=CPU

// DIRECT: form = direct, block_m = 128, block_n = 48, consumers = 2
// ONE: form = pipelined, block_m = 64, block_n = 128, consumers = 1, stages = 2, q_stages = 2, producer_registers = 24, consumer_registers = 240, ping_pong = false
// THREE: form = pipelined, block_m = 192, block_n = 64, consumers = 3, stages = 4, q_stages = 2, producer_registers = 32, consumer_registers = 160, ping_pong = true
// STAGES: form = pipelined, block_m = 128, block_n = 128, consumers = 2, stages = 3
// SHRUNK: form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 8, q_stages = 2
// PLAIN: form = pipelined, block_m = 128, block_n = 64, {{.*}} ping_pong = false, softmax = online, tiles = longest_first
// Without overlap there are no turns to take; a descending walk does not begin where a fixed reference would be taken.
// INSTEP: form = pipelined, {{.*}} ping_pong = false, softmax = fixed, tiles = counter, overlap = false, polynomial = 2>
// DESCENDING: form = pipelined, {{.*}} softmax = threshold, tiles = counter, walk = descending>
// PAIRS: tiles = counter, epilogue = pairs>
// REGISTERS: producer_registers = 32, consumer_registers = 232
// CPU: form = sequential, block_m = 10, block_n = 7

// The kernel's own fields come first; an override of one replaces it, one of the form replaces all, and so does the CPU.
// RUN: sed 's/%n: i64) {/%n: i64) attributes {tile.schedule = ["stages=3", "block_n=64"]} {/' %s > %t
// RUN: tegula-opt %t --tegula-choose-schedule | FileCheck %s --check-prefix=OWN
// RUN: tegula-opt %t --tegula-choose-schedule="set=block_n=32" | FileCheck %s --check-prefix=REPLACED
// RUN: tegula-opt %t --tegula-choose-schedule="set=form=direct" | FileCheck %s --check-prefix=OTHER
// RUN: tegula-opt %t --tegula-choose-schedule="target=cpu" | FileCheck %s --check-prefix=OTHER-CPU
// OWN: form = pipelined, block_m = 192, block_n = 64, consumers = 3, stages = 3
// REPLACED: form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 3
// OTHER: form = direct, block_m = 64, block_n = 16
// OTHER-CPU: form = sequential, block_m = 64, block_n = 64

tile.kernel @a(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}
