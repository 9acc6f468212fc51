// Votes are reductions at a barrier of the warpgroup's own; marks are NaN payloads that the hardware does not make.
// RUN: tegula-opt %s --tegula-allocate-shared --tegula-lower-warp --cse -split-input-file | FileCheck %s

#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

// A row value is two rows of the thread's.
// CHECK-LABEL: llvm.func @vote
// CHECK-NOT: "workspace"
// CHECK: %[[GROUP:.*]] = nvvm.shfl.sync idx
// CHECK: %[[ROWS:.*]]:2 = vector.to_elements
// CHECK: %[[EITHER:.*]] = arith.ori %[[ROWS]]#0, %[[ROWS]]#1
// CHECK: %[[EIGHT:.*]] = llvm.mlir.constant(8 : i32)
// CHECK: %[[BARRIER:.*]] = arith.addi %[[GROUP]], %[[EIGHT]]
// CHECK: %[[THREADS:.*]] = llvm.mlir.constant(128 : i32)
// CHECK: %[[R:.*]] = llvm.inline_asm {{.*}}bar.red.or.pred p, $1, $3, $2;{{.*}} %[[BARRIER]], %[[EITHER]], %[[THREADS]] :
// The answer is one lane's: then a branch on it is the warp's.
// CHECK: %[[ONE:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[R]], %{{.*}}, %{{.*}} : i32 -> i32
// CHECK: %[[ANY:.*]] = arith.trunci %[[ONE]]
// CHECK: llvm.inline_asm {{.*}}bar.red.or.pred p, $1, $3, $2;{{.*}} %[[BARRIER]], %[[ANY]], %[[THREADS]] :
warp.kernel @vote() attributes {schedule = #pipelined} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %flags = arith.constant dense<true> : tensor<64xi1, #warp.rows>
      %any = warp.vote %flags : tensor<64xi1, #warp.rows>
      %again = warp.vote %any : i1
    }
  }
  warp.return
}

// -----

// Where threads have few registers the answer stays each thread's own.
#few = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 104, ping_pong = false, softmax = online>
// CHECK-LABEL: llvm.func @few
// CHECK: %[[R:.*]] = llvm.inline_asm {{.*}}bar.red.or.pred
// CHECK-NEXT: arith.trunci %[[R]]
warp.kernel @few() attributes {schedule = #few} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %flags = arith.constant dense<true> : tensor<64xi1, #warp.rows>
      %any = warp.vote %flags : tensor<64xi1, #warp.rows>
      %again = warp.vote %any : i1
    }
  }
  warp.return
}

// -----

#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

// One thread marks, where the element exists; each asks for its own, and for 0 where there is none.
// CHECK-LABEL: llvm.func @mark
// CHECK-SAME: %[[O:[^ ]+]]: !llvm.ptr<1>
// CHECK-NOT: "workspace"
// CHECK: %[[M:.*]] = arith.extui
// CHECK: %[[T:.*]] = arith.andi %{{.*}}, %{{.*}}
// CHECK: %[[THREAD:.*]] = arith.extui %[[T]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %[[M]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[O]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[T]], %{{.*}}
// CHECK-NEXT: %[[WRITES:.*]] = arith.andi %[[EXISTS]], %[[FIRST]]
// CHECK-NEXT: scf.if %[[WRITES]] {
// 0x7fa5
// CHECK-NEXT: %[[MARK:.*]] = llvm.mlir.constant(32677 : i16)
// CHECK-NEXT: llvm.store %[[MARK]], %[[PLACE]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[THREAD]], %[[M]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[O]]
// CHECK-NEXT: %[[BITS:.*]] = scf.if %[[EXISTS]] -> (i16) {
// CHECK-NEXT: %[[READ:.*]] = llvm.load volatile %[[PLACE]]
// CHECK-NEXT: scf.yield %[[READ]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[NONE:.*]] = llvm.mlir.constant(0 : i16)
// CHECK-NEXT: scf.yield %[[NONE]]
// CHECK: %[[MARK:.*]] = llvm.mlir.constant(32677 : i16)
// CHECK-NEXT: %[[IS:.*]] = arith.cmpi eq, %[[BITS]], %[[MARK]]
// CHECK: bar.red.or.pred {{.*}} %[[IS]],
warp.kernel @mark(%o: memref<?xbf16, strided<[?]>> {tile.name = "o", tile.dims = ["M"], tile.role = "out"}, %M: i64 {tile.dim = "M"}) attributes {schedule = #pipelined} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %t = warp.thread
      warp.mark %o[%zero] : memref<?xbf16, strided<[?]>>
      %is = warp.is_marked %o[%t] : memref<?xbf16, strided<[?]>>
      %some = warp.vote %is : i1
    }
  }
  warp.return
}

