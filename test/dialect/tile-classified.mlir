// A condition with a table of its blocks' classes: through text, and through the generic form.
// RUN: tegula-opt %s | tegula-opt | FileCheck %s
// RUN: tegula-opt %s --mlir-print-op-generic | tegula-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @classified
// CHECK-SAME: %[[C:[^ ]*]]: i1, %[[T:[^ ]*]]: memref<?x?x?xi8>, %[[I:[^ ]*]]: i64, %[[J:[^ ]*]]: i64
tile.kernel @classified(%c: i1, %table: memref<?x?x?xi8>, %i: i64, %j: i64) {
  %lead = arith.constant 0 : i64
  // CHECK: tile.classified %[[C]] by %[[T]][%{{.*}}, %[[I]], %[[J]]] blocks(128, 64) {note = 1 : i64} : memref<?x?x?xi8>
  %seen = tile.classified %c by %table[%lead, %i, %j] blocks(128, 64) {note = 1 : i64} : memref<?x?x?xi8>
  tile.return
}
