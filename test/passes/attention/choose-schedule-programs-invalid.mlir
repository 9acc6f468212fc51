// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-choose-schedule{set=block_n=32}))' -verify-diagnostics

// expected-error@+2 {{field `block_n` of the schedule is fixed by the program's tile of 128 rows and 64 keys}}
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
