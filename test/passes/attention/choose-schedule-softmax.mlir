// What the softmax is relative to, and the order of tiles: as tegula-fix-reference will find, and as the mask lets later rows see more keys.
// RUN: tegula-opt %s --tegula-choose-schedule | FileCheck %s

// Later rows see more keys, and a prefix of them.
// CHECK-LABEL: tile.kernel @causal
// CHECK: softmax = fixed, tiles = longest_first
tile.kernel @causal(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64 tile.yield %c : i1 }
    outs(%o : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// A prefix of the same length for all rows.
// CHECK-LABEL: tile.kernel @prefix
// CHECK: softmax = fixed, tiles = counter
tile.kernel @prefix(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.cmpi slt, %j, %n : i64 tile.yield %c : i1 }
    outs(%o : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// A row may see its first key late: two warpgroups have room for its reference to be looked for. Later rows are looked at first where one condition lets them see more.
// CHECK-LABEL: tile.kernel @window
// Keys between two limits make short walks: no turns at this head dim.
// CHECK: consumers = 2, {{.*}} ping_pong = false, softmax = fixed, tiles = longest_first, half_blocks = true>
tile.kernel @window(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64 %d = arith.subi %i, %j : i64 %w = arith.cmpi slt, %d, %n : i64 %a = arith.andi %c, %w : i1 tile.yield %a : i1 }
    outs(%o : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// What is no limit says nothing of the walk.
// CHECK-LABEL: tile.kernel @strided
// CHECK: consumers = 2, {{.*}} ping_pong = true, softmax = fixed
tile.kernel @strided(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64 %d = arith.subi %i, %j : i64 %z = arith.constant 3 : i64 %r = arith.remsi %d, %z : i64 %w = arith.cmpi eq, %r, %n : i64 %a = arith.andi %c, %w : i1 tile.yield %a : i1 }
    outs(%o : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// Scores are a product and what reads the key once through arithmetic: the largest bias of a row is known. Three warpgroups at most have registers to compute them.
// CHECK-LABEL: tile.kernel @biased
// CHECK: softmax = fixed
tile.kernel @biased(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %n: i64, %slope: f32) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %d = arith.subi %j, %i : i64 %p = arith.sitofp %d : i64 to f32 %e = arith.mulf %slope, %p : f32 %r = arith.addf %s, %e : f32 tile.yield %r : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64 tile.yield %c : i1 }
    outs(%o : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// Scores are more than a product.
// CHECK-LABEL: tile.kernel @mapped
// CHECK: softmax = threshold
tile.kernel @mapped(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %p = arith.sitofp %j : i64 to f32 %t = math.tanh %p : f32 %r = arith.addf %s, %t : f32 tile.yield %r : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// A scale of rows, like any function of the product alone, is the same for all keys of a row.
// CHECK-LABEL: tile.kernel @scaled
// CHECK: softmax = fixed
tile.kernel @scaled(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.sitofp %i : i64 to f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// The running max is read.
// CHECK-LABEL: tile.kernel @max
// CHECK: softmax = threshold
tile.kernel @max(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): %r = arith.addf %y, %max : f32 tile.yield %r : f32 }
  tile.return
}

// The sum of weights is read, which is relative to the max.
// CHECK-LABEL: tile.kernel @sum
// CHECK: softmax = threshold
tile.kernel @sum(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): %r = arith.addf %y, %sum : f32 tile.yield %r : f32 }
  tile.return
}

// The log of the sum is the same under any reference.
// CHECK-LABEL: tile.kernel @lse
// CHECK: softmax = fixed
tile.kernel @lse(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): %r = arith.addf %y, %lse : f32 tile.yield %r : f32 }
  tile.return
}

// Nothing to mark.
// CHECK-LABEL: tile.kernel @integers
// CHECK: softmax = threshold
tile.kernel @integers(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xi32>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x128xi32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): %r = arith.fptosi %y : f32 to i32 tile.yield %r : i32 }
  tile.return
}

// CHECK-LABEL: tile.kernel @bytes
// CHECK: softmax = threshold
tile.kernel @bytes(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %o: memref<?x?x?x128xf8E4M3FN>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x128xf8E4M3FN>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}
