// What each boundary refuses, as an internal error.
// RUN: split-file %s %t
// RUN: tegula-opt %t/attention.mlir --tegula-verify-stage=stage=attention -verify-diagnostics
// RUN: tegula-opt %t/problem.mlir --tegula-verify-stage=stage=tile -verify-diagnostics
// RUN: tegula-opt %t/tile.mlir --tegula-verify-stage=stage=tile -verify-diagnostics
// RUN: tegula-opt %t/warp.mlir --tegula-verify-stage=stage=warp -verify-diagnostics -split-input-file
// RUN: tegula-opt %t/nvvm.mlir --tegula-verify-stage=stage=nvvm -verify-diagnostics
// RUN: not tegula-opt %t/nvvm.mlir --tegula-verify-stage=stage=later 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: internal: unknown stage `later`

// What is right passes.
// RUN: tegula-opt %t/tile.mlir --tegula-verify-stage=stage=warp -o /dev/null
// RUN: tegula-opt %t/problem.mlir --tegula-verify-stage=stage=attention -o /dev/null
// RUN: tegula-opt %t/attention.mlir --tegula-verify-stage=stage=tile -o /dev/null

//--- attention.mlir
// expected-error@+1 {{internal: a kernel with neither tile.attention nor a tile program after stage `attention`}}
tile.kernel @empty() {
  tile.return
}

//--- problem.mlir
tile.kernel @whole(%q: memref<?x?x?x64xf16>, %n: i64) {
  // expected-error@+1 {{internal: a whole problem is left after stage `tile`}}
  tile.attention ins(%q, %q, %q : memref<?x?x?x64xf16>, memref<?x?x?x64xf16>, memref<?x?x?x64xf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%q : memref<?x?x?x64xf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}

//--- tile.mlir
warp.kernel @roles() {
  // expected-error@+1 {{internal: an op of the warp dialect after stage `tile`}}
  warp.return
}

//--- warp.mlir
// expected-error@+1 {{internal: an op that no role took after stage `warp`}}
tile.kernel @sequential() {
  tile.return
}

// -----

warp.kernel @layout() {
  // expected-error@+1 {{internal: a tile without a layout after stage `warp`}}
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  warp.return
}

//--- nvvm.mlir
llvm.func @thread() {
  // expected-error@+1 {{internal: an op that is neither llvm nor nvvm after stage `nvvm`}}
  %c = arith.constant 0 : i64
  llvm.return
}
