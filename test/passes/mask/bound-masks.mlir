// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-bound-masks),canonicalize,cse)' --split-input-file | FileCheck %s

// Bottom-right causal: the loop ends after the last key of the last row, in whole blocks; a block is tested only where the first row does not see its last key.
!q = memref<?x64xf16, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @causal
// CHECK-SAME: %[[M:[^ ]*]]: i64 {tile.dim = "M"}, %[[N:[^ ]*]]: i64 {tile.dim = "N"}
tile.kernel @causal(%k: !q, %v: !q, %S: memref<?x?xf32>, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  // CHECK: %[[ROW:.*]] = arith.muli
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  // CHECK-DAG: %[[LASTROW:.*]] = arith.addi %[[ROW]], %c127
  // CHECK-DAG: %[[SHIFT:.*]] = arith.subi %[[N]], %[[M]] : i64
  // CHECK: %[[LASTKEY:.*]] = arith.addi %[[LASTROW]], %[[SHIFT]]
  // CHECK: %[[END:.*]] = arith.addi %[[LASTKEY]], %c1
  // CHECK: %[[VISIBLE:.*]] = arith.minsi %{{.*}}, %{{.*}} : i64
  // CHECK: %[[UPPER:.*]] = arith.minsi %[[N]], %[[VISIBLE]] : i64
  // CHECK: tile.for_blocks %[[J:[^ ]*]] = %{{.*}} to %[[UPPER]] step 32
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %exists = arith.cmpi slt, %j, %N : i64
      %shift = arith.subi %N, %M : i64
      %last = arith.addi %i, %shift : i64
      %sees = arith.cmpi sge, %last, %j : i64
      %both = arith.andi %sees, %exists : i1
      tile.yield %both : i1
    } : tensor<128x32xi1>
    // CHECK: %[[FULL:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
    // CHECK: %[[X:.*]] = scf.if %[[FULL]]
    // CHECK-NEXT: scf.yield %[[S:.*]] :
    // CHECK: else
    // In a block that is tested, the two limits of a row are one.
    // CHECK: %[[KEEP:.*]] = tile.mask rows(%[[ROW]]) cols(%[[J]]) {
    // CHECK: %[[SEEN:.*]] = arith.addi %{{.*}}, %[[SHIFT]]
    // CHECK: %[[EXIST:.*]] = arith.addi %[[N]], %c-1
    // CHECK: %[[LIMIT:.*]] = arith.minsi %{{.*}}, %{{.*}}
    // CHECK-NEXT: %[[ONE:.*]] = arith.cmpi sle, %{{.*}}, %[[LIMIT]]
    // CHECK-NEXT: tile.yield %[[ONE]]
    // CHECK: arith.select %[[KEEP]], %[[S]]
    // CHECK: tile.online_softmax %[[X]]
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !q -> tensor<32x64xf16>
    %u2 = tile.dot %w, %vt acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Warpgroups that share a tile end where their own rows do, and test where their own first row does; which rows these are is said when roles are made.
