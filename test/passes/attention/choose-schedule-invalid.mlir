// Each refusal of an override or a target, at the whole problem or at the kernel.
// RUN: not tegula-opt %s --tegula-choose-schedule="set=forms=1" 2>&1 | FileCheck %s --check-prefix=E0
// RUN: not tegula-opt %s --tegula-choose-schedule="set=form=fast" 2>&1 | FileCheck %s --check-prefix=E1
// RUN: not tegula-opt %s --tegula-choose-schedule="set=ping_pong=maybe" 2>&1 | FileCheck %s --check-prefix=E2
// RUN: not tegula-opt %s --tegula-choose-schedule="set=stages=x" 2>&1 | FileCheck %s --check-prefix=E3
// RUN: not tegula-opt %s --tegula-choose-schedule="set=form=sequential" 2>&1 | FileCheck %s --check-prefix=E4
// RUN: not tegula-opt %s --tegula-choose-schedule="target=cpu set=form=pipelined" 2>&1 | FileCheck %s --check-prefix=E5
// RUN: not tegula-opt %s --tegula-choose-schedule="set=block_n=256" 2>&1 | FileCheck %s --check-prefix=E6
// RUN: not tegula-opt %s --tegula-choose-schedule="set=consumers=4,block_n=128" 2>&1 | FileCheck %s --check-prefix=E7
// RUN: not tegula-opt %s --tegula-choose-schedule="set=consumer_registers=256" 2>&1 | FileCheck %s --check-prefix=E8
// RUN: not tegula-opt %s --tegula-choose-schedule="set=block_m=100" 2>&1 | FileCheck %s --check-prefix=E9
// RUN: not tegula-opt %s --tegula-choose-schedule="set=consumers=5" 2>&1 | FileCheck %s --check-prefix=E10
// RUN: not tegula-opt %s --tegula-choose-schedule="set=stages=9" 2>&1 | FileCheck %s --check-prefix=E11
// RUN: not tegula-opt %s --tegula-choose-schedule="set=block_n=24" 2>&1 | FileCheck %s --check-prefix=E12
// RUN: not tegula-opt %s --tegula-choose-schedule="set=consumer_registers=0" 2>&1 | FileCheck %s --check-prefix=E13
// RUN: not tegula-opt %s --tegula-choose-schedule="target=sm_80" 2>&1 | FileCheck %s --check-prefix=E14
// RUN: not tegula-opt %s --tegula-choose-schedule="set=form=direct,stages=4" 2>&1 | FileCheck %s --check-prefix=E15
// RUN: not tegula-opt %s --tegula-choose-schedule="target=cpu set=softmax=threshold" 2>&1 | FileCheck %s --check-prefix=E16
// RUN: not tegula-opt %s --tegula-choose-schedule="set=consumers=1152921504606846976" 2>&1 | FileCheck %s --check-prefix=E17
// RUN: not tegula-opt %s --tegula-choose-schedule="set=softmax=lazy" 2>&1 | FileCheck %s --check-prefix=E18
// RUN: not tegula-opt %s --tegula-choose-schedule="set=tiles=last" 2>&1 | FileCheck %s --check-prefix=E19
// RUN: not tegula-opt %s --tegula-choose-schedule="set=form=direct,tiles=stride" 2>&1 | FileCheck %s --check-prefix=E20
// RUN: not tegula-opt %s --tegula-choose-schedule="set=form=direct,softmax=fixed" 2>&1 | FileCheck %s --check-prefix=E21
// RUN: not tegula-opt %s --tegula-choose-schedule="set=producer_registers=32" 2>&1 | FileCheck %s --check-prefix=E22
// RUN: not tegula-opt %s --tegula-choose-schedule="set=walk=down" 2>&1 | FileCheck %s --check-prefix=E23
// RUN: not tegula-opt %s --tegula-choose-schedule="set=overlap=2" 2>&1 | FileCheck %s --check-prefix=E24
// RUN: not tegula-opt %s --tegula-choose-schedule="set=polynomial=9" 2>&1 | FileCheck %s --check-prefix=E25
// RUN: not tegula-opt %s --tegula-choose-schedule="set=form=direct,walk=descending" 2>&1 | FileCheck %s --check-prefix=E26
// RUN: not tegula-opt %s --tegula-choose-schedule="set=form=direct,overlap=false" 2>&1 | FileCheck %s --check-prefix=E27
// RUN: not tegula-opt %s --tegula-choose-schedule="set=softmax=threshold,polynomial=1" 2>&1 | FileCheck %s --check-prefix=E28
// RUN: not tegula-opt %s --tegula-choose-schedule="set=form=direct,half_blocks=false" 2>&1 | FileCheck %s --check-prefix=E29
// RUN: not tegula-opt %s --tegula-choose-schedule="set=form=direct,epilogue=wide" 2>&1 | FileCheck %s --check-prefix=E30
// RUN: not tegula-opt %s --tegula-choose-schedule="set=epilogue=fast" 2>&1 | FileCheck %s --check-prefix=E31
// RUN: not tegula-opt %s --tegula-choose-schedule="set=overlap=false,half_blocks=true" 2>&1 | FileCheck %s --check-prefix=E32

