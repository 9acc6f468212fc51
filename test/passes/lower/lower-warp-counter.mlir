// Dynamic tiles: the elected thread takes numbers from the workspace and passes them through two slots of shared memory; consumers receive them, a warp at a time.
// RUN: tegula-opt %s --tegula-allocate-shared --tegula-lower-warp --cse | FileCheck %s

!o = memref<?xf32, strided<[?]>>

// CHECK-LABEL: llvm.func @dynamic
// CHECK-SAME: %[[WORKSPACE:[^ ]+]]: !llvm.ptr<1> {tegula.argument = {bytes = 16 : i64, kind = "workspace"}})
// CHECK-SAME: tegula.manifest = {arguments = [{{.*}}, {dim = "M", kind = "dim"}, {bytes = 16 : i64, kind = "workspace"}]
warp.kernel @dynamic(%o: !o {tile.name = "o", tile.dims = ["M"], tile.role = "out"}, %M: i64 {tile.dim = "M"})
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 16, consumers = 2, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, tiles = counter>} {
  // CHECK-DAG: %[[C0:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK-DAG: %[[LANE:.*]] = arith.andi
  // CHECK-DAG: %[[LANE0:.*]] = arith.cmpi eq, %[[LANE]], %[[C0]]
  // Full barriers of one arrival, empty ones of eight warps.
  // CHECK: scf.if
  // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: %[[WARPS:.*]] = llvm.mlir.constant(8 : i32)
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", {{.*}} %{{.*}}, %[[ONE]] :
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", {{.*}} %{{.*}}, %[[WARPS]] :
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", {{.*}} %{{.*}}, %[[ONE]] :
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", {{.*}} %{{.*}}, %[[WARPS]] :
  // CHECK: bar.sync
  // CHECK: %[[C1:.*]] = llvm.mlir.constant(1 : i32)
  warp.queue consumers 2
  warp.roles {
    // The producer: the first tile is the CTA's number; the next ones are the counter's, behind the first of each CTA.
    // CHECK: nvvm.setmaxregister decrease 24
    // CHECK: %[[CTA:.*]] = nvvm.read.ptx.sreg.ctaid.x
    // CHECK: %[[FIRST:.*]] = arith.extui %[[CTA]]
    // CHECK: scf.while (%[[T:.*]] = %[[FIRST]], %[[K:.*]] = %[[C0]])
    // CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[T]], %{{.*}}
    // CHECK-NEXT: scf.condition(%[[MORE]]) %[[T]], %[[K]]
    // It is taken behind the loads of this tile: a CTA that is behind leaves its next one to others.
    // CHECK: ^bb0(%{{.*}}: i64, %[[K:.*]]: i32):
    // CHECK: bar.arrive
    // CHECK-NEXT: %[[TAKEN:.*]] = llvm.atomicrmw add %[[WORKSPACE]], %[[C1]] monotonic
    // CHECK-NEXT: %[[CTAS:.*]] = nvvm.read.ptx.sreg.nctaid.x
    // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[TAKEN]], %[[CTAS]]
    // CHECK: %[[PARITY:.*]] = arith.xori %{{.*}}, %[[C1]]
    // CHECK-NEXT: mbarrier.try_wait.parity{{.*}} %[[EMPTY:.*]], %[[PARITY]] :
    // CHECK-NEXT: llvm.inline_asm {{.*}} "st.shared.b32 [$0], $1;", {{.*}} %{{.*}}, %[[NEXT]] :
    // CHECK: mbarrier.arrive.shared::cta
    // CHECK: %[[WIDE:.*]] = arith.extui %[[NEXT]]
    // CHECK-NEXT: %[[K1:.*]] = arith.addi %[[K]], %[[C1]]
    // CHECK-NEXT: scf.yield %[[WIDE]], %[[K1]]
    // The last CTA to leave sets the counter to 0 again; the count of those that left wraps by itself.
    // CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %[[C1]]
    // CHECK: %[[LEFT:.*]] = llvm.getelementptr %[[WORKSPACE]][4]
    // CHECK-NEXT: %[[BEFORE:.*]] = llvm.atomicrmw uinc_wrap %[[LEFT]], %[[LAST]] acq_rel
    // CHECK-NEXT: %[[ISLAST:.*]] = arith.cmpi eq, %[[BEFORE]], %[[LAST]]
    // CHECK-NEXT: scf.if %[[ISLAST]] {
    // CHECK-NEXT: llvm.store volatile %[[C0]], %[[WORKSPACE]]
    warp.role "load" warpgroups 1 registers 24 elected {
      warp.for_tiles %t of %M {
        %one = arith.constant 1 : i64
        warp.arrive %one threads 256
      } {dynamic}
    }
    // The consumers ask for the next number when they have stored this tile; the number is the warp's.
    // CHECK: nvvm.setmaxregister increase 240
    // CHECK: scf.while
    // CHECK-NOT: llvm.atomicrmw
    // CHECK: llvm.store
    // CHECK: mbarrier.try_wait.parity
    // CHECK-NEXT: %[[NUMBER:.*]] = llvm.inline_asm {{.*}} "ld.shared.b32 $0, [$1];"
    // CHECK-NEXT: nvvm.bar.warp.sync
    // CHECK-NEXT: llvm.inline_asm {{.*}} "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", {{.*}}, %[[LANE0]] :
    // CHECK-NEXT: %[[SAME:.*]] = nvvm.shfl.sync idx %{{.*}}, %[[NUMBER]], %[[C0]],
    // CHECK-NEXT: %[[WIDE:.*]] = arith.extui %[[SAME]]
    // CHECK: scf.yield %[[WIDE]]
    // CHECK-NOT: llvm.atomicrmw
    warp.role "compute" warpgroups 2 registers 240 {
      warp.for_tiles %t of %M {
        %l = arith.constant dense<1.0> : tensor<64xf32, #warp.rows>
        tile.store %l, %o[%t] axes [0] : tensor<64xf32, #warp.rows>, !o
      } {dynamic}
    }
  }
  warp.return
}