!q = memref<?x64xf16, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @warpgroups
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: %[[FIRST:.*]], %[[LAST:.*]] = tile.row_span %[[ROW]] for 128
// CHECK: %[[LASTKEY:.*]] = arith.addi %[[LAST]], %[[SHIFT:.*]] : i64
// CHECK: %[[VISIBLE:.*]] = arith.addi %[[LASTKEY]], %c1
// CHECK: tile.for_blocks %[[J:[^ ]*]] =
// CHECK: %[[SEES:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// CHECK: scf.if
tile.kernel @warpgroups(%k: !q, %v: !q, %S: memref<?x?xf32>, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"})
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %exists = arith.cmpi slt, %j, %N : i64
      %shift = arith.subi %N, %M : i64
      %last = arith.addi %i, %shift : i64
      %sees = arith.cmpi sge, %last, %j : i64
      %both = arith.andi %sees, %exists : i1
      tile.yield %both : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !q -> tensor<32x64xf16>
    %u2 = tile.dot %w, %vt acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Of the last block that a warpgroup looks at, the output product may leave out the keys from its middle on, where none of its rows sees one.
#half = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online, half_blocks = true>
!v = memref<?x64xf16, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @half
tile.kernel @half(%v: !v, %S: memref<?x?xf32>, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #half} {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  // CHECK: %{{.*}}, %[[LAST:.*]] = tile.row_span %{{.*}} for 128
  // CHECK: %[[UPPER:.*]] = arith.addi %[[LAST]], %{{.*}}
  // CHECK: tile.for_blocks %[[N:[^ ]+]] =
  // CHECK: %[[MIDDLE:.*]] = arith.addi %[[N]], %c16
  // CHECK: %[[HALF:.*]] = arith.cmpi sle, %[[UPPER]], %[[MIDDLE]]
  // CHECK: tile.dot {{.*}} half(%[[HALF]])
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %before = arith.cmpi sge, %i, %j : i64
      tile.yield %before : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !v -> tensor<32x64xf16>
    %u2 = tile.dot %w, %vt acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Under a fixed reference, no row of a tile sees its first key behind a block that ends past all lower limits; where a mask is more than limits, behind one that ends with a key which all see.
!v = memref<?x64xf16, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @late
tile.kernel @late(%v: !v, %S: memref<?x?xf32>, %W: i32 {tile.name = "W"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  // CHECK: tile.for_blocks %[[N:.*]] = %[[LOWER:.*]] to
  // CHECK: %[[BEFORE:.*]] = arith.subi %[[N]], %{{.*}}
  // CHECK: %[[DISTANCE:.*]] = arith.subi %{{.*}}, %[[BEFORE]]
  // CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi sle, %[[N]], %[[LOWER]]
  // CHECK-NEXT: %[[UNSEEN:.*]] = arith.cmpi sge, %[[DISTANCE]], %{{.*}}
  // CHECK-NEXT: %[[LATE:.*]] = arith.ori %[[FIRST]], %[[UNSEEN]]
  // CHECK: tile.online_softmax {{.*}} fixed late %[[LATE]]
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %w = arith.extsi %W : i32 to i64
      %near = arith.subi %i, %j : i64
      %inside = arith.cmpi slt, %near, %w : i64
      %before = arith.cmpi sge, %i, %j : i64
      %both = arith.andi %inside, %before : i1
      tile.yield %both : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 folded fixed : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !v -> tensor<32x64xf16>
    %u2 = tile.dot %w, %vt acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A window moves the lower end too; `!` and multiples of the key are no obstacle; a disjunction takes the wider end.
!v = memref<?x64xf16, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @window
tile.kernel @window(%v: !v, %S: memref<?x?xf32>, %W: i32 {tile.name = "W"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  // CHECK: arith.floordivsi
  // CHECK: %[[SKIPPED:.*]] = arith.maxsi
  // CHECK: %[[BLOCKS:.*]] = arith.divsi %[[SKIPPED]], %c32
  // CHECK: %[[LOWER:.*]] = arith.muli %[[BLOCKS]], %c32
  // CHECK: tile.for_blocks %{{.*}} = %[[LOWER]] to
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %true = arith.constant true
      %two = arith.constant 2 : i64
      %w = arith.extsi %W : i32 to i64
      %low = arith.subi %i, %w : i64
      %j2 = arith.muli %j, %two : i64
      %low2 = arith.muli %low, %two : i64
      %outside = arith.cmpi slt, %j2, %low2 : i64
      %inside = arith.xori %outside, %true : i1
      tile.yield %inside : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !v -> tensor<32x64xf16>
    %u2 = tile.dot %w, %vt acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A table read at the key is not known: every block is visited and tested. So is arithmetic that could leave i64.
// CHECK-LABEL: tile.kernel @opaque
tile.kernel @opaque(%S: memref<?x?xf32>, %T: memref<?xi64>, %big: i64 {tile.name = "big"}, %N: i64 {tile.dim = "N"}) {
  %c0 = arith.constant 0 : i64
  %m0 = arith.constant dense<0.0> : tensor<8x32xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<8x32xf32>
  // CHECK: tile.for_blocks %{{.*}} = %c0_i64 to %{{.*}} step 32
  %r = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0) -> (tensor<8x32xf32>) {
    // CHECK-NOT: scf.if
    %keep = tile.mask rows(%c0) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %x = tile.lookup %T[%j] : memref<?xi64>
      %y = arith.addi %i, %big : i64
      %a = arith.cmpi eq, %x, %i : i64
      %b = arith.cmpi sge, %y, %j : i64
      %both = arith.ori %a, %b : i1
      tile.yield %both : i1
    } : tensor<8x32xi1>
    %x = arith.select %keep, %m, %hidden : tensor<8x32xi1>, tensor<8x32xf32>
    tile.yield %x : tensor<8x32xf32>
  }
  tile.store %r, %S[%c0, %c0] axes [0, 1] : tensor<8x32xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Rows are looked at for a block that some row does not see wholly, and for a key that is not proved to be hidden from all.
// CHECK-LABEL: tile.kernel @values
tile.kernel @values(%v: memref<?x64xf16, strided<[?, ?]>>, %o: memref<?x64xf16, strided<[?, ?]>>, %table: memref<?xi1>, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  // CHECK: %[[ROW:.*]] = arith.muli
  %row = arith.muli %t, %c128 : i64
  %past = arith.addi %row, %c128 : i64
  // CHECK: %[[END:.*]] = arith.minsi
  %end = arith.minsi %past, %M : i64
  tile.for_blocks %n = %c0 to %N step 32 {
    %x = tile.load %v[%n, %c0] axes [0, 1] : memref<?x64xf16, strided<[?, ?]>> -> tensor<32x64xf16>
    // CHECK: %[[LASTROW:.*]] = arith.subi %[[END]], %c1
    // CHECK: arith.subi %[[N:.*]], %c1
    // The last key of the block that exists; no row is looked at where the last one, or the first one, sees all keys up to it.
    // CHECK: %[[LASTKEY:.*]] = arith.minsi
    // CHECK: %[[BYLAST:.*]] = arith.cmpi sge, %[[LASTROW]], %[[LASTKEY]]
    // CHECK: %[[BYFIRST:.*]] = arith.cmpi sge, %[[ROW]], %[[LASTKEY]]
    // CHECK: %[[COVERED:.*]] = arith.ori %[[BYLAST]], %[[BYFIRST]]
    // CHECK: %[[PARTIAL:.*]] = arith.xori %[[COVERED]], %true
    // CHECK: tile.zero_unseen %{{.*}} rows(%[[ROW]] to %[[END]]) cols(%{{.*}} to %[[N]]) if(%[[PARTIAL]]) seen {
    // CHECK: } possible {
    // CHECK-NEXT: ^bb0(%[[KEY:.*]]: i64):
    // CHECK-NEXT: %[[SOME:.*]] = arith.cmpi sge, %[[LASTROW]], %[[KEY]]
    // CHECK-NEXT: tile.yield %[[SOME]]
    %y = tile.zero_unseen %x rows(%row to %end) cols(%n to %N) seen { ^bb0(%i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64 tile.yield %c : i1 } : tensor<32x64xf16>
    tile.store %y, %o[%n, %c0] axes [0, 1] : tensor<32x64xf16>, memref<?x64xf16, strided<[?, ?]>>
    tile.yield
  }
  tile.return
}

// -----

// Sums of weights are bounded like a softmax. A loop that writes memory, or whose product reads what is not 0 where hidden, visits every block.
!w = memref<?x64xf16, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @sums
tile.kernel @sums(%v: !w, %S: memref<?x?xf32>, %N: i64 {tile.dim = "N"}, %L: i32 {tile.name = "L"}) {
  %c0 = arith.constant 0 : i64
  %l0 = arith.constant dense<0.0> : tensor<64xf32>
  %u0 = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %one = arith.constant dense<1.0> : tensor<64x32xf32>
  // CHECK: %[[END:.*]] = arith.minsi %{{.*}}, %{{.*}} : i64
  // CHECK: tile.for_blocks %{{.*}} = %{{.*}} to %[[END]] step 32
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%l = %l0, %u = %u0) -> (tensor<64xf32>, tensor<64x64xf32>) {
    %s = tile.load %S[%c0, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
    %keep = tile.mask rows(%c0) cols(%n) { ^bb0(%i: i64, %j: i64): %e = arith.extsi %L : i32 to i64  %c = arith.cmpi slt, %j, %e : i64  tile.yield %c : i1 } : tensor<64x32xi1>
    %x = arith.select %keep, %s, %none : tensor<64x32xi1>, tensor<64x32xf32>
    %b = tile.reduce add %x : tensor<64x32xf32> -> tensor<64xf32>
    %l1 = arith.addf %l, %b : tensor<64xf32>
    %w = arith.truncf %x : tensor<64x32xf32> to tensor<64x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !w -> tensor<32x64xf16>
    %u1 = tile.dot %w, %vt acc(%u : tensor<64x64xf32>) : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    tile.yield %l1, %u1 : tensor<64xf32>, tensor<64x64xf32>
  }
  // CHECK: tile.for_blocks %{{.*}} = %{{.*}} to %[[N:arg[0-9]+|.*]] step 32 iter_args(%{{.*}} = %[[U:.*]]) ->
  // CHECK-NOT: arith.minsi
  %p = tile.for_blocks %n = %c0 to %N step 32 iter_args(%u = %u0) -> (tensor<64x64xf32>) {
    %s = tile.load %S[%c0, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
    %keep = tile.mask rows(%c0) cols(%n) { ^bb0(%i: i64, %j: i64): %e = arith.extsi %L : i32 to i64  %c = arith.cmpi slt, %j, %e : i64  tile.yield %c : i1 } : tensor<64x32xi1>
    %x = arith.select %keep, %s, %none : tensor<64x32xi1>, tensor<64x32xf32>
    %y = arith.addf %x, %one : tensor<64x32xf32>
    %w = arith.truncf %y : tensor<64x32xf32> to tensor<64x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !w -> tensor<32x64xf16>
    %u1 = tile.dot %w, %vt acc(%u : tensor<64x64xf32>) : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
    tile.yield %u1 : tensor<64x64xf32>
  }
  %q = tile.for_blocks %n = %c0 to %N step 32 iter_args(%l = %l0) -> (tensor<64xf32>) {
    %s = tile.load %S[%c0, %n] axes [0, 1] : memref<?x?xf32> -> tensor<64x32xf32>
    %keep = tile.mask rows(%c0) cols(%n) { ^bb0(%i: i64, %j: i64): %e = arith.extsi %L : i32 to i64  %c = arith.cmpi slt, %j, %e : i64  tile.yield %c : i1 } : tensor<64x32xi1>
    %x = arith.select %keep, %s, %none : tensor<64x32xi1>, tensor<64x32xf32>
    tile.store %x, %S[%c0, %n] axes [0, 1] : tensor<64x32xf32>, memref<?x?xf32>
    %b = tile.reduce add %x : tensor<64x32xf32> -> tensor<64xf32>
    %l1 = arith.addf %l, %b : tensor<64xf32>
    tile.yield %l1 : tensor<64xf32>
  }
  tile.store %r#0, %S[%c0, %c0] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.store %r#1, %S[%c0, %c0] axes [0, 1] : tensor<64x64xf32>, memref<?x?xf32>
  tile.store %p, %S[%c0, %c0] axes [0, 1] : tensor<64x64xf32>, memref<?x?xf32>
  tile.store %q, %S[%c0, %c0] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A distance of columns in rows of X positions: abs, and quotients and remainders by a value of the launch, which may be negative or 0, have intervals. Where the rows of a box have
// one quotient their remainders are close, else anything that they can be.
!w = memref<?x64xf16, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @neighbours
// CHECK-SAME: %[[X:[^ ]*]]: i32 {tile.name = "X"}
tile.kernel @neighbours(%v: !w, %S: memref<?x?xf32>, %X: i32 {tile.name = "X"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c16 = arith.constant 16 : i64
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %tiles = arith.ceildivsi %M, %c16 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c16 : i64
  %end = arith.addi %row, %c16 : i64
  // CHECK: tile.for_blocks
  // CHECK: %[[WIDE:.*]] = arith.extsi %[[X]] : i32 to i64
  // CHECK-NEXT: %[[NONE:.*]] = arith.cmpi eq, %[[WIDE]], %c0
  // CHECK-NEXT: arith.select %[[NONE]], %c1{{.*}}, %[[WIDE]]
  tile.for_blocks %n = %c0 to %N step 32 {
    %x = tile.load %v[%n, %c0] axes [0, 1] : !w -> tensor<32x64xf16>
    // CHECK: } possible {
    // CHECK-NEXT: ^bb0(%[[KEY:.*]]: i64):
    // CHECK: %[[SMALLEST:.*]] = arith.minsi
    // CHECK: %[[LARGEST:.*]] = arith.maxsi
    // CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[SMALLEST]], %[[LARGEST]]
    // CHECK: arith.select %[[ONE]]
    // CHECK: arith.select %[[ONE]]
    // CHECK: tile.yield %{{.*}} : i1
    %z = tile.zero_unseen %x rows(%row to %end) cols(%n to %N) seen {
    ^bb0(%i: i64, %j: i64):
      %wide = arith.extsi %X : i32 to i64
      %none = arith.cmpi eq, %wide, %c0 : i64
      %safe = arith.select %none, %c1, %wide : i64
      %iq = arith.floordivsi %i, %safe : i64
      %ip = arith.muli %iq, %safe : i64
      %ir = arith.subi %i, %ip : i64
      %jq = arith.floordivsi %j, %safe : i64
      %jp = arith.muli %jq, %safe : i64
      %jr = arith.subi %j, %jp : i64
      %d = arith.subi %ir, %jr : i64
      %a = math.absi %d : i64
      %near = arith.cmpi sle, %a, %c3 : i64
      tile.yield %near : i1
    } : tensor<32x64xf16>
    tile.store %z, %v[%n, %c0] axes [0, 1] : tensor<32x64xf16>, !w
    tile.yield
  }
  tile.return
}

// -----

// A mask falls apart into what holds up to some key and what holds from some key on: each has its own test.
!v = memref<?x64xf16, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @kinds
tile.kernel @kinds(%v: !v, %S: memref<?x?xf32>, %W: i32 {tile.name = "W"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    // CHECK: %[[S:.*]] = tile.load
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    // CHECK: %[[A:.*]] = scf.if
    // CHECK: tile.mask
    // CHECK: arith.cmpi sge
    // CHECK-NEXT: tile.yield
    // CHECK: arith.select %{{.*}}, %[[S]], %{{.*}}
    // The distance is a limit of the row.
    // CHECK: %[[B:.*]] = scf.if
    // CHECK: tile.mask
    // CHECK: %[[BEFORE:.*]] = arith.subi %{{.*}}, %{{.*}}
    // CHECK-NEXT: %[[BEGIN:.*]] = arith.addi %[[BEFORE]], %c1
    // CHECK-NEXT: arith.cmpi sge, %{{.*}}, %[[BEGIN]]
    // CHECK-NEXT: tile.yield
    // CHECK: arith.select %{{.*}}, %[[A]], %{{.*}}
    // CHECK: tile.online_softmax %[[B]]
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %w = arith.extsi %W : i32 to i64
      %sees = arith.cmpi sge, %i, %j : i64
      %back = arith.subi %i, %j : i64
      %near = arith.cmpi slt, %back, %w : i64
      %both = arith.andi %sees, %near : i1
      tile.yield %both : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !v -> tensor<32x64xf16>
    %u2 = tile.dot %w, %vt acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}