// E0: error: unknown field `forms` of the schedule; known: form, block_m, block_n, consumers, stages, q_stages, producer_registers, consumer_registers, ping_pong, softmax, tiles, overlap, walk, polynomial, half_blocks, epilogue
// E1: error: expected `form` of the schedule to be direct, pipelined or sequential, but got `fast`
// E2: error: expected `ping_pong` of the schedule to be true or false, but got `maybe`
// E3: error: expected `stages` of the schedule to be an integer of 32 bits, but got `x`
// E4: error: form `sequential` of the schedule does not run on sm_90a
// E5: error: form `pipelined` of the schedule does not run on the CPU
// E6: error: the schedule needs 295936 bytes of shared memory, but sm_90a has 232448 a block; lower block_n, stages or q_stages
// E7: error: the schedule needs about 196 registers a consumer thread, but has 112; lower block_n or consumers
// E8: error: the schedule's roles need 68608 registers, but 3 warpgroups hold 64512 at their launch on sm_90a
// E22: error: the schedule's roles need 65536 registers, but 3 warpgroups hold 64512 at their launch on sm_90a
// E9: error: expected block_m = 64 * consumers = 64, but got 100
// E10: error: expected consumers from 1 to 4 in steps of 1, but got 5
// E11: error: expected stages from 1 to 8 in steps of 1, but got 9
// E12: error: expected block_n from 16 to 256 in steps of 16, but got 24
// E13: error: expected producer_registers and consumer_registers both 0 or both given, but got 24 and 0
// E14: error: expected a known architecture (sm_90a), but got 'sm_80'
// E15: error: field `stages` of the schedule has no effect under form `direct`; leave it out, or set form=pipelined
// E16: error: field `softmax` of the schedule has no effect under form `sequential`; leave it out, or set form=pipelined
// E17: error: expected `consumers` of the schedule to be an integer of 32 bits, but got `1152921504606846976`
// E18: error: expected `softmax` of the schedule to be online, threshold or fixed, but got `lazy`
// E19: error: expected `tiles` of the schedule to be stride, counter or longest_first, but got `last`
// E20: error: field `tiles` of the schedule has no effect under form `direct`; leave it out, or set form=pipelined
// E21: error: expected softmax = online or threshold under form = direct, but got fixed
// E23: error: expected `walk` of the schedule to be ascending or descending, but got `down`
// E24: error: expected `overlap` of the schedule to be true or false, but got `2`
// E25: error: expected polynomial from 0 to 8 in steps of 1, but got 9
// E26: error: field `walk` of the schedule has no effect under form `direct`; leave it out, or set form=pipelined
// E27: error: field `overlap` of the schedule has no effect under form `direct`; leave it out, or set form=pipelined
// E29: error: field `half_blocks` of the schedule has no effect under form `direct`; leave it out, or set form=pipelined
// E30: error: field `epilogue` of the schedule has no effect under form `direct`; leave it out, or set form=pipelined
// E31: error: expected `epilogue` of the schedule to be wide or pairs, but got `fast`
// E32: error: expected overlap = true under half_blocks = true, but got false
// E28: error: expected polynomial = 0 under softmax = threshold, but got 1

tile.kernel @a(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}
