// A program of the kernel's arguments that checks what they are declared to be, and the indices that results depend on.
// RUN: tegula-opt %s --tegula-check-claims --canonicalize --cse --split-input-file | FileCheck %s

// Stretches of the last axis, shared out among programs: each element against the next one, then against the range.
// CHECK-LABEL: tile.kernel @declared
// CHECK-SAME: %[[IDS:[^:]*]]: memref<?x?xi32
// CHECK-SAME: %[[B:[^:]*]]: i64 {tile.dim = "B"}, %[[N:[^:]*]]: i64 {tile.dim = "N"}
// CHECK: %[[P:.*]] = tile.program_id of(%c512
// CHECK: %[[STRETCHES:.*]] = arith.ceildivsi %[[N]], %c1024
// CHECK: %[[ALL:.*]] = arith.muli %[[B]], %[[STRETCHES]]
// CHECK: scf.for %[[SHARE:.*]] = %[[P]] to %[[ALL]] step %c512
// CHECK: %[[ROW:.*]] = arith.divsi %[[SHARE]], %[[STRETCHES]]
// CHECK: tile.load %[[IDS]][%{{.*}}, %[[NEXT:.*]]] axes [1]
// CHECK: tile.load %[[IDS]][%{{.*}}, %[[FIRST:.*]]] axes [1]
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<1024xi64>
// CHECK: %[[AT:.*]] = tile.reduce minimum
// CHECK: %[[FAILS:.*]] = arith.cmpi slt, %[[AT]], %c1024_i32
// CHECK: scf.if %[[FAILS]]
// CHECK: tile.lookup %[[IDS]]
// CHECK: tile.lookup %[[IDS]]
// CHECK: tile.assert %false, "ids[{}, {}] = {} follows ids[{}, {}] = {}: `ids` is declared sorted"
// CHECK: %[[END:.*]] = arith.addi %[[N]], %c1
// CHECK: arith.cmpi slt, %{{.*}}, %cst{{.*}} : tensor<1024xi64>
// CHECK: tensor.splat %[[END]]
// CHECK: tile.assert %false, "ids[{}, {}] = {}: `ids` is declared in {}..{}"
// CHECK-NOT: tile.scatter
tile.kernel @declared(%ids: memref<?x?xi32, strided<[?, ?]>> {tile.name = "ids", tile.dims = ["B", "N"], tile.role = "in", tile.sorted, tile.range = ["0", "(+ N 1)"]},
                      %o: memref<?xi32, strided<[?]>> {tile.name = "o", tile.dims = ["N"], tile.role = "out"},
                      %B: i64 {tile.dim = "B"}, %N: i64 {tile.dim = "N"}) attributes {tile.schedule = ["threads=256"]} {
  %r = tile.program_id of (%N) : i64
  %x = arith.constant 1 : i32
  tile.scatter %x, %o[%r] : i32, memref<?xi32, strided<[?]>>, i64
  tile.return
}

// -----

// Nothing is claimed, and a lookup by the key alone lies inside: nothing is looked at. It is a program all the same.
// CHECK-LABEL: tile.kernel @nothing
// CHECK-NEXT: %[[YES:.*]] = arith.constant true
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tile.program_id
// CHECK-NEXT: tile.assert %[[YES]], ""
// CHECK-NEXT: tile.return
!m = memref<1x1x?x8xf32, strided<[?, ?, ?, ?]>>
tile.kernel @nothing(%q: !m {tile.name = "q", tile.role = "in", tile.dims = [1, 1, "N", 8]}, %bias: memref<?xf32, strided<[?]>> {tile.name = "bias", tile.dims = ["N"], tile.role = "in"},
                     %o: !m {tile.name = "o", tile.role = "out", tile.dims = [1, 1, "N", 8]}, %N: i64 {tile.dim = "N"}) {
  %one = arith.constant 1 : i64
  tile.attention ins(%q, %q, %q : !m, !m, !m) dims(%one, %one, %one, %N, %N) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.125 : f32  tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %x = tile.lookup %bias[%j] : memref<?xf32, strided<[?]>>  %t = arith.addf %s, %x : f32  tile.yield %t : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64  tile.yield %c : i1 }
    outs(%o : !m) emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// -----

// Blocks of pairs: the number of the first pair that sees an index outside; then that pair again, for its words.
// CHECK-LABEL: tile.kernel @pairs
// CHECK-SAME: %[[BIAS:[^:]*]]: memref<40xf32
// CHECK-SAME: %[[N:[^:]*]]: i64 {tile.dim = "N"}
// CHECK: tile.program_id of(%c512
// CHECK: arith.ceildivsi %[[N]], %c32
// CHECK: scf.for
// CHECK: scf.for %[[J0:.*]] = %c0{{.*}} to %[[N]] step %c64
// CHECK: tile.map rows(%[[I0:.*]]) cols(%[[J0]])
// CHECK: ^bb0(%[[I:.*]]: i64, %[[J:.*]]: i64):
// CHECK: %[[VISIBLE:.*]] = arith.cmpi sge, %[[I]], %[[J]]
// CHECK: %[[D:.*]] = arith.subi %[[I]], %[[J]]
// CHECK: %[[OUTSIDE:.*]] = arith.cmpi uge, %[[D]], %c40
// CHECK-NOT: tile.lookup
// CHECK-NOT: tile.dot
// CHECK: tile.yield
// CHECK: tile.reduce minimum
// CHECK: tile.reduce minimum
// CHECK: scf.if
// CHECK: tile.assert %{{.*}}, "`bias` is read at {} on axis 0, which has {} elements, for b = {}, h = {}, i = {}, j = {}"
!m = memref<1x1x?x8xf32, strided<[?, ?, ?, ?]>>
tile.kernel @pairs(%q: !m {tile.name = "q", tile.role = "in", tile.dims = [1, 1, "N", 8]}, %bias: memref<40xf32, strided<[?]>> {tile.name = "bias", tile.dims = [40], tile.role = "in"},
                   %o: !m {tile.name = "o", tile.role = "out", tile.dims = [1, 1, "N", 8]}, %N: i64 {tile.dim = "N"}) {
  %one = arith.constant 1 : i64
  tile.attention ins(%q, %q, %q : !m, !m, !m) dims(%one, %one, %one, %N, %N) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.125 : f32  tile.yield %c : f32 }
    score {
    ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64):
      %d = arith.subi %i, %j : i64
      %x = tile.lookup %bias[%d] : memref<40xf32, strided<[?]>>
      %t = arith.addf %s, %x : f32
      tile.yield %t : f32
    }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64  tile.yield %c : i1 }
    outs(%o : !m) emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}
