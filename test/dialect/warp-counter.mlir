// Tiles from a counter, sums apart by lane, and rows to be computed again: through text twice, and through the generic form.
// RUN: tegula-opt %s | FileCheck %s

!mem = memref<?x?x64xbf16, strided<[?, ?, ?]>>
!rows = tensor<64xf32, #warp.rows>

// CHECK-LABEL: warp.kernel @counter
warp.kernel @counter(%n: i64) {
  // CHECK-NEXT: warp.queue consumers 2 {offset = 64 : i64}
  warp.queue consumers 2 {offset = 64 : i64}
  warp.roles {
    warp.role "compute" warpgroups 2 registers 0 {
      // CHECK: warp.for_tiles %[[T:.*]] of %{{.*}} {
      warp.for_tiles %t of %n {
        // CHECK-NEXT: warp.uniform %[[T]]
        %u = warp.uniform %t
      // CHECK: } {dynamic}
      } {dynamic}
    }
  }
  warp.return
}

// CHECK-LABEL: func.func @sums
// CHECK-SAME: %[[P:.*]]: tensor<64x32xf32, #warp.fragment>
func.func @sums(%p: tensor<64x32xf32, #warp.fragment>) {
  // CHECK-NEXT: %[[L:.*]] = warp.partial_sum %[[P]] : tensor<64x32xf32, #warp.fragment> -> tensor<64xf32, #warp.rows>
  %l = warp.partial_sum %p : tensor<64x32xf32, #warp.fragment> -> !rows
  // CHECK-NEXT: warp.complete_sum %[[L]] : tensor<64xf32, #warp.rows>
  %s = warp.complete_sum %l : !rows
  return
}

// CHECK-LABEL: func.func @marks
// CHECK-SAME: %[[O:[^ ]+]]: memref<{{.*}}>, %[[I:[^ ]+]]: i64, %[[FLAG:[^ ]+]]: i1, %[[FLAGS:[^ ]+]]: tensor<64xi1, #warp.rows>)
func.func @marks(%o: !mem, %i: i64, %flag: i1, %flags: tensor<64xi1, #warp.rows>) {
  // CHECK-NEXT: warp.thread
  %thread = warp.thread
  // CHECK-NEXT: warp.vote %[[FLAG]] : i1
  %any = warp.vote %flag : i1
  // CHECK-NEXT: warp.vote %[[FLAGS]] : tensor<64xi1, #warp.rows>
  %some = warp.vote %flags : tensor<64xi1, #warp.rows>
  // CHECK-NEXT: warp.mark %[[O]][%[[I]], %[[I]], %[[I]]] : memref<?x?x64xbf16, strided<[?, ?, ?]>>
  warp.mark %o[%i, %i, %i] : !mem
  // CHECK-NEXT: warp.is_marked %[[O]][%[[I]], %[[I]], %[[I]]] : memref<?x?x64xbf16, strided<[?, ?, ?]>>
  %marked = warp.is_marked %o[%i, %i, %i] : !mem
  // CHECK-NEXT: warp.claim %[[O]][%[[I]], %[[I]], %[[I]]] axis 1 : memref<?x?x64xbf16, strided<[?, ?, ?]>>
  %mine = warp.claim %o[%i, %i, %i] axis 1 : !mem
  return
}
