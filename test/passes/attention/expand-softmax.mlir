// Each softmax op as reductions and elementwise code: exp(c x) is exp2(c log2(e) x), and -inf is never subtracted from itself.
// RUN: tegula-opt %s --tegula-expand-softmax | FileCheck %s

// CHECK-LABEL: tile.kernel @online
// CHECK-SAME: %[[S:[^ ]+]]: tensor<64x32xf32>, %[[M:[^ ]+]]: tensor<64xf32>, %[[L:[^ ]+]]: tensor<64xf32>, %[[O:[^ ]+]]: memref
tile.kernel @online(%s: tensor<64x32xf32>, %m: tensor<64xf32>, %l: tensor<64xf32>, %o: memref<?x?xf32>, %z: i64) {
  // CHECK: %[[BLOCK:.*]] = tile.reduce max %[[S]]
  // CHECK-NEXT: %[[M1:.*]] = arith.maxnumf %[[M]], %[[BLOCK]]
  // CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[M1]], %{{.*}}
  // CHECK: %[[REF:.*]] = arith.select %[[NONE]], %{{.*}}, %[[M1]]
  // CHECK-NEXT: %[[SPREAD:.*]] = tile.broadcast %[[REF]]
  // CHECK-NEXT: %[[D:.*]] = arith.subf %[[S]], %[[SPREAD]]
  // CHECK-NEXT: %[[C:.*]] = arith.constant dense<0.180336878> : tensor<64x32xf32>
  // CHECK-NEXT: %[[E:.*]] = arith.mulf %[[D]], %[[C]]
  // CHECK-NEXT: %[[P:.*]] = math.exp2 %[[E]]
  // CHECK: %[[DM:.*]] = arith.subf %[[M]], %[[REF]]
  // CHECK: %[[A:.*]] = math.exp2
  // CHECK-NEXT: %[[BLOCKSUM:.*]] = tile.reduce add %[[P]]
  // CHECK-NEXT: %[[OLD:.*]] = arith.mulf %[[L]], %[[A]]
  // CHECK-NEXT: %[[L1:.*]] = arith.addf %[[OLD]], %[[BLOCKSUM]]
  // CHECK-NEXT: tile.store %[[P]]
  // CHECK-NEXT: tile.store %[[M1]]
  // CHECK-NEXT: tile.store %[[L1]]
  // CHECK-NEXT: tile.store %[[A]]
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.125 : tensor<64x32xf32>, tensor<64xf32>
  tile.store %p, %o[%z, %z] axes [0, 1] : tensor<64x32xf32>, memref<?x?xf32>
  tile.store %m1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.store %l1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.store %a, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}

// The max moves, and the accumulator is rescaled, only where a row's max grew by more than the threshold.
// CHECK-LABEL: tile.kernel @threshold
// CHECK-SAME: %[[S:[^ ]+]]: tensor<64x32xf32>, %[[M:[^ ]+]]: tensor<64xf32>, %[[U:[^ ]+]]: tensor<64x16xf32>
tile.kernel @threshold(%s: tensor<64x32xf32>, %m: tensor<64xf32>, %u: tensor<64x16xf32>, %o: memref<?x?xf32>, %z: i64) {
  // CHECK: %[[BLOCK:.*]] = tile.reduce max %[[S]]
  // CHECK-NEXT: %[[MAX:.*]] = arith.maxnumf %[[M]], %[[BLOCK]]
  // CHECK-NEXT: %[[GROWTH:.*]] = arith.subf %[[BLOCK]], %[[M]]
  // CHECK: %[[LIMIT:.*]] = arith.constant dense<8.000000e+00> : tensor<64xf32>
  // CHECK: %[[GREW:.*]] = arith.cmpf ogt, %{{.*}}, %[[LIMIT]]
  // CHECK: %[[M1:.*]] = arith.select %[[GREW]], %[[MAX]], %[[M]]
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<64xf32>
  // CHECK: %[[A:.*]] = arith.select %[[GREW]], %{{.*}}, %[[ONE]]
  // CHECK: %[[SOME:.*]] = tile.any %[[GREW]] : tensor<64xi1>
  // CHECK-NEXT: scf.if %[[SOME]]
  // CHECK-NEXT: %[[F:.*]] = tile.broadcast %[[A]]
  // CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[U]], %[[F]]
  // CHECK-NEXT: scf.yield %[[SCALED]]
  // CHECK: else
  // CHECK-NEXT: scf.yield %[[U]]
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 0.125 threshold 8 : tensor<64x32xf32>, tensor<64xf32>
  %u1 = tile.scale_rows %u, %a : tensor<64x16xf32>, tensor<64xf32>
  tile.store %u1, %o[%z, %z] axes [0, 1] : tensor<64x16xf32>, memref<?x?xf32>
  tile.return
}

