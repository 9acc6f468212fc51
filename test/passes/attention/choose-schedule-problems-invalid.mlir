// Refusals that depend on the problem: what `pipelined` asks for, and f64 on a GPU.
// RUN: tegula-opt %s --tegula-choose-schedule=set=form=pipelined -verify-diagnostics -split-input-file

tile.kernel @f32(%q: memref<?x?x?x64xf32>, %v: memref<?x?x?x64xf32>, %n: i64) {
  // expected-error@+1 {{form `pipelined` of the schedule needs 16-bit operands and head dims from 32 to 256 in steps of 8 on a target with TMA and wgmma, but got 32-bit operands and head dims 64 and 64 on sm_90a}}
  tile.attention ins(%q, %q, %v : memref<?x?x?x64xf32>, memref<?x?x?x64xf32>, memref<?x?x?x64xf32>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x64xf32>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// -----

tile.kernel @narrow(%q: memref<?x?x?x16xbf16>, %v: memref<?x?x?x64xbf16>, %n: i64) {
  // expected-error@+1 {{form `pipelined` of the schedule needs 16-bit operands and head dims from 32 to 256 in steps of 8 on a target with TMA and wgmma, but got 16-bit operands and head dims 16 and 64 on sm_90a}}
  tile.attention ins(%q, %q, %v : memref<?x?x?x16xbf16>, memref<?x?x?x16xbf16>, memref<?x?x?x64xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x64xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

// -----

tile.kernel @f64(%q: memref<?x?x?x64xf64>, %v: memref<?x?x?x64xf64>, %n: i64) {
  // expected-error@+1 {{f64 runs on the CPU target only; use `--target cpu`, or f32, bf16 or f16}}
  tile.attention ins(%q, %q, %v : memref<?x?x?x64xf64>, memref<?x?x?x64xf64>, memref<?x?x?x64xf64>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f64 tile.yield %c : f64 }
    score { ^bb0(%s: f64, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f64 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x64xf64>)
    emit { ^bb0(%y: f64, %lse: f64, %max: f64, %sum: f64, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f64 }
  tile.return
}
