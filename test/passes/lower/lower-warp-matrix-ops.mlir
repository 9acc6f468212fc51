// Matrix ops: mma.sync over operands in global memory, wgmma over slots, and waits that hold on to the operand registers.
// RUN: tegula-opt %s --tegula-insert-waits --tegula-allocate-shared --tegula-lower-warp | FileCheck %s

!u = tensor<64x16xf32, #warp.fragment>
#direct = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
#pipelined = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>

// Depth 24 is two steps of 16, whose last 8 are zero; 16 columns are two products a step.
// CHECK-LABEL: llvm.func @global16
warp.kernel @global16(%k: memref<?x24xbf16, strided<[?, ?]>> {tile.name = "k", tile.dims = ["N", 24], tile.role = "in"}, %o: memref<?x16xf32, strided<[?, ?]>> {tile.name = "o", tile.dims = ["N", 16], tile.role = "out"},
                      %N: i64 {tile.dim = "N"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      // CHECK: %[[BITS:.*]] = vector.bitcast %{{.*}} : vector<12xbf16> to vector<6xi32>
      %q = arith.constant dense<1.0> : tensor<64x24xbf16, #warp.fragment>
      %t = warp.global %k[%zero, %zero] axes [0, 1] : memref<?x24xbf16, strided<[?, ?]>> -> !warp.global<16x24xbf16>
      // CHECK: %[[A:.*]]:6 = vector.to_elements %[[BITS]]
      // CHECK-COUNT-8: llvm.load
      // CHECK: llvm.inline_asm has_side_effects asm_dialect = att "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$8, $9, $10, $11}, {$12, $13}, {$0, $1, $2, $3};", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,r,r" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[A]]#0, %[[A]]#1, %[[A]]#2, %[[A]]#3,
      // CHECK: mma.sync
      // CHECK-COUNT-4: llvm.load
      // CHECK: llvm.inline_asm {{.*}}mma.sync{{.*}} %[[A]]#4, %[[A]]#5, %[[ZERO:.*]], %[[ZERO]], %{{.*}}, %[[ZERO2:.*]] :
      // CHECK: mma.sync
      // CHECK-NOT: mma.sync
      // CHECK-NOT: wait_group
      %p = warp.mma %q, %t transpose_b : tensor<64x24xbf16, #warp.fragment>, !warp.global<16x24xbf16> -> !warp.pending<!u>
      %s = warp.await %p : !warp.pending<!u>
      tile.store %s, %o[%zero, %zero] axes [0, 1] : !u, memref<?x16xf32, strided<[?, ?]>>
    }
  }
  warp.return
}

// f32 operands: three products of the high and low parts.
// CHECK-LABEL: llvm.func @global32
warp.kernel @global32(%k: memref<?x8xf32, strided<[?, ?]>> {tile.name = "k", tile.dims = ["N", 8], tile.role = "in"}, %o: memref<?x16xf32, strided<[?, ?]>> {tile.name = "o", tile.dims = ["N", 16], tile.role = "out"},
                      %N: i64 {tile.dim = "N"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %q = arith.constant dense<1.0> : tensor<64x8xf32, #warp.fragment>
      %t = warp.global %k[%zero, %zero] axes [0, 1] : memref<?x8xf32, strided<[?, ?]>> -> !warp.global<16x8xf32>
      // CHECK: llvm.inline_asm {{.*}} "cvt.rna.tf32.f32 $0, $1;"
      // CHECK: arith.subf
      // CHECK-COUNT-8: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$8, $9, $10, $11}, {$12, $13}, {$0, $1, $2, $3};
      // CHECK-NOT: mma.sync
      %p = warp.mma %q, %t transpose_b : tensor<64x8xf32, #warp.fragment>, !warp.global<16x8xf32> -> !warp.pending<!u>
      %s = warp.await %p : !warp.pending<!u>
      tile.store %s, %o[%zero, %zero] axes [0, 1] : !u, memref<?x16xf32, strided<[?, ?]>>
    }
  }
  warp.return
}