// -----

#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>
!o = memref<?x?xf32, strided<[?, ?]>>

// One thread swaps the mark for another NaN; all get its answer. Rows are counted in the workspace, no more than exist.
// CHECK-LABEL: llvm.func @claim
// CHECK-SAME: %[[O:[^ ]+]]: !llvm.ptr<1>
// CHECK-SAME: %[[WORKSPACE:[^ ]+]]: !llvm.ptr<1> {tegula.argument = {bytes = 16 : i64, kind = "workspace"}})
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[O]]
// 0x7fa5a5a5, then 0x7fa5a5a6
// CHECK: %[[MARK:.*]] = llvm.mlir.constant(2141562277 : i32)
// CHECK: %[[OLD:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK-NEXT: %[[TAKEN:.*]] = llvm.mlir.constant(2141562278 : i32)
// CHECK-NEXT: %[[SWAPPED:.*]] = llvm.inline_asm {{.*}} "atom.global.cas.b32 $0, [$1], $2, $3;", {{.*}} %[[PLACE]], %[[MARK]], %[[TAKEN]] :
// CHECK-NEXT: scf.yield %[[SWAPPED]]
// CHECK: %[[WON:.*]] = arith.cmpi eq, %[[OLD]], %[[MARK]]
// CHECK-NEXT: scf.if %[[WON]] {
// CHECK: %[[LEFT:.*]] = arith.subi %[[M:.*]], %{{.*}} : i64
// CHECK: %[[ATMOST:.*]] = llvm.mlir.constant(64 : i64)
// CHECK-NEXT: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %[[ATMOST]]
// CHECK-NEXT: %[[ROWS32:.*]] = arith.trunci %[[ROWS]]
// CHECK-NEXT: %[[COUNT:.*]] = llvm.getelementptr %[[WORKSPACE]][8]
// CHECK-NEXT: llvm.atomicrmw add %[[COUNT]], %[[ROWS32]] monotonic
// CHECK: bar.red.or.pred {{.*}} %[[WON]],
warp.kernel @claim(%o: !o {tile.name = "o", tile.dims = ["M", "N"], tile.role = "out"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #pipelined} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %c64 = arith.constant 64 : i64
      %zero = arith.constant 0 : i64
      %mine = warp.claim %o[%c64, %zero] axis 0 : !o
    }
  }
  warp.return
}

// -----

#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

// Parts of a sum take no shuffle, a complete one two a row.
// CHECK-LABEL: llvm.func @sums
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync
// CHECK-COUNT-6: arith.addf
// CHECK: %[[L:.*]]:2 = vector.to_elements
// CHECK: %[[X:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[L]]#0
// CHECK-NEXT: %[[PAIR:.*]] = arith.addf %[[L]]#0, %[[X]]
// CHECK-NEXT: %[[Y:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[PAIR]]
// CHECK-NEXT: arith.addf %[[PAIR]], %[[Y]]
// CHECK-COUNT-2: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
warp.kernel @sums(%o: memref<?xf32, strided<[?]>> {tile.name = "o", tile.dims = ["M"], tile.role = "out"}, %M: i64 {tile.dim = "M"}) attributes {schedule = #pipelined} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %p = arith.constant dense<1.0> : tensor<64x16xf32, #warp.fragment>
      %l = warp.partial_sum %p : tensor<64x16xf32, #warp.fragment> -> tensor<64xf32, #warp.rows>
      %s = warp.complete_sum %l : tensor<64xf32, #warp.rows>
      tile.store %s, %o[%zero] axes [0] : tensor<64xf32, #warp.rows>, memref<?xf32, strided<[?]>>
    }
  }
  warp.return
}

// -----

#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

// A uniform number is lane 0's.
// CHECK-LABEL: llvm.func @uniform
// CHECK: nvvm.shfl.sync idx
// CHECK: %[[T:.*]] = arith.andi
// CHECK: %[[U:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[T]], %[[C0:.*]], %{{.*}} : i32 -> i32
// CHECK-NEXT: %[[WIDE:.*]] = arith.extui %[[U]]
// CHECK: arith.cmpi ult, %[[WIDE]]
warp.kernel @uniform(%o: memref<?xf32, strided<[?]>> {tile.name = "o", tile.dims = ["M"], tile.role = "out"}, %M: i64 {tile.dim = "M"}) attributes {schedule = #pipelined} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %t = warp.thread
      %u = warp.uniform %t
      warp.mark %o[%u] : memref<?xf32, strided<[?]>>
    }
  }
  warp.return
}
