// A block's work may be under a branch, for warpgroups that leave it out: where that is known to be taken, so are the tests in it.
// RUN: tegula-opt %s --tegula-split-blocks --canonicalize | FileCheck %s

!slot = !warp.slot<64x64xbf16>
!tile = tensor<64x64xf32, #warp.fragment>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

// CHECK-LABEL: warp.kernel @parts
warp.kernel @parts(%o: memref<?x64xf32>, %count: i64, %free: i64, %bits: i64) {
  %r = warp.ring "k" copies 1 consumers 2 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 2 registers 240 {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %hidden = arith.constant dense<0xFF800000> : !tile
      // CHECK: %[[FREE:.*]] = scf.for %{{.*}} = %c0_i64 to %[[END:.*]] step %c1_i64
      // CHECK-NOT: scf.if
      // CHECK: warp.release
      // CHECK-NOT: warp.release
      // CHECK: scf.for %[[B:.*]] = %[[END]] to %arg1 step %c1_i64 iter_args(%[[S:.*]] = %[[FREE]])
      // CHECK: %[[FIRST:.*]] = arith.cmpi slt, %[[B]], %arg2
      // CHECK: %[[MATTERS:.*]] = arith.ori %[[FIRST]]
      // CHECK: scf.if %[[MATTERS]]
      // CHECK: warp.mma
      // CHECK: scf.if
      // CHECK: } else {
      // CHECK: } else {
      // CHECK-NEXT: warp.release
      // CHECK-NEXT: scf.yield %[[S]]
      // CHECK-NOT: scf.for
      // CHECK: warp.return
      %t = scf.for %b = %zero to %count step %one iter_args(%s = %hidden) -> (!tile) : i64 {
        %k = warp.wait %r[%b] copy %zero : !warp.ring<64x64xbf16, stages 2>
        %note:4 = warp.read_note %r[%b] copy %zero : !warp.ring<64x64xbf16, stages 2> -> i64, i64, i64, i64
        %bit = arith.andi %note#3, %bits : i64
        %sees = arith.cmpi ne, %bit, %zero : i64
        %first = arith.cmpi slt, %b, %free : i64
        %matters = arith.ori %first, %sees : i1
        %next = scf.if %matters -> (!tile) {
          %p = warp.mma %k, %k transpose_b : !slot, !slot -> !pending
          %a = warp.await %p : !pending
          warp.release %r[%b] copy %zero : !warp.ring<64x64xbf16, stages 2>
          %tested = arith.cmpi sge, %b, %free : i64
          %masked = scf.if %tested -> (!tile) {
            %m = arith.addf %a, %hidden : !tile
            scf.yield %m : !tile
          } else {
            scf.yield %a : !tile
          }
          %sum = arith.maximumf %s, %masked : !tile
          scf.yield %sum : !tile
        } else {
          warp.release %r[%b] copy %zero : !warp.ring<64x64xbf16, stages 2>
          scf.yield %s : !tile
        }
        scf.yield %next : !tile
      }
      tile.store %t, %o[%zero, %zero] axes [0, 1] : !tile, memref<?x64xf32>
    }
  }
  warp.return
}
