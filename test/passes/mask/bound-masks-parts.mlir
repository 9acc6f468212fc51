// Where consumers share listed blocks and no block is in flight beside another, classes say for the rows of each warpgroup whether a block matters to them.
// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-bound-masks),canonicalize,cse)' | FileCheck %s
// RUN: sed 's/overlap = false/overlap = true/' %s | tegula-opt --pass-pipeline='builtin.module(tile.kernel(tegula-bound-masks),canonicalize,cse)' | FileCheck %s --check-prefix=NONE
// RUN: sed 's/ping_pong = false/ping_pong = true/' %s | tegula-opt --pass-pipeline='builtin.module(tile.kernel(tegula-bound-masks),canonicalize,cse)' | FileCheck %s --check-prefix=NONE
// RUN: sed 's/overlap = false/overlap = false, walk = descending/' %s | tegula-opt --pass-pipeline='builtin.module(tile.kernel(tegula-bound-masks),canonicalize,cse)' | FileCheck %s --check-prefix=NONE
// RUN: sed -e 's/block_n = 32/block_n = 128/;s/step 32/step 128/;s/128x32x/128x128x/g' %s | tegula-opt --pass-pipeline='builtin.module(tile.kernel(tegula-bound-masks),canonicalize,cse)' | FileCheck %s --check-prefix=NONE
// NONE: tile.for_blocks %{{.*}} step {{32|128}} flags(
// NONE: tile.yield %{{.*}}, %{{.*}} : i1, i1

// Of the tile's 128 rows, each warpgroup has 64: a block matters to those whose first and last document it has keys between.
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, overlap = false>
!ids = memref<?xi32, strided<[?]>>
// CHECK-LABEL: tile.kernel @documents
// CHECK-SAME: %[[DOC:[^ ]*]]: memref<?xi32, strided<[?]>>
tile.kernel @documents(%S: memref<?x?xf32>, %doc: !ids {tile.name = "doc", tile.sorted}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #schedule} {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  // CHECK: %[[ROW:.*]] = arith.muli
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  // CHECK: %[[FIRST:.*]], %[[LAST:.*]] = tile.row_span %[[ROW]] for 128
  // CHECK: %[[END0:.*]] = arith.addi %[[ROW]], %c63
  // CHECK: %[[ROW1:.*]] = arith.addi %[[ROW]], %c64
  // CHECK: %[[END1:.*]] = arith.addi %[[ROW]], %c127
  // What a table says of rows is looked up ahead of the loop.
  // CHECK: %[[OF:.*]] = tile.lookup %[[DOC]][%[[FIRST]]]
  // CHECK: tile.lookup %[[DOC]][%[[LAST]]]
  // CHECK: %[[OF0:.*]] = tile.lookup %[[DOC]][%[[ROW]]]
  // CHECK: tile.lookup %[[DOC]][%[[END0]]]
  // CHECK: %[[OF1:.*]] = tile.lookup %[[DOC]][%[[ROW1]]]
  // CHECK: tile.lookup %[[DOC]][%[[END1]]]
  // CHECK: tile.for_blocks %{{.*}} = %{{.*}} to %{{.*}} step 32 parts 2 flags(%[[PARTIAL:[^ ,)]*]]) iter_args
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %of = tile.lookup %doc[%i] : !ids
      %at = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %of, %at : i32
      tile.yield %same : i1
    } : tensor<128x32xi1>
    // CHECK: scf.if %[[PARTIAL]]
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    // CHECK: } classes {
    // CHECK: arith.extsi %[[OF]]
    // CHECK: %[[LIVE:.*]] = arith.andi
    // CHECK: arith.extsi %[[OF0]]
    // CHECK: %[[LIVE0:.*]] = arith.andi
    // CHECK: arith.extsi %[[OF1]]
    // CHECK: %[[LIVE1:.*]] = arith.andi
    // CHECK: %[[TESTED:.*]] = arith.xori
    // CHECK: tile.yield %[[LIVE]], %[[TESTED]], %[[LIVE0]], %[[LIVE1]] : i1, i1, i1, i1
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}
