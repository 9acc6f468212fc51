// Reductions, weights, an extra term and outputs: one program with parts that come and go.
// RUN: tegula-opt %s --tegula-decompose | FileCheck %s

!q = memref<?x?x?x64xf16, strided<[?, ?, ?, ?]>>
!rows = memref<?x?x?xf32, strided<[?, ?, ?]>>
!heads = memref<?xf32, strided<[?]>>
#lazy = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = threshold>

// An extra term is one more key of value 0, merged in natural units once the loop is done.
// CHECK-LABEL: tile.kernel @extra
tile.kernel @extra(%q: !q, %sink: !heads, %o: !q, %l: !rows, %N: i64) {
  // CHECK: %[[S:.*]]:3 = tile.for_blocks
  // CHECK: tile.online_softmax {{.*}} scale 2.500000e-01 threshold 8
  // CHECK: %[[C:.*]] = arith.constant dense<2.500000e-01> : tensor<64xf32>
  // CHECK-NEXT: %[[MAX:.*]] = arith.mulf %[[S]]#0, %[[C]]
  // CHECK-NEXT: %[[SINK:.*]] = tile.lookup %{{.*}}[%{{.*}}#1]
  // CHECK-NEXT: %[[X:.*]] = tensor.splat %[[SINK]] : tensor<64xf32>
  // CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[X]]
  // CHECK: %[[ONE:.*]] = arith.select %[[NONE]]
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  // CHECK: %[[M:.*]], %[[L:.*]], %[[U:.*]] = tile.merge(%[[MAX]], %[[S]]#1, %[[S]]#2), (%[[X]], %[[ONE]], %[[ZERO]]) scale 1.000000e+00
  // CHECK-NEXT: %[[O:.*]], %[[LSE:.*]] = tile.finish %[[M]], %[[L]], %[[U]] scale 1.000000e+00
  // CHECK: tile.store %[[LSE]]
  tile.attention ins(%q, %q, %q : !q, !q, !q) dims(%N, %N, %N, %N, %N) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.25 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    extra { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %x = tile.lookup %sink[%h] : !heads tile.yield %x : f32 }
    outs(%o, %l : !q, !rows)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %lse : f32 } {schedule = #lazy}
  tile.return
}

// A weight multiplies what enters the output, after the sum; what has no weight stays without. Its score is in natural units.
// CHECK-LABEL: tile.kernel @weighted
tile.kernel @weighted(%q: !q, %o: !q, %N: i64) {
  // CHECK: %[[S:.*]] = tile.dot
  // CHECK: %[[P:.*]], %{{.*}}, %{{.*}}, %{{.*}} = tile.online_softmax
  // CHECK: %[[W:.*]] = tile.map %[[P]], %[[S]] rows(%{{.*}}) cols(%{{.*}}) {
  // CHECK-NEXT: ^bb0(%[[ONE:.*]]: f32, %[[RAW:.*]]: f32, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK: %[[NONE:.*]] = arith.constant 0.000000e+00
  // CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[ONE]], %[[NONE]]
  // CHECK: %[[NATURAL:.*]] = arith.mulf %[[RAW]], %{{.*}}
  // CHECK: %[[PRODUCT:.*]] = arith.mulf %[[ONE]], %[[NATURAL]]
  // CHECK: arith.select %[[EMPTY]], %[[NONE]], %[[PRODUCT]]
  // CHECK: arith.truncf %[[W]]
  tile.attention ins(%q, %q, %q : !q, !q, !q) dims(%N, %N, %N, %N, %N) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.25 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    weight { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    outs(%o : !q)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 } {schedule = #lazy}
  tile.return
}

// A sum carries the accumulator alone; hidden weights are 0.
// CHECK-LABEL: tile.kernel @summed
tile.kernel @summed(%q: !q, %o: !q, %N: i64) {
  // CHECK: %[[ACC:.*]] = tile.for_blocks {{.*}} -> (tensor<64x64xf32>)
  // CHECK: %[[S:.*]] = tile.map
  // CHECK: %[[HIDDEN:.*]] = arith.constant dense<0.000000e+00> : tensor<64x16xf32>
  // CHECK: %[[W:.*]] = arith.select %{{.*}}, %[[S]], %[[HIDDEN]]
  // CHECK-NOT: tile.reduce
  // CHECK: arith.truncf %[[W]]
  // CHECK: %[[O:.*]] = arith.truncf %[[ACC]]
  // CHECK-NEXT: tile.store %[[O]]
  tile.attention ins(%q, %q, %q : !q, !q, !q) dims(%N, %N, %N, %N, %N) reduction(sum)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.25 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : !q)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 } {schedule = #lazy}
  tile.return
}

