// The whole problem as a program over blocks: what is folded, and which mask is left.
// RUN: tegula-opt %s --tegula-decompose | FileCheck %s

!q = memref<?x?x?x64xf16, strided<[?, ?, ?, ?]>>
!v = memref<?x?x?x32xf16, strided<[?, ?, ?, ?]>>
!lse = memref<?x?x?xf32, strided<[?, ?, ?]>>
#direct = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
#lazy = #tile.schedule<form = direct, block_m = 128, block_n = 48, consumers = 2, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = threshold>

// A constant scale under an identity score is folded into the softmax; a mask that is always true leaves the bound alone.
// CHECK-LABEL: tile.kernel @folded
// CHECK-SAME: %[[Q:[^ ]+]]: memref<{{[^>]*>>}}, %[[K:[^ ]+]]: memref<{{.*}} %[[B:[^ ]+]]: i64, %[[H:[^ ]+]]: i64, %[[G:[^ ]+]]: i64, %[[M:[^ ]+]]: i64, %[[N:[^ ]+]]: i64)
// CHECK-SAME: schedule = #tile.schedule<form = direct, block_m = 64, block_n = 16
tile.kernel @folded(%q: !q, %k: !q, %v: !v, %o: !v, %l: !lse, %B: i64, %H: i64, %G: i64, %M: i64, %N: i64) {
  // CHECK: %[[TILES:.*]] = arith.ceildivsi %[[M]], %{{.*}} : i64
  // CHECK-NEXT: %[[ID:.*]]:3 = tile.program_id of(%[[TILES]], %[[H]], %[[B]])
  // CHECK: %[[ROW:.*]] = arith.muli %[[ID]]#0, %{{.*}} : i64
  // CHECK: %[[GROUP:.*]] = arith.divsi %[[H]], %[[G]]
  // CHECK: %[[KV:.*]] = arith.divsi %[[ID]]#1, %[[GROUP]]
  // CHECK: %[[QT:.*]] = tile.load %[[Q]][%[[ID]]#2, %[[ID]]#1, %[[ROW]], %[[ZERO:.*]]] axes [2, 3] : {{.*}} -> tensor<64x64xf16>
  // CHECK: %[[STATE:.*]]:3 = tile.for_blocks %[[J:[^ ]+]] = %[[ZERO]] to %[[N]] step 16 iter_args(%[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}})
  // CHECK-NEXT: %[[KT:.*]] = tile.load %[[K]][%[[ID]]#2, %[[KV]], %[[J]], %[[ZERO]]] axes [2, 3] : {{.*}} -> tensor<16x64xf16>
  // CHECK-NEXT: %[[S:.*]] = tile.dot %[[QT]], %[[KT]] transpose_b
  // CHECK-NOT: tile.map
  // CHECK: %[[KEEP:.*]] = tile.mask rows(%[[ROW]]) cols(%[[J]])
  // CHECK-NEXT: ^bb0(%{{.*}}: i64, %[[COL:.*]]: i64):
  // CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi slt, %[[COL]], %[[N]]
  // CHECK-NEXT: tile.yield %[[EXISTS]]
  // CHECK: %[[X:.*]] = arith.select %[[KEEP]], %[[S]], %{{.*}} : tensor<64x16xi1>, tensor<64x16xf32>
  // CHECK: %[[P:.*]], %[[MAX1:.*]], %[[SUM1:.*]], %[[A:.*]] = tile.online_softmax %[[X]], %[[MAX]], %[[SUM]] scale 2.500000e-01 :
  // CHECK-NEXT: %[[OLD:.*]] = tile.scale_rows %[[ACC]], %[[A]]
  // CHECK-NEXT: %[[W:.*]] = arith.truncf %[[P]] : tensor<64x16xf32> to tensor<64x16xf16>
  // CHECK: %[[NEW:.*]] = tile.dot %[[W]], %{{.*}} acc(%[[OLD]] : tensor<64x32xf32>)
  // CHECK-NEXT: tile.yield %[[MAX1]], %[[SUM1]], %[[NEW]]
  // CHECK: %[[O:.*]], %[[L:.*]] = tile.finish %[[STATE]]#0, %[[STATE]]#1, %[[STATE]]#2 scale 2.500000e-01
  // CHECK: tile.store %{{.*}} axes [2, 3] : tensor<64x32xf16>
  // CHECK-NEXT: tile.store %[[L]], %{{.*}} axes [2] : tensor<64xf32>
  tile.attention ins(%q, %k, %v : !q, !q, !v) dims(%B, %H, %G, %M, %N) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.25 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o, %l : !v, !lse)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %lse : f32 } {schedule = #direct}
  tile.return
}

