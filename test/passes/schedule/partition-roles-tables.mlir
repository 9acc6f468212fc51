// A load with stages has a ring of its own, a copy of it a warpgroup; consumers read a slot into registers for each op that needs it, and release it behind the last one.
// RUN: tegula-opt %s --tegula-partition-roles | FileCheck %s
// RUN: sed -e 's/consumer_registers = 240/consumer_registers = 72/' %s | tegula-opt --tegula-partition-roles | FileCheck %s --check-prefix=FEW

!q = memref<?x16xf16>
!t = memref<?x?xf32, strided<[?, ?]>>
!kt = tensor<32x16xf16>
!qt = tensor<64x16xf16, #warp.fragment>
!s = tensor<64x32xf32, #warp.fragment>

// CHECK-LABEL: warp.kernel @table
// CHECK-SAME: %[[T:[^ ]+]]: memref<?x?xf32, strided<[?, ?]>> {tile.name = "t"}
tile.kernel @table(%q: !q {tile.name = "q"}, %k: !q {tile.name = "k"}, %t: !t {tile.name = "t"}, %o: memref<?x32xf32>, %n: i64)
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 3, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  // CHECK: %[[TR:.*]] = warp.ring "t" copies 2 consumers 2 : <64x32xf32, stages 2>
  // CHECK: warp.role "load"
  // CHECK: scf.for %[[J:[^ ]+]] =
  // CHECK: warp.acquire %[[TR]][%[[C:.*]]] copy %c0
  // CHECK-NEXT: warp.copy engine(tma) %[[T]][%{{.*}}, %[[J]]] axes [0, 1] to %{{.*}} of %[[TR]][%[[C]]] copy %c0
  // CHECK-NEXT: warp.commit %[[TR]][%[[C]]] copy %c0
  // CHECK: warp.acquire %[[TR]][%[[C]]] copy %c1
  // CHECK: warp.commit %[[TR]][%[[C]]] copy %c1
  // CHECK: warp.role "compute"
  // CHECK: scf.for
  // CHECK: %[[P:.*]] = warp.mma
  // CHECK: %[[G:.*]] = warp.warpgroup
  // CHECK-NEXT: %[[SLOT:.*]] = warp.wait %[[TR]][%[[C:.*]]] copy %[[G]]
  // Where registers allow, the first one is read while the scores are made.
  // CHECK: %[[X:.*]] = warp.read %[[SLOT]] : <64x32xf32> -> tensor<64x32xf32, #warp.fragment>
  // CHECK-NEXT: %[[S:.*]] = warp.await %[[P]]
  // CHECK: %[[A:.*]] = arith.addf %[[S]], %[[X]]
  // FEW: warp.await
  // FEW: warp.read
  // CHECK-NEXT: %[[Y:.*]] = warp.read %[[SLOT]]
  // CHECK-NEXT: arith.mulf %[[A]], %[[Y]]
  // CHECK-NEXT: warp.release %[[TR]][%[[C]]] copy %[[G]]
  %group = warp.warpgroup
  %rows = arith.constant 64 : i64
  %first = arith.muli %group, %rows : i64
  %zero = arith.constant 0 : i64
  %u0 = arith.constant dense<0.0> : !s
  %tile = tile.program_id of (%n) : i64
  %row = arith.addi %tile, %first : i64
  %qt = tile.load %q[%row, %zero] axes [0, 1] : !q -> !qt
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%u = %u0) -> (!s) {
    %kt = tile.load %k[%j, %zero] axes [0, 1] : !q -> !kt
    %s = tile.dot %qt, %kt transpose_b : !qt, !kt -> !s
    %x = tile.load %t[%row, %j] axes [0, 1] {stages = 2 : i64} : !t -> !s
    %a = arith.addf %s, %x : !s
    %y = arith.mulf %a, %x : !s
    %u1 = arith.addf %u, %y : !s
    tile.yield %u1 : !s
  }
  tile.store %r, %o[%row, %zero] axes [0, 1] : !s, memref<?x32xf32>
  tile.return
}
