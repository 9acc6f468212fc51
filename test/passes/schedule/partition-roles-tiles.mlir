// Tiles from a counter: a queue, `dynamic` loops, and coordinates in 32 bits; longest first, from the last block of rows to the first.
// RUN: tegula-opt %s --tegula-partition-roles --canonicalize --cse | FileCheck %s

#counter = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, tiles = counter>
#longest = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, tiles = longest_first>

// CHECK-LABEL: warp.kernel @counter
// CHECK-SAME: %[[BLOCKS:[^ ]+]]: i64, %[[H:[^ ]+]]: i64, %[[B:[^ ]+]]: i64)
tile.kernel @counter(%o: memref<?x?x?xf32>, %blocks: i64, %h: i64, %b: i64) attributes {schedule = #counter} {
  // CHECK: warp.queue consumers 2
  // The producer has nothing to copy, and passes the numbers on all the same.
  // CHECK: warp.role "load"
  // CHECK: warp.for_tiles
  // CHECK: } {dynamic}
  // CHECK: warp.role "compute"
  // CHECK-DAG: %[[SOME:.*]] = arith.muli %[[BLOCKS]], %[[H]]
  // CHECK-DAG: %[[TOTAL:.*]] = arith.muli %[[SOME]], %[[B]]
  // CHECK-DAG: %[[BLOCKS0:.*]] = arith.trunci %[[BLOCKS]]
  // CHECK-DAG: %[[BLOCKS32:.*]] = arith.maxui %[[BLOCKS0]], %c1
  // CHECK-DAG: %[[H0:.*]] = arith.trunci %[[H]]
  // CHECK-DAG: %[[H32:.*]] = arith.maxui %[[H0]], %c1
  // CHECK-DAG: %[[B0:.*]] = arith.trunci %[[B]]
  // CHECK-DAG: %[[B32:.*]] = arith.maxui %[[B0]], %c1
  // CHECK: warp.for_tiles %[[T:.*]] of %[[TOTAL]] {
  // CHECK-DAG: %[[T32:.*]] = arith.trunci %[[T]]
  // The sign is 0, so the divisors are the extents.
  // CHECK: %[[SIGN:.*]] = arith.shrsi %[[T32]], %c31
  // CHECK: %[[BLOCKSN:.*]] = arith.addi %[[BLOCKS32]], %[[SIGN]]
  // CHECK: %[[HN:.*]] = arith.addi %[[H32]], %[[SIGN]]
  // The first coordinate is the fastest.
  // CHECK: %[[REST:.*]] = arith.divui %[[T32]], %[[BLOCKSN]]
  // CHECK: %[[OFF:.*]] = arith.muli %[[REST]], %[[BLOCKSN]]
  // CHECK: %[[X:.*]] = arith.subi %[[T32]], %[[OFF]]
  // CHECK: %[[X0:.*]] = arith.minui %[[X]], %[[BLOCKS32]]
  // CHECK: %[[M:.*]] = arith.extui %[[X0]]
  // CHECK: %[[BATCH:.*]] = arith.divui %[[REST]], %[[HN]]
  // CHECK: %[[OFF:.*]] = arith.muli %[[BATCH]], %[[HN]]
  // CHECK: %[[Y:.*]] = arith.subi %[[REST]], %[[OFF]]
  // CHECK: %[[Y0:.*]] = arith.minui %[[Y]], %[[H32]]
  // CHECK: %[[HEAD:.*]] = arith.extui %[[Y0]]
  // CHECK: %[[Z0:.*]] = arith.minui %[[BATCH]], %[[B32]]
  // CHECK: %[[Z:.*]] = arith.extui %[[Z0]]
  // CHECK-DAG: %[[MU:.*]] = warp.uniform %[[M]]
  // CHECK-DAG: %[[HU:.*]] = warp.uniform %[[HEAD]]
  // CHECK-DAG: %[[ZU:.*]] = warp.uniform %[[Z]]
  // CHECK: tile.store %{{.*}}[%[[ZU]], %[[HU]], %[[MU]]]
  // CHECK: } {dynamic}
  %m, %head, %batch = tile.program_id of (%blocks, %h, %b) : i64, i64, i64
  %l = arith.constant dense<1.0> : tensor<64xf32, #warp.rows>
  tile.store %l, %o[%batch, %head, %m] axes [2] : tensor<64xf32, #warp.rows>, memref<?x?x?xf32>
  tile.return
}

