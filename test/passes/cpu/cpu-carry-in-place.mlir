// RUN: tegula-opt %s --tegula-cpu-carry-in-place | FileCheck %s

// CHECK-LABEL: func.func @new_value(
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}})
// CHECK: %[[Y:.*]] = linalg.map
// CHECK: %[[Z:.*]] = bufferization.materialize_in_destination %[[Y]] in %[[X]]
// CHECK: scf.yield %[[Z]]
func.func @new_value(%x0: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %x0) -> tensor<4xf32> {
    %t = tensor.empty() : tensor<4xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>)
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A tile that comes in another argument's buffer is copied before either is overwritten.
// CHECK-LABEL: func.func @swap(
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}})
// CHECK: %[[A:.*]] = bufferization.alloc_tensor() copy(%[[Y]])
// CHECK: %[[B:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK: bufferization.materialize_in_destination %[[A]] in %[[X]]
// CHECK: bufferization.materialize_in_destination %[[B]] in %[[Y]]
func.func @swap(%x0: tensor<4xf32>, %y0: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %x0, %y = %y0) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %y, %x : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// A branch gives tiles in buffers of its own: what it computes in one stays, what it passes on is copied.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %{{.*}}: i1)
// CHECK: scf.if
// CHECK: %[[Y:.*]] = linalg.map
// CHECK-NEXT: scf.yield %[[Y]]
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK-NEXT: scf.yield %[[COPY]]
func.func @branch(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %t = tensor.empty() : tensor<4xf32>
    %y = linalg.map { math.exp } ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>)
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The result of an inner loop, which starts from the argument and may read it in between.
// CHECK-LABEL: func.func @nested(
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}})
// CHECK: %[[INNER:.*]] = scf.for
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[INNER]])
// CHECK: bufferization.materialize_in_destination %[[COPY]] in %[[X]]
func.func @nested(%x0: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %x0) -> tensor<4xf32> {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<4xf32> {
      %t = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
      scf.yield %t : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
