// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-choose-schedule))' --split-input-file -verify-diagnostics | FileCheck %s

// A program with the form of an attention loop fixes the tile; the rest is chosen as for a tile.attention, and the softmax takes the schedule's threshold.
// CHECK-LABEL: tile.kernel @loop
// CHECK-SAME: schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 64, consumers = 2, stages = 4, {{.*}} ping_pong = true
// CHECK: tile.online_softmax {{.*}} threshold 8
!t = memref<?x64xbf16, strided<[?, ?]>>
tile.kernel @loop(%q: !t, %k: !t, %v: !t, %o: !t, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %rows = arith.constant 128 : i64
  %zero = arith.constant 0 : i64
  %hidden = arith.constant dense<0xFF800000> : tensor<128x64xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %tiles = arith.ceildivsi %M, %rows : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %rows : i64
  %Q = tile.load %q[%row, %zero] axes [0, 1] : !t -> tensor<128x64xbf16>
  %r:3 = tile.for_blocks %n = %zero to %N step 64 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %K = tile.load %k[%n, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %keep = tile.mask rows(%row) cols(%n) { ^bb0(%i: i64, %j: i64): %c = arith.cmpi slt, %j, %N : i64  tile.yield %c : i1 } : tensor<128x64xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x64xi1>, tensor<128x64xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.250000e-01 : tensor<128x64xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xbf16>
    %V = tile.load %v[%n, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
    %u2 = tile.dot %w, %V acc(%u1 : tensor<128x64xf32>) : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  %O, %L = tile.finish %r#0, %r#1, %r#2 scale 1.250000e-01 : tensor<128xf32>, tensor<128x64xf32>
  %on = arith.truncf %O : tensor<128x64xf32> to tensor<128x64xbf16>
  tile.store %on, %o[%row, %zero] axes [0, 1] : tensor<128x64xbf16>, !t
  tile.return
}

// -----

// A maximum that is stored is not a lazy one.
// CHECK-LABEL: tile.kernel @maximum
// CHECK: tile.online_softmax {{.*}} scale
// CHECK-NOT: threshold
!t = memref<?x64xbf16, strided<[?, ?]>>
tile.kernel @maximum(%q: !t, %k: !t, %v: !t, %o: !t, %top: memref<?xf32, strided<[?]>>, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %rows = arith.constant 128 : i64
  %zero = arith.constant 0 : i64
  %hidden = arith.constant dense<0xFF800000> : tensor<128x64xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %tiles = arith.ceildivsi %M, %rows : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %rows : i64
  %Q = tile.load %q[%row, %zero] axes [0, 1] : !t -> tensor<128x64xbf16>
  %r:3 = tile.for_blocks %n = %zero to %N step 64 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %K = tile.load %k[%n, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %keep = tile.mask rows(%row) cols(%n) { ^bb0(%i: i64, %j: i64): %c = arith.cmpi slt, %j, %N : i64  tile.yield %c : i1 } : tensor<128x64xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x64xi1>, tensor<128x64xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.250000e-01 : tensor<128x64xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xbf16>
    %V = tile.load %v[%n, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
    %u2 = tile.dot %w, %V acc(%u1 : tensor<128x64xf32>) : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  %O, %L = tile.finish %r#0, %r#1, %r#2 scale 1.250000e-01 : tensor<128xf32>, tensor<128x64xf32>
  %on = arith.truncf %O : tensor<128x64xf32> to tensor<128x64xbf16>
  tile.store %on, %o[%row, %zero] axes [0, 1] : tensor<128x64xbf16>, !t
  tile.store %r#0, %top[%row] axes [0] : tensor<128xf32>, memref<?xf32, strided<[?]>>
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @narrow
// CHECK-NOT: schedule
!t = memref<?x64xbf16, strided<[?, ?]>>
tile.kernel @narrow(%q: !t, %k: !t, %v: !t, %o: !t, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %rows = arith.constant 16 : i64
  %zero = arith.constant 0 : i64
  %hidden = arith.constant dense<0xFF800000> : tensor<16x64xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<16xf32>
  %l0 = arith.constant dense<0.0> : tensor<16xf32>
  %u0 = arith.constant dense<0.0> : tensor<16x64xf32>
  %tiles = arith.ceildivsi %M, %rows : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %rows : i64
  %Q = tile.load %q[%row, %zero] axes [0, 1] : !t -> tensor<16x64xbf16>
  %r:3 = tile.for_blocks %n = %zero to %N step 64 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>) {
    %K = tile.load %k[%n, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
    // expected-remark@+1 {{`narrow` is not scheduled as an attention loop: a tile has 16 rows of queries, where warpgroups own 64 each, up to 256}}
    %s = tile.dot %Q, %K transpose_b : tensor<16x64xbf16>, tensor<64x64xbf16> -> tensor<16x64xf32>
    %keep = tile.mask rows(%row) cols(%n) { ^bb0(%i: i64, %j: i64): %c = arith.cmpi slt, %j, %N : i64  tile.yield %c : i1 } : tensor<16x64xi1>
    %x = arith.select %keep, %s, %hidden : tensor<16x64xi1>, tensor<16x64xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.250000e-01 : tensor<16x64xf32>, tensor<16xf32>
    %u1 = tile.scale_rows %u, %a : tensor<16x64xf32>, tensor<16xf32>
    %w = arith.truncf %p : tensor<16x64xf32> to tensor<16x64xbf16>
    %V = tile.load %v[%n, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
    %u2 = tile.dot %w, %V acc(%u1 : tensor<16x64xf32>) : tensor<16x64xbf16>, tensor<64x64xbf16> -> tensor<16x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<16xf32>, tensor<16xf32>, tensor<16x64xf32>
  }
  %O, %L = tile.finish %r#0, %r#1, %r#2 scale 1.250000e-01 : tensor<16xf32>, tensor<16x64xf32>
  %on = arith.truncf %O : tensor<16x64xf32> to tensor<16x64xbf16>
  tile.store %on, %o[%row, %zero] axes [0, 1] : tensor<16x64xbf16>, !t
  tile.return
}

// -----

// A tile that does not fit the pipelined form takes the direct one.
// CHECK-LABEL: tile.kernel @wide
// CHECK-SAME: form = direct, block_m = 256, block_n = 256, consumers = 4
// expected-remark@+2 {{`wide` takes the direct schedule: the schedule needs about}}
!t = memref<?x64xbf16, strided<[?, ?]>>
tile.kernel @wide(%q: !t, %k: !t, %v: !t, %o: !t, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %rows = arith.constant 256 : i64
  %zero = arith.constant 0 : i64
  %hidden = arith.constant dense<0xFF800000> : tensor<256x256xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<256xf32>
  %l0 = arith.constant dense<0.0> : tensor<256xf32>
  %u0 = arith.constant dense<0.0> : tensor<256x64xf32>
  %tiles = arith.ceildivsi %M, %rows : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %rows : i64
  %Q = tile.load %q[%row, %zero] axes [0, 1] : !t -> tensor<256x64xbf16>
  %r:3 = tile.for_blocks %n = %zero to %N step 256 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<256xf32>, tensor<256xf32>, tensor<256x64xf32>) {
    %K = tile.load %k[%n, %zero] axes [0, 1] : !t -> tensor<256x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<256x64xbf16>, tensor<256x64xbf16> -> tensor<256x256xf32>
    %keep = tile.mask rows(%row) cols(%n) { ^bb0(%i: i64, %j: i64): %c = arith.cmpi slt, %j, %N : i64  tile.yield %c : i1 } : tensor<256x256xi1>
    %x = arith.select %keep, %s, %hidden : tensor<256x256xi1>, tensor<256x256xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.250000e-01 : tensor<256x256xf32>, tensor<256xf32>
    %u1 = tile.scale_rows %u, %a : tensor<256x64xf32>, tensor<256xf32>
    %w = arith.truncf %p : tensor<256x256xf32> to tensor<256x256xbf16>
    %V = tile.load %v[%n, %zero] axes [0, 1] : !t -> tensor<256x64xbf16>
    %u2 = tile.dot %w, %V acc(%u1 : tensor<256x64xf32>) : tensor<256x256xbf16>, tensor<256x64xbf16> -> tensor<256x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<256xf32>, tensor<256xf32>, tensor<256x64xf32>
  }
  %O, %L = tile.finish %r#0, %r#1, %r#2 scale 1.250000e-01 : tensor<256xf32>, tensor<256x64xf32>
  %on = arith.truncf %O : tensor<256x64xf32> to tensor<256x64xbf16>
  tile.store %on, %o[%row, %zero] axes [0, 1] : tensor<256x64xbf16>, !t
  tile.return
}

// -----

// The fields of the item's own `schedule` clause act.
// CHECK-LABEL: tile.kernel @own
// CHECK-SAME: stages = 3,
// CHECK-SAME: softmax = online
// CHECK-NOT: threshold {{[1-9]}}
!t = memref<?x64xbf16, strided<[?, ?]>>
tile.kernel @own(%q: !t, %k: !t, %v: !t, %o: !t, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) attributes {tile.schedule = ["stages=3", "softmax=online"]} {
  %rows = arith.constant 128 : i64
  %zero = arith.constant 0 : i64
  %hidden = arith.constant dense<0xFF800000> : tensor<128x64xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %tiles = arith.ceildivsi %M, %rows : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %rows : i64
  %Q = tile.load %q[%row, %zero] axes [0, 1] : !t -> tensor<128x64xbf16>
  %r:3 = tile.for_blocks %n = %zero to %N step 64 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %K = tile.load %k[%n, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    %keep = tile.mask rows(%row) cols(%n) { ^bb0(%i: i64, %j: i64): %c = arith.cmpi slt, %j, %N : i64  tile.yield %c : i1 } : tensor<128x64xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x64xi1>, tensor<128x64xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.250000e-01 : tensor<128x64xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x64xf32> to tensor<128x64xbf16>
    %V = tile.load %v[%n, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
    %u2 = tile.dot %w, %V acc(%u1 : tensor<128x64xf32>) : tensor<128x64xbf16>, tensor<64x64xbf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  %O, %L = tile.finish %r#0, %r#1, %r#2 scale 1.250000e-01 : tensor<128xf32>, tensor<128x64xf32>
  %on = arith.truncf %O : tensor<128x64xf32> to tensor<128x64xbf16>
  tile.store %on, %o[%row, %zero] axes [0, 1] : tensor<128x64xbf16>, !t
  tile.return
}
