// What a sorted table holds at the key, compared with a number of the row: where a row's keys begin and end is found ahead, by halves, and the mask is one by place.
// RUN: tegula-opt %s --split-input-file --tegula-precompute-limits --canonicalize --cse | FileCheck %s
// RUN: tegula-opt %s --split-input-file --pass-pipeline="builtin.module(tegula-precompute-limits,tile.kernel(tegula-bound-masks),canonicalize,cse)" | FileCheck %s --check-prefix=BOUNDS

!ids = memref<?xi32, strided<[?]>>
// CHECK-LABEL: tile.kernel @documents(
// CHECK-SAME: %[[LIMITS:[^ ]*]]: memref<?x?x?xi32, strided<[?, ?, ?]>> {tile.dims = [2, 1, "M"], tile.name = "prepass.table", tile.role = "scratch", tile.sorted})
// CHECK: ^bb0(%[[I:.*]]: i64, %[[J:.*]]: i64):
// CHECK-NEXT: %[[FROM:.*]] = tile.lookup %[[LIMITS]][%c0_i64, %c0_i64, %[[I]]]
// CHECK-NEXT: %[[FROM64:.*]] = arith.extsi %[[FROM]]
// CHECK-NEXT: %[[BEGINS:.*]] = arith.cmpi sge, %[[J]], %[[FROM64]]
// CHECK-NEXT: %[[PAST:.*]] = tile.lookup %[[LIMITS]][%c1_i64, %c0_i64, %[[I]]]
// CHECK-NEXT: %[[PAST64:.*]] = arith.extsi %[[PAST]]
// CHECK-NEXT: %[[ENDS:.*]] = arith.cmpi slt, %[[J]], %[[PAST64]]
// CHECK-NEXT: %[[SEEN:.*]] = arith.andi %[[BEGINS]], %[[ENDS]]
// CHECK-NEXT: tile.yield %[[SEEN]]

// One row a thread: as many steps as there are bits in N.
// CHECK-LABEL: tile.kernel @documents_limits(
// CHECK-SAME: %[[DOC:[^ ]*]]: memref<?xi32, strided<[?]>> {tile.dims = ["N"]
// CHECK-SAME: %[[OF:[^ ]*]]: memref<?xi32, strided<[?]>> {tile.dims = ["M"]
// CHECK-SAME: %[[N:[^ ]*]]: i64 {tile.dim = "N"}
// CHECK-SAME: attributes {schedule = #tile.program<threads = 128, ctas = 4>, tile.prepass}
// CHECK: %[[AT:.*]]:2 = tile.program_id of(%c2_i64, %{{.*}})
// CHECK: %[[ISPAST:.*]] = arith.cmpi ne, %[[AT]]#0, %c0_i64
// CHECK: %[[ROW:.*]] = arith.muli %[[AT]]#1, %c128_i64
// CHECK: %[[ZEROS:.*]] = math.ctlz %[[N]]
// CHECK: %[[STEPS:.*]] = arith.subi %c64_i64, %[[ZEROS]]
// CHECK: %[[COUNTS:.*]] = tile.map rows(%[[ROW]])
// CHECK: %[[NUMBER:.*]] = tile.lookup %[[OF]]
// CHECK: scf.for %[[STEP:.*]] = %c0_i64 to %[[STEPS]] step %c1_i64 iter_args(%[[COUNTED:.*]] = %c0_i64)
// CHECK: %[[MORE:.*]] = arith.shli %c1_i64
// CHECK: %[[ALL:.*]] = arith.addi %[[COUNTED]], %[[MORE]]
// CHECK: %[[LAST:.*]] = arith.subi %[[ALL]], %c1_i64
// CHECK: tile.lookup %[[DOC]][%[[LAST]]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[LAST]], %[[N]]
// CHECK: arith.select %{{.*}}, %[[ALL]], %[[COUNTED]]
// CHECK: tile.store %[[COUNTS]], %{{.*}}[%[[AT]]#0, %c0_i64, %[[ROW]]] axes [2]

