// Rows of several query heads in a tile: how many is a matter of the launch's dims, and what scalar code gets is position and head of its row.
// RUN: tegula-opt %s --tegula-decompose --canonicalize --cse | FileCheck %s
// RUN: tegula-opt %s --tegula-decompose=pack=false | FileCheck %s --check-prefix=APART

!q = memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>
!lse = memref<?x?x?xf32, strided<[?, ?, ?]>>
#packed = #tile.schedule<form = direct, block_m = 128, block_n = 32, consumers = 2, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online, pack_heads = true>

// CHECK-LABEL: tile.kernel @packed
// CHECK-SAME: %[[Q:[^ ]+]]: memref<{{[^>]*>>}}, %[[K:[^ ]+]]: memref<{{[^>]*>>}}, %[[O:[^ ]+]]: memref<{{[^>]*>>}}, %[[L:[^ ]+]]: memref<{{[^>]*>>}}, %[[SLOPE:[^ ]+]]: memref<{{.*}} %[[B:[^ ]+]]: i64, %[[H:[^ ]+]]: i64, %[[G:[^ ]+]]: i64, %[[M:[^ ]+]]: i64, %[[N:[^ ]+]]: i64)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK: %[[R:.*]] = arith.divsi %[[H]], %[[G]] : i64
// CHECK: %[[SHIFT:.*]] = tile.packing %[[M]] heads(%[[H]] to %[[G]]) rows 128
// CHECK: %[[ROWS:.*]] = arith.shli %[[M]], %[[SHIFT]] : i64
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %[[ROWS]], %{{.*}} : i64
// CHECK: %[[HEADS:.*]] = arith.shli %[[ONE]], %[[SHIFT]] : i64
// CHECK: %[[PARTS:.*]] = arith.ceildivsi %[[R]], %[[HEADS]] : i64
// CHECK: %[[TILES:.*]] = arith.muli %[[PARTS]], %[[G]] : i64
// CHECK: %[[ID:.*]]:3 = tile.program_id of(%[[BLOCKS]], %[[TILES]], %[[B]])
// CHECK: %[[ROW:.*]] = arith.muli %[[ID]]#0
// CHECK: %[[KV:.*]] = arith.divsi %[[ID]]#1, %[[PARTS]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[KV]], %[[R]]
// CHECK: %[[HEAD:.*]] = arith.addi %[[FIRST]], %{{.*}} : i64
// CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %[[R]] : i64
// CHECK: tile.load %[[Q]][%[[ID]]#2, %[[HEAD]], %[[ROW]], %[[ZERO]]] axes [2, 3] packed %[[SHIFT]] to %[[END]]
// CHECK: tile.load %[[K]][%[[ID]]#2, %[[KV]], %{{.*}}, %[[ZERO]]] axes [2, 3] : memref
// CHECK: tile.map %{{.*}} rows(%[[ROW]])
// CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[X:.*]]: i64, %{{.*}}: i64):
// CHECK-DAG: %[[I:.*]] = arith.shrsi %[[X]], %[[SHIFT]] : i64
// CHECK-DAG: %[[OTHER:.*]] = arith.andi %[[X]], %{{.*}} : i64
// CHECK: %[[MINE:.*]] = arith.addi %[[HEAD]], %[[OTHER]] : i64
// CHECK: tile.lookup %[[SLOPE]][%[[MINE]]]
// CHECK: tile.mask rows(%[[ROW]])
// CHECK-NEXT: ^bb0(%[[X:.*]]: i64, %[[J:.*]]: i64):
// CHECK: %[[I:.*]] = arith.shrsi %[[X]], %[[SHIFT]] : i64
// CHECK: arith.cmpi sge, %[[I]], %[[J]] : i64
// CHECK: tile.zero_unseen %{{.*}} rows(%[[ROW]] to %[[LAST:.*]]) cols
// CHECK: tile.store %{{.*}}, %[[O]][%[[ID]]#2, %[[HEAD]], %[[ROW]], %[[ZERO]]] axes [2, 3] packed %[[SHIFT]] to %[[END]]
// CHECK: tile.store %{{.*}}, %[[L]][%[[ID]]#2, %[[HEAD]], %[[ROW]]] axes [2] packed %[[SHIFT]] to %[[END]]

// APART: tile.program_id of(%{{.*}}, %arg6, %arg5)
// APART-NOT: packed
tile.kernel @packed(%q: !q, %k: !q, %o: !q, %l: !lse, %slope: memref<?xf32, strided<[?]>>, %B: i64, %H: i64, %G: i64, %M: i64, %N: i64) {
  tile.attention ins(%q, %k, %k : !q, !q, !q) dims(%B, %H, %G, %M, %N) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 0.25 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64):
      %m = tile.lookup %slope[%h] : memref<?xf32, strided<[?]>>
      %d = arith.subi %j, %i : i64
      %f = arith.sitofp %d : i64 to f32
      %t = arith.mulf %m, %f : f32
      %y = arith.addf %s, %t : f32
      tile.yield %y : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64 tile.yield %c : i1 }
    outs(%o, %l : !q, !lse)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %lse : f32 } {schedule = #packed}
  tile.return
}
