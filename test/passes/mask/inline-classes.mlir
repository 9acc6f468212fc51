// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-inline-classes))' --split-input-file | FileCheck %s

// The live blocks are counted; each turn looks for the next one, and takes its flags.
// CHECK-LABEL: tile.kernel @live
// CHECK-SAME: %[[LO:.*]]: i64, %[[HI:.*]]: i64, %[[X:.*]]: memref<?xf32>
tile.kernel @live(%lo: i64, %hi: i64, %x: memref<?xf32>) {
  // CHECK: %[[COUNT:.*]] = scf.for %[[N:.*]] = %[[LO]] to %[[HI]] step %c16{{.*}} iter_args(%[[SUM:.*]] = %c0
  // CHECK: %[[LIVE:.*]] = arith.cmpi ne, %[[N]], %[[HI]]
  // CHECK: %[[ONE:.*]] = arith.extui %[[LIVE]]
  // CHECK: arith.addi %[[SUM]], %[[ONE]]
  // CHECK: %[[R:.*]]:2 = tile.for_blocks %{{.*}} = %c0{{.*}} to %[[COUNT]] step 1 iter_args(%[[C:.*]] = %{{.*}}, %[[FROM:.*]] = %[[LO]]) -> (i1, i64)
  // CHECK: %[[FOUND:.*]] = scf.while (%[[AT:.*]] = %[[FROM]])
  // CHECK: %[[SEES:.*]] = arith.cmpi ne, %[[AT]], %[[HI]]
  // CHECK: %[[DEAD:.*]] = arith.xori %[[SEES]]
  // CHECK: scf.condition(%[[DEAD]]) %[[AT]]
  // CHECK: %[[B:.*]] = arith.minui %[[FOUND]]
  // CHECK: arith.cmpi ne, %[[B]], %[[HI]]
  // CHECK: %[[FLAG:.*]] = arith.cmpi eq, %[[B]], %[[LO]]
  // CHECK: tile.load %[[X]][%[[FOUND]]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[B]], %c16
  // CHECK: tile.yield %[[FLAG]], %[[NEXT]]
  %no = arith.constant false
  %r = tile.for_blocks %n = %lo to %hi step 16 flags(%p) iter_args(%c = %no) -> (i1) {
    %y = tile.load %x[%n] axes [0] : memref<?xf32> -> tensor<16xf32>
    tile.print "{}" (%y) : tensor<16xf32>
    tile.yield %p : i1
  } classes {
  ^bb0(%k: i64):
    %live = arith.cmpi ne, %k, %hi : i64
    %partial = arith.cmpi eq, %k, %lo : i64
    tile.yield %live, %partial : i1, i1
  }
  tile.return
}

// -----

// Who runs a block for all rows has no use for what matters to parts of them.
// CHECK-LABEL: tile.kernel @parts
tile.kernel @parts(%lo: i64, %hi: i64, %x: memref<?xf32>) {
  // CHECK: tile.for_blocks %{{.*}} = %c0{{.*}} to %{{.*}} step 1 iter_args(%{{.*}} = %{{.*}}, %[[FROM:.*]] = %{{.*}}) -> (i1, i64)
  // CHECK: scf.while (%[[AT:.*]] = %[[FROM]])
  // CHECK: scf.condition
  // CHECK: %[[FLAG:.*]] = arith.cmpi eq, %{{.*}}, %arg0
  // CHECK: tile.yield %[[FLAG]], %{{.*}} : i1, i64
  %no = arith.constant false
  %r = tile.for_blocks %n = %lo to %hi step 16 parts 2 flags(%p) iter_args(%c = %no) -> (i1) {
    %y = tile.load %x[%n] axes [0] : memref<?xf32> -> tensor<16xf32>
    tile.print "{}" (%y) : tensor<16xf32>
    tile.yield %p : i1
  } classes {
  ^bb0(%k: i64):
    %live = arith.cmpi ne, %k, %hi : i64
    %partial = arith.cmpi eq, %k, %lo : i64
    %later = arith.cmpi sgt, %k, %lo : i64
    tile.yield %live, %partial, %live, %later : i1, i1, i1, i1
  }
  tile.return
}

// -----

// Whether a block meets one of many ranges: a loop over them.
// CHECK-LABEL: tile.kernel @ranges
tile.kernel @ranges(%n: i64, %count: i64, %x: memref<?xi64>) {
  // CHECK: %[[END:.*]] = arith.addi %[[N:.*]], %c16
  // CHECK: %[[ANY:.*]] = scf.for %[[P:.*]] = %c0{{.*}} to %{{.*}} step %c1{{.*}} iter_args(%[[SUM:.*]] = %false)
  // CHECK: %[[PAST:.*]] = arith.addi %[[P]]
  // CHECK: %[[FIRST:.*]] = arith.maxsi %[[P]], %[[N]]
  // CHECK: %[[LAST:.*]] = arith.minsi %[[PAST]], %[[END]]
  // CHECK: %[[MEETS:.*]] = arith.cmpi slt, %[[FIRST]], %[[LAST]]
  // CHECK: arith.ori %[[SUM]], %[[MEETS]]
  // CHECK: tile.print "{}"(%[[ANY]])
  %meets = tile.any_range %n step 16 of %count {
  ^bb0(%p: i64):
    %end = arith.addi %p, %count : i64
    tile.yield %p, %end : i64, i64
  }
  tile.print "{}" (%meets) : i1
  tile.return
}

// -----

// Every thread of a direct kernel would run that loop: there all blocks count as met.
// CHECK-LABEL: tile.kernel @direct
tile.kernel @direct(%n: i64, %count: i64) attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  // CHECK: %[[YES:.*]] = arith.constant true
  // CHECK-NOT: scf.for
  // CHECK: tile.print "{}"(%[[YES]])
  %meets = tile.any_range %n step 16 of %count {
  ^bb0(%p: i64):
    %end = arith.addi %p, %count : i64
    tile.yield %p, %end : i64, i64
  }
  tile.print "{}" (%meets) : i1
  tile.return
}
