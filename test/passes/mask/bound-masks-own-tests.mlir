// Where warpgroups leave out blocks of a list, each tests those that its own rows need to; and of a mask that some keys pass by themselves, blocks without such a key take what is left of it.
// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-bound-masks),canonicalize,cse)' | FileCheck %s
// RUN: sed 's/overlap = false/overlap = true/' %s | tegula-opt --pass-pipeline='builtin.module(tile.kernel(tegula-bound-masks),canonicalize,cse)' | FileCheck %s --check-prefix=SHARED

#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, overlap = false>
// CHECK-LABEL: tile.kernel @global_window
// CHECK-SAME: %[[W:[^ ]*]]: i32 {tile.name = "W"}, %[[P:[^ ]*]]: i32 {tile.name = "P"}
tile.kernel @global_window(%S: memref<?x?xf32>, %W: i32 {tile.name = "W"}, %P: i32 {tile.name = "P"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #schedule} {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %width = arith.extsi %W : i32 to i64
  %first = arith.extsi %P : i32 to i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  // CHECK: %[[WIDTH:.*]] = arith.extsi %[[W]]
  // CHECK: %[[PAST:.*]] = arith.extsi %[[P]]
  // CHECK: %[[TOP:.*]], %[[LAST:.*]] = tile.row_span
  // CHECK: tile.for_blocks %[[N:[^ ]*]] = %{{.*}} step 32 parts 2 flags(%[[TESTED:[^ ,)]*]], %[[ALONE:[^ ,)]*]]) iter_args
  // CHECK: %[[S:.*]] = tile.load
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %distance = arith.subi %i, %j : i64
      %near = arith.cmpi slt, %distance, %width : i64
      %global = arith.cmpi slt, %j, %first : i64
      %either = arith.ori %near, %global : i1
      %causal = arith.cmpi sge, %i, %j : i64
      %both = arith.andi %causal, %either : i1
      tile.yield %both : i1
    } : tensor<128x32xi1>
    // By the tile's rows, as the list says; then by the warpgroup's own; then whether a key is among the first ones.
    // CHECK: scf.if %[[TESTED]]
    // CHECK: %[[END:.*]] = arith.addi %[[N]], %c31
    // CHECK: %[[BELOW:.*]] = arith.cmpi sge, %[[TOP]], %[[END]]
    // CHECK: %[[FAR:.*]] = arith.subi %[[LAST]], %[[N]]
    // CHECK: arith.cmpi slt, %[[FAR]], %[[WIDTH]]
    // CHECK: %[[ALL:.*]] = arith.andi %[[BELOW]]
    // CHECK: scf.if %[[ALL]]
    // CHECK-NEXT: scf.yield %[[S]]
    // CHECK: scf.if %[[ALONE]]
    // CHECK: tile.mask
    // CHECK: arith.cmpi slt, %{{.*}}, %[[PAST]]
    // CHECK: arith.ori
    // CHECK: } else {
    // CHECK: tile.mask
    // CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %[[J:.*]]: i64):
    // The distance of a window is a limit of the row.
    // CHECK-NEXT: %[[AHEAD:.*]] = arith.subi %[[I]], %[[WIDTH]]
    // CHECK-NEXT: %[[BEGIN:.*]] = arith.addi %[[AHEAD]], %c1
    // CHECK-DAG: arith.cmpi sle, %[[J]], %[[I]]
    // CHECK-DAG: arith.cmpi sge, %[[J]], %[[BEGIN]]
    // CHECK-NOT: arith.ori
    // CHECK: tile.yield
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}
// A block that is in flight beside another is one of the whole tile.
// SHARED: tile.for_blocks {{.*}} flags(%[[TESTED:[^ ,)]*]], %[[ALONE:[^ ,)]*]]) iter_args
// SHARED: scf.if %[[TESTED]]
// SHARED-NEXT: scf.if %[[ALONE]]
