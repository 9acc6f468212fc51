// RUN: tegula-opt %s --split-input-file --tegula-cpu-fuse-elementwise | FileCheck %s

// One loop nest for a tree: masks, scores, broadcasts and splats become scalar code; the result goes over an input of its type.
// CHECK: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @tree(
// CHECK-SAME: %[[S:.*]]: tensor<4x8xf32>, %[[M:.*]]: tensor<4xf32>, %[[M0:.*]]: i64, %[[N0:.*]]: i64)
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]], #[[ALL]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%[[S]], %[[M]] : {{.*}}) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: ^bb0(%[[X:.*]]: f32, %[[MAX:.*]]: f32, %{{.*}}: f32):
// CHECK-DAG: %[[I:.*]] = linalg.index 0
// CHECK-DAG: %[[J:.*]] = linalg.index 1
// CHECK: arith.cmpi sge
// CHECK: %[[CAPPED:.*]] = math.tanh %[[X]] : f32
// CHECK: %[[V:.*]] = arith.select %{{.*}}, %[[CAPPED]], %{{.*}} : f32
// CHECK: %[[D:.*]] = arith.subf %[[V]], %[[MAX]] : f32
// CHECK: math.exp %[[D]] : f32
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]
func.func @tree(%s: tensor<4x8xf32>, %m: tensor<4xf32>, %m0: i64, %n0: i64) -> tensor<4x8xf32> {
  %keep = tile.mask rows(%m0) cols(%n0) { ^bb0(%i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64  tile.yield %c : i1 } : tensor<4x8xi1>
  %capped = tile.map %s rows(%m0) cols(%n0) { ^bb0(%x: f32, %i: i64, %j: i64): %t = math.tanh %x : f32  tile.yield %t : f32 } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %hidden = arith.constant dense<0xFF800000> : tensor<4x8xf32>
  %x = arith.select %keep, %capped, %hidden : tensor<4x8xi1>, tensor<4x8xf32>
  %rows = tile.broadcast %m : tensor<4xf32> -> tensor<4x8xf32>
  %d = arith.subf %x, %rows : tensor<4x8xf32>
  %e = math.exp %d : tensor<4x8xf32>
  return %e : tensor<4x8xf32>
}

// -----

// A tile with two users is computed once; a reduction takes its producer in. The identity of max is NaN, that of add is 0.
// CHECK-LABEL: func.func @reductions(
// CHECK: %[[E:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: %[[START:.*]] = linalg.fill ins(%{{.*}}) outs
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[E]] : tensor<4x8xf32>) outs(%[[START]]
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK: arith.addf %{{.*}}, %[[ROOT]]
// CHECK: arith.constant 0x7FC00000 : f32
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[E]] : tensor<4x8xf32>)
// CHECK: arith.maxnumf
func.func @reductions(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = math.exp %x : tensor<4x8xf32>
  %root = math.sqrt %e : tensor<4x8xf32>
  %sum = tile.reduce add %root : tensor<4x8xf32> -> tensor<4xf32>
  %max = tile.reduce max %e : tensor<4x8xf32> -> tensor<4xf32>
  return %sum, %max : tensor<4xf32>, tensor<4xf32>
}

// -----

// What a loop does not change moves before it; what it carries is computed in place; splats that others use are filled.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4xbf16>
// CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4xbf16>)
// CHECK: %[[FILLED:.*]] = linalg.fill
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %[[FILLED]])
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[WIDE]], %{{.*}} : {{.*}}) outs(%[[A]] : tensor<4xf32>)
func.func @loop(%x: tensor<4xbf16>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> tensor<4xf32> {
    %w = arith.extf %x : tensor<4xbf16> to tensor<4xf32>
    %t = tensor.empty() : tensor<4xf32>
    %copy = linalg.copy ins(%w : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
    %b = arith.addf %a, %w : tensor<4xf32>
    %c = arith.mulf %b, %copy : tensor<4xf32>
    scf.yield %c : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Broadcasts and transposes are maps on what is read, lane numbers are indices; one tile may be read at two places.
// CHECK-DAG: #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[COL:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[UNIT:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @maps(
// CHECK-SAME: %[[X:.*]]: tensor<4x4xf32>, %[[R:.*]]: tensor<4xf32>, %[[C:.*]]: tensor<4x1xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[SAME]], #[[TURNED]], #[[COL]], #[[UNIT]], #[[SAME]]]
// CHECK-SAME: ins(%[[X]], %[[X]], %[[R]], %[[C]] :
// CHECK: %[[I:.*]] = linalg.index 1
// CHECK: arith.index_cast %[[I]] : index to i32
// CHECK-NOT: tile.
func.func @maps(%x: tensor<4x4xf32>, %r: tensor<4xf32>, %c: tensor<4x1xf32>) -> tensor<4x4xf32> {
  %t = tile.transpose %x permutation [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %a = arith.addf %x, %t : tensor<4x4xf32>
  %cols = tile.broadcast %r axes [1] : tensor<4xf32> -> tensor<4x4xf32>
  %b = arith.mulf %a, %cols : tensor<4x4xf32>
  %rows = tile.broadcast %c axes [0, 1] : tensor<4x1xf32> -> tensor<4x4xf32>
  %d = arith.subf %b, %rows : tensor<4x4xf32>
  %lanes = tile.iota : tensor<4xi32>
  %j = tile.broadcast %lanes axes [1] : tensor<4xi32> -> tensor<4x4xi32>
  %f = arith.sitofp %j : tensor<4x4xi32> to tensor<4x4xf32>
  %e = arith.divf %d, %f : tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// -----

// Along another axis, to a scalar, and by a function; argmax carries the largest element and its place.
// CHECK-LABEL: func.func @axes(
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : tensor<4x8xi32>) outs(%{{.*}} : tensor<8xi32>)
// CHECK: arith.addi
// CHECK: %[[BEST:.*]]:2 = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[SUM]] : {{.*}}) outs(%{{.*}}, %{{.*}} : tensor<i32>, tensor<i32>)
// CHECK: arith.cmpi sgt
// CHECK: %[[PLACE:.*]] = tensor.extract %[[BEST]]#1[]
// CHECK: linalg.fill ins(%[[INIT:.*]] : i32)
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]}
// CHECK: arith.muli
func.func @axes(%x: tensor<4x8xi32>, %init: i32) -> (i32, i32) {
  %sum = tile.reduce add %x axis 0 : tensor<4x8xi32> -> tensor<8xi32>
  %place = tile.reduce argmax %sum : tensor<8xi32> -> i32
  %product = tile.combine %sum init %init axis 0 {
  ^bb0(%a: i32, %b: i32):
    %c = arith.muli %a, %b : i32
    tile.yield %c : i32
  } : tensor<8xi32> -> i32
  return %place, %product : i32, i32
}
