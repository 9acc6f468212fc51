// Of 16 exponentials, as many as the schedule says are polynomials, evenly spread; what is smaller than a block's part stays.
// RUN: tegula-opt %s -allow-unregistered-dialect --pass-pipeline='builtin.module(llvm.func(tegula-share-exponentials))' | FileCheck %s

// CHECK-LABEL: llvm.func @shared
// CHECK-NOT: tile.polynomial
llvm.func @shared(%x: vector<16xf32>, %few: vector<2xf32>) attributes {tile.polynomial = 3 : i64} {
  // CHECK: %[[REST:.*]] = vector.shuffle %arg0, %arg0 [1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 14, 15]
  // CHECK: %[[E:.*]] = math.exp2 %[[REST]] : vector<13xf32>
  // CHECK: %[[SOME:.*]] = vector.shuffle %arg0, %arg0 [0, 6, 11]
  // CHECK: arith.maximumf %[[SOME]]
  // CHECK-COUNT-4: math.fma
  // CHECK: %[[P:.*]] = arith.bitcast %{{.*}} : vector<3xi32> to vector<3xf32>
  // CHECK: %[[Y:.*]] = vector.shuffle %[[E]], %[[P]] [13, 0, 1, 2, 3, 4, 14, 5, 6, 7, 8, 15, 9, 10, 11, 12]
  %y = math.exp2 %x : vector<16xf32>
  // CHECK: math.exp2 %arg1 : vector<2xf32>
  %z = math.exp2 %few : vector<2xf32>
  // CHECK: "test.use"(%[[Y]],
  "test.use"(%y, %z) : (vector<16xf32>, vector<2xf32>) -> ()
  llvm.return
}

// CHECK-LABEL: llvm.func @exact
llvm.func @exact(%x: vector<16xf32>) {
  // CHECK-NEXT: math.exp2 %arg0 : vector<16xf32>
  %y = math.exp2 %x : vector<16xf32>
  "test.use"(%y) : (vector<16xf32>) -> ()
  llvm.return
}
