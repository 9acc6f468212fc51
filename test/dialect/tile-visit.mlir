// A count of a visited block: through text, and through the generic form.
// RUN: tegula-opt %s | tegula-opt | FileCheck %s
// RUN: tegula-opt %s --mlir-print-op-generic | tegula-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @visits
// CHECK-SAME: %[[TESTED:[^ ]*]]: i1, %[[SOME:[^ ]*]]: i1
tile.kernel @visits(%tested: i1, %some: i1) {
  // CHECK-NEXT: tile.visit tested %[[TESTED]]
  tile.visit tested %tested
  // CHECK-NEXT: tile.visit tested %[[TESTED]] if %[[SOME]] {note = 1 : i64}
  tile.visit tested %tested if %some {note = 1 : i64}
  // A count is an effect.
  // CHECK-NEXT: tile.visit tested %[[TESTED]]
  tile.visit tested %tested
  // CHECK-NEXT: tile.return
  tile.return
}