// A fixed reference is the max that the state has, or the block's own where it has none, or 0 where the block hides all: one multiply-add, one exponential and one addition an element.
// CHECK-LABEL: tile.kernel @fixed
// CHECK-SAME: %[[S:[^ ]+]]: tensor<64x32xf32>, %[[M:[^ ]+]]: tensor<64xf32>, %[[L:[^ ]+]]: tensor<64xf32>, %[[U:[^ ]+]]: tensor<64x16xf32>
tile.kernel @fixed(%s: tensor<64x32xf32>, %m: tensor<64xf32>, %l: tensor<64xf32>, %u: tensor<64x16xf32>, %o: memref<?x?xf32>, %z: i64) {
  // CHECK: %[[BLOCK:.*]] = tile.reduce max %[[S]]
  // CHECK: %[[HIDDEN:.*]] = arith.cmpf oeq, %[[BLOCK]], %{{.*}}
  // CHECK: %[[FIRST:.*]] = arith.select %[[HIDDEN]], %{{.*}}, %[[BLOCK]]
  // CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[M]], %{{.*}}
  // CHECK-NEXT: %[[MAX:.*]] = arith.select %[[NONE]], %[[FIRST]], %[[M]]
  // CHECK: %[[MINUS:.*]] = arith.constant dense<-0.180336878> : tensor<64xf32>
  // CHECK-NEXT: %[[SHIFT:.*]] = arith.mulf %[[MAX]], %[[MINUS]]
  // CHECK: %[[C:.*]] = arith.constant dense<0.180336878> : tensor<64x32xf32>
  // CHECK-NEXT: %[[SPREAD:.*]] = tile.broadcast %[[SHIFT]]
  // CHECK-NEXT: %[[E:.*]] = math.fma %[[S]], %[[C]], %[[SPREAD]]
  // CHECK-NEXT: %[[P:.*]] = math.exp2 %[[E]]
  // CHECK-NEXT: %[[SUM:.*]] = tile.reduce add %[[P]]
  // CHECK-NEXT: %[[L1:.*]] = arith.addf %[[L]], %[[SUM]]
  // Its rescale is 1 and vanishes.
  // CHECK-NOT: arith.mulf
  // CHECK: tile.store %[[U]]
  // CHECK-NEXT: tile.store %[[MAX]]
  // CHECK-NEXT: tile.store %[[L1]]
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.125 folded fixed from_first_block : tensor<64x32xf32>, tensor<64xf32>
  %u1 = tile.scale_rows %u, %a : tensor<64x16xf32>, tensor<64xf32>
  tile.store %u1, %o[%z, %z] axes [0, 1] : tensor<64x16xf32>, memref<?x?xf32>
  tile.store %m1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.store %l1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}

// The state of a first block has none.
// CHECK-LABEL: tile.kernel @first
// CHECK: %[[BLOCK:.*]] = tile.reduce max
// CHECK: %[[FIRST:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BLOCK]]
// CHECK-NOT: arith.select
// CHECK: arith.mulf %[[FIRST]], %{{.*}}
// CHECK: tile.store %[[FIRST]]
tile.kernel @first(%s: tensor<64x32xf32>, %l: tensor<64xf32>, %o: memref<?x?xf32>, %z: i64) {
  %m = arith.constant dense<0xFF800000> : tensor<64xf32>
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.125 folded fixed from_first_block : tensor<64x32xf32>, tensor<64xf32>
  tile.store %m1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}

