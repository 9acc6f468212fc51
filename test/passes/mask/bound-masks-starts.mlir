// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-bound-masks),canonicalize,cse)' --split-input-file | FileCheck %s

// Under a window, warpgroups that share a tile and its blocks start where their own rows do: whole blocks behind the tile's first one, and not behind its last.
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>
// CHECK-LABEL: tile.kernel @pipelined
// CHECK-SAME: %[[N:[^ ]*]]: i64 {tile.dim = "N"}
tile.kernel @pipelined(%S: memref<?x?xf32>, %N: i64 {tile.dim = "N"}) attributes {schedule = #schedule} {
  %c128 = arith.constant 128 : i64
  %c64 = arith.constant 64 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %N, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  // CHECK: %[[ROW:.*]] = arith.muli
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  // CHECK: %[[PAST:.*]] = arith.addi %[[ROW]], %c128
  // CHECK: %[[SEEN:.*]] = arith.minsi %[[PAST]], %[[N]]
  // CHECK: %[[KEY:.*]] = arith.addi %[[ROW]], %c-63
  // CHECK: %[[OWNROW:.*]], %[[OWNLAST:.*]] = tile.row_span %[[ROW]] for 128
  // CHECK: %[[UPPER:.*]] = arith.minsi %[[N]], %{{.*}} : i64
  // CHECK: %[[KEYS:.*]] = arith.maxsi %[[KEY]], %c0
  // CHECK: %[[BLOCKS:.*]] = arith.divsi %[[KEYS]], %c32
  // CHECK: %[[START:.*]] = arith.muli %[[BLOCKS]], %c32
  // CHECK: %[[OWNKEY:.*]] = arith.addi %[[OWNROW]], %c-63
  // CHECK: %[[END:.*]] = arith.minsi %[[N]], %[[SEEN]]
  // CHECK: %[[OWNKEYS:.*]] = arith.maxsi %[[OWNKEY]], %c0
  // CHECK: %[[OWNBLOCKS:.*]] = arith.divsi %[[OWNKEYS]], %c32
  // CHECK: %[[OWN:.*]] = arith.muli %[[OWNBLOCKS]], %c32
  // CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c1
  // CHECK: %[[SPAN:.*]] = arith.subi %[[LAST]], %[[START]]
  // CHECK: %[[KNOWN:.*]] = arith.maxsi %[[SPAN]], %c0
  // CHECK: %[[BEHIND:.*]] = arith.divsi %[[KNOWN]], %c32
  // CHECK: %[[DISTANCE:.*]] = arith.subi %[[OWN]], %[[START]]
  // CHECK: %[[AHEAD:.*]] = arith.maxsi %[[DISTANCE]], %c0
  // CHECK: %[[MOST:.*]] = arith.muli %[[BEHIND]], %c32
  // CHECK: %[[SPARED:.*]] = arith.minsi %[[AHEAD]], %[[MOST]]
  // CHECK: %[[LOWER:.*]] = arith.addi %[[START]], %[[SPARED]]
  // CHECK: tile.for_blocks %{{.*}} = %[[LOWER]] to %[[UPPER]] step 32
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %sees = arith.cmpi sge, %i, %j : i64
      %exists = arith.cmpi slt, %j, %N : i64
      %ago = arith.subi %i, %j : i64
      %near = arith.cmpi slt, %ago, %c64 : i64
      %both = arith.andi %sees, %exists : i1
      %all = arith.andi %both, %near : i1
      tile.yield %all : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Without rings there is nothing to pass over: each warpgroup walks the blocks of its own rows.
#schedule = #tile.schedule<form = direct, block_m = 128, block_n = 32, consumers = 2, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>
// CHECK-LABEL: tile.kernel @direct
// CHECK: %[[OWNROW:.*]], %{{.*}} = tile.row_span
// CHECK: %[[KEY:.*]] = arith.addi %[[OWNROW]], %c-63
// CHECK: %[[KEYS:.*]] = arith.maxsi %[[KEY]], %c0
// CHECK: %[[BLOCKS:.*]] = arith.divsi %[[KEYS]], %c32
// CHECK: %[[LOWER:.*]] = arith.muli %[[BLOCKS]], %c32
// CHECK: tile.for_blocks %{{.*}} = %[[LOWER]] to
tile.kernel @direct(%S: memref<?x?xf32>, %N: i64 {tile.dim = "N"}) attributes {schedule = #schedule} {
  %c128 = arith.constant 128 : i64
  %c64 = arith.constant 64 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %N, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %sees = arith.cmpi sge, %i, %j : i64
      %exists = arith.cmpi slt, %j, %N : i64
      %ago = arith.subi %i, %j : i64
      %near = arith.cmpi slt, %ago, %c64 : i64
      %both = arith.andi %sees, %exists : i1
      %all = arith.andi %both, %near : i1
      tile.yield %all : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// The warpgroups of a descending walk have its ends in common.
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, walk = descending>
// CHECK-LABEL: tile.kernel @descending
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: %[[KEY:.*]] = arith.addi %[[ROW]], %c-63
// CHECK: %[[KEYS:.*]] = arith.maxsi %[[KEY]], %c0
// CHECK: %[[BLOCKS:.*]] = arith.divsi %[[KEYS]], %c32
// CHECK: %[[LOWER:.*]] = arith.muli %[[BLOCKS]], %c32
// CHECK: tile.for_blocks %{{.*}} = %[[LOWER]] to
tile.kernel @descending(%S: memref<?x?xf32>, %N: i64 {tile.dim = "N"}) attributes {schedule = #schedule} {
  %c128 = arith.constant 128 : i64
  %c64 = arith.constant 64 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %N, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %sees = arith.cmpi sge, %i, %j : i64
      %exists = arith.cmpi slt, %j, %N : i64
      %ago = arith.subi %i, %j : i64
      %near = arith.cmpi slt, %ago, %c64 : i64
      %both = arith.andi %sees, %exists : i1
      %all = arith.andi %both, %near : i1
      tile.yield %all : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}
