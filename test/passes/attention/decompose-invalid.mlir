// RUN: tegula-opt %s --tegula-decompose -verify-diagnostics

tile.kernel @free(%q: memref<?x?x?x64xf16>, %n: i64) {
  // expected-error@+1 {{has no schedule; run tegula-choose-schedule first}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x64xf16>, memref<?x?x?x64xf16>, memref<?x?x?x64xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%q : memref<?x?x?x64xf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}
