// Every op and attribute of the tile dialect, through text twice, and through the generic form.
// RUN: tegula-opt %s | FileCheck %s

// CHECK-LABEL: tile.kernel @copy(%{{.*}}: memref<?xf32, strided<[?]>> {tile.dims = ["N"], tile.name = "x", tile.role = "in"}, %{{.*}}: i64 {tile.dim = "N"})
// CHECK-SAME: attributes {tile.requires = [{expr = "(== N 4)", place = "x.tg:1:1", text = "N == 4"}]}
// CHECK: tile.return
tile.kernel @copy(%x: memref<?xf32, strided<[?]>> {tile.name = "x", tile.dims = ["N"], tile.role = "in"}, %N: i64 {tile.dim = "N"})
    attributes {tile.requires = [{text = "N == 4", place = "x.tg:1:1", expr = "(== N 4)"}]} {
  tile.return
}

// CHECK-LABEL: tile.kernel private @empty
tile.kernel private @empty() {
  tile.return
}

// CHECK-LABEL: tile.kernel @whole
tile.kernel @whole(%q: memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>, %o: memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>,
                   %v: memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>, %l: memref<?x?x?xf32, strided<[?, ?, ?]>>, %slope: memref<?xf32, strided<[?]>>, %n: i64) {
  // CHECK: tile.attention ins(%[[Q:.*]], %[[Q]], %[[V:.*]] : memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>, memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>, memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>)
  // CHECK-SAME: dims(%[[N:.*]], %[[N]], %[[N]], %[[N]], %[[N]]) reduction(softmax) scale {
  // CHECK: tile.yield %{{.*}} : f32
  // CHECK: } score {
  // CHECK: tile.lookup %{{.*}}[%{{.*}}] : memref<?xf32, strided<[?]>>
  // CHECK: } mask {
  // CHECK: tile.yield %{{.*}} : i1
  // CHECK-NEXT: } outs(%{{.*}}, %{{.*}} : memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>, memref<?x?x?xf32, strided<[?, ?, ?]>>) emit {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[LSE:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK: }, {
  // CHECK-NEXT: ^bb0(%[[LSE:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK-NEXT: tile.yield %[[LSE]] : f32
  tile.attention ins(%q, %q, %v : memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>, memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>, memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>)
    dims(%n, %n, %n, %n, %n) reduction(softmax) scale {
  ^bb0(%b: i64, %h: i64, %g: i64, %i: i64):
    %c = arith.constant 0.125 : f32
    tile.yield %c : f32
  } score {
  ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64):
    %f = tile.lookup %slope[%h] : memref<?xf32, strided<[?]>>
    %r = arith.addf %s, %f : f32
    tile.yield %r : f32
  } mask {
  ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64):
    %c = arith.cmpi sge, %i, %j : i64
    tile.yield %c : i1
  }
    outs(%o, %l : memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>, memref<?x?x?xf32, strided<[?, ?, ?]>>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %lse : f32 }
  tile.return
}

// Without lse, in f64, with a schedule.
// CHECK-LABEL: tile.kernel @wide
tile.kernel @wide(%q: memref<1x2x?x8xf64>, %n: i64) {
  // CHECK: tile.attention
  // CHECK: ^bb0(%{{.*}}: f64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK: } {schedule = #tile.schedule<form = sequential, block_m = 48, block_n = 100, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>}
  tile.attention ins(%q, %q, %q : memref<1x2x?x8xf64>, memref<1x2x?x8xf64>, memref<1x2x?x8xf64>) dims(%n, %n, %n, %n, %n) reduction(softmax) scale {
  ^bb0(%b: i64, %h: i64, %g: i64, %i: i64):
    %c = arith.constant 0.125 : f64
    tile.yield %c : f64
  } score {
  ^bb0(%s: f64, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64):
    tile.yield %s : f64
  } mask {
  ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64):
    %c = arith.constant true
    tile.yield %c : i1
  }
    outs(%q : memref<1x2x?x8xf64>)
    emit { ^bb0(%y: f64, %lse: f64, %max: f64, %sum: f64, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f64 } {schedule = #tile.schedule<form = sequential, block_m = 48, block_n = 100, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>}
  tile.return
}

// Weights, an extra term, and outputs of integers and flags.
// CHECK-LABEL: tile.kernel @full
tile.kernel @full(%q: memref<1x2x?x8xf32>, %flags: memref<1x2x?x8xi8>, %counts: memref<1x2x?xi32>, %n: i64) {
  // CHECK: reduction(softmax) scale {
  // CHECK: } mask {
  // CHECK: } weight {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK: } extra {
  // CHECK-NEXT: ^bb0(%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK: } outs(%{{.*}}, %{{.*}} : memref<1x2x?x8xi8>, memref<1x2x?xi32>) emit {
  // CHECK: tile.yield %{{.*}} : i1
  // CHECK: }, {
  // CHECK: tile.yield %{{.*}} : i32
  tile.attention ins(%q, %q, %q : memref<1x2x?x8xf32>, memref<1x2x?x8xf32>, memref<1x2x?x8xf32>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    weight { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    extra { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    outs(%flags, %counts : memref<1x2x?x8xi8>, memref<1x2x?xi32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): %c = arith.cmpf ogt, %y, %max : f32 tile.yield %c : i1 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): %c = arith.fptosi %sum : f32 to i32 tile.yield %c : i32 }
  tile.return
}

// Under the other reductions.
// CHECK-LABEL: tile.kernel @sums
// CHECK: reduction(sum)
// CHECK: reduction(mean)
tile.kernel @sums(%q: memref<1x2x?x8xf32>, %n: i64) {
  tile.attention ins(%q, %q, %q : memref<1x2x?x8xf32>, memref<1x2x?x8xf32>, memref<1x2x?x8xf32>) dims(%n, %n, %n, %n, %n) reduction(sum)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%q : memref<1x2x?x8xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %sum : f32 }
  tile.attention ins(%q, %q, %q : memref<1x2x?x8xf32>, memref<1x2x?x8xf32>, memref<1x2x?x8xf32>) dims(%n, %n, %n, %n, %n) reduction(mean)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%q : memref<1x2x?x8xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// Fields of a schedule may come in any order.
// CHECK: #tile.schedule<form = pipelined, block_m = 128, block_n = 256, consumers = 2, stages = 8, q_stages = 4, producer_registers = 24, consumer_registers = 240, ping_pong = true, softmax = fixed, tiles = longest_first>
// CHECK: #tile.schedule<form = direct, block_m = 256, block_n = 16, consumers = 4, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
tile.kernel @schedules() attributes {
  a = #tile.schedule<ping_pong = true, block_n = 256, block_m = 128, consumers = 2, stages = 8, q_stages = 4, producer_registers = 24, consumer_registers = 240, softmax = fixed, tiles = longest_first, form = pipelined>,
  b = #tile.schedule<form = direct, block_m = 256, block_n = 16, consumers = 4, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  tile.return
}
