// RUN: tegula-opt %s --split-input-file --verify-diagnostics --tegula-cpu-hoist-buffers | FileCheck %s

// CHECK-LABEL: func.func @loops(
// CHECK-NEXT: %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT: %[[B:.*]] = memref.alloc() : memref<8xf32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: memref.dealloc %[[B]]
// CHECK-NEXT: memref.dealloc %[[A]]
// CHECK-NEXT: return
func.func @loops(%n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<4xf32>
    memref.store %x, %a[%c0] : memref<4xf32>
    scf.for %j = %c0 to %n step %c1 {
      %b = memref.alloc() : memref<8xf32>
      memref.store %x, %b[%c0] : memref<8xf32>
    }
  }
  return
}

// -----

func.func @dynamic(%n: index) {
  // expected-error @below {{internal: expected a tile of static shape, but got 'memref<?xf32>'}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}
