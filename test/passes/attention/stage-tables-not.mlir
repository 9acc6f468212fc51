// A table that is read elsewhere than at an element's own place, or ends elsewhere than scores do, or has no room in shared memory, is looked up.
// RUN: tegula-opt %s --split-input-file --tegula-stage-tables | FileCheck %s
// RUN: tegula-opt %s --split-input-file --tegula-stage-tables --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Columns first.
// CHECK-LABEL: tile.kernel @transposed
// CHECK: tile.for_blocks
// CHECK-NOT: stages =
// CHECK: tile.lookup
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

tile.kernel @transposed(%q: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "M", 64], tile.name = "q", tile.role = "in"}, %k: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "N", 64], tile.name = "k", tile.role = "in"},
                  %t: memref<?x?xf32, strided<[?, ?]>> {tile.dims = ["N", "M"], tile.name = "t", tile.role = "in"}, %o: memref<?x?xf32>, %B: i64 {tile.dim = "B"}, %H: i64 {tile.dim = "H"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
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
      %a = tile.lookup %t[%j, %i] : memref<?x?xf32, strided<[?, ?]>>
      %y = arith.addf %score, %a : f32
      tile.yield %y : f32
    } : (tensor<128x64xf32>) -> tensor<128x64xf32>
    %u1 = arith.addf %u, %x : tensor<128x64xf32>
    tile.yield %u1 : tensor<128x64xf32>
  }
  tile.store %r, %o[%m, %zero] axes [0, 1] : tensor<128x64xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A distance is no column.
// CHECK-LABEL: tile.kernel @computed
// CHECK: tile.for_blocks
// CHECK-NOT: stages =
// CHECK: tile.lookup
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

tile.kernel @computed(%q: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "M", 64], tile.name = "q", tile.role = "in"}, %k: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "N", 64], tile.name = "k", tile.role = "in"},
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
    %x = tile.map %s rows(%m) cols(%n) {
    ^bb0(%score: f32, %i: i64, %j: i64):
      %d = arith.subi %j, %i : i64
      %a = tile.lookup %t[%i, %d] : memref<?x?xf32, strided<[?, ?]>>
      %y = arith.addf %score, %a : f32
      tile.yield %y : f32
    } : (tensor<128x64xf32>) -> tensor<128x64xf32>
    %u1 = arith.addf %u, %x : tensor<128x64xf32>
    tile.yield %u1 : tensor<128x64xf32>
  }
  tile.store %r, %o[%m, %zero] axes [0, 1] : tensor<128x64xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A leading index that differs in a tile.
// CHECK-LABEL: tile.kernel @by_row
// CHECK: tile.for_blocks
// CHECK-NOT: stages =
// CHECK: tile.lookup
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

tile.kernel @by_row(%q: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "M", 64], tile.name = "q", tile.role = "in"}, %k: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "N", 64], tile.name = "k", tile.role = "in"},
                  %t: memref<?x?x?xf32, strided<[?, ?, ?]>> {tile.dims = ["M", "M", "N"], tile.name = "t", tile.role = "in"}, %o: memref<?x?xf32>, %B: i64 {tile.dim = "B"}, %H: i64 {tile.dim = "H"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
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
      %a = tile.lookup %t[%i, %i, %j] : memref<?x?x?xf32, strided<[?, ?, ?]>>
      %y = arith.addf %score, %a : f32
      tile.yield %y : f32
    } : (tensor<128x64xf32>) -> tensor<128x64xf32>
    %u1 = arith.addf %u, %x : tensor<128x64xf32>
    tile.yield %u1 : tensor<128x64xf32>
  }
  tile.store %r, %o[%m, %zero] axes [0, 1] : tensor<128x64xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Only a producer brings tiles.
// CHECK-LABEL: tile.kernel @direct
// CHECK: tile.for_blocks
// CHECK-NOT: stages =
// CHECK: tile.lookup
#schedule = #tile.schedule<form = direct, block_m = 128, block_n = 16, consumers = 2, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>

