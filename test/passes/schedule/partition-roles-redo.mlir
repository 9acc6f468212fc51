// A tile.redo becomes marks in place of stores, and, behind the tile loop, a scan for marks that runs the other program on the rows it claims.
// RUN: tegula-opt %s --tegula-partition-roles | FileCheck %s

!kt = tensor<32x16xf16>
!qt = tensor<64x16xf16, #warp.fragment>
!s = tensor<64x32xf32, #warp.fragment>

// CHECK-LABEL: warp.kernel @checked
// CHECK-SAME: %{{[^ ]+}}: memref<?x16xf16>, %{{[^ ]+}}: memref<?x16xf16>, %[[O:[^ ]+]]: memref<?x32xf32>, %[[L:[^ ]+]]: memref<?xf32>, %[[N:[^ ]+]]: i64)
// CHECK: warp.role "load"
// CHECK-NOT: i1
// CHECK: warp.role "compute"
// The consumers carry whether they have marked a row.
// CHECK: %[[NO:.*]] = arith.constant false
// CHECK: %[[END:.*]]:3 = warp.for_tiles %{{.*}} of %[[TOTAL:.*]] iter_args(%{{.*}}, %{{.*}}, %[[SOFAR:.*]] = %[[NO]])
// CHECK: %[[ROW:.*]] = arith.addi
// CHECK: %[[VALID:.*]] = arith.cmpf ogt
// CHECK: %[[INVALID:.*]] = arith.xori %[[VALID]], %{{.*}}
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0
// CHECK-NEXT: %[[BAD:.*]] = warp.vote %[[INVALID]] : tensor<64xi1, #warp.rows>
// CHECK-NEXT: scf.if %[[BAD]] {
// One mark: in the second output only where the first one is not wanted.
// CHECK-NEXT: %[[MARKED:.*]] = warp.mark %[[O]][%[[ROW]], %[[ZERO]]]
// CHECK-NEXT: scf.if %[[MARKED]] {
// CHECK-NEXT: } else {
// CHECK-NEXT: warp.mark %[[L]][%[[ROW]]]
// CHECK-NEXT: }
// CHECK-NEXT: } else {
// CHECK-NEXT: tile.store %{{.*}}, %[[O]][%[[ROW]], %[[ZERO]]]
// CHECK-NEXT: tile.store %{{.*}}, %[[L]][%[[ROW]]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[SOME:.*]] = arith.ori %[[SOFAR]], %[[BAD]]
// CHECK-NEXT: warp.yield %{{.*}}, %{{.*}}, %[[SOME]]
// Each thread looks at one tile of 128, when the first thread's marks are written.
// CHECK: scf.if %[[END]]#2 {
// CHECK: warp.vote %[[END]]#2
// CHECK-NEXT: %[[THREAD:.*]] = warp.thread
// CHECK-NEXT: scf.for %[[T:.*]] = %{{.*}} to %[[TOTAL]] step %c128
// CHECK: %[[MINE:.*]] = arith.addi %[[T]], %[[THREAD]]
// CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi slt, %[[MINE]], %[[TOTAL]]
// CHECK: arith.select %[[EXISTS]], %[[MINE]], %[[T]]
// CHECK: %[[INO:.*]] = warp.is_marked %[[O]]
// CHECK: %[[ONE:.*]] = arith.ori %{{.*}}, %[[INO]]
// CHECK: %[[INL:.*]] = warp.is_marked %[[L]]
// CHECK: %[[EITHER:.*]] = arith.ori %[[ONE]], %[[INL]]
// CHECK: %[[FOUND:.*]] = arith.andi %[[EITHER]], %[[EXISTS]]
// CHECK-NEXT: %[[ANY:.*]] = warp.vote %[[FOUND]] : i1
// CHECK-NEXT: scf.if %[[ANY]] {
// Its rows are claimed by the output that has their mark.
// CHECK: scf.for %[[EACH:.*]] = %[[T]] to
// CHECK: %[[FIRST:.*]] = warp.claim %[[O]]{{.*}} axis 0
// CHECK: %[[SOFAR:.*]] = arith.ori %{{.*}}, %[[FIRST]]
// CHECK: %[[SECOND:.*]] = warp.claim %[[L]]{{.*}} axis 0
// CHECK-NEXT: %[[CLAIMED:.*]] = arith.ori %[[SOFAR]], %[[SECOND]]
// CHECK-NEXT: scf.if %[[CLAIMED]] {
// The other program, on operands in memory.
// CHECK: %[[ROW:.*]] = arith.addi %[[EACH]], %{{.*}}
// CHECK: %[[Q:.*]] = warp.global
// CHECK: %[[K:.*]] = warp.global
// CHECK: warp.mma %[[Q]], %[[K]] transpose_b
// CHECK: tile.store %{{.*}}, %[[O]][%[[ROW]],
// CHECK: tile.store %{{.*}}, %[[L]][%[[ROW]]]
// It is no kernel of its own any more.
// CHECK-NOT: @again
tile.kernel @checked(%q: memref<?x16xf16>, %k: memref<?x16xf16>, %o: memref<?x32xf32>, %lse: memref<?xf32>, %n: i64)
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = fixed>} {
  %group = warp.warpgroup
  %rows = arith.constant 64 : i64
  %first = arith.muli %group, %rows : i64
  %zero = arith.constant 0 : i64
  %t = tile.program_id of (%n) : i64
  %row = arith.addi %t, %first : i64
  %qt = tile.load %q[%row, %zero] axes [0, 1] : memref<?x16xf16> -> !qt
  %kt = tile.load %k[%t, %zero] axes [0, 1] : memref<?x16xf16> -> !kt
  %s = tile.dot %qt, %kt transpose_b : !qt, !kt -> !s
  %l = tile.reduce add %s : !s -> tensor<64xf32, #warp.rows>
  %c = arith.constant dense<1.0> : tensor<64xf32, #warp.rows>
  %valid = arith.cmpf ogt, %l, %c : tensor<64xf32, #warp.rows>
  tile.redo unless %valid by @again : tensor<64xi1, #warp.rows> {
    %column = arith.constant 0 : i64
    tile.store %s, %o[%row, %column] axes [0, 1] : !s, memref<?x32xf32>
    tile.store %l, %lse[%row] axes [0] : tensor<64xf32, #warp.rows>, memref<?xf32>
  }
  tile.return
}

tile.kernel @again(%q: memref<?x16xf16>, %k: memref<?x16xf16>, %o: memref<?x32xf32>, %lse: memref<?xf32>, %n: i64)
    attributes {schedule = #tile.schedule<form = direct, block_m = 128, block_n = 32, consumers = 2, stages = 1, q_stages = 0, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  %group = warp.warpgroup
  %rows = arith.constant 64 : i64
  %first = arith.muli %group, %rows : i64
  %zero = arith.constant 0 : i64
  %t = tile.program_id of (%n) : i64
  %row = arith.addi %t, %first : i64
  %qt = tile.load %q[%row, %zero] axes [0, 1] : memref<?x16xf16> -> !qt
  %kt = tile.load %k[%t, %zero] axes [0, 1] : memref<?x16xf16> -> !kt
  %s = tile.dot %qt, %kt transpose_b : !qt, !kt -> !s
  %l = tile.reduce add %s : !s -> tensor<64xf32, #warp.rows>
  tile.store %s, %o[%row, %zero] axes [0, 1] : !s, memref<?x32xf32>
  tile.store %l, %lse[%row] axes [0] : tensor<64xf32, #warp.rows>, memref<?xf32>
  tile.return
}
