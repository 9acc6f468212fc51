// One case a constraint of tile.attention.
// RUN: tegula-opt %s -verify-diagnostics -split-input-file

func.func @attention(%q: memref<?x?x?x8xf16>, %k: memref<?x?x8xf16>, %v: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %n: i64) {
  // expected-error@+1 {{constraint 1: expected rank 4 operands, but got ranks 4, 3, 4}}
  tile.attention ins(%q, %k, %v : memref<?x?x?x8xf16>, memref<?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x8xf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %k: memref<?x?x?x8xf16>, %v: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %l: memref<?x?xf32>, %n: i64) {
  // expected-error@+1 {{constraint 1: expected outputs of rank 4 or 3, but got rank 2}}
  tile.attention ins(%q, %k, %v : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o, %l : memref<?x?x?x8xf16>, memref<?x?xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %lse : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf8E5M2>, %k: memref<?x?x?x8xf8E5M2>, %v: memref<?x?x?x8xf8E5M2>, %o: memref<?x?x?x8xf8E5M2>, %n: i64) {
  // expected-error@+1 {{constraint 2: expected f16, bf16, f32 or f64 operands, but got 'f8E5M2'}}
  tile.attention ins(%q, %k, %v : memref<?x?x?x8xf8E5M2>, memref<?x?x?x8xf8E5M2>, memref<?x?x?x8xf8E5M2>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x8xf8E5M2>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %k: memref<?x?x?x8xf16>, %v: memref<?x?x?x8xbf16>, %o: memref<?x?x?x8xf16>, %n: i64) {
  // expected-error@+1 {{constraint 2: expected one element type, but got 'f16', 'f16', 'bf16'}}
  tile.attention ins(%q, %k, %v : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x8xf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %k: memref<?x?x?x16xf16>, %v: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %n: i64) {
  // expected-error@+1 {{constraint 3: expected one static head dim of query and key, but got 'memref<?x?x?x8xf16>' and 'memref<?x?x?x16xf16>'}}
  tile.attention ins(%q, %k, %v : memref<?x?x?x8xf16>, memref<?x?x?x16xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x8xf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %k: memref<?x?x?x8xf16>, %v: memref<?x?x?x?xf16>, %o: memref<?x?x?x?xf16>, %n: i64) {
  // expected-error@+1 {{constraint 3: expected a static head dim of value, but got 'memref<?x?x?x?xf16>'}}
  tile.attention ins(%q, %k, %v : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x?xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x?xf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf64>, %k: memref<?x?x?x8xf64>, %v: memref<?x?x?x8xf64>, %o: memref<?x?x?x8xf64>, %n: i64) {
  // expected-error@+1 {{constraint 4: the score region expects arguments 'f64', 'i64', 'i64', 'i64', 'i64', 'i64', but has 'f32', 'i64', 'i64', 'i64', 'i64', 'i64'}}
  tile.attention ins(%q, %k, %v : memref<?x?x?x8xf64>, memref<?x?x?x8xf64>, memref<?x?x?x8xf64>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f64 tile.yield %c : f64 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x8xf64>)
    emit { ^bb0(%y: f64, %lse: f64, %max: f64, %sum: f64, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f64 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %k: memref<?x?x?x8xf16>, %v: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %n: i64) {
  // expected-error@+1 {{constraint 4: the scale region expects to yield one 'f32'}}
  tile.attention ins(%q, %k, %v : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): tile.yield %i : i64 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x8xf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %k: memref<?x?x?x8xf16>, %v: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %n: i64) {
  // expected-error@+1 {{constraint 4: the mask region expects arguments 'i64', 'i64', 'i64', 'i64', 'i64', but has 'i64', 'i64'}}
  tile.attention ins(%q, %k, %v : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o : memref<?x?x?x8xf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %l: memref<?x?x?xf32>, %n: i64) {
  // expected-error@+1 {{constraint 1: expected an emit region for each of 2 outputs, but got 1}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o, %l : memref<?x?x?x8xf16>, memref<?x?x?xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %o: memref<?x?x?x16xf16>, %l: memref<?x?x?xf32>, %n: i64) {
  // expected-error@+1 {{constraint 3: expected one static head dim of value and output, but got 'memref<?x?x?x8xf16>' and 'memref<?x?x?x16xf16>'}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o, %l : memref<?x?x?x16xf16>, memref<?x?x?xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %sum : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %l: memref<?x?x?xf32>, %n: i64) {
  // expected-error@+1 {{constraint 4: the weight region expects arguments 'f32', 'i64', 'i64', 'i64', 'i64', 'i64', but has 'f32'}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    weight { ^bb0(%s: f32): tile.yield %s : f32 }
    outs(%o, %l : memref<?x?x?x8xf16>, memref<?x?x?xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %sum : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %l: memref<?x?x?xf32>, %n: i64) {
  // expected-error@+1 {{constraint 4: the extra region expects to yield one 'f32'}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    extra { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): tile.yield %b : i64 }
    outs(%o, %l : memref<?x?x?x8xf16>, memref<?x?x?xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %sum : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %l: memref<?x?x?xf32>, %n: i64) {
  // expected-error@+1 {{constraint 4: the emit region expects arguments 'f32', 'f32', 'f32', 'i64', 'i64', 'i64', 'i64', but has 'f32'}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o, %l : memref<?x?x?x8xf16>, memref<?x?x?xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32): tile.yield %lse : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %l: memref<?x?x?xf32>, %n: i64) {
  // expected-error@+1 {{constraint 4: the emit region expects to yield one 'f32'}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o, %l : memref<?x?x?x8xf16>, memref<?x?x?xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %i : i64 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %l: memref<?x?x?xi32>, %n: i64) {
  // expected-error@+1 {{constraint 4: the emit region expects to yield one 'i32'}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o, %l : memref<?x?x?x8xf16>, memref<?x?x?xi32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %i : i64 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %l: memref<?x?x?xf32>, %n: i64) {
  // expected-error@+1 {{constraint 5: expected no extra region under reduction mean}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(mean)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    extra { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    outs(%o, %l : memref<?x?x?x8xf16>, memref<?x?x?xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %sum : f32 }
  return
}

// -----

func.func @attention(%q: memref<?x?x?x8xf16>, %o: memref<?x?x?x8xf16>, %l: memref<?x?x?xf32>, %n: i64) {
  // expected-error@+1 {{constraint 6: expected no use of lse and rowmax under reduction sum}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x8xf16>, memref<?x?x?x8xf16>, memref<?x?x?x8xf16>) dims(%n, %n, %n, %n, %n) reduction(sum)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%o, %l : memref<?x?x?x8xf16>, memref<?x?x?xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 },
         { ^bb0(%lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64): tile.yield %lse : f32 }
  return
}
