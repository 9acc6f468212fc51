// `pipelined`: loads move to a producer that fills rings; the consumers wait for slots, and release each after the last matrix op that reads it.
// RUN: tegula-opt %s --tegula-partition-roles | FileCheck %s

!q = memref<?x16xf16>
!v = memref<?x8xf16>
!kt = tensor<32x16xf16>
!vt = tensor<32x8xf16>
!qt = tensor<64x16xf16, #warp.fragment>
!s = tensor<64x32xf32, #warp.fragment>
!p = tensor<64x32xf16, #warp.fragment>
!u = tensor<64x8xf32, #warp.fragment>

// CHECK-LABEL: warp.kernel @rotated
// CHECK-SAME: (%[[Q:[^ ]+]]: memref<?x16xf16> {tile.name = "q"}, %[[K:[^ ]+]]: memref<?x16xf16> {tile.name = "k"}, %[[V:[^ ]+]]: memref<?x8xf16>, %{{.*}}: memref<?x8xf32>, %[[N:[^ ]+]]: i64)
tile.kernel @rotated(%q: !q {tile.name = "q"}, %k: !q {tile.name = "k"}, %v: !v, %o: memref<?x8xf32>, %n: i64)
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 3, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  // CHECK-NEXT: %[[QR:.*]] = warp.ring "q" copies 2 consumers 2 : <64x16xf16, stages 1>
  // CHECK-NEXT: %[[KR:.*]] = warp.ring "k" copies 1 consumers 2 : <32x16xf16, stages 3>
  // CHECK-NEXT: %[[VR:.*]] = warp.ring "ring" copies 1 consumers 2 : <32x8xf16, stages 3>
  // CHECK-NEXT: warp.roles {
  // The producer: one copy of the query tile a warpgroup, in the consumers' order, and no tile code.
  // CHECK: warp.role "load" warpgroups 1 registers 24 elected {
  // CHECK: warp.for_tiles %[[T:.*]] of %{{.*}} iter_args(%[[QC:.*]] = %{{.*}}, %[[KC:.*]] = %{{.*}}, %[[VC:.*]] = %{{.*}}) -> (i64, i64, i64)
  // CHECK: %[[SLOT:.*]] = warp.acquire %[[QR]][%[[QC]]] copy %c0{{.*}} :
  // CHECK-NEXT: warp.copy engine(tma) %[[Q]][%{{.*}}, %{{.*}}] axes [0, 1] to %[[SLOT]] of %[[QR]][%[[QC]]] copy %c0
  // CHECK-NEXT: warp.commit %[[QR]][%[[QC]]] copy %c0
  // CHECK: %[[SLOT:.*]] = warp.acquire %[[QR]][%[[QC]]] copy %[[ONE:c1.*]] :
  // CHECK-NEXT: warp.copy engine(tma) %[[Q]][{{.*}} to %[[SLOT]] of %[[QR]][%[[QC]]] copy %[[ONE]]
  // CHECK-NEXT: warp.commit %[[QR]][%[[QC]]] copy %[[ONE]]
  // CHECK: scf.for %[[J:[^ ]+]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%{{.*}}, %[[KI:.*]] = %[[KC]], %[[VI:.*]] = %[[VC]]) -> (i64, i64, i64)
  // CHECK: %[[SLOT:.*]] = warp.acquire %[[KR]][%[[KI]]]
  // CHECK-NEXT: warp.copy engine(tma) %[[K]][%[[J]], %{{.*}}] axes [0, 1] to %[[SLOT]] of %[[KR]][%[[KI]]]
  // CHECK-NEXT: warp.commit %[[KR]][%[[KI]]]
  // CHECK: %[[KNEXT:.*]] = arith.addi %[[KI]], %{{.*}}
  // CHECK: warp.copy engine(tma) %[[V]][%[[J]], %{{.*}}] axes [0, 1] to %{{.*}} of %[[VR]][%[[VI]]]
  // CHECK: scf.yield %{{.*}}, %[[KNEXT]], %{{.*}} : i64, i64, i64
  // CHECK-NOT: tensor<
  // The consumers.
  // CHECK: warp.role "compute" warpgroups 2 registers 240 {
  // CHECK: warp.for_tiles %{{.*}} of %{{.*}} iter_args(%[[QI:.*]] = %{{.*}}, %[[KI:.*]] = %{{.*}}, %[[VI:.*]] = %{{.*}})
  // The counters are the same for all threads of a warp, which the machine is told.
  // CHECK: %[[QC:.*]] = warp.uniform %[[QI]]
  // CHECK: %[[KC:.*]] = warp.uniform %[[KI]]
  // CHECK: %[[VC:.*]] = warp.uniform %[[VI]]
  // CHECK: %[[GROUP:.*]] = warp.warpgroup
  // CHECK-NEXT: %[[QS:.*]] = warp.wait %[[QR]][%[[QC]]] copy %[[GROUP]]
  // CHECK: scf.for %{{.*}} iter_args(%[[WI:.*]] = %{{.*}}, %[[UI:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %[[KI:.*]] = %[[KC]], %[[VI:.*]] = %[[VC]])
  // CHECK: %[[KS:.*]] = warp.wait %[[KR]][%[[KI]]]
  // CHECK: %[[VS:.*]] = warp.wait %[[VR]][%[[VI]]]
  // CHECK: %[[S:.*]] = warp.mma %[[QS]], %[[KS]] transpose_b
  // CHECK-NEXT: %[[O:.*]] = warp.mma %[[WI]], %[[VS]] acc(%[[UI]]
  // The scores are awaited at their first use, and their slot is released; the weights are rounded only after the product that reads the old ones.
  // CHECK-NEXT: %[[ST:.*]] = warp.await %[[S]]
  // CHECK-NEXT: warp.release %[[KR]][%[[KI]]]
  // CHECK-NEXT: %[[E:.*]] = math.exp2 %[[ST]]
  // CHECK-NEXT: %[[OT:.*]] = warp.await %[[O]]
  // CHECK-NEXT: warp.release %[[VR]][%[[VI]]]
  // CHECK-NEXT: %[[W:.*]] = warp.pack %[[E]]
  // CHECK: scf.yield %[[W]], %[[OT]]
  // A slot that a loop reads is released behind the loop.
  // CHECK-NEXT: }
  // CHECK-NEXT: warp.release %[[QR]][%[[QC]]] copy %[[GROUP]]
  // CHECK: tile.store
  // CHECK: warp.yield
  %group = warp.warpgroup
  %rows = arith.constant 64 : i64
  %first = arith.muli %group, %rows : i64
  %zero = arith.constant 0 : i64
  %w0 = arith.constant dense<0.0> : !p
  %u0 = arith.constant dense<0.0> : !u
  %t = tile.program_id of (%n) : i64
  %row = arith.addi %t, %first : i64
  %qt = tile.load %q[%row, %zero] axes [0, 1] : !q -> !qt
  %r:2 = tile.for_blocks %j = %zero to %n step 32 iter_args(%w = %w0, %u = %u0) -> (!p, !u) {
    %kt = tile.load %k[%j, %zero] axes [0, 1] : !q -> !kt
    %vt = tile.load %v[%j, %zero] axes [0, 1] : !v -> !vt
    %s = tile.dot %qt, %kt transpose_b : !qt, !kt -> !s
    %u1 = tile.dot %w, %vt acc(%u : !u) : !p, !vt -> !u
    %e = math.exp2 %s : !s
    %w1 = arith.truncf %e : !s to !p
    tile.yield %w1, %u1 : !p, !u
  }
  tile.store %r#1, %o[%row, %zero] axes [0, 1] : !u, memref<?x8xf32>
  tile.return
}