// Both operands in global memory: the depth is a loop, 16 columns an iteration, and what is left. A row that does not exist is zero.
// CHECK-LABEL: llvm.func @memory
warp.kernel @memory(%q: memref<?x40xbf16, strided<[?, ?]>> {tile.name = "q", tile.dims = ["N", 40], tile.role = "in"},
                    %o: memref<?x16xf32, strided<[?, ?]>> {tile.name = "o", tile.dims = ["N", 16], tile.role = "out"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      // A left operand may start past the extent.
      // CHECK: arith.cmpi sgt
      // CHECK: arith.select
      %l = warp.global %q[%zero, %zero] axes [0, 1] : memref<?x40xbf16, strided<[?, ?]>> -> !warp.global<64x40xbf16>
      %r = warp.global %q[%zero, %zero] axes [0, 1] : memref<?x40xbf16, strided<[?, ?]>> -> !warp.global<16x40xbf16>
      // CHECK: %[[END:.*]] = llvm.mlir.constant(32 : i64)
      // CHECK: scf.for %{{.*}} to %[[END]] step %{{.*}} iter_args
      // CHECK-COUNT-16: llvm.load
      // CHECK-COUNT-2: mma.sync
      // CHECK: scf.yield
      // CHECK-COUNT-8: llvm.load
      // CHECK-COUNT-2: mma.sync
      // CHECK-NOT: llvm.load
      %p = warp.mma %l, %r transpose_b : !warp.global<64x40xbf16>, !warp.global<16x40xbf16> -> !warp.pending<!u>
      %s = warp.await %p : !warp.pending<!u>
      tile.store %s, %o[%zero, %zero] axes [0, 1] : !u, memref<?x16xf32, strided<[?, ?]>>
    }
  }
  warp.return
}

// A wide result is made in branches of 64 columns, which ptxas does not mix.
// CHECK-LABEL: llvm.func @wide
warp.kernel @wide(%v: memref<?x136xbf16, strided<[?, ?]>> {tile.name = "v", tile.dims = ["N", 136], tile.role = "in"},
                  %o: memref<?x136xf32, strided<[?, ?]>> {tile.name = "o", tile.dims = ["N", 136], tile.role = "out"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #direct} {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %w = arith.constant dense<1.0> : tensor<64x16xbf16, #warp.fragment>
      %t = warp.global %v[%zero, %zero] axes [0, 1] : memref<?x136xbf16, strided<[?, ?]>> -> !warp.global<16x136xbf16>
      // CHECK: scf.if
      // CHECK-COUNT-8: mma.sync
      // CHECK: else
      // CHECK: scf.if
      // CHECK-COUNT-8: mma.sync
      // CHECK: scf.if
      // CHECK-COUNT-1: mma.sync
      // CHECK: else
      // CHECK-NOT: mma.sync
      %p = warp.mma %w, %t : tensor<64x16xbf16, #warp.fragment>, !warp.global<16x136xbf16> -> !warp.pending<tensor<64x136xf32, #warp.fragment>>
      %s = warp.await %p : !warp.pending<tensor<64x136xf32, #warp.fragment>>
      tile.store %s, %o[%zero, %zero] axes [0, 1] : tensor<64x136xf32, #warp.fragment>, memref<?x136xf32, strided<[?, ?]>>
    }
  }
  warp.return
}

