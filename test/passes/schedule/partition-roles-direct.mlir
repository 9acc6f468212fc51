// `direct`: one role; right operands are read from global memory, and nothing is shared. A truncf that no matrix op reads is no pack.
// RUN: tegula-opt %s --tegula-partition-roles | FileCheck %s

!kt = tensor<32x16xf16>
!qt = tensor<64x16xf16, #warp.fragment>
!s = tensor<64x32xf32, #warp.fragment>
!p = tensor<64x32xf16, #warp.fragment>
!u = tensor<64x16xf32, #warp.fragment>

// CHECK-LABEL: warp.kernel @direct
// CHECK-SAME: %[[Q:[^ ]+]]: memref<?x16xf16>, %[[K:[^ ]+]]: memref<?x16xf16>, %[[N:[^ ]+]]: i64, %[[H:[^ ]+]]: i64)
// CHECK-NOT: warp.ring
// CHECK-NOT: warp.role "load"
tile.kernel @direct(%q: memref<?x16xf16>, %k: memref<?x16xf16>, %n: i64, %h: i64)
    attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 32, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  // CHECK: warp.role "compute" warpgroups 1 registers 0 {
  // The first coordinate is the fastest.
  // CHECK: %[[TOTAL:.*]] = arith.muli %{{.*}}, %[[H]]
  // CHECK: warp.for_tiles %[[T:.*]] of %[[TOTAL]] {
  // CHECK-NEXT: %[[M:.*]] = arith.remsi %[[T]], %[[N]]
  // CHECK-NEXT: %[[COL:.*]] = arith.divsi %[[T]], %[[N]]
  // CHECK-NEXT: %[[QT:.*]] = tile.load %[[Q]][%[[M]], %[[COL]]] axes [0, 1] : memref<?x16xf16> -> tensor<64x16xf16, #warp.fragment>
  // CHECK-NEXT: %[[KT:.*]] = warp.global %[[K]][%[[M]], %[[COL]]] axes [0, 1] : memref<?x16xf16> -> <32x16xf16>
  // CHECK-NEXT: %[[S:.*]] = warp.mma %[[QT]], %[[KT]] transpose_b
  // CHECK-NEXT: %[[ST:.*]] = warp.await %[[S]]
  // CHECK-NEXT: %[[P:.*]] = warp.pack %[[ST]]
  // CHECK-NEXT: %[[O:.*]] = warp.mma %[[P]], %[[KT]] :
  // CHECK-NEXT: %[[OT:.*]] = warp.await %[[O]]
  // CHECK-NEXT: %[[OUT:.*]] = arith.truncf %[[OT]]
  // CHECK-NEXT: tile.store %[[OUT]]
  %m, %c = tile.program_id of (%n, %h) : i64, i64
  %qt = tile.load %q[%m, %c] axes [0, 1] : memref<?x16xf16> -> !qt
  %kt = tile.load %k[%m, %c] axes [0, 1] : memref<?x16xf16> -> !kt
  %s = tile.dot %qt, %kt transpose_b : !qt, !kt -> !s
  %p = arith.truncf %s : !s to !p
  %u = tile.dot %p, %kt : !p, !kt -> !u
  %out = arith.truncf %u : !u to !qt
  tile.store %out, %q[%m, %c] axes [0, 1] : !qt, memref<?x16xf16>
  tile.return
}

// `q_stages = 0`: the query tile is an operand in memory, too.
// CHECK-LABEL: warp.kernel @query_in_memory
tile.kernel @query_in_memory(%q: memref<?x16xf16>, %k: memref<?x16xf16>, %o: memref<?x32xf32>, %n: i64)
    attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 32, consumers = 1, stages = 1, q_stages = 0, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  // CHECK: %[[QT:.*]] = warp.global %{{.*}} axes [0, 1] : memref<?x16xf16> -> <64x16xf16>
  // CHECK: warp.mma %[[QT]], %{{.*}} transpose_b : !warp.global<64x16xf16>, !warp.global<32x16xf16>
  %zero = arith.constant 0 : i64
  %m = tile.program_id of (%n) : i64
  %qt = tile.load %q[%m, %zero] axes [0, 1] : memref<?x16xf16> -> !qt
  %kt = tile.load %k[%m, %zero] axes [0, 1] : memref<?x16xf16> -> !kt
  %s = tile.dot %qt, %kt transpose_b : !qt, !kt -> !s
  tile.store %s, %o[%m, %zero] axes [0, 1] : !s, memref<?x32xf32>
  tile.return
}
