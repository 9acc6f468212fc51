// Every op of tile programs, through text twice, and through the generic form.
// RUN: tegula-opt %s | FileCheck %s

!mem = memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>

// CHECK-LABEL: tile.kernel @places
tile.kernel @places(%x: !mem, %rows: memref<?x?x?xf32, strided<[?, ?, ?]>>, %table: memref<?x4xi8, strided<[?, ?]>>, %number: memref<f32>, %n: i64) {
  // CHECK: %[[ID:.*]]:3 = tile.program_id of(%[[N:.*]], %[[N]], %[[N]]) : i64, i64, i64
  %m, %h, %b = tile.program_id of (%n, %n, %n) : i64, i64, i64
  // CHECK: %{{.*}}, %{{.*}} = tile.row_span %[[ID]]#0 for 128
  %first, %last = tile.row_span %m for 128
  // CHECK: tile.load %{{.*}}[%[[ID]]#2, %[[ID]]#1, %[[ID]]#0, %[[N]]] axes [2, 3] : memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>> -> tensor<128x64xbf16>
  %t = tile.load %x[%b, %h, %m, %n] axes [2, 3] : !mem -> tensor<128x64xbf16>
  // CHECK: tile.load %{{.*}} axes [3, 0] : memref<{{.*}}> -> tensor<64x8xbf16>
  %u = tile.load %x[%b, %h, %m, %n] axes [3, 0] : !mem -> tensor<64x8xbf16>
  // CHECK: tile.load %{{.*}} axes [2] : memref<{{.*}}> -> tensor<128xf32>
  %r = tile.load %rows[%b, %h, %m] axes [2] : memref<?x?x?xf32, strided<[?, ?, ?]>> -> tensor<128xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}] axes [2, 3] : tensor<128x64xbf16>, memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>
  tile.store %t, %x[%b, %h, %m, %n] axes [2, 3] : tensor<128x64xbf16>, !mem
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}] axes [2] : tensor<128xf32>, memref<?x?x?xf32, strided<[?, ?, ?]>>
  tile.store %r, %rows[%b, %h, %m] axes [2] : tensor<128xf32>, memref<?x?x?xf32, strided<[?, ?, ?]>>
  // CHECK: tile.lookup %{{.*}}[%{{.*}}, %{{.*}}] : memref<?x4xi8, strided<[?, ?]>>
  %l = tile.lookup %table[%m, %h] : memref<?x4xi8, strided<[?, ?]>>
  // CHECK: tile.lookup %{{.*}}[] : memref<f32>
  %c = tile.lookup %number[] : memref<f32>
  tile.return
}

