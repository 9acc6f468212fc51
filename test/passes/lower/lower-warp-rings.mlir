// Rings and named barriers: slot and phase follow from the counter; acquires wait for the other parity, so that the first round passes.
// RUN: tegula-opt %s --tegula-allocate-shared --tegula-lower-warp | FileCheck %s

!mem = memref<?x80xbf16, strided<[?, ?]>>
!ring = !warp.ring<64x80xbf16, stages 2>

// CHECK-LABEL: llvm.func @rings
// CHECK-SAME: %[[MAP:[^ ]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, tegula.argument = {axes = [1, 0], box = [64, 64], kind = "tensor_map", swizzle = 128 : i64, tensor = "x"}}, %[[REST:[^ ]+]]: !llvm.ptr {{{.*}}box = [16, 64], kind = "tensor_map", swizzle = 128 : i64, tensor = "x"}}
// CHECK-SAME: nvvm.reqntid = array<i32: 384>
warp.kernel @rings(%x: !mem {tile.name = "x", tile.dims = ["M", 80], tile.role = "in"}, %M: i64 {tile.dim = "M"})
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  // The base of shared memory is rounded up to the swizzle's 1024 bytes.
  // CHECK: %[[SYMBOL:.*]] = llvm.mlir.addressof @smem
  // CHECK-NEXT: %[[ADDRESS:.*]] = llvm.ptrtoint %[[SYMBOL]]
  // CHECK: %[[UP:.*]] = arith.addi %[[ADDRESS]], %{{.*}}
  // CHECK: %[[BASE:.*]] = arith.andi %[[UP]], %{{.*}}
  // Two full barriers of one arrival, two empty ones of eight warps; the second ring's are for one warpgroup, so for four warps.
  // CHECK: scf.if
  // CHECK-COUNT-8: mbarrier.init.shared::cta.b64 [$0], $1;
  // CHECK-NOT: mbarrier.init
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK: llvm.inline_asm {{.*}} "bar.sync $0, $1;"
  %r = warp.ring "x" copies 1 consumers 2 : !ring
  %q = warp.ring "q" copies 2 consumers 2 : !warp.ring<64x64xbf16, stages 1>
  %zero = arith.constant 0 : i64
  warp.roles {
    // CHECK: %[[PRODUCER:.*]] = arith.cmpi ult
    // CHECK-NEXT: scf.if %[[PRODUCER]] {
    // CHECK-NEXT: nvvm.setmaxregister decrease 24
    // CHECK: scf.if
    warp.role "load" warpgroups 1 registers 24 elected {
      warp.for_tiles %t of %M {
        // CHECK: %[[COUNT:.*]] = arith.trunci %{{.*}} : i64 to i32
        // CHECK: %[[SLOT:.*]] = arith.remui %[[COUNT]], %[[DEPTH:.*]] : i32
        // CHECK-NEXT: %[[ROUND:.*]] = arith.divui %[[COUNT]], %[[DEPTH]]
        // CHECK: %[[PHASE:.*]] = arith.andi %[[ROUND]], %{{.*}}
        // CHECK: %[[OTHER:.*]] = arith.xori %[[PHASE]], %{{.*}}
        // CHECK: llvm.inline_asm {{.*}}mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;{{.*}} %{{.*}}, %[[OTHER]] :
        %s = warp.acquire %r[%t] copy %zero : !ring
        // 80 columns are a panel of 64, and 16 of the next one: a box of their own.
        // CHECK: llvm.inline_asm {{.*}} "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4}], [$2];", "r,l,r,r,r,~{memory}" %{{.*}}, %[[MAP]], %[[BARRIER:.*]], %{{.*}}, %{{.*}} :
        // CHECK: llvm.inline_asm {{.*}} "cp.async.bulk.tensor.2d{{.*}} %[[REST]], %[[BARRIER]],
        // CHECK-NOT: cp.async
        warp.copy engine(tma) %x[%t, %zero] axes [0, 1] to %s of %r[%t] copy %zero : !mem, !warp.slot<64x80xbf16>, !ring
        // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(10240 : i32)
        // CHECK: llvm.inline_asm {{.*}} "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;"
        warp.commit %r[%t] copy %zero : !ring
      }
    }
    // CHECK: } else {
    // CHECK-NEXT: nvvm.setmaxregister increase 240
    // CHECK: %[[GROUP:.*]] = arith.extui %{{.*}} : i32 to i64
    warp.role "compute" warpgroups 2 registers 240 {
      %g = warp.warpgroup
      warp.for_tiles %t of %M {
        // CHECK: %[[ROUND:.*]] = arith.divui
        // CHECK: %[[PHASE:.*]] = arith.andi %[[ROUND]], %{{.*}}
        // CHECK: mbarrier.try_wait.parity{{.*}} %{{.*}}, %[[PHASE]] :
        %s = warp.wait %r[%t] copy %zero : !ring
        // A release is one arrival a warp, after all its lanes have come.
        // CHECK: nvvm.bar.warp.sync
        // CHECK: llvm.inline_asm {{.*}} "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];"
        warp.release %r[%t] copy %zero : !ring
        // The copy chooses the ring among several.
        // CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
        // CHECK: arith.addi %{{.*}}, %[[FIRST]]
        // CHECK: mbarrier.try_wait
        %qs = warp.wait %q[%t] copy %g : !warp.ring<64x64xbf16, stages 1>
        // CHECK: llvm.inline_asm {{.*}} "bar.sync $0, $1;"
        warp.sync %g threads 256
        // CHECK: llvm.inline_asm {{.*}} "bar.arrive $0, $1;"
        warp.arrive %g threads 256
      }
    }
  }
  warp.return
}
