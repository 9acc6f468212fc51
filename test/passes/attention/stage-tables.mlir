// A table at an element's own place comes as tiles of the block.
// RUN: tegula-opt %s --split-input-file --tegula-stage-tables | FileCheck %s

// Two slots, as there is room; leading indices are computed ahead of the map, and clamped as a lookup clamps them.
// CHECK-LABEL: tile.kernel @score
// CHECK: tile.for_blocks %[[N:[^ ]+]] =
// CHECK: %[[S:.*]] = tile.dot
// CHECK-NEXT: %[[LEAD:.*]] = arith.addi %[[H:.*]], %[[H]]
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK-NEXT: %[[LOW:.*]] = arith.minsi %[[LEAD]], %[[LAST]]
// CHECK-NEXT: %[[CLAMPED:.*]] = arith.maxsi %[[LOW]], %c0
// CHECK-NEXT: %[[T:.*]] = tile.load %{{.*}}[%[[CLAMPED]], %[[M:.*]], %[[N]]] axes [1, 2] {stages = 2 : i64} : memref<?x?x?xbf16, strided<[?, ?, ?]>> -> tensor<128x64xbf16>
// CHECK-NEXT: tile.map %[[S]], %[[T]] rows(%[[M]]) cols(%[[N]])
// CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %[[A:.*]]: bf16, %{{.*}}: i64, %{{.*}}: i64):
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-NEXT: arith.addf %[[E]], %[[W]]
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

tile.kernel @score(%q: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "M", 64], tile.name = "q", tile.role = "in"}, %k: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "N", 64], tile.name = "k", tile.role = "in"},
                  %t: memref<?x?x?xbf16, strided<[?, ?, ?]>> {tile.dims = ["H", "M", "N"], tile.name = "t", tile.role = "in"}, %o: memref<?x?xf32>, %B: i64 {tile.dim = "B"}, %H: i64 {tile.dim = "H"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #schedule} {
  %zero = arith.constant 0 : i64
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x64xf32>
  %b, %h, %m = tile.program_id of(%B, %H, %M) : i64, i64, i64
  %Q = tile.load %q[%b, %h, %m, %zero] axes [2, 3] : memref<?x?x?x64xbf16> -> tensor<128x64xbf16>
  %r = tile.for_blocks %n = %zero to %N step 64 iter_args(%u = %u0) -> (tensor<128x64xf32>) {
    %K = tile.load %k[%b, %h, %n, %zero] axes [2, 3] : memref<?x?x?x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %x = tile.map %s rows(%m) cols(%n) {
    ^bb0(%score: f32, %i: i64, %j: i64):
      %lead = arith.addi %h, %h : i64
      %a = tile.lookup %t[%lead, %i, %j] : memref<?x?x?xbf16, strided<[?, ?, ?]>>
      %w = arith.extf %a : bf16 to f32
      %y = arith.addf %score, %w : f32
      tile.yield %y : f32
    } : (tensor<128x64xf32>) -> tensor<128x64xf32>
    %u1 = arith.addf %u, %x : tensor<128x64xf32>
    tile.yield %u1 : tensor<128x64xf32>
  }
  tile.store %r, %o[%m, %zero] axes [0, 1] : tensor<128x64xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A mask that is tested in each block becomes a map with its select. Two readers of a block share its tile.
// CHECK-LABEL: tile.kernel @mask
// CHECK: %[[T:.*]] = tile.load %{{.*}} axes [0, 1] {stages = 2 : i64} : memref<?x?xi8, strided<[?, ?]>> -> tensor<128x64xi8>
// CHECK-NEXT: tile.map %{{.*}}, %[[T]] rows
// CHECK: arith.select
// CHECK: tile.map %{{.*}}, %[[T]] rows
// CHECK-NOT: tile.lookup
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

tile.kernel @mask(%q: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "M", 64], tile.name = "q", tile.role = "in"}, %k: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "N", 64], tile.name = "k", tile.role = "in"},
                  %t: memref<?x?xi8, strided<[?, ?]>> {tile.dims = ["M", "N"], tile.name = "t", tile.role = "in"}, %o: memref<?x?xf32>, %B: i64 {tile.dim = "B"}, %H: i64 {tile.dim = "H"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #schedule} {
  %zero = arith.constant 0 : i64
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x64xf32>
  %b, %h, %m = tile.program_id of(%B, %H, %M) : i64, i64, i64
  %Q = tile.load %q[%b, %h, %m, %zero] axes [2, 3] : memref<?x?x?x64xbf16> -> tensor<128x64xbf16>
  %r = tile.for_blocks %n = %zero to %N step 64 iter_args(%u = %u0) -> (tensor<128x64xf32>) {
    %K = tile.load %k[%b, %h, %n, %zero] axes [2, 3] : memref<?x?x?x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %keep = tile.mask rows(%m) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %none = arith.constant 0 : i8
      %a = tile.lookup %t[%i, %j] : memref<?x?xi8, strided<[?, ?]>>
      %c = arith.cmpi ne, %a, %none : i8
      tile.yield %c : i1
    } : tensor<128x64xi1>
    %seen = arith.select %keep, %s, %hidden : tensor<128x64xi1>, tensor<128x64xf32>
    %x = tile.map %seen rows(%m) cols(%n) {
    ^bb0(%score: f32, %i: i64, %j: i64):
      %a = tile.lookup %t[%i, %j] : memref<?x?xi8, strided<[?, ?]>>
      %w = arith.sitofp %a : i8 to f32
      %y = arith.addf %score, %w : f32
      tile.yield %y : f32
    } : (tensor<128x64xf32>) -> tensor<128x64xf32>
    %u1 = arith.addf %u, %x : tensor<128x64xf32>
    tile.yield %u1 : tensor<128x64xf32>
  }
  tile.store %r, %o[%m, %zero] axes [0, 1] : tensor<128x64xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A head of the grid lies in the table as it is.