// CHECK-LABEL: llvm.func @shared
warp.kernel @shared(%o: memref<?x16xf32, strided<[?, ?]>> {tile.name = "o", tile.dims = ["N", 16], tile.role = "out"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #pipelined} {
  %qr = warp.ring "q" copies 1 consumers 1 : !warp.ring<64x80xf16, stages 1>
  %kr = warp.ring "k" copies 1 consumers 1 : !warp.ring<16x80xf16, stages 1>
  %vr = warp.ring "v" copies 1 consumers 1 : !warp.ring<16x16xf16, stages 1>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %q = warp.wait %qr[%zero] copy %zero : !warp.ring<64x80xf16, stages 1>
      %k = warp.wait %kr[%zero] copy %zero : !warp.ring<16x80xf16, stages 1>
      %v = warp.wait %vr[%zero] copy %zero : !warp.ring<16x16xf16, stages 1>
      // Both operands in shared memory: five steps of 16 columns, the last in the second panel; the first product starts from nothing.
      // CHECK: llvm.inline_asm {{.*}}wgmma.fence.sync.aligned;\0Aadd.s64 b, $17, 0;\0Asetp.ne.b32 p, 0, 0;\0Aadd.s64 a, $16, 0;\0Awgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, a, b, p, 1, 1, 0, 0;\0A
      // CHECK-SAME: add.s64 b, $17, 2;\0Asetp.ne.b32 p, 1, 0;\0Aadd.s64 a, $16, 2;
      // CHECK-SAME: add.s64 b, $17, 6;
      // CHECK-SAME: add.s64 b, $17, 128;\0Asetp.ne.b32 p, 1, 0;\0Aadd.s64 a, $16, 512;
      // CHECK-SAME: wgmma.commit_group.sync.aligned;
      // CHECK-SAME: "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,l,l,~{memory}"
      %p = warp.mma %q, %k transpose_b : !warp.slot<64x80xf16>, !warp.slot<16x80xf16> -> !warp.pending<!u>
      // CHECK: llvm.inline_asm {{.*}} "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}"
      %s = warp.await %p : !warp.pending<!u>
      %w = warp.pack %s : !u -> tensor<64x16xf16, #warp.fragment>
      // The left operand in registers, an accumulator, and a right operand that is not transposed.
      // CHECK: llvm.inline_asm {{.*}}add.s64 b, $20, 0;\0Asetp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7}, {$16, $17, $18, $19}, b, p, 1, 1, 1;
      // CHECK-SAME: "=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,r,r,r,r,l,~{memory}"
      %p2 = warp.mma %w, %v acc(%s : !u) : tensor<64x16xf16, #warp.fragment>, !warp.slot<16x16xf16> -> !warp.pending<!u>
      // CHECK: wgmma.mma_async
      %p3 = warp.mma %q, %k transpose_b : !warp.slot<64x80xf16>, !warp.slot<16x80xf16> -> !warp.pending<!u>
      // The wait is tied to the accumulator and to the four registers that the product reads.
      // CHECK: llvm.inline_asm {{.*}} "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,=f,=f,=f,=f,=r,=r,=r,=r,0,1,2,3,4,5,6,7,8,9,10,11,~{memory}"
      %u = warp.await %p2 : !warp.pending<!u>
      // CHECK: "wgmma.wait_group.sync.aligned 0;"
      %u3 = warp.await %p3 : !warp.pending<!u>
      %both = arith.addf %u, %u3 : !u
      tile.store %both, %o[%zero, %zero] axes [0, 1] : !u, memref<?x16xf32, strided<[?, ?]>>
    }
  }
  warp.return
}

// The second half of the steps is left out under a flag; each way has its own fence and commit, as no product may be open where they meet.
// CHECK-LABEL: llvm.func @half
warp.kernel @half(%o: memref<?x16xf16, strided<[?, ?]>> {tile.name = "o", tile.dims = ["N", 16], tile.role = "out"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #pipelined} {
  %vr = warp.ring "v" copies 1 consumers 1 : !warp.ring<32x16xf16, stages 1>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %half = arith.cmpi sle, %N, %zero : i64
      %w = arith.constant dense<1.0> : tensor<64x32xf32, #warp.fragment>
      %p = warp.pack %w : tensor<64x32xf32, #warp.fragment> -> tensor<64x32xf16, #warp.fragment>
      %v = warp.wait %vr[%zero] copy %zero : !warp.ring<32x16xf16, stages 1>
      // CHECK: @$25 bra.uni HALF;\0Awgmma.fence.sync.aligned;\0Aadd.s64 b, $24, 0;
      // CHECK-SAME: {$16, $17, $18, $19}, b
      // CHECK-SAME: {$20, $21, $22, $23}, b
      // CHECK-SAME: wgmma.commit_group.sync.aligned;\0Abra.uni DONE;\0AHALF:\0Awgmma.fence.sync.aligned;
      // CHECK-SAME: {$16, $17, $18, $19}, b, p, 1, 1, 1;\0Awgmma.commit_group.sync.aligned;\0ADONE:\0A}
      %r = warp.mma %p, %v half(%half) : tensor<64x32xf16, #warp.fragment>, !warp.slot<32x16xf16> -> !warp.pending<!u>
      %u = warp.await %r : !warp.pending<!u>
      %t = arith.truncf %u : !u to tensor<64x16xf16, #warp.fragment>
      tile.store %t, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf16, #warp.fragment>, memref<?x16xf16, strided<[?, ?]>>
      warp.release %vr[%zero] copy %zero : !warp.ring<32x16xf16, stages 1>
    }
  }
  warp.return
}
