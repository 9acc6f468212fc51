// What was chosen, for those who ask: sizes, what they take of the machine, and what bounds a block.
// RUN: tegula-opt %s --tegula-choose-schedule --remarks-filter=schedule --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: tegula-opt %s --tegula-choose-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: tegula compile %examples/causal.tg -D D=64 --remarks --emit=tile -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOOL

// CHECK: remark: {{.*}}2 warpgroups of 64 rows, blocks of 128 keys: 193 of 227 KB of shared memory, about {{[0-9]+}} of 240 registers a thread; a round of blocks takes {{[0-9]+}} cycles, bound by the tensor cores (matrix products 2048, exponentials 1024, one warpgroup alone 1986, copies 1638); expected {{[0-9]+}} TFLOP/s at 4096 keys
// SILENT-NOT: remark
// TOOL: causal.tg:{{[0-9]+}}:{{[0-9]+}}: remark: {{.*}}warpgroups of 64 rows

tile.kernel @asked(%q: memref<?x?x?x128xbf16>, %v: memref<?x?x?x128xbf16>, %n: i64) {
  tile.attention ins(%q, %q, %v : memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>, memref<?x?x?x128xbf16>) dims(%n, %n, %n, %n, %n) reduction(softmax)
    scale { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64): %c = arith.constant 1.0 : f32 tile.yield %c : f32 }
    score { ^bb0(%s: f32, %b: i64, %h: i64, %g: i64, %i: i64, %j: i64): tile.yield %s : f32 }
    mask { ^bb0(%b: i64, %h: i64, %g: i64, %i: i64, %j: i64): %c = arith.constant true tile.yield %c : i1 }
    outs(%v : memref<?x?x?x128xbf16>)
    emit { ^bb0(%y: f32, %lse: f32, %max: f32, %sum: f32, %b: i64, %h: i64, %g: i64, %i: i64, %e: i64): tile.yield %y : f32 }
  tile.return
}