// A score keeps the scale apart; a user's mask is tested in every block, with the bound. Without lse there is one store.
// CHECK-LABEL: tile.kernel @scored
// CHECK-SAME: %[[N:[^ ]+]]: i64, %[[F:[^ ]+]]: f32)
tile.kernel @scored(%q: !q, %v: !v, %N: i64, %f: f32) {
  // CHECK: tile.for_blocks %[[J:[^ ]+]] = %{{.*}} to %[[N]] step 48
  // CHECK: %[[S:.*]] = tile.dot
  // CHECK-NEXT: %[[X:.*]] = tile.map %[[S]] rows(%[[ROW:.*]]) cols(%[[J]])
  // CHECK-NEXT: ^bb0(%[[ONE:.*]]: f32, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK-NEXT: %[[C:.*]] = arith.constant 2.500000e-01
  // CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[ONE]], %[[C]]
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[SCALED]], %[[F]]
  // CHECK-NEXT: tile.yield %[[Y]]
  // CHECK-NOT: scf.if
  // CHECK: %[[KEEP:.*]] = tile.mask rows(%[[ROW]]) cols(%[[J]])
  // CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %[[COL:.*]]: i64):
  // CHECK-DAG: %[[EXISTS:.*]] = arith.cmpi slt, %[[COL]], %[[N]]
  // CHECK-DAG: %[[SEEN:.*]] = arith.cmpi sge, %[[I]], %[[COL]]
  // CHECK: arith.andi %[[SEEN]], %[[EXISTS]]
  // CHECK: %[[HIDDEN:.*]] = arith.constant dense<0xFF800000>
  // CHECK-NEXT: %[[V:.*]] = arith.select %[[KEEP]], %[[X]], %[[HIDDEN]]
  // CHECK-NEXT: tile.online_softmax %[[V]], %{{.*}}, %{{.*}} scale 1.000000e+00 threshold 8
  // Values at keys that no row of the tile sees enter no product.
  // CHECK: %[[VALUES:.*]] = tile.load {{.*}} -> tensor<48x32xf16>
  // CHECK: %[[LAST:.*]] = arith.minsi %{{.*}}, %[[N]]
  // CHECK-NEXT: %[[SEEN:.*]] = tile.zero_unseen %[[VALUES]] rows(%[[ROW]] to %[[LAST]]) cols(%[[J]] to %[[N]]) seen {
  // CHECK-NEXT: ^bb0(%[[ROWOF:.*]]: i64, %[[KEYOF:.*]]: i64):
  // CHECK-NEXT: arith.cmpi sge, %[[ROWOF]], %[[KEYOF]]
  // CHECK: tile.dot %{{.*}}, %[[SEEN]] acc
  // CHECK: tile.store
  // CHECK-NOT: tile.store
  tile.attention ins(%q, %q, %v : !q, !q, !v) dims(%N, %N, %N, %N, %N) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.25 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %r = arith.addf %s, %f : f32 tile.yield %r : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64 tile.yield %c : i1 }
    outs(%v : !v)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 } {schedule = #lazy}
  tile.return
}

// Neither a scale below 0 nor one that depends on the row is folded.
// CHECK-LABEL: tile.kernel @unfolded
tile.kernel @unfolded(%q: !q, %v: !v, %N: i64, %f: f32) {
  // CHECK: tile.map
  // CHECK: arith.constant -2.500000e-01
  // CHECK: tile.online_softmax {{.*}} scale 1.000000e+00
  tile.attention ins(%q, %q, %v : !q, !q, !v) dims(%N, %N, %N, %N, %N) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant -0.25 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : !v)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 } {schedule = #direct}
  tile.return
}
// CHECK-LABEL: tile.kernel @per_row
tile.kernel @per_row(%q: !q, %v: !v, %N: i64, %f: f32) {
  // CHECK: tile.map %{{.*}} rows(
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %[[I:.*]]: i64, %{{.*}}: i64):
  // CHECK-NEXT: %[[C:.*]] = arith.sitofp %[[I]]
  // CHECK-NEXT: arith.mulf %[[S]], %[[C]]
  tile.attention ins(%q, %q, %v : !q, !q, !v) dims(%N, %N, %N, %N, %N) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.sitofp %i : i64 to f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : !v)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 } {schedule = #direct}
  tile.return
}
