// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-bound-masks),canonicalize,cse)' --split-input-file | FileCheck %s

// Documents: ids that rise, so a block holds those between its two ends. Its class is scalar code of its number, and the body is told.
!q = memref<?x64xf16, strided<[?, ?]>>
!ids = memref<?xi32, strided<[?]>>
// CHECK-LABEL: tile.kernel @documents
// CHECK-SAME: %[[DOC:[^ ]*]]: memref<?xi32, strided<[?]>>
tile.kernel @documents(%v: !q, %S: memref<?x?xf32>, %doc: !ids {tile.name = "doc", tile.sorted}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  // CHECK: %[[ROW:.*]] = arith.muli
  %row = arith.muli %t, %c128 : i64
  %end = arith.addi %row, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  // CHECK: %[[LASTROW:.*]] = arith.addi %[[ROW]], %c127
  // What a table says of rows is looked up ahead of the loop.
  // CHECK: %[[E0:.*]] = tile.lookup %[[DOC]][%[[ROW]]]
  // CHECK: %[[E1:.*]] = tile.lookup %[[DOC]][%[[LASTROW]]]
  // CHECK: tile.for_blocks %[[N:[^ ]*]] = %{{.*}} to %{{.*}} step 32 flags(%[[PARTIAL:[^ ,]*]], %[[UNSEEN:[^ ,)]*]])
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %of = tile.lookup %doc[%i] : !ids
      %at = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %of, %at : i32
      tile.yield %same : i1
    } : tensor<128x32xi1>
    // CHECK: scf.if %[[PARTIAL]]
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !q -> tensor<32x64xf16>
    // CHECK: tile.zero_unseen {{.*}} if(%[[UNSEEN]])
    %vz = tile.zero_unseen %vt rows(%row to %end) cols(%n to %N) seen {
    ^bb0(%i: i64, %j: i64):
      %of = tile.lookup %doc[%i] : !ids
      %at = tile.lookup %doc[%j] : !ids
      %same = arith.cmpi eq, %of, %at : i32
      tile.yield %same : i1
    } : tensor<32x64xf16>
    %u2 = tile.dot %w, %vz acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    // CHECK: } classes {
    // CHECK-NEXT: ^bb0(%[[K:.*]]: i64):
    // CHECK: %[[LASTKEY:.*]] = arith.addi %[[K]], %c31
    // CHECK: %[[R0:.*]] = arith.extsi %[[E0]]
    // CHECK: %[[R1:.*]] = arith.extsi %[[E1]]
    // CHECK: tile.lookup %[[DOC]][%[[K]]]
    // CHECK: %[[K0:.*]] = arith.extsi
    // CHECK: tile.lookup %[[DOC]][%[[LASTKEY]]]
    // CHECK: %[[K1:.*]] = arith.extsi
    // CHECK: %[[A:.*]] = arith.cmpi sle, %[[R0]], %[[K1]]
    // CHECK: %[[B:.*]] = arith.cmpi sle, %[[K0]], %[[R1]]
    // CHECK: %[[LIVE:.*]] = arith.andi %[[A]], %[[B]]
    // CHECK: tile.yield %[[LIVE]], %{{.*}}, %{{.*}} : i1, i1, i1
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// What ends of the loop say, classes need not: a condition of the row alone leaves all keys or none.
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: %[[L:[^ ]*]]: i64 {tile.dim = "L"}, %[[N:[^ ]*]]: i64 {tile.dim = "N"}
!v = memref<?x64xf16, strided<[?, ?]>>
tile.kernel @rows(%v: !v, %S: memref<?x?xf32>, %M: i64 {tile.dim = "M"}, %L: i64 {tile.dim = "L"}, %N: i64 {tile.dim = "N"}) {
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
  // CHECK: %[[EXISTS:.*]] = arith.cmpi slt, %[[ROW]], %[[L]]
  // CHECK: %[[LIMIT:.*]] = arith.select %[[EXISTS]]
  // CHECK: %[[END:.*]] = arith.minsi %{{.*}}, %[[LIMIT]]
  // CHECK: %[[UPPER:.*]] = arith.minsi %[[N]], %[[END]]
  // CHECK: tile.for_blocks %{{.*}} to %[[UPPER]] step 32 iter_args
  // CHECK-NOT: classes
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %sees = arith.cmpi sge, %i, %j : i64
      %row_exists = arith.cmpi slt, %i, %L : i64
      %both = arith.andi %sees, %row_exists : i1
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

// -----

// What is known of no two rows together is looked for in each: one of 128 rows, and one of 4 numbers, chooses the 16 keys of a block for it. Where the number of keys were not positive, nothing
// would be bounded.
!v = memref<?x64xf16, strided<[?, ?]>>
!sel = memref<?x4xi32, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @chosen
// CHECK-SAME: %[[SEL:[^ ]*]]: memref<?x4xi32
tile.kernel @chosen(%v: !v, %S: memref<?x?xf32>, %sel: !sel {tile.name = "sel"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c16 = arith.constant 16 : i64
  %no = arith.constant false
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  // CHECK: %[[ROW:.*]] = arith.muli
  %row = arith.muli %t, %c128 : i64
  // CHECK: %[[LAST:.*]] = arith.addi %[[ROW]], %c127
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %block = arith.floordivsi %j, %c16 : i64
      %any = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %no) -> (i1) : i64 {
        %chosen = tile.lookup %sel[%i, %k] : !sel
        %wide = arith.extsi %chosen : i32 to i64
        %same = arith.cmpi eq, %wide, %block : i64
        %both = arith.ori %a, %same : i1
        scf.yield %both : i1
      }
      tile.yield %any : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !v -> tensor<32x64xf16>
    %u2 = tile.dot %w, %vt acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  // CHECK: } classes {
  // CHECK-NEXT: ^bb0(%[[K:.*]]: i64):
  // CHECK-NEXT: %[[LIVE:.*]] = tile.any_range %[[K]] step 32 of %c512{{[^ ]*}} {
  // CHECK-NEXT: ^bb0(%[[P:.*]]: i64):
  // CHECK: %[[Q:.*]] = arith.divui %[[P]], %c4
  // CHECK: %[[OWN:.*]] = arith.addi %[[ROW]], %[[Q]]
  // CHECK: %[[I:.*]] = arith.minsi %[[OWN]], %[[LAST]]
  // CHECK: %[[T:.*]] = arith.remui %[[P]], %c4
  // CHECK: %[[READ:.*]] = tile.lookup %[[SEL]][%[[I]], %[[T]]]
  // CHECK: %[[CHOSEN:.*]] = arith.extsi %[[READ]]
  // CHECK-DAG: arith.muli %[[CHOSEN]], %c16
  // CHECK-DAG: arith.addi %[[CHOSEN]], %c1
  // CHECK: tile.yield %{{.*}}, %{{.*}} : i64, i64
  // CHECK: tile.yield %[[LIVE]] : i1
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A pipelined kernel: the numbers of a row mark its keys together, in the element mask and for keys that no row sees.
!v = memref<?x64xf16, strided<[?, ?]>>
!sel = memref<?x4xi32, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @together
// CHECK-SAME: %[[SEL:[^ ]*]]: memref<?x4xi32
tile.kernel @together(%v: !v, %S: memref<?x?xf32>, %sel: !sel {tile.name = "sel"}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c16 = arith.constant 16 : i64
  %no = arith.constant false
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  // CHECK: %[[ROW:.*]] = arith.muli
  %row = arith.muli %t, %c128 : i64
  %end = arith.addi %row, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    // CHECK: tile.mask rows(%[[ROW]])
    // CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %[[J:.*]]: i64):
    // CHECK-NEXT: %[[MEETS:.*]] = tile.any_range %[[J]] step 1 of %c4{{[^ ]*}} {
    // CHECK-NEXT: ^bb0(%[[T:.*]]: i64):
    // CHECK-NEXT: %[[READ:.*]] = tile.lookup %[[SEL]][%[[I]], %[[T]]]
    // CHECK: tile.yield %{{.*}}, %{{.*}} : i64, i64
    // CHECK: tile.yield %[[MEETS]] : i1
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %block = arith.floordivsi %j, %c16 : i64
      %any = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %no) -> (i1) : i64 {
        %chosen = tile.lookup %sel[%i, %k] : !sel
        %wide = arith.extsi %chosen : i32 to i64
        %same = arith.cmpi eq, %wide, %block : i64
        %both = arith.ori %a, %same : i1
        scf.yield %both : i1
      }
      tile.yield %any : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !v -> tensor<32x64xf16>
    // CHECK: tile.zero_unseen {{.*}} seen {
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: tile.yield %true{{[^ ]*}} : i1
    // CHECK-NEXT: } possible {
    // CHECK-NEXT: ^bb0(%[[KEY:.*]]: i64):
    // CHECK-NEXT: %[[SEEN:.*]] = tile.any_range %[[KEY]] step 1 of %c512
    // CHECK: tile.yield %[[SEEN]] : i1
    %vz = tile.zero_unseen %vt rows(%row to %end) cols(%n to %N) seen {
    ^bb0(%i: i64, %j: i64):
      %block = arith.floordivsi %j, %c16 : i64
      %any = scf.for %k = %c0 to %c4 step %c1 iter_args(%z = %no) -> (i1) : i64 {
        %chosen = tile.lookup %sel[%i, %k] : !sel
        %wide = arith.extsi %chosen : i32 to i64
        %same = arith.cmpi eq, %wide, %block : i64
        %both = arith.ori %z, %same : i1
        scf.yield %both : i1
      }
      tile.yield %any : i1
    } : tensor<32x64xf16>
    %u2 = tile.dot %w, %vz acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  // CHECK: } classes {
  // CHECK: tile.any_range %{{.*}} step 32 of %c512
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}

// -----

// The declared range of a number that the key chooses bounds keys, but says of none whether it is seen: each is looked at.
!v = memref<?x64xf16, strided<[?, ?]>>
!sel = memref<?x4xi32, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @declared
tile.kernel @declared(%v: !v, %S: memref<?x?xf32>, %sel: !sel {tile.name = "sel", tile.range = ["0", "8"]}, %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}) attributes {schedule = #tile.schedule<form = pipelined, block_m = 128, block_n = 32, consumers = 2, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  %c128 = arith.constant 128 : i64
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c16 = arith.constant 16 : i64
  %no = arith.constant false
  %tiles = arith.ceildivsi %M, %c128 : i64
  %t = tile.program_id of (%tiles) : i64
  %row = arith.muli %t, %c128 : i64
  %end = arith.addi %row, %c128 : i64
  %m0 = arith.constant dense<0xFF800000> : tensor<128xf32>
  %l0 = arith.constant dense<0.0> : tensor<128xf32>
  %u0 = arith.constant dense<0.0> : tensor<128x64xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<128x32xf32>
  %r:3 = tile.for_blocks %n = %c0 to %N step 32 iter_args(%m = %m0, %l = %l0, %u = %u0) -> (tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>) {
    %s = tile.load %S[%row, %n] axes [0, 1] : memref<?x?xf32> -> tensor<128x32xf32>
    // CHECK: tile.mask
    // CHECK: %[[ANY:.*]] = scf.for
    // CHECK: tile.lookup
    // CHECK: tile.yield %[[ANY]] : i1
    %keep = tile.mask rows(%row) cols(%n) {
    ^bb0(%i: i64, %j: i64):
      %block = arith.floordivsi %i, %c16 : i64
      %any = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %no) -> (i1) : i64 {
        %chosen = tile.lookup %sel[%j, %k] : !sel
        %wide = arith.extsi %chosen : i32 to i64
        %same = arith.cmpi eq, %wide, %block : i64
        %both = arith.ori %a, %same : i1
        scf.yield %both : i1
      }
      tile.yield %any : i1
    } : tensor<128x32xi1>
    %x = arith.select %keep, %s, %hidden : tensor<128x32xi1>, tensor<128x32xf32>
    %p, %m1, %l1, %a = tile.online_softmax %x, %m, %l scale 1.0 : tensor<128x32xf32>, tensor<128xf32>
    %u1 = tile.scale_rows %u, %a : tensor<128x64xf32>, tensor<128xf32>
    %w = arith.truncf %p : tensor<128x32xf32> to tensor<128x32xf16>
    %vt = tile.load %v[%n, %c0] axes [0, 1] : !v -> tensor<32x64xf16>
    // CHECK: tile.zero_unseen {{.*}} seen {
    // CHECK: scf.for
    // CHECK: tile.lookup
    %vz = tile.zero_unseen %vt rows(%row to %end) cols(%n to %N) seen {
    ^bb0(%i: i64, %j: i64):
      %block = arith.floordivsi %i, %c16 : i64
      %any = scf.for %k = %c0 to %c4 step %c1 iter_args(%z = %no) -> (i1) : i64 {
        %chosen = tile.lookup %sel[%j, %k] : !sel
        %wide = arith.extsi %chosen : i32 to i64
        %same = arith.cmpi eq, %wide, %block : i64
        %both = arith.ori %z, %same : i1
        scf.yield %both : i1
      }
      tile.yield %any : i1
    } : tensor<32x64xf16>
    %u2 = tile.dot %w, %vz acc(%u1 : tensor<128x64xf32>) : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.yield %m1, %l1, %u2 : tensor<128xf32>, tensor<128xf32>, tensor<128x64xf32>
  }
  tile.store %r#0, %S[%row, %c0] axes [0] : tensor<128xf32>, memref<?x?xf32>
  tile.return
}
