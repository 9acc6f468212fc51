// Every op and attribute of the tile dialect, through text twice, and through the generic form.
// RUN: tegula-opt %s | tegula-opt | FileCheck %s
// RUN: tegula-opt %s --mlir-print-op-generic | tegula-opt | FileCheck %s

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
                   %v: memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>, %lse: memref<?x?x?xf32, strided<[?, ?, ?]>>, %slope: memref<?xf32, strided<[?]>>, %n: i64) {
  // CHECK: tile.attention ins(%[[Q:.*]], %[[Q]], %[[V:.*]] : memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>, memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>, memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>)
  // CHECK-SAME: outs(%{{.*}} : memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>) lse(%{{.*}} : memref<?x?x?xf32, strided<[?, ?, ?]>>)
  // CHECK-SAME: dims(%[[N:.*]], %[[N]], %[[N]], %[[N]], %[[N]]) scale {
  // CHECK: tile.yield %{{.*}} : f32
  // CHECK: } score {
  // CHECK: tile.lookup %{{.*}}[%{{.*}}] : memref<?xf32, strided<[?]>>
  // CHECK: } mask {
  // CHECK: tile.yield %{{.*}} : i1
  tile.attention ins(%q, %q, %v : memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>, memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>, memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>)
    outs(%o : memref<?x?x?x32xbf16, strided<[?, ?, ?, ?]>>) lse(%lse : memref<?x?x?xf32, strided<[?, ?, ?]>>) dims(%n, %n, %n, %n, %n) scale {
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
  tile.return
}

// Without lse, in f64, with a schedule.
// CHECK-LABEL: tile.kernel @wide
tile.kernel @wide(%q: memref<1x2x?x8xf64>, %n: i64) {
  // CHECK: outs(%{{.*}} : memref<1x2x?x8xf64>) dims(
  // CHECK: ^bb0(%{{.*}}: f64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK: } {schedule = #tile.schedule<form = sequential, block_m = 48, block_n = 100, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, rescale_threshold = 0>}
  tile.attention ins(%q, %q, %q : memref<1x2x?x8xf64>, memref<1x2x?x8xf64>, memref<1x2x?x8xf64>) outs(%q : memref<1x2x?x8xf64>) dims(%n, %n, %n, %n, %n) scale {
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
  } {schedule = #tile.schedule<form = sequential, block_m = 48, block_n = 100, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, rescale_threshold = 0>}
  tile.return
}

// Fields of a schedule may come in any order.
// CHECK: #tile.schedule<form = pipelined, block_m = 128, block_n = 256, consumers = 2, stages = 8, q_stages = 4, producer_registers = 24, consumer_registers = 240, ping_pong = true, rescale_threshold = 15>
// CHECK: #tile.schedule<form = direct, block_m = 256, block_n = 16, consumers = 4, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, rescale_threshold = 0>
tile.kernel @schedules() attributes {
  a = #tile.schedule<ping_pong = true, block_n = 256, block_m = 128, consumers = 2, stages = 8, q_stages = 4, producer_registers = 24, consumer_registers = 240, rescale_threshold = 15, form = pipelined>,
  b = #tile.schedule<form = direct, block_m = 256, block_n = 16, consumers = 4, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, rescale_threshold = 0>} {
  tile.return
}
