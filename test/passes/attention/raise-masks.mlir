// RUN: tegula-opt %s --pass-pipeline='builtin.module(tile.kernel(tegula-raise-masks))' --split-input-file | FileCheck %s

// `base + iota` is the element's index; conditions of rows, columns and tables end in one region, and the tile code is gone.
// CHECK-LABEL: tile.kernel @mask
// CHECK-SAME: %[[S:[^ ]*]]: memref<?x?xf32>, %[[DOC:[^ ]*]]: memref<?xi64>, %[[M0:[^ ]*]]: i64, %[[N0:[^ ]*]]: i64, %[[N:[^ ]*]]: i64, %[[SHIFT:[^ ]*]]: i64
tile.kernel @mask(%S: memref<?x?xf32>, %doc: memref<?xi64>, %m0: i64, %n0: i64, %N: i64, %shift: i64) {
  %s = tile.load %S[%m0, %n0] axes [0, 1] : memref<?x?xf32> -> tensor<8x16xf32>
  %r32 = tile.iota : tensor<8xi32>
  %r = arith.extsi %r32 : tensor<8xi32> to tensor<8xi64>
  %c32 = tile.iota : tensor<16xi32>
  %c = arith.extsi %c32 : tensor<16xi32> to tensor<16xi64>
  %m = tensor.splat %m0 : tensor<8xi64>
  %n = tensor.splat %n0 : tensor<16xi64>
  %i = arith.addi %m, %r : tensor<8xi64>
  %j = arith.addi %c, %n : tensor<16xi64>
  %sh = tensor.splat %shift : tensor<8xi64>
  %last = arith.addi %i, %sh : tensor<8xi64>
  %I = tile.broadcast %last : tensor<8xi64> -> tensor<8x16xi64>
  %J = tile.broadcast %j axes [1] : tensor<16xi64> -> tensor<8x16xi64>
  %sees = arith.cmpi sge, %I, %J : tensor<8x16xi64>
  %end = tensor.splat %N : tensor<16xi64>
  %in = arith.cmpi slt, %j, %end : tensor<16xi64>
  %exists = tile.broadcast %in axes [1] : tensor<16xi1> -> tensor<8x16xi1>
  %di = tile.gather %doc[%i] : memref<?xi64>, tensor<8xi64> -> tensor<8xi64>
  %dj = tile.gather %doc[%j] : memref<?xi64>, tensor<16xi64> -> tensor<16xi64>
  %Di = tile.broadcast %di : tensor<8xi64> -> tensor<8x16xi64>
  %Dj = tile.broadcast %dj axes [1] : tensor<16xi64> -> tensor<8x16xi64>
  %same = arith.cmpi eq, %Di, %Dj : tensor<8x16xi64>
  %both = arith.andi %sees, %exists : tensor<8x16xi1>
  %keep = arith.andi %both, %same : tensor<8x16xi1>
  %hidden = arith.constant dense<0xFF800000> : tensor<8x16xf32>
  // CHECK-NOT: tile.iota
  // CHECK: %[[KEEP:.*]] = tile.mask rows(%[[M0]]) cols(%[[N0]]) {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %[[J:.*]]: i64):
  // CHECK-NEXT: %[[LAST:.*]] = arith.addi %[[I]], %[[SHIFT]] : i64
  // CHECK-NEXT: %[[SEES:.*]] = arith.cmpi sge, %[[LAST]], %[[J]] : i64
  // CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi slt, %[[J]], %[[N]] : i64
  // CHECK-NEXT: %[[BOTH:.*]] = arith.andi %[[SEES]], %[[EXISTS]] : i1
  // CHECK-NEXT: %[[DI:.*]] = tile.lookup %[[DOC]][%[[I]]]
  // CHECK-NEXT: %[[DJ:.*]] = tile.lookup %[[DOC]][%[[J]]]
  // CHECK-NEXT: %[[SAME:.*]] = arith.cmpi eq, %[[DI]], %[[DJ]] : i64
  // CHECK-NEXT: %[[ALL:.*]] = arith.andi %[[BOTH]], %[[SAME]] : i1
  // CHECK-NEXT: tile.yield %[[ALL]]
  // CHECK: arith.select %[[KEEP]]
  %x = arith.select %keep, %s, %hidden : tensor<8x16xi1>, tensor<8x16xf32>
  tile.store %x, %S[%m0, %n0] axes [0, 1] : tensor<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A bias becomes a score; lanes without a base count from the tile's first; elementwise code without indices stays as it is.
// CHECK-LABEL: tile.kernel @score
// CHECK-SAME: %[[S:[^ ]*]]: memref<?x?xf32>, %[[SLOPE:[^ ]*]]: f32, %[[M0:[^ ]*]]: i64
tile.kernel @score(%S: memref<?x?xf32>, %slope: f32, %m0: i64) {
  // CHECK: %[[T:.*]] = tile.load
  %s = tile.load %S[%m0, %m0] axes [0, 1] : memref<?x?xf32> -> tensor<8x16xf32>
  // CHECK: %[[E:.*]] = math.exp %[[T]]
  %e = math.exp %s : tensor<8x16xf32>
  %c = tile.iota : tensor<16xi32>
  %J = tile.broadcast %c axes [1] : tensor<16xi32> -> tensor<8x16xi32>
  %f = arith.sitofp %J : tensor<8x16xi32> to tensor<8x16xf32>
  %k = tensor.splat %slope : tensor<8x16xf32>
  %b = arith.mulf %f, %k : tensor<8x16xf32>
  // CHECK: %[[Y:.*]] = tile.map %[[E]] rows(%{{.*}}) cols(%{{.*}}) {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: i64, %[[J:.*]]: i64):
  // CHECK-NEXT: %[[LANE:.*]] = arith.trunci %[[J]] : i64 to i32
  // CHECK-NEXT: %[[F:.*]] = arith.sitofp %[[LANE]]
  // CHECK-NEXT: %[[B:.*]] = arith.mulf %[[F]], %[[SLOPE]]
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[X]], %[[B]]
  // CHECK-NEXT: tile.yield %[[SUM]]
  %y = arith.addf %e, %b : tensor<8x16xf32>
  tile.store %y, %S[%m0, %m0] axes [0, 1] : tensor<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A function of two tiles is none of one element alone: it stays.
// CHECK-LABEL: tile.kernel @two
tile.kernel @two(%S: memref<?x?xf32>, %m0: i64) {
  %s = tile.load %S[%m0, %m0] axes [0, 1] : memref<?x?xf32> -> tensor<8x16xf32>
  %t = tile.load %S[%m0, %m0] axes [1, 0] : memref<?x?xf32> -> tensor<8x16xf32>
  %c = tile.iota : tensor<16xi32>
  %f = arith.sitofp %c : tensor<16xi32> to tensor<16xf32>
  %J = tile.broadcast %f axes [1] : tensor<16xf32> -> tensor<8x16xf32>
  %u = arith.addf %t, %J : tensor<8x16xf32>
  // CHECK: tile.map
  // CHECK: arith.mulf %{{.*}}, %{{.*}} : tensor<8x16xf32>
  %y = arith.mulf %s, %u : tensor<8x16xf32>
  tile.store %y, %S[%m0, %m0] axes [0, 1] : tensor<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// Memory that the kernel may write is no table: the read stays where it stands.
// CHECK-LABEL: tile.kernel @written
tile.kernel @written(%S: memref<?x?xf32>, %doc: memref<?xi64> {tile.role = "inout"}, %m0: i64) {
  %s = tile.load %S[%m0, %m0] axes [0, 1] : memref<?x?xf32> -> tensor<8x16xf32>
  %c32 = tile.iota : tensor<16xi32>
  %c = arith.extsi %c32 : tensor<16xi32> to tensor<16xi64>
  // CHECK: tile.gather
  %d = tile.gather %doc[%c] : memref<?xi64>, tensor<16xi64> -> tensor<16xi64>
  %D = tile.broadcast %d axes [1] : tensor<16xi64> -> tensor<8x16xi64>
  %J = tile.broadcast %c axes [1] : tensor<16xi64> -> tensor<8x16xi64>
  %keep = arith.cmpi eq, %D, %J : tensor<8x16xi64>
  %hidden = arith.constant dense<0xFF800000> : tensor<8x16xf32>
  // CHECK-NOT: tile.mask
  %x = arith.select %keep, %s, %hidden : tensor<8x16xi1>, tensor<8x16xf32>
  tile.store %x, %S[%m0, %m0] axes [0, 1] : tensor<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// What nothing uses goes with all that it holds.
// CHECK-LABEL: tile.kernel @dead
// CHECK-NEXT: tile.return
tile.kernel @dead(%S: memref<?xf32>, %m0: i64, %c: i1) {
  %s = tile.load %S[%m0] axes [0] : memref<?xf32> -> tensor<8xf32>
  %unused = scf.if %c -> (tensor<8xf32>) {
    %t = arith.addf %s, %s : tensor<8xf32>
    %u = arith.mulf %t, %s : tensor<8xf32>
    scf.yield %u : tensor<8xf32>
  } else {
    %v = scf.if %c -> (tensor<8xf32>) {
      %w = arith.subf %s, %s : tensor<8xf32>
      scf.yield %w : tensor<8xf32>
    } else {
      scf.yield %s : tensor<8xf32>
    }
    scf.yield %v : tensor<8xf32>
  }
  tile.return
}

// -----

// Behind a product of loaded tiles, rows and keys count from where these were loaded, whether an index is read or not; scores, weights and what is stored are one map each.
!t = memref<?x64xf32, strided<[?, ?]>>
// CHECK-LABEL: tile.kernel @attention
// CHECK-SAME: %[[CAP:[^ ]*]]: f32, %[[M0:[^ ]*]]: i64, %[[SHIFT:[^ ]*]]: i64
tile.kernel @attention(%q: !t, %k: !t, %o: !t, %cap: f32, %m0: i64, %shift: i64, %N: i64 {tile.dim = "N"}) {
  %zero = arith.constant 0 : i64
  %u0 = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x16xf32>
  %Q = tile.load %q[%m0, %zero] axes [0, 1] : !t -> tensor<64x64xf32>
  // CHECK: tile.for_blocks %[[N0:[^ ]*]] =
  %u = tile.for_blocks %n = %zero to %N step 16 iter_args(%acc = %u0) -> (tensor<64x64xf32>) {
    %K = tile.load %k[%n, %zero] axes [0, 1] : !t -> tensor<16x64xf32>
    // CHECK: %[[S:.*]] = tile.dot
    %s = tile.dot %Q, %K transpose_b : tensor<64x64xf32>, tensor<16x64xf32> -> tensor<64x16xf32>
    // CHECK: %[[X:.*]] = tile.map %[[S]] rows(%[[M0]]) cols(%[[N0]]) {
    // CHECK-NEXT: ^bb0(%[[E:.*]]: f32, %{{.*}}: i64, %{{.*}}: i64):
    // CHECK-NEXT: math.tanh %[[E]] : f32
    // CHECK-NEXT: arith.mulf %[[CAP]], %{{.*}} : f32
    %c = tensor.splat %cap : tensor<64x16xf32>
    %tanh = math.tanh %s : tensor<64x16xf32>
    %capped = arith.mulf %c, %tanh : tensor<64x16xf32>
    %lane = tile.iota : tensor<16xi32>
    %wide = arith.extsi %lane : tensor<16xi32> to tensor<16xi64>
    %first = tensor.splat %n : tensor<16xi64>
    %j = arith.addi %first, %wide : tensor<16xi64>
    %end = tensor.splat %shift : tensor<16xi64>
    %sees = arith.cmpi slt, %j, %end : tensor<16xi64>
    %keep = tile.broadcast %sees axes [1] : tensor<16xi1> -> tensor<64x16xi1>
    // CHECK: %[[KEEP:.*]] = tile.mask rows(%[[M0]]) cols(%[[N0]])
    // CHECK: %[[W:.*]] = arith.select %[[KEEP]], %[[X]]
    %w = arith.select %keep, %capped, %none : tensor<64x16xi1>, tensor<64x16xf32>
    // CHECK: %[[P:.*]] = tile.map %[[W]], %[[S]] rows(%[[M0]]) cols(%[[N0]]) {
    // CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[E:.*]]: f32, %{{.*}}: i64, %{{.*}}: i64):
    // CHECK: tile.dot %[[P]], %{{.*}} acc
    %p = arith.mulf %w, %s : tensor<64x16xf32>
    %next = tile.dot %p, %K acc(%acc : tensor<64x64xf32>) : tensor<64x16xf32>, tensor<16x64xf32> -> tensor<64x64xf32>
    tile.yield %next : tensor<64x64xf32>
  }
  // CHECK: %[[Y:.*]] = tile.map %{{.*}} rows(%[[M0]]) cols(%{{.*}}) {
  // CHECK: math.exp
  // CHECK: tile.store %[[Y]]
  %y = math.exp %u : tensor<64x64xf32>
  tile.store %y, %o[%m0, %zero] axes [0, 1] : tensor<64x64xf32>, !t
  tile.return
}

// -----

// Two conditions that hide one tile are one mask, also where the weights were rounded or weighted in between.
// CHECK-LABEL: tile.kernel @twice
tile.kernel @twice(%x: memref<?x?xf32>, %y: memref<?x?xbf16>, %m0: i64, %n0: i64, %N: i64) {
  // CHECK: %[[X:.*]] = tile.load
  %s = tile.load %x[%m0, %n0] axes [0, 1] : memref<?x?xf32> -> tensor<8x16xf32>
  %none = arith.constant dense<0.0> : tensor<8x16xf32>
  %rounded = arith.constant dense<0.0> : tensor<8x16xbf16>
  %r = tile.iota : tensor<8xi64>
  %c = tile.iota : tensor<16xi64>
  %I = tile.broadcast %r : tensor<8xi64> -> tensor<8x16xi64>
  %J = tile.broadcast %c axes [1] : tensor<16xi64> -> tensor<8x16xi64>
  %sees = arith.cmpi sge, %I, %J : tensor<8x16xi64>
  %end = tensor.splat %N : tensor<8x16xi64>
  %exists = arith.cmpi slt, %J, %end : tensor<8x16xi64>
  // CHECK: %[[KEEP:.*]] = tile.mask
  // CHECK: %[[SEES:.*]] = arith.cmpi sge
  // CHECK: %[[EXISTS:.*]] = arith.cmpi slt
  // CHECK: arith.andi %[[SEES]], %[[EXISTS]] : i1
  // CHECK: %[[W:.*]] = arith.select %[[KEEP]], %[[X]]
  // CHECK-NOT: tile.mask
  // CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[W]]
  // CHECK: %[[SQUARE:.*]] = arith.mulf %[[W]], %[[X]]
  // CHECK: %[[U:.*]] = arith.select %[[NONE]], %{{.*}}, %[[SQUARE]]
  // CHECK: %[[B:.*]] = arith.truncf %[[U]]
  // CHECK: tile.store %[[B]]
  %w = arith.select %sees, %s, %none : tensor<8x16xi1>, tensor<8x16xf32>
  %isNone = arith.cmpf oeq, %w, %none : tensor<8x16xf32>
  %square = arith.mulf %w, %s : tensor<8x16xf32>
  %u = arith.select %isNone, %none, %square : tensor<8x16xi1>, tensor<8x16xf32>
  %b = arith.truncf %u : tensor<8x16xf32> to tensor<8x16xbf16>
  %z = arith.select %exists, %b, %rounded : tensor<8x16xi1>, tensor<8x16xbf16>
  tile.store %z, %y[%m0, %n0] axes [0, 1] : tensor<8x16xbf16>, memref<?x?xbf16>
  tile.return
}

// -----

// A scalar that only element code reads is a part of it; one that a load reads, too, stays in front.
// CHECK-LABEL: tile.kernel @scalars
tile.kernel @scalars(%S: memref<?x?xf32>, %slope: memref<?xf32>, %h: i64, %H: i64, %N: i64) {
  %one = arith.constant 1 : i64
  %s = tile.load %S[%one, %one] axes [0, 1] : memref<?x?xf32> -> tensor<8x16xf32>
  %a = tile.lookup %slope[%h] : memref<?xf32>
  %b = arith.negf %a : f32
  %m0 = arith.muli %h, %H : i64
  %c = tile.iota : tensor<16xi32>
  %f = arith.sitofp %c : tensor<16xi32> to tensor<16xf32>
  %J = tile.broadcast %f axes [1] : tensor<16xf32> -> tensor<8x16xf32>
  %k = tensor.splat %b : tensor<8x16xf32>
  %g = arith.sitofp %m0 : i64 to f32
  %l = tensor.splat %g : tensor<8x16xf32>
  // CHECK: %[[M0:.*]] = arith.muli
  // CHECK: tile.map
  // CHECK: arith.sitofp %[[M0]]
  // CHECK: %[[A:.*]] = tile.lookup
  // CHECK-NEXT: arith.negf %[[A]]
  // CHECK: tile.yield
  %x = arith.mulf %k, %J : tensor<8x16xf32>
  %y = arith.addf %s, %x : tensor<8x16xf32>
  %z = arith.mulf %l, %y : tensor<8x16xf32>
  tile.store %z, %S[%m0, %one] axes [0, 1] : tensor<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A loop that folds elementwise code into one tile is a loop of scalars in the region; what it does not change stands ahead of it.
// CHECK-LABEL: tile.kernel @loop
// CHECK-SAME: %[[S:[^ ]*]]: memref<?x?xf32>, %[[SEL:[^ ]*]]: memref<?x?xi64>, %[[M0:[^ ]*]]: i64, %[[K:[^ ]*]]: i64
tile.kernel @loop(%S: memref<?x?xf32>, %sel: memref<?x?xi64>, %m0: i64, %k: i64) {
  %s = tile.load %S[%m0, %m0] axes [0, 1] : memref<?x?xf32> -> tensor<8x16xf32>
  %c0 = arith.constant 0 : i64
  %r32 = tile.iota : tensor<8xi32>
  %r = arith.extsi %r32 : tensor<8xi32> to tensor<8xi64>
  %m = tensor.splat %m0 : tensor<8xi64>
  %i = arith.addi %m, %r : tensor<8xi64>
  %false = arith.constant dense<false> : tensor<8x16xi1>
  // CHECK: tile.mask rows(%[[M0]])
  // CHECK-NEXT: ^bb0(%[[I:.*]]: i64, %{{.*}}: i64):
  // CHECK: %[[TWICE:.*]] = arith.addi %[[I]], %[[I]] : i64
  // CHECK-NEXT: %[[ANY:.*]] = scf.for %[[T:.*]] = %{{.*}} to %[[K]] step %{{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (i1) : i64 {
  // CHECK-NEXT: %[[AT:.*]] = tile.lookup %[[SEL]][%[[I]], %[[T]]]
  // CHECK-NEXT: %[[IS:.*]] = arith.cmpi eq, %[[AT]], %[[TWICE]] : i64
  // CHECK-NEXT: %[[NEXT:.*]] = arith.ori %[[BEFORE]], %[[IS]] : i1
  // CHECK-NEXT: scf.yield %[[NEXT]]
  // CHECK: tile.yield %[[ANY]]
  // CHECK-NOT: tile.for_blocks
  %keep = tile.for_blocks %t = %c0 to %k step 1 iter_args(%any = %false) -> (tensor<8x16xi1>) {
    %T = tensor.splat %t : tensor<8xi64>
    %at = tile.gather %sel[%i, %T] : memref<?x?xi64>, tensor<8xi64>, tensor<8xi64> -> tensor<8xi64>
    %twice = arith.addi %i, %i : tensor<8xi64>
    %is = arith.cmpi eq, %at, %twice : tensor<8xi64>
    %Is = tile.broadcast %is : tensor<8xi1> -> tensor<8x16xi1>
    %or = arith.ori %any, %Is : tensor<8x16xi1>
    tile.yield %or : tensor<8x16xi1>
  }
  %hidden = arith.constant dense<0xFF800000> : tensor<8x16xf32>
  %x = arith.select %keep, %s, %hidden : tensor<8x16xi1>, tensor<8x16xf32>
  tile.store %x, %S[%m0, %m0] axes [0, 1] : tensor<8x16xf32>, memref<?x?xf32>
  tile.return
}

// -----

// A loop that reads what it carries once more is left as it is.
// CHECK-LABEL: tile.kernel @other_loop
tile.kernel @other_loop(%S: memref<?x?xf32>, %m0: i64, %k: i64) {
  %s = tile.load %S[%m0, %m0] axes [0, 1] : memref<?x?xf32> -> tensor<8x8xf32>
  %c0 = arith.constant 0 : i64
  %r32 = tile.iota : tensor<8xi32>
  %r = tile.broadcast %r32 : tensor<8xi32> -> tensor<8x8xi32>
  // CHECK: tile.for_blocks
  // CHECK-NOT: tile.mask
  %fold = tile.for_blocks %t = %c0 to %k step 1 iter_args(%x = %r) -> (tensor<8x8xi32>) {
    %turned = tile.transpose %x permutation [1, 0] : tensor<8x8xi32> -> tensor<8x8xi32>
    %sum = arith.addi %x, %turned : tensor<8x8xi32>
    tile.yield %sum : tensor<8x8xi32>
  }
  %keep = arith.cmpi sge, %fold, %r : tensor<8x8xi32>
  %hidden = arith.constant dense<0xFF800000> : tensor<8x8xf32>
  %x = arith.select %keep, %s, %hidden : tensor<8x8xi1>, tensor<8x8xf32>
  tile.store %x, %S[%m0, %m0] axes [0, 1] : tensor<8x8xf32>, memref<?x?xf32>
  tile.return
}
