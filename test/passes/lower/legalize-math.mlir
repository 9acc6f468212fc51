// RUN: tegula-opt --tegula-legalize-math %s | FileCheck %s
// RUN: tegula-opt --tegula-legalize-math=approximate-tanh %s | FileCheck %s --check-prefix=NEAR

// 2^(x log2(e)), and by how much the rounded exponent is off. NaN passes the bounds.
// CHECK-LABEL: func @exp
// CHECK: %[[LOW:.+]] = arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK: %[[BOUNDED:.+]] = arith.minimumf %[[LOW]]
// CHECK: %[[T:.+]] = arith.mulf %[[BOUNDED]]
// CHECK: math.fma %[[T]], %{{.*}}, %[[BOUNDED]]
// CHECK: %[[REST:.+]] = math.fma %[[T]]
// CHECK: %[[POWER:.+]] = math.exp2 %[[T]] : f32
// CHECK: math.fma %[[POWER]], %[[REST]], %[[POWER]]
// CHECK-NOT: math.exp
func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// Instructions without a vector form are taken element by element, the rest stays whole.
// CHECK-LABEL: func @log_vector
// CHECK: math.fma %{{.*}} : vector<2xf32>
// CHECK: %[[E:.+]]:2 = vector.to_elements %{{.*}} : vector<2xf32>
// CHECK: %[[A:.+]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%[[E]]#0)
// CHECK: %[[B:.+]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%[[E]]#1)
// CHECK: vector.from_elements %[[A]], %[[B]] : vector<2xf32>
// CHECK: arith.select %{{.*}} : vector<2xi1>, vector<2xf32>
func.func @log_vector(%x: vector<2xf32>) -> vector<2xf32> {
  %0 = math.log %x : vector<2xf32>
  return %0 : vector<2xf32>
}

// CHECK-LABEL: func @tanh
// CHECK: math.exp2
// CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK: math.copysign
// NEAR-LABEL: func @tanh
// NEAR-NEXT: %[[Y:.*]] = llvm.inline_asm "tanh.approx.f32 $0, $1;", "=f,f" %{{.*}} : (f32) -> f32
// NEAR-NEXT: return %[[Y]]
func.func @tanh(%x: f32) -> f32 {
  %0 = math.tanh %x : f32
  return %0 : f32
}

// NEAR-LABEL: func @tanh_vector
// NEAR: vector.to_elements
// NEAR-COUNT-2: "tanh.approx.f32 $0, $1;"
// NEAR: arith.truncf
func.func @tanh_vector(%x: vector<2xbf16>) -> vector<2xbf16> {
  %0 = math.tanh %x : vector<2xbf16>
  return %0 : vector<2xbf16>
}

// 16-bit types go through f32.
// CHECK-LABEL: func @exp2_bf16
// CHECK: %[[WIDE:.+]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[POWER:.+]] = math.exp2 %[[WIDE]] : f32
// CHECK: arith.truncf %[[POWER]] : f32 to bf16
func.func @exp2_bf16(%x: bf16) -> bf16 {
  %0 = math.exp2 %x : bf16
  return %0 : bf16
}

// Not the correctly rounded division, which is a dozen instructions and a branch.
// CHECK-LABEL: func @division
// CHECK: %[[X:.+]]:2 = vector.to_elements %arg0
// CHECK: %[[Y:.+]]:2 = vector.to_elements %arg1
// CHECK: llvm.call_intrinsic "llvm.nvvm.div.full.ftz"(%[[X]]#0, %[[Y]]#0)
// CHECK: llvm.call_intrinsic "llvm.nvvm.div.full.ftz"(%[[X]]#1, %[[Y]]#1)
func.func @division(%x: vector<2xf32>, %y: vector<2xf32>) -> vector<2xf32> {
  %0 = arith.divf %x, %y : vector<2xf32>
  return %0 : vector<2xf32>
}

// One quotient for all elements stays as it is, as do those of f64.
// CHECK-LABEL: func @division_exact
// CHECK: arith.divf %{{.*}} : f32
// CHECK: arith.divf %{{.*}} : vector<2xf64>
func.func @division_exact(%x: f32, %y: f32, %z: vector<2xf64>) -> (f32, vector<2xf64>) {
  %0 = arith.divf %x, %y : f32
  %1 = arith.divf %z, %z : vector<2xf64>
  return %0, %1 : f32, vector<2xf64>
}

// CHECK-LABEL: func @floored
// CHECK-NOT: arith.floordivsi
// CHECK: arith.divsi
func.func @floored(%a: i64, %b: i64) -> i64 {
  %0 = arith.floordivsi %a, %b : i64
  return %0 : i64
}

// What selects is left alone.
// CHECK-LABEL: func @legal
// CHECK-NEXT: math.exp2
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.floor
// CHECK-NEXT: arith.maximumf
// CHECK-NEXT: return
func.func @legal(%x: f32) -> f32 {
  %0 = math.exp2 %x : f32
  %1 = math.sqrt %0 : f32
  %2 = math.absf %1 : f32
  %3 = math.floor %2 : f32
  %4 = arith.maximumf %3, %x : f32
  return %4 : f32
}
