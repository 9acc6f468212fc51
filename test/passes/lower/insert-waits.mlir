// The number of younger matrix ops at an await, read off the order of the program.
// RUN: tegula-opt %s --tegula-insert-waits | FileCheck %s

!slot = !warp.slot<64x64xbf16>
!fragment = tensor<64x64xf32, #warp.fragment>
!pending = !warp.pending<!fragment>

// CHECK-LABEL: warp.kernel @counts
warp.kernel @counts(%x: memref<?x64xbf16>) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %s = warp.wait %r[%zero] copy %zero : !warp.ring<64x64xbf16, stages 2>
      // CHECK: %[[A:.*]] = warp.mma
      %a = warp.mma %s, %s : !slot, !slot -> !pending
      // CHECK-NEXT: warp.await %[[A]] {in_flight = 0 : i64}
      %ta = warp.await %a : !pending
      // Awaited in the order of issue: one more runs at the first await, none at the second.
      // CHECK: %[[B:.*]] = warp.mma
      // CHECK-NEXT: %[[C:.*]] = warp.mma
      %b = warp.mma %s, %s : !slot, !slot -> !pending
      %c = warp.mma %s, %s : !slot, !slot -> !pending
      // CHECK-NEXT: warp.await %[[B]] {in_flight = 1 : i64}
      %tb = warp.await %b : !pending
      // CHECK-NEXT: warp.await %[[C]] {in_flight = 0 : i64}
      %tc = warp.await %c : !pending
      // Against the order of issue: nothing younger runs.
      // CHECK: %[[D:.*]] = warp.mma
      // CHECK-NEXT: %[[E:.*]] = warp.mma
      // CHECK-NEXT: %[[F:.*]] = warp.mma
      %d = warp.mma %s, %s : !slot, !slot -> !pending
      %e = warp.mma %s, %s : !slot, !slot -> !pending
      %f = warp.mma %s, %s : !slot, !slot -> !pending
      // CHECK-NEXT: warp.await %[[F]] {in_flight = 0 : i64}
      %tf = warp.await %f : !pending
      // CHECK-NEXT: warp.await %[[D]] {in_flight = 2 : i64}
      %td = warp.await %d : !pending
      // A number that is there is computed again.
      // CHECK-NEXT: warp.await %[[E]] {in_flight = 1 : i64}
      %te = warp.await %e {in_flight = 7 : i64} : !pending
      // What reads global memory is synchronous and does not count.
      // CHECK: %[[G:.*]] = warp.mma
      // CHECK-NEXT: warp.mma
      %t = warp.global %x[%zero, %zero] axes [0, 1] : memref<?x64xbf16> -> !warp.global<64x64xbf16>
      %q = arith.constant dense<0.0> : tensor<64x64xbf16, #warp.fragment>
      %g = warp.mma %s, %s : !slot, !slot -> !pending
      %h = warp.mma %q, %t : tensor<64x64xbf16, #warp.fragment>, !warp.global<64x64xbf16> -> !pending
      // CHECK-NEXT: warp.await %[[G]] {in_flight = 0 : i64}
      %tg = warp.await %g : !pending
    }
  }
  warp.return
}
