// RUN: tegula-opt %s --tegula-cpu-legalize-floats | FileCheck %s

// CHECK-LABEL: func.func @arithmetic(
// CHECK-SAME: %[[X:.*]]: bf16, %[[Y:.*]]: bf16)
// CHECK: %[[A:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK: %[[B:.*]] = arith.extf %[[Y]] : bf16 to f32
// CHECK: %[[C:.*]] = arith.mulf %[[A]], %[[B]] : f32
// CHECK: %[[D:.*]] = arith.truncf %[[C]] : f32 to bf16
// CHECK: return %[[D]]
func.func @arithmetic(%x: bf16, %y: bf16) -> bf16 {
  %z = arith.mulf %x, %y : bf16
  return %z : bf16
}

// A comparison has a result of its own type.
// CHECK-LABEL: func.func @comparison(
// CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : f32
func.func @comparison(%x: f16, %y: f16) -> i1 {
  %z = arith.cmpf olt, %x, %y : f16
  return %z : i1
}

// CHECK-LABEL: func.func @wide(
// CHECK: %[[W:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: arith.extf %[[W]] : f32 to f64
func.func @wide(%x: f16) -> f64 {
  %z = arith.extf %x : f16 to f64
  return %z : f64
}

// Through f32 whose last bit is set where it is inexact.
// CHECK-LABEL: func.func @round_once(
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.cmpf one
// CHECK: %[[ODD:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: arith.truncf %[[ODD]] : f32 to bf16
func.func @round_once(%x: f64) -> bf16 {
  %z = arith.truncf %x : f64 to bf16
  return %z : bf16
}
