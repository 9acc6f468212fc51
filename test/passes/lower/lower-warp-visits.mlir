// Counts of visited blocks are atomic additions behind the other counters: of one thread, whoever runs the role.
// RUN: tegula-opt %s --tegula-allocate-shared --tegula-lower-warp --cse -split-input-file | FileCheck %s

#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

// The elected thread needs no test of its own, the warp's first lane one; of a role that all threads run, the first thread.
// CHECK-LABEL: llvm.func @visits
// CHECK-SAME: %[[COUNTERS:arg[0-9]+]]: !llvm.ptr<1> {tegula.argument = {bytes = 32 : i64, kind = "workspace"}}
// CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: nvvm.setmaxregister decrease 24
// CHECK: scf.if
// CHECK: %[[PARTIAL:.*]] = llvm.getelementptr %[[COUNTERS]][16]
// CHECK-NEXT: %[[FULL:.*]] = llvm.getelementptr %[[COUNTERS]][24]
// CHECK-NEXT: %[[WORD:.*]] = arith.select %{{.*}}, %[[PARTIAL]], %[[FULL]] : !llvm.ptr<1>
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: llvm.atomicrmw add %[[WORD]], %[[ONE]] monotonic
// CHECK: nvvm.setmaxregister increase 240
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD]], %{{.*}} : i32
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: %[[ONE:.*]] = arith.extui %{{.*}} : i1 to i64
// CHECK: llvm.atomicrmw add %{{.*}}, %[[ONE]] monotonic
warp.kernel @visits(%tested: i1 {tile.name = "tested"}, %some: i1 {tile.name = "some"}) attributes {schedule = #pipelined} {
  warp.roles {
    warp.role "load" warpgroups 1 registers 24 elected {
      tile.visit tested %tested
    }
    warp.role "compute" warpgroups 1 registers 240 {
      tile.visit tested %tested if %some
    }
  }
  warp.return
}

// -----

#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

// CHECK-LABEL: llvm.func @lanes
// CHECK: %[[LANE0:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK: nvvm.setmaxregister decrease 24
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: scf.if %[[LANE0]] {
// CHECK: llvm.atomicrmw add
warp.kernel @lanes(%tested: i1 {tile.name = "tested"}) attributes {schedule = #pipelined} {
  warp.roles {
    warp.role "load" warpgroups 1 registers 24 elected warp {
      tile.visit tested %tested
    }
    warp.role "compute" warpgroups 1 registers 240 {
    }
  }
  warp.return
}