// A mean carries the sum too, and divides at the end.
// CHECK-LABEL: tile.kernel @averaged
tile.kernel @averaged(%q: !q, %o: !q, %N: i64) {
  // CHECK: %[[S:.*]]:2 = tile.for_blocks {{.*}}iter_args(%[[SUM:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
  // CHECK: %[[W:.*]] = arith.select
  // CHECK-NEXT: %[[BLOCK:.*]] = tile.reduce add %[[W]]
  // CHECK-NEXT: arith.addf %[[SUM]], %[[BLOCK]]
  // CHECK: tile.map %[[S]]#0, %[[S]]#1 rows(%{{.*}}) cols(%{{.*}}) {
  // CHECK-NEXT: ^bb0(%[[TOTAL:.*]]: f32, %[[ACC:.*]]: f32, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[TOTAL]]
  // CHECK: %[[SAFE:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[TOTAL]]
  // CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[SAFE]]
  // CHECK: %[[QUOTIENT:.*]] = arith.mulf %[[ACC]], %[[INVERSE]]
  // CHECK: arith.select %[[EMPTY]], %{{.*}}, %[[QUOTIENT]]
  tile.attention ins(%q, %q, %q : !q, !q, !q) dims(%N, %N, %N, %N, %N) reduction(mean)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.25 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : !q)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 } {schedule = #lazy}
  tile.return
}

// Outputs are maps of what they read. The largest score needs a maximum that is not lazy.
// CHECK-LABEL: tile.kernel @outputs
tile.kernel @outputs(%q: !q, %flags: memref<?x?x?x64xi8, strided<[?, ?, ?, ?]>>, %top: !rows, %total: !rows, %row: memref<?x?x?xi64>, %N: i64) {
  // CHECK: %[[S:.*]]:3 = tile.for_blocks
  // CHECK: tile.online_softmax {{.*}} scale 2.500000e-01 :
  // CHECK: %[[SEEN:.*]] = arith.mulf %[[S]]#0, %{{.*}}
  // CHECK-NEXT: %[[NAN:.*]] = arith.cmpf uno, %[[S]]#1, %[[S]]#1
  // CHECK-NEXT: %[[MAX:.*]] = arith.select %[[NAN]], %[[S]]#1, %[[SEEN]]
  // CHECK-NEXT: %[[O:.*]], %[[LSE:.*]] = tile.finish
  // CHECK-NEXT: %[[F:.*]] = tile.map %[[O]], %[[LSE]] rows(%[[ROW:.*]]) cols(%{{.*}}) {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK: %[[G:.*]] = arith.cmpf ogt, %[[X]], %[[Y]]
  // CHECK: (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xi1>
  // CHECK-NEXT: %[[BYTES:.*]] = arith.extui %[[F]] : tensor<64x64xi1> to tensor<64x64xi8>
  // CHECK-NEXT: tile.store %[[BYTES]]
  // CHECK-NEXT: tile.store %[[MAX]]
  // CHECK: %[[T:.*]] = tile.map %[[S]]#1 rows(%[[ROW]]) {
  // CHECK: tile.store %[[T]]
  // CHECK: %[[I:.*]] = tile.map rows(%[[ROW]]) {
  // CHECK-NEXT: ^bb0(%[[N:.*]]: i64):
  // CHECK: tile.yield %[[N]] : i64
  // CHECK: tile.store %[[I]]
  tile.attention ins(%q, %q, %q : !q, !q, !q) dims(%N, %N, %N, %N, %N) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.25 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%flags, %top, %total, %row : memref<?x?x?x64xi8, strided<[?, ?, ?, ?]>>, !rows, !rows, memref<?x?x?xi64>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): %c = arith.cmpf ogt, %y, %lse : f32 tile.yield %c : i1 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %max : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): %r = arith.addf %sum, %sum : f32 tile.yield %r : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %i : i64 } {schedule = #lazy}
  tile.return
}