// Of biased scores, that of the basis, and the largest bias.
// CHECK-LABEL: tile.kernel @basis
// CHECK-SAME: %[[S:[^ ]+]]: tensor<64x32xf32>, %[[B:[^ ]+]]: tensor<64x32xf32>, %[[BIAS:[^ ]+]]: tensor<64xf32>
// CHECK-NOT: tile.reduce max %[[S]]
// CHECK: %[[BLOCK:.*]] = tile.reduce max %[[B]]
// CHECK-NEXT: %[[FOUND:.*]] = arith.addf %[[BLOCK]], %[[BIAS]]
// CHECK: %[[FIRST:.*]] = arith.select %{{.*}}, %{{.*}}, %[[FOUND]]
// CHECK: math.fma %[[S]]
// CHECK: tile.store %[[FIRST]]
tile.kernel @basis(%s: tensor<64x32xf32>, %basis: tensor<64x32xf32>, %bias: tensor<64xf32>, %l: tensor<64xf32>, %o: memref<?x?xf32>, %z: i64) {
  %m = arith.constant dense<0xFF800000> : tensor<64xf32>
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %l scale 0.125 folded fixed from_first_block basis %basis : tensor<64x32xf32> bias %bias : tensor<64xf32> : tensor<64x32xf32>, tensor<64xf32>
  tile.store %m1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.store %l1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}

// That of a later one has one.
// CHECK-LABEL: tile.kernel @continued
// CHECK-SAME: %[[M:[^ ]+]]: tensor<64xf32>
// CHECK-NOT: tile.reduce max
// CHECK: arith.mulf %[[M]], %{{.*}}
// CHECK-NOT: tile.reduce max
// CHECK: tile.store %[[M]]
tile.kernel @continued(%s: tensor<64x32xf32>, %m: tensor<64xf32>, %o: memref<?x?xf32>, %z: i64) {
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 0.125 folded fixed from_first_block continued : tensor<64x32xf32>, tensor<64xf32>
  tile.store %m1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}

// Where a row's first key may be in a later block: only blocks with rows that have no reference look for one. It stays -inf where none is found, and counts as 0.
// CHECK-LABEL: tile.kernel @late
// CHECK-SAME: %[[S:[^ ]+]]: tensor<64x32xf32>, %[[M:[^ ]+]]: tensor<64xf32>
// CHECK: %[[NEW:.*]] = arith.cmpf oeq, %[[M]], %{{.*}}
// CHECK-NEXT: %[[ANY:.*]] = tile.any %[[NEW]]
// CHECK-NEXT: %[[MAX:.*]] = scf.if %[[ANY]]
// CHECK-NEXT: %[[BLOCK:.*]] = tile.reduce max %[[S]]
// CHECK-NEXT: %[[OWN:.*]] = arith.select %[[NEW]], %[[BLOCK]], %[[M]]
// CHECK-NEXT: scf.yield %[[OWN]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[M]]
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[MAX]], %{{.*}}
// CHECK: %[[R:.*]] = arith.select %[[NONE]], %{{.*}}, %[[MAX]]
// CHECK: arith.mulf %[[R]], %{{.*}}
// CHECK: tile.store %[[MAX]]
tile.kernel @late(%s: tensor<64x32xf32>, %m: tensor<64xf32>, %o: memref<?x?xf32>, %z: i64) {
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 0.125 folded fixed : tensor<64x32xf32>, tensor<64xf32>
  tile.store %m1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}

// Where it is known in which blocks that may be, no other looks.
// CHECK-LABEL: tile.kernel @late_in
// CHECK-SAME: %[[M:[^ ]+]]: tensor<64xf32>, %[[LATE:[^ ]+]]: i1
// CHECK: %[[MAX:.*]] = scf.if %[[LATE]]
// CHECK: %[[NEW:.*]] = arith.cmpf oeq, %[[M]], %{{.*}}
// CHECK: tile.any %[[NEW]]
// CHECK: scf.if
// CHECK: tile.reduce max
// CHECK: } else {
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[M]]
// CHECK: tile.store %[[MAX]]
tile.kernel @late_in(%s: tensor<64x32xf32>, %m: tensor<64xf32>, %late: i1, %o: memref<?x?xf32>, %z: i64) {
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 0.125 folded fixed late %late : tensor<64x32xf32>, tensor<64xf32>
  tile.store %m1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}

