// RUN: tegula-opt %s --tegula-precompute-classes --split-input-file --verify-diagnostics | FileCheck %s
// RUN: tegula-opt %s --pass-pipeline='builtin.module(tegula-precompute-classes,tile.kernel(tegula-bound-masks),canonicalize,cse)' --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=BOUND

// The condition that reads a table at row and key goes into the program beside the kernel, with one that is the same for all heads; that of a head does not, as the table then has one part for each key head.
// CHECK-LABEL: tile.kernel @heads
// CHECK-SAME: %[[T:[^ ]*]]: memref<?x?x?xi8, strided<[?, ?, ?]>> {tile.dims = ["(ceildiv H (/ H G))", "(ceildiv M 128)", "(ceildiv N 32)"], tile.name = "prepass.table", tile.role = "scratch"})
// CHECK: %[[ID:.*]]:2 = tile.program_id
// CHECK: %[[G:.*]] = arith.divsi %[[ID]]#1
// CHECK: %[[ROW:.*]] = arith.muli %[[ID]]#0
// CHECK: tile.mask
// CHECK: tile.lookup
// CHECK: %[[SEEN:.*]] = arith.cmpi ne
// CHECK: %[[CAUSAL:.*]] = arith.cmpi sge
// CHECK: %[[BOTH:.*]] = arith.andi %[[SEEN]], %[[CAUSAL]]
// CHECK: %[[CLASS:.*]] = tile.classified %[[BOTH]] by %[[T]][%[[G]], %[[ROW]], %{{.*}}] blocks(128, 32)
// CHECK: arith.andi %[[CLASS]], %{{.*}}
// CHECK: tile.zero_unseen
// CHECK: tile.classified %{{.*}} by %[[T]][%[[G]], %[[ROW]], %{{.*}}] blocks(128, 32)
// CHECK-LABEL: tile.kernel @heads_classes
// CHECK-SAME: schedule = #tile.program<threads = 128, ctas = 4>, tile.prepass
// CHECK: tile.program_id of(%{{.*}}, %{{.*}}, %{{.*}}) : i64, i64, i64
// CHECK: tile.map rows
// CHECK: tile.lookup
// CHECK: arith.cmpi sge
// CHECK-NOT: tile.lookup
// CHECK: : () -> tensor<128x32xi32>
// CHECK: tile.reduce minimum
// CHECK: tile.reduce maximum
// CHECK: tile.scatter