// The loop begins and ends by what the first and the last row see, and nothing is looked up in it.
// BOUNDS-LABEL: tile.kernel @documents(
// BOUNDS-SAME: %[[LIMITS:[^ ]*]]: memref<?x?x?xi32
// BOUNDS: %[[ROW:.*]] = arith.muli
// BOUNDS: tile.lookup %[[LIMITS]][%c0_i64, %c0_i64, %[[ROW]]]
// BOUNDS: %[[LASTROW:.*]] = arith.addi %[[ROW]], %c127
// BOUNDS: tile.lookup %[[LIMITS]][%c1_i64, %c0_i64, %[[LASTROW]]]
// BOUNDS: tile.for_blocks %{{.*}} step 32 iter_args
// BOUNDS-NOT: tile.lookup
// BOUNDS: tile.mask
tile.kernel @documents(%S: memref<?x?xf32>, %doc: !ids {tile.name = "doc", tile.dims = ["N"], tile.role = "in", tile.sorted}, %of: !ids {tile.name = "of", tile.dims = ["M"], tile.role = "in", tile.sorted}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %a = tile.lookup %of[%i] : !ids
      %b = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %a, %b : i32
      tile.yield %same : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Not where the table may fall,
!ids = memref<?xi32, strided<[?]>>
// CHECK-LABEL: tile.kernel @unsorted(
// CHECK-NOT: prepass
tile.kernel @unsorted(%S: memref<?x?xf32>, %doc: !ids {tile.name = "doc", tile.dims = ["N"], tile.role = "in"}, %of: !ids {tile.name = "of", tile.dims = ["M"], tile.role = "in", tile.sorted}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %a = tile.lookup %of[%i] : !ids
      %b = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %a, %b : i32
      tile.yield %same : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// where the row's number may,
!ids = memref<?xi32, strided<[?]>>
// CHECK-LABEL: tile.kernel @falling(
// CHECK-NOT: prepass
tile.kernel @falling(%S: memref<?x?xf32>, %doc: !ids {tile.name = "doc", tile.dims = ["N"], tile.role = "in", tile.sorted}, %of: !ids {tile.name = "of", tile.dims = ["M"], tile.role = "in"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %a = tile.lookup %of[%i] : !ids
      %b = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %a, %b : i32
      tile.yield %same : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Not where the table may fall,
!ids = memref<?xi32, strided<[?]>>
// CHECK-LABEL: tile.kernel @unsorted(
// CHECK-NOT: prepass
tile.kernel @unsorted(%S: memref<?x?xf32>, %doc: !ids {tile.name = "doc", tile.dims = ["N"], tile.role = "in"}, %of: !ids {tile.name = "of", tile.dims = ["M"], tile.role = "in"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %a = tile.lookup %of[%i] : !ids
      %b = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %a, %b : i32
      tile.yield %same : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// or where the table is not as long as there are keys: then what lies behind its end is its last number.
!ids = memref<?xi32, strided<[?]>>
// CHECK-LABEL: tile.kernel @shorter(
// CHECK-NOT: prepass
tile.kernel @shorter(%S: memref<?x?xf32>, %doc: !ids {tile.name = "doc", tile.dims = ["M"], tile.role = "in", tile.sorted}, %of: !ids {tile.name = "of", tile.dims = ["M"], tile.role = "in", tile.sorted}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %a = tile.lookup %of[%i] : !ids
      %b = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %a, %b : i32
      tile.yield %same : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Not where the table may fall,
!ids = memref<?xi32, strided<[?]>>
// CHECK-LABEL: tile.kernel @unsorted(
// CHECK-NOT: prepass
tile.kernel @unsorted(%S: memref<?x?xf32>, %doc: !ids {tile.name = "doc", tile.dims = ["M"], tile.role = "in"}, %of: !ids {tile.name = "of", tile.dims = ["M"], tile.role = "in", tile.sorted}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %a = tile.lookup %of[%i] : !ids
      %b = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %a, %b : i32
      tile.yield %same : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// where the row's number may,
!ids = memref<?xi32, strided<[?]>>
// CHECK-LABEL: tile.kernel @falling(
// CHECK-NOT: prepass
tile.kernel @falling(%S: memref<?x?xf32>, %doc: !ids {tile.name = "doc", tile.dims = ["M"], tile.role = "in", tile.sorted}, %of: !ids {tile.name = "of", tile.dims = ["M"], tile.role = "in"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %a = tile.lookup %of[%i] : !ids
      %b = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %a, %b : i32
      tile.yield %same : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Not where the table may fall,
!ids = memref<?xi32, strided<[?]>>
// CHECK-LABEL: tile.kernel @unsorted(
// CHECK-NOT: prepass
tile.kernel @unsorted(%S: memref<?x?xf32>, %doc: !ids {tile.name = "doc", tile.dims = ["M"], tile.role = "in"}, %of: !ids {tile.name = "of", tile.dims = ["M"], tile.role = "in"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:2 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0) -> (tensor<128xf32>, tensor<128xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %a = tile.lookup %of[%i] : !ids
      %b = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %a, %b : i32
      tile.yield %same : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    tile.yield %m1, %l1 : tensor<128xf32>, tensor<128xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}