tile.kernel @direct(%q: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "M", 64], tile.name = "q", tile.role = "in"}, %k: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "N", 64], tile.name = "k", tile.role = "in"},
                  %t: memref<?x?xf32, strided<[?, ?]>> {tile.dims = ["M", "N"], tile.name = "t", tile.role = "in"}, %o: memref<?x?xf32>, %B: i64 {tile.dim = "B"}, %H: i64 {tile.dim = "H"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #schedule} {
  %zero = arith.constant 0 : i64
  %u0 = arith.constant dense<0.0> : tensor<128x16xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x16xf32>
  %b, %h, %m = tile.program_id of(%B, %H, %M) : i64, i64, i64
  %Q = tile.load %q[%b, %h, %m, %zero] axes [2, 3] : memref<?x?x?x64xbf16> -> tensor<128x64xbf16>
  %r = tile.for_blocks %n = %zero to %N step 16 iter_args(%u = %u0) -> (tensor<128x16xf32>) {
    %K = tile.load %k[%b, %h, %n, %zero] axes [2, 3] : memref<?x?x?x64xbf16> -> tensor<16x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<128x64xbf16>, tensor<16x64xbf16> -> tensor<128x16xf32>
    %x = tile.map %s rows(%m) cols(%n) {
    ^bb0(%score: f32, %i: i64, %j: i64):
      %a = tile.lookup %t[%i, %j] : memref<?x?xf32, strided<[?, ?]>>
      %y = arith.addf %score, %a : f32
      tile.yield %y : f32
    } : (tensor<128x16xf32>) -> tensor<128x16xf32>
    %u1 = arith.addf %u, %x : tensor<128x16xf32>
    tile.yield %u1 : tensor<128x16xf32>
  }
  tile.store %r, %o[%m, %zero] axes [0, 1] : tensor<128x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// What lies past its end would be 0, but the clamped lookup gives its last column.
// REMARK: remark: {{.*}}table `t` is read from global memory by each thread: its rows and columns are not those of the queries and keys
// CHECK-LABEL: tile.kernel @elsewhere
// CHECK: tile.for_blocks
// CHECK-NOT: stages =
// CHECK: tile.lookup
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

tile.kernel @elsewhere(%q: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "M", 64], tile.name = "q", tile.role = "in"}, %k: memref<?x?x?x64xbf16> {tile.dims = ["B", "H", "N", 64], tile.name = "k", tile.role = "in"},
                  %t: memref<?x?xf32, strided<[?, ?]>> {tile.dims = ["M", "R"], tile.name = "t", tile.role = "in"}, %o: memref<?x?xf32>, %B: i64 {tile.dim = "B"}, %H: i64 {tile.dim = "H"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
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
      %a = tile.lookup %t[%i, %j] : memref<?x?xf32, strided<[?, ?]>>
      %y = arith.addf %score, %a : f32
      tile.yield %y : f32
    } : (tensor<128x64xf32>) -> tensor<128x64xf32>
    %u1 = arith.addf %u, %x : tensor<128x64xf32>
    tile.yield %u1 : tensor<128x64xf32>
  }
  tile.store %r, %o[%m, %zero] axes [0, 1] : tensor<128x64xf32>, memref<?x?xf32>
  tile.return
}

// -----

// No room: operands take 3 * 64 KB.
// REMARK: remark: {{.*}}table `t` is read from global memory by each thread: a tile of it takes 65536 bytes, but 33792 of shared memory are left
// CHECK-LABEL: tile.kernel @crowded
// CHECK: tile.for_blocks
// CHECK-NOT: stages =
// CHECK: tile.lookup
#schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 128, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>

tile.kernel @crowded(%q: memref<?x?x?x256xbf16> {tile.dims = ["B", "H", "M", 256], tile.name = "q", tile.role = "in"}, %k: memref<?x?x?x256xbf16> {tile.dims = ["B", "H", "N", 256], tile.name = "k", tile.role = "in"},
                  %t: memref<?x?xf32, strided<[?, ?]>> {tile.dims = ["M", "N"], tile.name = "t", tile.role = "in"}, %o: memref<?x?xf32>, %B: i64 {tile.dim = "B"}, %H: i64 {tile.dim = "H"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #schedule} {
  %zero = arith.constant 0 : i64
  %u0 = arith.constant dense<0.0> : tensor<128x128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x128xf32>
  %b, %h, %m = tile.program_id of(%B, %H, %M) : i64, i64, i64
  %Q = tile.load %q[%b, %h, %m, %zero] axes [2, 3] : memref<?x?x?x256xbf16> -> tensor<128x256xbf16>
  %r = tile.for_blocks %n = %zero to %N step 128 iter_args(%u = %u0) -> (tensor<128x128xf32>) {
    %K = tile.load %k[%b, %h, %n, %zero] axes [2, 3] : memref<?x?x?x256xbf16> -> tensor<128x256xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<128x256xbf16>, tensor<128x256xbf16> -> tensor<128x128xf32>
    %x = tile.map %s rows(%m) cols(%n) {
    ^bb0(%score: f32, %i: i64, %j: i64):
      %a = tile.lookup %t[%i, %j] : memref<?x?xf32, strided<[?, ?]>>
      %y = arith.addf %score, %a : f32
      tile.yield %y : f32
    } : (tensor<128x128xf32>) -> tensor<128x128xf32>
    %u1 = arith.addf %u, %x : tensor<128x128xf32>
    tile.yield %u1 : tensor<128x128xf32>
  }
  tile.store %r, %o[%m, %zero] axes [0, 1] : tensor<128x128xf32>, memref<?x?xf32>
  tile.return
}
