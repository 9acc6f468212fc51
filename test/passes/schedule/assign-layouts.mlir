// Tiles of rows become fragments of one warpgroup; right operands of matrix ops stay in memory; row indices gain 64 * warpgroup.
// RUN: tegula-opt %s --tegula-assign-layouts | FileCheck %s

// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: %[[Q:[^ ]+]]: memref<?x16xf16>, %[[K:[^ ]+]]: memref<?x16xf16>, %[[L:[^ ]+]]: memref<?xf32>, %[[ROW:[^ ]+]]: i64, %[[N:[^ ]+]]: i64)
tile.kernel @rows(%q: memref<?x16xf16>, %k: memref<?x16xf16>, %l: memref<?xf32>, %row: i64, %n: i64)
    attributes {schedule = #tile.schedule<form = direct, block_m = 128, block_n = 32, consumers = 2, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  // CHECK: %[[GROUP:.*]] = warp.warpgroup
  // CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %c64_i64
  %zero = arith.constant 0 : i64
  // CHECK: %[[M:.*]] = arith.constant dense<0xFF800000> : tensor<64xf32, #warp.rows>
  %m = arith.constant dense<0xFF800000> : tensor<128xf32>
  // CHECK: %[[QROW:.*]] = arith.addi %[[ROW]], %[[FIRST]]
  // CHECK-NEXT: %[[QT:.*]] = tile.load %[[Q]][%[[QROW]], %{{.*}}] axes [0, 1] : memref<?x16xf16> -> tensor<64x16xf16, #warp.fragment>
  %qt = tile.load %q[%row, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<128x16xf16>
  // CHECK-NEXT: tile.for_blocks %[[J:[^ ]+]] = {{.*}} -> (tensor<64xf32, #warp.rows>) {
  %r = tile.for_blocks %j = %zero to %n step 32 iter_args(%max = %m) -> (tensor<128xf32>) {
    // CHECK-NEXT: %[[KT:.*]] = tile.load %[[K]][%[[J]], %{{.*}}] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    %kt = tile.load %k[%j, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
    // CHECK-NEXT: %[[S:.*]] = tile.dot %[[QT]], %[[KT]] transpose_b : tensor<64x16xf16, #warp.fragment>, tensor<32x16xf16> -> tensor<64x32xf32, #warp.fragment>
    %s = tile.dot %qt, %kt transpose_b : tensor<128x16xf16>, tensor<32x16xf16> -> tensor<128x32xf32>
    // CHECK-NEXT: %[[MROW:.*]] = arith.addi %[[ROW]], %[[FIRST]]
    // CHECK-NEXT: tile.mask rows(%[[MROW]]) cols(%[[J]])
    // CHECK: } : tensor<64x32xi1, #warp.fragment>
    %keep = tile.mask rows(%row) cols(%j) { ^bb0(%a: i64, %b: i64): %c = arith.cmpi sge, %a, %b : i64 tile.yield %c : i1 } : tensor<128x32xi1>
    // CHECK-NEXT: %[[SROW:.*]] = arith.addi %[[ROW]], %[[FIRST]]
    // CHECK-NEXT: tile.map %[[S]] rows(%[[SROW]]) cols(%[[J]])
    // CHECK: } : (tensor<64x32xf32, #warp.fragment>) -> tensor<64x32xf32, #warp.fragment>
    %x = tile.map %s rows(%row) cols(%j) { ^bb0(%a: f32, %b: i64, %c: i64): tile.yield %a : f32 } : (tensor<128x32xf32>) -> tensor<128x32xf32>
    %y = arith.select %keep, %x, %s : tensor<128x32xi1>, tensor<128x32xf32>
    // CHECK: tile.reduce max %{{.*}} : tensor<64x32xf32, #warp.fragment> -> tensor<64xf32, #warp.rows>
    %next = tile.reduce max %y : tensor<128x32xf32> -> tensor<128xf32>
    // CHECK: tile.any %{{.*}} : tensor<64xi1, #warp.rows>
    %grew = arith.cmpf ogt, %next, %max : tensor<128xf32>
    %some = tile.any %grew : tensor<128xi1>
    // CHECK-NEXT: scf.if {{.*}} -> (tensor<64xf32, #warp.rows>)
    %kept = scf.if %some -> tensor<128xf32> {
      scf.yield %next : tensor<128xf32>
    } else {
      scf.yield %max : tensor<128xf32>
    }
    tile.yield %kept : tensor<128xf32>
  }
  // CHECK: %[[OROW:.*]] = arith.addi %[[ROW]], %[[FIRST]]
  // CHECK-NEXT: tile.store %{{.*}}, %[[L]][%[[OROW]]] axes [0] : tensor<64xf32, #warp.rows>, memref<?xf32>
  tile.store %r, %l[%row] axes [0] : tensor<128xf32>, memref<?xf32>
  tile.return
}