// Where the body frees its slots before it stores, the next number comes between, and where that tile is is found out beside the stores and carried.
// CHECK-LABEL: llvm.func @ahead
warp.kernel @ahead(%o: !o {tile.name = "o", tile.dims = ["M"], tile.role = "out"}, %M: i64 {tile.dim = "M"})
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 16, consumers = 2, stages = 1, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, tiles = counter>} {
  %r = warp.ring "k" copies 1 consumers 2 : !warp.ring<64x64xbf16, stages 1>
  warp.queue consumers 2
  warp.roles {
    // CHECK: nvvm.setmaxregister increase 240
    // CHECK: %[[CTA:.*]] = nvvm.read.ptx.sreg.ctaid.x
    // CHECK: %[[FIRST:.*]] = arith.extui %[[CTA]]
    // CHECK: %[[ROW0:.*]] = arith.muli %[[FIRST]], %[[C64:.*]] : i64
    // CHECK: %[[SAME0:.*]] = nvvm.shfl.sync
    // CHECK: %[[PLACE0:.*]] = arith.extui %[[SAME0]]
    // CHECK: scf.while (%{{.*}} = %[[FIRST]], %{{.*}} = %{{.*}}, %{{.*}} = %[[PLACE0]],
    // CHECK: ^bb0(%{{.*}}: i64, %{{.*}}: i64, %[[PLACE:.*]]: i64, %{{.*}}: i32):
    // CHECK-NOT: arith.muli %{{.*}}, %[[C64]] : i64
    // CHECK: mbarrier.arrive
    // CHECK: ld.shared.b32
    // CHECK: %[[NEXT:.*]] = arith.extui
    // CHECK: %[[ROW:.*]] = arith.muli %[[NEXT]], %[[C64]] : i64
    // CHECK: %[[SAME:.*]] = nvvm.shfl.sync
    // CHECK: %[[NEXTPLACE:.*]] = arith.extui %[[SAME]]
    // CHECK: llvm.store
    // CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXTPLACE]], %{{.*}} :
    warp.role "compute" warpgroups 2 registers 240 {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %rows = arith.constant 64 : i64
      %k = warp.for_tiles %t of %M iter_args(%i = %zero) -> (i64) {
        %row = arith.muli %t, %rows : i64
        %here = warp.uniform %row
        %s = warp.wait %r[%i] copy %zero : !warp.ring<64x64xbf16, stages 1>
        warp.release %r[%i] copy %zero : !warp.ring<64x64xbf16, stages 1>
        %l = arith.constant dense<1.0> : tensor<64xf32, #warp.rows>
        tile.store %l, %o[%here] axes [0] : tensor<64xf32, #warp.rows>, !o
        %next = arith.addi %i, %one : i64
        warp.yield %next : i64
      } {dynamic}
    }
  }
  warp.return
}