// Without a word on keys, all heads make one group.
// CHECK-LABEL: warp.kernel @longest
// CHECK-SAME: %[[BLOCKS:[^ ]+]]: i64, %[[H:[^ ]+]]: i64)
tile.kernel @longest(%o: memref<?x?xf32>, %blocks: i64, %h: i64) attributes {schedule = #longest} {
  // CHECK: warp.role "compute"
  // CHECK-DAG: %[[BLOCKS0:.*]] = arith.trunci %[[BLOCKS]]
  // CHECK-DAG: %[[BLOCKS32:.*]] = arith.maxui %[[BLOCKS0]], %c1
  // CHECK-DAG: %[[H0:.*]] = arith.trunci %[[H]]
  // CHECK-DAG: %[[H32:.*]] = arith.maxui %[[H0]], %c1
  // CHECK: warp.for_tiles %[[T:.*]] of
  // CHECK: %[[T32:.*]] = arith.trunci %[[T]]
  // CHECK: %[[BLOCKSN:.*]] = arith.addi %[[BLOCKS32]], %{{.*}}
  // CHECK: %[[WIDTH:.*]] = arith.addi %[[H32]], %{{.*}}
  // CHECK: %[[TILES:.*]] = arith.muli %[[WIDTH]], %[[BLOCKSN]]
  // CHECK: %[[WHICH:.*]] = arith.divui %[[T32]], %[[TILES]]
  // CHECK: %[[OFF:.*]] = arith.muli %[[WHICH]], %[[TILES]]
  // CHECK: %[[IN:.*]] = arith.subi %[[T32]], %[[OFF]]
  // CHECK: %[[FIRST:.*]] = arith.muli %[[WHICH]], %[[WIDTH]]
  // CHECK: %[[LEFT:.*]] = arith.subi %[[H32]], %[[FIRST]]
  // The last group may be smaller.
  // CHECK: %[[HEADS0:.*]] = arith.minui %[[WIDTH]], %[[LEFT]]
  // CHECK: %[[HEADS:.*]] = arith.maxui %[[HEADS0]], %c1
  // CHECK: %[[BLOCK:.*]] = arith.divui %[[IN]], %[[HEADS]]
  // CHECK: %[[LAST:.*]] = arith.subi %[[BLOCKSN]], %c1
  // CHECK: %[[X:.*]] = arith.subi %[[LAST]], %[[BLOCK]]
  // CHECK: %[[X0:.*]] = arith.minui %[[X]], %[[BLOCKS32]]
  // CHECK: %[[M:.*]] = arith.extui %[[X0]]
  // CHECK: %[[OFF:.*]] = arith.muli %[[BLOCK]], %[[HEADS]]
  // CHECK: %[[INHEAD:.*]] = arith.subi %[[IN]], %[[OFF]]
  // CHECK: %[[Y:.*]] = arith.addi %[[FIRST]], %[[INHEAD]]
  // CHECK: %[[Y0:.*]] = arith.minui %[[Y]], %[[H32]]
  // CHECK: %[[HEAD:.*]] = arith.extui %[[Y0]]
  // CHECK-DAG: %[[MU:.*]] = warp.uniform %[[M]]
  // CHECK-DAG: %[[HU:.*]] = warp.uniform %[[HEAD]]
  // CHECK: tile.store %{{.*}}[%[[HU]], %[[MU]]]
  %m, %head = tile.program_id of (%blocks, %h) : i64, i64
  %l = arith.constant dense<1.0> : tensor<64xf32, #warp.rows>
  tile.store %l, %o[%head, %m] axes [1] : tensor<64xf32, #warp.rows>, memref<?x?xf32>
  tile.return
}