// Folded, the running max is a reference like another: the rescale is of the rounded shifts.
// CHECK-LABEL: tile.kernel @folded
// CHECK-SAME: %[[S:[^ ]+]]: tensor<64x32xf32>, %[[M:[^ ]+]]: tensor<64xf32>
// CHECK: %[[MAX:.*]] = arith.select %{{.*}}, %{{.*}}, %[[M]] : tensor<64xi1>, tensor<64xf32>
// CHECK: %[[R:.*]] = arith.select %{{.*}}, %{{.*}}, %[[MAX]] : tensor<64xi1>, tensor<64xf32>
// CHECK: %[[SHIFT:.*]] = arith.mulf %[[R]], %{{.*}} : tensor<64xf32>
// CHECK: %[[SPREAD:.*]] = tile.broadcast %[[SHIFT]]
// CHECK-NEXT: %[[E:.*]] = math.fma %[[S]], %{{.*}}, %[[SPREAD]]
// CHECK-NEXT: math.exp2 %[[E]]
// CHECK: %[[NEW:.*]] = arith.mulf %[[R]], %{{.*}}
// CHECK: %[[OLD:.*]] = arith.mulf %[[M]], %{{.*}}
// CHECK: %[[BY:.*]] = arith.subf %[[NEW]], %[[OLD]]
// CHECK-NEXT: math.exp2 %[[BY]]
tile.kernel @folded(%s: tensor<64x32xf32>, %m: tensor<64xf32>, %o: memref<?x?xf32>, %z: i64) {
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 0.125 threshold 8 folded : tensor<64x32xf32>, tensor<64xf32>
  tile.store %m1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.store %l1, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.store %a, %o[%z, %z] axes [0] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @rescale
// CHECK-SAME: %[[U:[^ ]+]]: tensor<64x16xf64>, %[[A:[^ ]+]]: tensor<64xf64>
tile.kernel @rescale(%u: tensor<64x16xf64>, %a: tensor<64xf64>, %o: memref<?x?xf64>, %z: i64) {
  // CHECK-NEXT: %[[F:.*]] = tile.broadcast %[[A]]
  // CHECK-NEXT: %[[R:.*]] = arith.mulf %[[U]], %[[F]]
  // CHECK-NEXT: tile.store %[[R]]
  %r = tile.scale_rows %u, %a : tensor<64x16xf64>, tensor<64xf64>
  tile.store %r, %o[%z, %z] axes [0, 1] : tensor<64x16xf64>, memref<?x?xf64>
  tile.return
}

// CHECK-LABEL: tile.kernel @merge
// CHECK-SAME: %[[M:[^ ]+]]: tensor<4xf32>, %[[N:[^ ]+]]: tensor<4xf32>, %[[U:[^ ]+]]: tensor<4x8xf32>, %[[V:[^ ]+]]: tensor<4x8xf32>
tile.kernel @merge(%m: tensor<4xf32>, %n: tensor<4xf32>, %u: tensor<4x8xf32>, %v: tensor<4x8xf32>, %o: memref<?x?xf32>, %z: i64) {
  // CHECK: %[[MAX:.*]] = arith.maxnumf %[[M]], %[[N]]
  // CHECK: %[[REF:.*]] = arith.select %{{.*}}, %{{.*}}, %[[MAX]]
  // CHECK: arith.subf %[[M]], %[[REF]]
  // CHECK: %[[A:.*]] = math.exp2
  // CHECK: arith.subf %[[N]], %[[REF]]
  // CHECK: %[[B:.*]] = math.exp2
  // CHECK: arith.mulf %[[M]], %[[A]]
  // CHECK-NEXT: arith.mulf %[[N]], %[[B]]
  // CHECK: tile.broadcast %[[A]]
  // CHECK-NEXT: arith.mulf %[[U]]
  // CHECK-NEXT: tile.broadcast %[[B]]
  // CHECK-NEXT: arith.mulf %[[V]]
  // CHECK-NEXT: %[[ACC:.*]] = arith.addf
  // CHECK-NEXT: tile.store %[[ACC]]
  %max, %sum, %acc = tile.merge (%m, %m, %u), (%n, %n, %v) scale 1.0 : tensor<4xf32>, tensor<4x8xf32>
  tile.store %acc, %o[%z, %z] axes [0, 1] : tensor<4x8xf32>, memref<?x?xf32>
  tile.return
}

// A factor of the program meets the constant one before it is spread over the elements.
// CHECK-LABEL: tile.kernel @times
// CHECK-SAME: %[[S:[^ ]+]]: tensor<64x32xf32>, %[[M:[^ ]+]]: tensor<64xf32>, %[[F:[^ ]+]]: f32
tile.kernel @times(%s: tensor<64x32xf32>, %m: tensor<64xf32>, %f: f32, %o: memref<?x?xf32>, %z: i64) {
  // CHECK: %[[MINUS:.*]] = arith.mulf %[[F]], %{{.*}} : f32
  // CHECK: %[[ROWS:.*]] = tensor.splat %[[MINUS]] : tensor<64xf32>
  // CHECK: %[[SHIFT:.*]] = arith.mulf %[[M]], %[[ROWS]]
  // CHECK: %[[PLUS:.*]] = arith.mulf %[[F]], %{{.*}} : f32
  // CHECK: %[[FACTOR:.*]] = tensor.splat %[[PLUS]] : tensor<64x32xf32>
  // CHECK: %[[SPREAD:.*]] = tile.broadcast %[[SHIFT]]
  // CHECK: math.fma %[[S]], %[[FACTOR]], %[[SPREAD]]
  %p, %m1, %l1, %a = tile.online_softmax %s, %m, %m scale 0.125 folded fixed from_first_block continued times %f : f32 : tensor<64x32xf32>, tensor<64xf32>
  tile.store %p, %o[%z, %z] axes [0, 1] : tensor<64x32xf32>, memref<?x?xf32>
  tile.return
}

// A row without a key gives 0 and -inf, whatever its accumulator holds.
// CHECK-LABEL: tile.kernel @finish
// CHECK-SAME: %[[M:[^ ]+]]: tensor<4xf32>, %[[L:[^ ]+]]: tensor<4xf32>, %[[U:[^ ]+]]: tensor<4x8xf32>
tile.kernel @finish(%m: tensor<4xf32>, %l: tensor<4xf32>, %u: tensor<4x8xf32>, %o: memref<?x?xf32>, %z: i64) {
  // CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[L]]
  // CHECK: %[[D:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[L]]
  // CHECK: arith.divf %{{.*}}, %[[D]]
  // CHECK: %[[OUT:.*]] = arith.select %{{.*}} : tensor<4x8xi1>, tensor<4x8xf32>
  // CHECK-NEXT: %[[LOG:.*]] = math.log %[[D]]
  // CHECK-NEXT: %[[REF:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[M]]
  // CHECK: arith.constant dense<0xFF800000> : tensor<4xf32>
  // CHECK: arith.constant dense<5.000000e-01> : tensor<4xf32>
  // CHECK: %[[LSE:.*]] = arith.select %[[EMPTY]]
  // CHECK-NEXT: tile.store %[[OUT]]
  // CHECK-NEXT: tile.store %[[LSE]]
  %out, %lse = tile.finish %m, %l, %u scale 0.5 : tensor<4xf32>, tensor<4x8xf32>
  tile.store %out, %o[%z, %z] axes [0, 1] : tensor<4x8xf32>, memref<?x?xf32>
  tile.store %lse, %o[%z, %z] axes [0] : tensor<4xf32>, memref<?x?xf32>
  tile.return
}

// Where the rows are a warp's own, it looks first whether it has such a row: the selects would take a hundredth of a short kernel's time.
// CHECK-LABEL: tile.kernel @finish_pipelined
// CHECK-SAME: %[[L:[^ ]+]]: tensor<64xf32>, %[[U:[^ ]+]]: tensor<64x64xf32>
tile.kernel @finish_pipelined(%l: tensor<64xf32>, %u: tensor<64x64xf32>, %o: memref<?x?xf32>, %z: i64)
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 64, block_n = 64, consumers = 1, stages = 2, q_stages = 1, producer_registers = 24, consumer_registers = 240, ping_pong = false, softmax = online>} {
  // CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[L]]
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[U]]
  // CHECK: %[[ANY:.*]] = tile.any %[[EMPTY]]
  // CHECK-NEXT: %[[OUT:.*]] = scf.if %[[ANY]] -> (tensor<64x64xf32>) {
  // CHECK: %[[ZEROED:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SCALED]]
  // CHECK-NEXT: scf.yield %[[ZEROED]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[SCALED]]
  // CHECK: tile.store %[[OUT]]
  %out, %lse = tile.finish %l, %l, %u scale 0.5 : tensor<64xf32>, tensor<64x64xf32>
  tile.store %out, %o[%z, %z] axes [0, 1] : tensor<64x64xf32>, memref<?x?xf32>
  tile.return
}
