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