// CHECK-LABEL: tile.kernel @loops
tile.kernel @loops(%n: i64, %x: f32) {
  // CHECK: %{{.*}} = tile.for_blocks %[[I:.*]] = %[[N:.*]] to %[[N]] step 128 iter_args(%[[C:.*]] = %{{.*}}, %[[D:.*]] = %[[N]]) -> (f32, i64) {
  // CHECK-NEXT: tile.yield %[[C]], %[[I]] : f32, i64
  // CHECK-NEXT: } {note = 1 : i64}
  %r:2 = tile.for_blocks %i = %n to %n step 128 iter_args(%c = %x, %d = %n) -> (f32, i64) {
    tile.yield %c, %i : f32, i64
  } {note = 1 : i64}
  // CHECK: tile.for_blocks %{{.*}} = %[[N]] to %[[N]] step 16 {
  tile.for_blocks %i = %n to %n step 16 {
  }
  // CHECK: tile.for_blocks %{{.*}} = %[[N]] to %[[N]] step 16 flags(%[[P:.*]]) iter_args(%[[E:.*]] = %{{.*}}) -> (i1) {
  // CHECK-NEXT: tile.yield %[[P]] : i1
  // CHECK-NEXT: } classes {
  // CHECK-NEXT: ^bb0(%[[K:.*]]: i64):
  // CHECK-NEXT: %[[LIVE:.*]] = arith.cmpi sge, %[[K]], %[[N]]
  // CHECK-NEXT: tile.yield %[[LIVE]], %[[LIVE]] : i1, i1
  %b = arith.constant true
  %t = tile.for_blocks %i = %n to %n step 16 flags(%p) iter_args(%e = %b) -> (i1) {
    tile.yield %p : i1
  } classes {
  ^bb0(%k: i64):
    %live = arith.cmpi sge, %k, %n : i64
    tile.yield %live, %live : i1, i1
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @elements
tile.kernel @elements(%row: i64, %col: i64, %S: tensor<128x32xf32>) {
  // CHECK: tile.mask rows(%[[R:.*]]) cols(%[[C:.*]]) {
  // CHECK-NEXT: ^bb0(%{{.*}}: i64, %{{.*}}: i64):
  // CHECK: } : tensor<128x32xi1>
  %keep = tile.mask rows(%row) cols(%col) {
  ^bb0(%i: i64, %j: i64):
    %c = arith.cmpi sge, %i, %j : i64
    tile.yield %c : i1
  } : tensor<128x32xi1>
  // CHECK: tile.map %{{.*}} rows(%[[R]]) cols(%[[C]]) {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK: } : (tensor<128x32xf32>) -> tensor<128x32xf32>
  %y = tile.map %S rows(%row) cols(%col) {
  ^bb0(%s: f32, %i: i64, %j: i64):
    %t = math.tanh %s : f32
    tile.yield %t : f32
  } : (tensor<128x32xf32>) -> tensor<128x32xf32>
  // CHECK: tile.zero_unseen %{{.*}} rows(%[[R]] to %[[C]]) cols(%[[C]] to %[[R]]) seen {
  // CHECK-NEXT: ^bb0(%{{.*}}: i64, %{{.*}}: i64):
  // CHECK: } : tensor<128x32xf32>
  %v0 = tile.zero_unseen %S rows(%row to %col) cols(%col to %row) seen { ^bb0(%i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64 tile.yield %c : i1 } : tensor<128x32xf32>
  // CHECK: tile.zero_unseen %{{.*}} rows({{.*}}) cols({{.*}}) if(%{{.*}}) seen {
  // CHECK: } possible {
  // CHECK-NEXT: ^bb0(%{{.*}}: i64):
  // CHECK: } : tensor<128x32xf32>
  %some = arith.cmpi sge, %row, %col : i64
  %v1 = tile.zero_unseen %S rows(%row to %col) cols(%col to %row) if(%some) seen { ^bb0(%i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64 tile.yield %c : i1 }
    possible { ^bb0(%j: i64): %c = arith.cmpi sge, %row, %j : i64 tile.yield %c : i1 } : tensor<128x32xf32>
  // CHECK: %[[M:.*]] = tile.map rows(%[[R]]) {
  // CHECK-NEXT: ^bb0(%{{.*}}: i64):
  // CHECK: } : () -> tensor<128xf64>
  %m = tile.map rows(%row) {
  ^bb0(%i: i64):
    %t = arith.sitofp %i : i64 to f64
    tile.yield %t : f64
  } : () -> tensor<128xf64>
  // CHECK: tile.map %{{.*}}, %[[M]] rows(%[[R]]) cols(%[[C]]) {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f64, %{{.*}}: i64, %{{.*}}: i64):
  // CHECK: } : (tensor<128x32xf32>, tensor<128xf64>) -> tensor<128x32xi1>
  %z = tile.map %S, %m rows(%row) cols(%col) {
  ^bb0(%s: f32, %x: f64, %i: i64, %j: i64):
    %w = arith.extf %s : f32 to f64
    %t = arith.cmpf olt, %w, %x : f64
    tile.yield %t : i1
  } : (tensor<128x32xf32>, tensor<128xf64>) -> tensor<128x32xi1>
  tile.return
}

// CHECK-LABEL: tile.kernel @math
tile.kernel @math(%a: tensor<128x64xbf16>, %b: tensor<32x64xbf16>, %c: tensor<64x32xbf16>, %wide: tensor<8x8xf64>, %m: tensor<128xf32>, %x: tensor<128x32xf32>) {
  // CHECK: tile.dot %{{.*}}, %{{.*}} transpose_b : tensor<128x64xbf16>, tensor<32x64xbf16> -> tensor<128x32xf32>
  %S = tile.dot %a, %b transpose_b : tensor<128x64xbf16>, tensor<32x64xbf16> -> tensor<128x32xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}} acc(%{{.*}} : tensor<128x32xf32>) : tensor<128x64xbf16>, tensor<64x32xbf16> -> tensor<128x32xf32>
  %O = tile.dot %a, %c acc(%S : tensor<128x32xf32>) : tensor<128x64xbf16>, tensor<64x32xbf16> -> tensor<128x32xf32>
  // CHECK: tile.dot %{{.*}} : tensor<8x8xf64>, tensor<8x8xf64> -> tensor<8x8xf64>
  %w = tile.dot %wide, %wide : tensor<8x8xf64>, tensor<8x8xf64> -> tensor<8x8xf64>
  // CHECK: tile.reduce max %{{.*}} : tensor<128x32xf32> -> tensor<128xf32>
  %max = tile.reduce max %x : tensor<128x32xf32> -> tensor<128xf32>
  // CHECK: tile.reduce add %{{.*}} : tensor<128x32xf32> -> tensor<128xf32>
  %sum = tile.reduce add %x : tensor<128x32xf32> -> tensor<128xf32>
  // CHECK: tile.broadcast %{{.*}} : tensor<128xf32> -> tensor<128x32xf32>
  %y = tile.broadcast %max : tensor<128xf32> -> tensor<128x32xf32>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[A:.*]] = tile.online_softmax %{{.*}}, %{{.*}}, %{{.*}} scale 1.250000e-01 : tensor<128x32xf32>, tensor<128xf32>
  %P, %m1, %l1, %alpha = tile.online_softmax %x, %m, %sum scale 1.250000e-01 : tensor<128x32xf32>, tensor<128xf32>
  // CHECK: tile.online_softmax %{{.*}}, %{{.*}}, %{{.*}} scale 1.000000e+00 threshold 8 : tensor<128x32xf32>, tensor<128xf32>
  %P2, %m3, %l3, %alpha2 = tile.online_softmax %x, %m, %sum scale 1.000000e+00 threshold 8 : tensor<128x32xf32>, tensor<128xf32>
  // CHECK: tile.any %{{.*}} : tensor<128xi1>
  %grew = arith.cmpf ogt, %m, %max : tensor<128xf32>
  %some = tile.any %grew : tensor<128xi1>
  // CHECK: tile.scale_rows %{{.*}}, %[[A]] : tensor<128x32xf32>, tensor<128xf32>
  %u = tile.scale_rows %O, %alpha : tensor<128x32xf32>, tensor<128xf32>
  // CHECK: tile.merge(%[[M:.*]], %[[L:.*]], %[[U:.*]]), (%[[M]], %[[L]], %[[U]]) scale 1.000000e+00 : tensor<128xf32>, tensor<128x32xf32>
  %m2, %l2, %u2 = tile.merge (%m1, %l1, %u), (%m1, %l1, %u) scale 1.000000e+00 : tensor<128xf32>, tensor<128x32xf32>
  // CHECK: tile.finish %{{.*}}, %{{.*}}, %{{.*}} scale 1.250000e-01 : tensor<128xf32>, tensor<128x32xf32>
  %out, %lse = tile.finish %m2, %l2, %u2 scale 1.250000e-01 : tensor<128xf32>, tensor<128x32xf32>
  tile.return
}