// Classes are elements of the table, of which bit 0 says that some pair may be seen and bit 1 that all are; single pairs are tested by the condition itself.
// BOUND-LABEL: tile.kernel @heads
// BOUND-SAME: %[[T:[^ ]*]]: memref<?x?x?xi8, strided<[?, ?, ?]>> {tile.dims = ["(ceildiv
// BOUND: tile.for_blocks %{{.*}} flags(%[[PARTIAL:[^ ,]*]], %[[UNSEEN:[^ ,)]*]])
// BOUND: scf.if %[[PARTIAL]]
// BOUND-NOT: tile.classified
// BOUND: tile.zero_unseen {{.*}} if(%[[UNSEEN]])
// BOUND: } classes {
// BOUND: %[[BLOCK:.*]] = arith.divsi %{{.*}}, %c32
// BOUND: %[[BITS:.*]] = tile.lookup %[[T]][%{{.*}}, %{{.*}}, %[[BLOCK]]]
// BOUND: %[[SOME:.*]] = arith.andi %[[BITS]], %c1_i8
// BOUND: arith.cmpi eq, %[[SOME]], %c1_i8
// BOUND: arith.andi %[[BITS]], %c2_i8
!v = memref<?x64xf16, strided<[?, ?]>>
!see = memref<?x?x?xi8, strided<[?, ?, ?]>>
!len = memref<?xi64, strided<[?]>>
tile.kernel @heads(%v: !v, %S: memref<?x?xf32>, %see: !see {tile.name = "see", tile.role = "in", tile.dims = ["G", "M", "N"]}, %len: !len {tile.name = "len", tile.role = "in", tile.dims = ["H"]}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}, %H: i64 {tile.dim = "H"}, %G: i64 {tile.dim = "G"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %no = arith.constant 0 : i8
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t, %h = tile.program_id of (%tiles, %H) : i64, i64
  %group = arith.divsi %H, %G : i64
  %g = arith.divsi %h, %group : i64
  %row = arith.muli %t, %c128 : i64
  %end = arith.addi %row, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %bit = tile.lookup %see[%g, %i, %j] : !see
      %seen = arith.cmpi ne, %bit, %no : i8
      %causal = arith.cmpi sge, %i, %j : i64
      %both = arith.andi %causal, %seen : i1
      %stop = tile.lookup %len[%h] : !len
      %is_before = arith.cmpi slt, %j, %stop : i64
      %all = arith.andi %both, %is_before : i1
      tile.yield %all : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !v -> tensor<32x64xf16>
    %vz = tile.zero_unseen %vt rows(%row to %end) cols(%n to %N) seen {
    ^bb0(%i: i64, %j: i64):
      %bit = tile.lookup %see[%g, %i, %j] : !see
      %seen = arith.cmpi ne, %bit, %no : i8
      %causal = arith.cmpi sge, %i, %j : i64
      %both = arith.andi %causal, %seen : i1
      %stop = tile.lookup %len[%h] : !len
      %is_before = arith.cmpi slt, %j, %stop : i64
      %all = arith.andi %both, %is_before : i1
      tile.yield %all : i1
    } : tensor<32x64xf16>
    %u2 = tile.dot %w, %vz acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Where a table rises along the one axis that both choose, its ends say what a block holds.
// CHECK-LABEL: tile.kernel @sorted
// CHECK-NOT: scratch
// CHECK-NOT: tile.kernel
!ids = memref<?xi32, strided<[?]>>
tile.kernel @sorted(%S: memref<?x?xf32>, %ids: !ids {tile.name = "ids", tile.role = "in", tile.dims = ["N"], tile.sorted}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %limit = arith.constant 7 : i32
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  tile.for_blocks %n = %c0 to %N step 32 {
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %at = arith.addi %i, %j : i64
      %id = tile.lookup %ids[%at] : !ids
      %seen = arith.cmpi slt, %id, %limit : i32
      tile.yield %seen : i1
    } : tensor<128x32xi1>
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %hidden = arith.constant dense<0.0> : tensor<128x32xf32>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    tile.store %x, %S[%row, %n] axes [0, 1] : tensor<128x32xf32>, memref<?x?xf32>
    tile.yield
  }
  tile.return
}

// -----

// Rows that do not follow from the program's number, and a condition that reads what a tile holds: a remark says that blocks are tested.
// CHECK-LABEL: tile.kernel @shifted
// CHECK-NOT: scratch
!see = memref<?x?xi8, strided<[?, ?]>>
tile.kernel @shifted(%S: memref<?x?xf32>, %see: !see {tile.name = "see", tile.role = "in", tile.dims = ["M", "N"]}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %no = arith.constant 0 : i8
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %first = arith.muli %t, %c128 : i64
  %row = arith.addi %first, %c3 : i64
  tile.for_blocks %n = %c0 to %N step 32 {
    // expected-remark @+1 {{blocks of keys under this mask are visited and tested: which rows and keys of it a program has does not follow from the program's number}}
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %bit = tile.lookup %see[%i, %j] : !see
      %seen = arith.cmpi ne, %bit, %no : i8
      tile.yield %seen : i1
    } : tensor<128x32xi1>
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %hidden = arith.constant dense<0.0> : tensor<128x32xf32>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    tile.store %x, %S[%row, %n] axes [0, 1] : tensor<128x32xf32>, memref<?x?xf32>
    tile.yield
  }
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @of_tiles
// CHECK-NOT: scratch
!see = memref<?x?xi8, strided<[?, ?]>>
tile.kernel @of_tiles(%S: memref<?x?xf32>, %L: memref<?xi8>, %see: !see {tile.name = "see", tile.role = "in", tile.dims = ["M", "N"]}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %levels = tile.load %L[%row] axes [0] : memref<?xi8> -> tensor<128xi8>
  %least = tile.reduce minimum %levels : tensor<128xi8> -> i8
  tile.for_blocks %n = %c0 to %N step 32 {
    // expected-remark @+1 {{blocks of keys under this mask are visited and tested: it is no scalar code of arguments and of the program's place in the grid}}
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %level = tile.lookup %see[%i, %j] : !see
      %seen = arith.cmpi sge, %level, %least : i8
      tile.yield %seen : i1
    } : tensor<128x32xi1>
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %hidden = arith.constant dense<0.0> : tensor<128x32xf32>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    tile.store %x, %S[%row, %n] axes [0, 1] : tensor<128x32xf32>, memref<?x?xf32>
    tile.yield
  }
  tile.return
}
