// What depends on the row alone and reads a table is computed ahead of the loop; integers of 64 bits, flags, and what is plain arithmetic are not.
// RUN: tegula-opt %s --tegula-hoist-rows | FileCheck %s

#schedule = #tile.schedule<form = direct, block_m = 64, block_n = 32, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>

// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: %[[T:[^ ]+]]: memref<?xf32> {tile.name = "t", tile.role = "in"}
tile.kernel @rows(%t: memref<?xf32> {tile.name = "t", tile.role = "in"}, %d: memref<?xi32> {tile.name = "d", tile.role = "in"}, %w: memref<?xf32> {tile.name = "w", tile.role = "out"},
                  %s: tensor<64x32xf32>, %o: memref<?x?xf32>, %m: i64, %N: i64) attributes {schedule = #schedule} {
  %zero = arith.constant 0 : i64
  %u0 = arith.constant dense<0.0> : tensor<64x32xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<64x32xf32>
  // CHECK: %[[ROWS:.*]] = tile.map rows(%[[M:.*]]) {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: i64):
  // CHECK-NEXT: %[[AT:.*]] = tile.lookup %[[T]][%[[I]]]
  // CHECK-NEXT: %[[EXP:.*]] = math.exp2 %[[AT]]
  // CHECK-NEXT: tile.yield %[[EXP]] : f32
  // CHECK-NEXT: } : () -> tensor<64xf32>
  // CHECK: %[[WORDS:.*]] = tile.map rows(%[[M]])
  // CHECK: tile.lookup %{{.*}} : memref<?xi32>
  // CHECK-NEXT: tile.yield %{{.*}} : i32
  // CHECK-NEXT: } : () -> tensor<64xi32>
  // CHECK: tile.for_blocks %[[J:[^ ]+]] =
  %r = tile.for_blocks %n = %zero to %N step 32 iter_args(%u = %u0) -> (tensor<64x32xf32>) {
    // CHECK-NEXT: tile.map %{{.*}}, %[[ROWS]] rows(%[[M]]) cols(%[[J]])
    // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %[[HERE:.*]]: f32, %[[I2:.*]]: i64, %{{.*}}: i64):
    // A table that the kernel writes may change, and a number made of the row costs less than its register.
    // CHECK-NEXT: tile.lookup %{{.*}}[%[[I2]]]
    // CHECK-NEXT: arith.sitofp %[[I2]]
    // CHECK-NEXT: arith.addf %[[S]], %[[HERE]]
    %x = tile.map %s rows(%m) cols(%n) {
    ^bb0(%score: f32, %i: i64, %j: i64):
      %a = tile.lookup %t[%i] : memref<?xf32>
      %e = math.exp2 %a : f32
      %b = tile.lookup %w[%i] : memref<?xf32>
      %f = arith.sitofp %i : i64 to f32
      %y0 = arith.addf %score, %e : f32
      %y1 = arith.addf %y0, %b : f32
      %y = arith.addf %y1, %f : f32
      tile.yield %y : f32
    } : (tensor<64x32xf32>) -> tensor<64x32xf32>
    // A mask that one select reads becomes a map with it. What is i64 is computed again.
    // CHECK: tile.map %{{.*}}, %[[WORDS]] rows(%[[M]]) cols(%[[J]])
    // CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[WORD:.*]]: i32, %{{.*}}: i64, %[[KEY:.*]]: i64):
    // CHECK-NEXT: %[[WIDE:.*]] = arith.extsi %[[WORD]]
    // CHECK-NEXT: %[[SEEN:.*]] = arith.cmpi sge, %[[WIDE]], %[[KEY]]
    // CHECK: arith.select %[[SEEN]]
    %keep = tile.mask rows(%m) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %a = tile.lookup %d[%i] : memref<?xi32>
      %wide = arith.extsi %a : i32 to i64
      %c = arith.cmpi sge, %wide, %j : i64
      tile.yield %c : i1
    } : tensor<64x32xi1>
    %v = arith.select %keep, %x, %hidden : tensor<64x32xi1>, tensor<64x32xf32>
    %u1 = arith.addf %u, %v : tensor<64x32xf32>
    tile.yield %u1 : tensor<64x32xf32>
  }
  tile.store %r, %o[%zero, %zero] axes [0, 1] : tensor<64x32xf32>, memref<?x?xf32>
  tile.return
}