// As many heads make a group as have keys and values that fit in L2: of 16 halves and 8 halves a row, in 16 MiB up to 2048 keys, in 32 MiB up to 8192.
// CHECK-LABEL: warp.kernel @grouped
// CHECK-SAME: %[[H:[^ ]+]]: i64, %[[N:[^ ]+]]: i64 {tile.dim = "N"})
tile.kernel @grouped(%k: memref<?x16xf16> {tile.dims = ["N", 16]}, %v: memref<?x8xf16> {tile.dims = ["N", 8]}, %q: memref<?x16xf16> {tile.dims = ["N", 16]}, %o: memref<?x8xf32>, %blocks: i64, %h: i64,
                     %n: i64 {tile.dim = "N"}) attributes {schedule = #longest} {
  // CHECK: warp.role "load"
  // CHECK: } {dynamic}
  // CHECK: warp.role "compute"
  // CHECK-DAG: %[[LONG:.*]] = arith.cmpi sle, %[[N]], %c2048
  // CHECK-DAG: %[[HEADBYTES:.*]] = arith.muli %[[N]], %c48
  // CHECK-DAG: %[[BYTES:.*]] = arith.maxsi %[[HEADBYTES]], %c1
  // CHECK-DAG: %[[BUDGET:.*]] = arith.select %[[LONG]], %c16777216{{.*}}, %c33554432
  // CHECK: %[[FIT:.*]] = arith.divui %[[BUDGET]], %[[BYTES]]
  // CHECK: %[[ONE:.*]] = arith.maxsi %[[FIT]], %c1
  // CHECK: %[[SHORT:.*]] = arith.cmpi sle, %[[N]], %c8192
  // CHECK: %[[FEW:.*]] = arith.minsi %[[ONE]], %[[H]]
  // CHECK: %[[GROUP:.*]] = arith.select %[[SHORT]], %[[FEW]], %[[H]]
  // CHECK: %[[GROUP32:.*]] = arith.trunci %[[GROUP]]
  // CHECK: warp.for_tiles
  // CHECK: %[[WIDTH:.*]] = arith.addi %[[GROUP32]], %{{.*}}
  // CHECK: arith.muli %[[WIDTH]]
  %zero = arith.constant 0 : i64
  %m, %head = tile.program_id of (%blocks, %h) : i64, i64
  %group = warp.warpgroup
  %row = arith.addi %m, %group : i64
  %qt = tile.load %q[%row, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<64x16xf16, #warp.fragment>
  %kt = tile.load %k[%head, %zero] axes [0, 1] : memref<?x16xf16> -> tensor<32x16xf16>
  %vt = tile.load %v[%head, %zero] axes [0, 1] : memref<?x8xf16> -> tensor<32x8xf16>
  %s = tile.dot %qt, %kt transpose_b : tensor<64x16xf16, #warp.fragment>, tensor<32x16xf16> -> tensor<64x32xf32, #warp.fragment>
  %w = arith.truncf %s : tensor<64x32xf32, #warp.fragment> to tensor<64x32xf16, #warp.fragment>
  %u = tile.dot %w, %vt : tensor<64x32xf16, #warp.fragment>, tensor<32x8xf16> -> tensor<64x8xf32, #warp.fragment>
  tile.store %u, %o[%m, %zero] axes [0, 1] : tensor<64x8xf32, #warp.fragment>, memref<?x8xf32>
  tile.return
}

// Wide heads have room in proportion to their rows: the group is as many heads as at 128 + 128 columns.
// CHECK-LABEL: warp.kernel @wide
tile.kernel @wide(%k: memref<?x256xf16> {tile.dims = ["N", 256]}, %v: memref<?x256xf16> {tile.dims = ["N", 256]}, %q: memref<?x256xf16> {tile.dims = ["N", 256]}, %o: memref<?x256xf32>, %blocks: i64, %h: i64,
                  %n: i64 {tile.dim = "N"}) attributes {schedule = #longest} {
  // CHECK: arith.muli %{{.*}}, %c1024
  // CHECK: arith.select %{{.*}}, %c33554432{{.*}}, %c67108864
  %zero = arith.constant 0 : i64
  %m, %head = tile.program_id of (%blocks, %h) : i64, i64
  %group = warp.warpgroup
  %row = arith.addi %m, %group : i64
  %qt = tile.load %q[%row, %zero] axes [0, 1] : memref<?x256xf16> -> tensor<64x256xf16, #warp.fragment>
  %kt = tile.load %k[%head, %zero] axes [0, 1] : memref<?x256xf16> -> tensor<32x256xf16>
  %vt = tile.load %v[%head, %zero] axes [0, 1] : memref<?x256xf16> -> tensor<32x256xf16>
  %s = tile.dot %qt, %kt transpose_b : tensor<64x256xf16, #warp.fragment>, tensor<32x256xf16> -> tensor<64x32xf32, #warp.fragment>
  %w = arith.truncf %s : tensor<64x32xf32, #warp.fragment> to tensor<64x32xf16, #warp.fragment>
  %u = tile.dot %w, %vt : tensor<64x32xf16, #warp.fragment>, tensor<32x256xf16> -> tensor<64x256xf32, #warp.fragment>
  tile.store %u, %o[%m, %zero] axes [0, 1] : tensor<64x256xf32, #warp.fragment>, memref<?x256xf32>
  tile.return
}