// CHECK-LABEL: tile.kernel @head
// CHECK: tile.dot
// CHECK-NEXT: tile.load %{{.*}} axes [1, 2] {stages = 2 : i64}
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

tile.kernel @head(%q: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "M", 64], tile.name = "q", tile.role = "in"}, %k: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "N", 64], tile.name = "k", tile.role = "in"},
                  %t: memref<?x?x?xbf16, strided<[?, ?, ?]>> {tile.dims = ["H", "M", "N"], tile.name = "t", tile.role = "in"}, %o: memref<?x?xf32>, %B: i64 {tile.dim = "B"}, %H: i64 {tile.dim = "H"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #schedule} {
  %zero = arith.constant 0 : i64
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x64xf32>
  %b, %h, %m = tile.program_id of(%B, %H, %M) : i64, i64, i64
  %Q = tile.load %q[%b, %h, %m, %zero] axes [2, 3] : memref<?x?x?x64xbf16> -> tensor<128x64xbf16>
  %r = tile.for_blocks %n = %zero to %N step 64 iter_args(%u = %u0) -> (tensor<128x64xf32>) {
    %K = tile.load %k[%b, %h, %n, %zero] axes [2, 3] : memref<?x?x?x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %x = tile.map %s rows(%m) cols(%n) {
    ^bb0(%score: f32, %i: i64, %j: i64):
      %a = tile.lookup %t[%h, %i, %j] : memref<?x?x?xbf16, strided<[?, ?, ?]>>
      %w = arith.extf %a : bf16 to f32
      %y = arith.addf %score, %w : f32
      tile.yield %y : f32
    } : (tensor<128x64xf32>) -> tensor<128x64xf32>
    %u1 = arith.addf %u, %x : tensor<128x64xf32>
    tile.yield %u1 : tensor<128x64xf32>
  }
  tile.store %r, %o[%m, %zero] axes [0, 1] : tensor<128x64xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A program written by hand may load the block's tile itself.
// CHECK-LABEL: tile.kernel @load
// CHECK: tile.load %{{.*}} axes [0, 1] {stages = 2 : i64} : memref<?x?xf32, strided<[?, ?]>> -> tensor<128x64xf32>
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

tile.kernel @load(%q: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "M", 64], tile.name = "q", tile.role = "in"}, %k: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "N", 64], tile.name = "k", tile.role = "in"},
                  %t: memref<?x?xf32, strided<[?, ?]>> {tile.dims = ["M", "N"], tile.name = "t", tile.role = "in"}, %o: memref<?x?xf32>, %B: i64 {tile.dim = "B"}, %H: i64 {tile.dim = "H"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #schedule} {
  %zero = arith.constant 0 : i64
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x64xf32>
  %b, %h, %m = tile.program_id of(%B, %H, %M) : i64, i64, i64
  %Q = tile.load %q[%b, %h, %m, %zero] axes [2, 3] : memref<?x?x?x64xbf16> -> tensor<128x64xbf16>
  %r = tile.for_blocks %n = %zero to %N step 64 iter_args(%u = %u0) -> (tensor<128x64xf32>) {
    %K = tile.load %k[%b, %h, %n, %zero] axes [2, 3] : memref<?x?x?x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %T = tile.load %t[%m, %n] axes [0, 1] : memref<?x?xf32, strided<[?, ?]>> -> tensor<128x64xf32>
    %x = arith.addf %s, %T : tensor<128x64xf32>
    %u1 = arith.addf %u, %x : tensor<128x64xf32>
    tile.yield %u1 : tensor<128x64xf32>
  }
  tile.store %r, %o[%m, %zero] axes [0, 1] : tensor<128x64xf32>, memref<?x?xf32>
  tile.return
}
