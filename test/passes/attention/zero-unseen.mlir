// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-zero-unseen))' --split-input-file | FileCheck %s

// Which queries and keys there are follows from the loads; that keys exist is not asked again.
// CHECK-LABEL: tile.kernel @causal
// CHECK-SAME: %[[M:[^ ]*]]: i64 {tile.dim = "M"}, %[[N:[^ ]*]]: i64
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: tile.for_blocks %[[KEY:[^ ]*]] =
// CHECK: %[[V:.*]] = tile.load
// CHECK: %[[V:.*]] = tile.load
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %{{.*}}
// CHECK-NEXT: %[[LAST:.*]] = arith.minsi %[[NEXT]], %[[M]]
// CHECK-NEXT: %[[SEEN:.*]] = tile.zero_unseen %[[V]] rows(%[[ROW]] to %[[LAST]]) cols(%[[KEY]] to %[[N]]) seen {
// CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %[[J:.*]]: i64):
// CHECK-NEXT: %[[C:.*]] = arith.cmpi sge, %[[I]], %[[J]]
// CHECK: tile.yield %[[C]]
// CHECK: tile.dot %{{.*}}, %[[SEEN]] acc
!t = memref<?x64xbf16, strided<[?, ?]>>
tile.kernel @causal(%q: !t {tile.dims = ["M", 64]}, %k: !t {tile.dims = ["N", 64]}, %v: !t {tile.dims = ["N", 64]}, %o: !t {tile.dims = ["M", 64]},
    %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %rows = arith.constant 64 : i64
  %zero = arith.constant 0 : i64
  %hidden = arith.constant dense<0xFF800000> : tensor<64x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = tile.program_id of (%M) : i64
  %row = arith.muli %t, %rows : i64
  %Q = tile.load %q[%row, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
  %r:3 = tile.for_blocks %n = %zero to %N step 16 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) {
    %K = tile.load %k[%n, %zero] axes [0, 1] : !t -> tensor<16x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<64x64xbf16>, tensor<16x64xbf16> -> tensor<64x16xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %c = arith.cmpi sge, %i, %j : i64
      %in = arith.cmpi slt, %j, %N : i64
      %both = arith.andi %c, %in : i1
      tile.yield %both : i1
    } : tensor<64x16xi1>
    %x = arith.select %keep, %s, %hidden : tensor<64x16xi1>, tensor<64x16xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<64x16xf32>, tensor<64xf32>
    %u1 = tile.scale_rows %u, %a : tensor<64x64xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x16xf32> to tensor<64x16xbf16>
    %V = tile.load %v[%n, %zero] axes [0, 1] : !t -> tensor<16x64xbf16>
    %u2 = tile.dot %w, %V acc(%u1 : tensor<64x64xf32>) : tensor<64x16xbf16>, tensor<16x64xbf16> -> tensor<64x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }
  %O, %L = tile.finish %r#0, %r#1, %r#2 scale 1.0 : tensor<64xf32>, tensor<64x64xf32>
  %on = arith.truncf %O : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %on, %o[%row, %zero] axes [0, 1] : tensor<64x64xbf16>, !t
  tile.return
}

// -----

// What lies past the last key reads as 0 already.
// CHECK-LABEL: tile.kernel @bound
// CHECK-NOT: tile.zero_unseen
!t = memref<?x64xbf16, strided<[?, ?]>>
tile.kernel @bound(%q: !t {tile.dims = ["M", 64]}, %k: !t {tile.dims = ["N", 64]}, %v: !t {tile.dims = ["N", 64]}, %o: !t {tile.dims = ["M", 64]},
    %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %rows = arith.constant 64 : i64
  %zero = arith.constant 0 : i64
  %hidden = arith.constant dense<0xFF800000> : tensor<64x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = tile.program_id of (%M) : i64
  %row = arith.muli %t, %rows : i64
  %Q = tile.load %q[%row, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
  %r:3 = tile.for_blocks %n = %zero to %N step 16 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) {
    %K = tile.load %k[%n, %zero] axes [0, 1] : !t -> tensor<16x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<64x64xbf16>, tensor<16x64xbf16> -> tensor<64x16xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %in = arith.cmpi slt, %j, %N : i64
      tile.yield %in : i1
    } : tensor<64x16xi1>
    %x = arith.select %keep, %s, %hidden : tensor<64x16xi1>, tensor<64x16xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<64x16xf32>, tensor<64xf32>
    %u1 = tile.scale_rows %u, %a : tensor<64x64xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x16xf32> to tensor<64x16xbf16>
    %V = tile.load %v[%n, %zero] axes [0, 1] : !t -> tensor<16x64xbf16>
    %u2 = tile.dot %w, %V acc(%u1 : tensor<64x64xf32>) : tensor<64x16xbf16>, tensor<16x64xbf16> -> tensor<64x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }
  %O, %L = tile.finish %r#0, %r#1, %r#2 scale 1.0 : tensor<64xf32>, tensor<64x64xf32>
  %on = arith.truncf %O : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %on, %o[%row, %zero] axes [0, 1] : tensor<64x64xbf16>, !t
  tile.return
}

// -----

// Values of other keys than those of the mask.
// CHECK-LABEL: tile.kernel @elsewhere
// CHECK-NOT: tile.zero_unseen
!t = memref<?x64xbf16, strided<[?, ?]>>
tile.kernel @elsewhere(%q: !t {tile.dims = ["M", 64]}, %k: !t {tile.dims = ["N", 64]}, %v: !t {tile.dims = ["N", 64]}, %o: !t {tile.dims = ["M", 64]},
    %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %rows = arith.constant 64 : i64
  %zero = arith.constant 0 : i64
  %hidden = arith.constant dense<0xFF800000> : tensor<64x16xf32>
  %m0 = arith.constant dense<0xFF800000> : tensor<64xf32>
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x64xf32>
  %t = tile.program_id of (%M) : i64
  %row = arith.muli %t, %rows : i64
  %Q = tile.load %q[%row, %zero] axes [0, 1] : !t -> tensor<64x64xbf16>
  %r:3 = tile.for_blocks %n = %zero to %N step 16 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>) {
    %K = tile.load %k[%n, %zero] axes [0, 1] : !t -> tensor<16x64xbf16>
    %s = tile.dot %Q, %K transpose_b : tensor<64x64xbf16>, tensor<16x64xbf16> -> tensor<64x16xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %c = arith.cmpi sge, %i, %j : i64
      tile.yield %c : i1
    } : tensor<64x16xi1>
    %x = arith.select %keep, %s, %hidden : tensor<64x16xi1>, tensor<64x16xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<64x16xf32>, tensor<64xf32>
    %u1 = tile.scale_rows %u, %a : tensor<64x64xf32>, tensor<64xf32>
    %w = arith.truncf %p : tensor<64x16xf32> to tensor<64x16xbf16>
    %V = tile.load %v[%row, %zero] axes [0, 1] : !t -> tensor<16x64xbf16>
    %u2 = tile.dot %w, %V acc(%u1 : tensor<64x64xf32>) : tensor<64x16xbf16>, tensor<16x64xbf16> -> tensor<64x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<64xf32>, tensor<64xf32>, tensor<64x64xf32>
  }
  %O, %L = tile.finish %r#0, %r#1, %r#2 scale 1.0 : tensor<64xf32>, tensor<64x64xf32>
  %on = arith.truncf %O : tensor<64x64xf32> to tensor<64x64xbf16>
  tile.store %on, %o[%row, %zero] axes [0, 1] : tensor<64x64xbf16>, !t
  tile.return
}
