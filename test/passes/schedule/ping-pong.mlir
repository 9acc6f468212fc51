// Consumers take turns: a sync on the own barrier before the first matrix op of a loop, an arrive at the next one's after the last.
// RUN: tegula-opt %s --tegula-ping-pong | FileCheck %s

!slot = !warp.slot<64x64xbf16>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>
#turns = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = true, softmax = online>
#free = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>
#one = #tile.schedule<form = pipelined, block_m = 64, block_n = 64, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = true, softmax = online>

// CHECK-LABEL: warp.kernel @turns
warp.kernel @turns(%n: i64) attributes {schedule = #turns} {
  %r = warp.ring "k" copies 1 consumers 2 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    // CHECK: warp.role "load"
    // CHECK-NOT: warp.sync
    // CHECK-NOT: warp.arrive
    warp.role "load" warpgroups 1 registers 24 elected {
    }
    // CHECK: warp.role "compute"
    // CHECK-NEXT: %[[GROUP:.*]] = warp.warpgroup
    // CHECK: %[[MINE:.*]] = arith.addi %[[GROUP]], %[[ONE:.*]] : i64
    // CHECK-NEXT: %[[WRAPPED:.*]] = arith.remsi %[[MINE]], %{{.*}}
    // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[WRAPPED]], %[[ONE]]
    // The last warpgroup hands out the first turn.
    // CHECK: %[[LAST:.*]] = arith.cmpi eq, %[[GROUP]], %c1
    // CHECK-NEXT: scf.if %[[LAST]] {
    // CHECK-NEXT: warp.arrive %[[ONE]] threads 256
    // CHECK: scf.for
    // CHECK: warp.wait
    // CHECK-NEXT: warp.sync %[[MINE]] threads 256
    // CHECK-NEXT: warp.mma
    // CHECK-NEXT: warp.mma
    // CHECK-NEXT: warp.arrive %[[NEXT]] threads 256
    // CHECK-NEXT: warp.await
    // A loop that passes over blocks takes their turns.
    // CHECK: scf.for
    // CHECK-NEXT: warp.release
    // CHECK-NEXT: warp.sync %[[MINE]] threads 256
    // CHECK-NEXT: warp.arrive %[[NEXT]] threads 256
    // A loop of neither takes none.
    // CHECK: scf.for
    // CHECK-NOT: warp.sync
    // The first warpgroup takes up the turn that is left.
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[GROUP]], %c0
    // CHECK-NEXT: scf.if %[[FIRST]] {
    // CHECK-NEXT: warp.sync %[[ONE]] threads 256
    warp.role "compute" warpgroups 2 registers 240 {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      scf.for %i = %zero to %n step %one : i64 {
        %s = warp.wait %r[%i] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %s, %s : !slot, !slot -> !pending
        %p2 = warp.mma %s, %s transpose_b : !slot, !slot -> !pending
        %t = warp.await %p : !pending
        %t2 = warp.await %p2 : !pending
      }
      scf.for %i = %zero to %n step %one : i64 {
        warp.release %r[%i] copy %zero : !warp.ring<64x64xbf16, stages 2>
      }
      scf.for %i = %zero to %n step %one : i64 {
        %m = arith.addi %i, %one : i64
      }
    }
  }
  warp.return
}

// CHECK-NOT: warp.sync
// CHECK-NOT: warp.arrive
warp.kernel @free(%n: i64) attributes {schedule = #free} {
  %r = warp.ring "k" copies 1 consumers 2 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 2 registers 240 {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      scf.for %i = %zero to %n step %one : i64 {
        %s = warp.wait %r[%i] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %s, %s : !slot, !slot -> !pending
        %t = warp.await %p : !pending
      }
    }
  }
  warp.return
}

// One consumer has nobody to take turns with.
// CHECK: warp.kernel @one
// CHECK-NOT: warp.sync
// CHECK-NOT: warp.arrive
warp.kernel @one(%n: i64) attributes {schedule = #one} {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 240 {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      scf.for %i = %zero to %n step %one : i64 {
        %s = warp.wait %r[%i] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %p = warp.mma %s, %s : !slot, !slot -> !pending
        %t = warp.await %p : !pending
      }
    }
  }
  warp.return
}

// Products of tiles in global memory, as of rows computed again, take no turn: their warpgroup comes alone.
// CHECK: warp.kernel @alone
// CHECK-NOT: warp.sync
// CHECK-NOT: warp.arrive
warp.kernel @alone(%k: memref<?x64xbf16>, %n: i64) attributes {schedule = #turns} {
  warp.roles {
    warp.role "compute" warpgroups 2 registers 240 {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      scf.for %i = %zero to %n step %one : i64 {
        %g = warp.global %k[%i, %zero] axes [0, 1] : memref<?x64xbf16> -> !warp.global<64x64xbf16>
        %p = warp.mma %g, %g transpose_b : !warp.global<64x64xbf16>, !warp.global<64x64xbf16> -> !pending
        %t = warp.await %p : !pending
      }
    }
  }
  warp.return
}
