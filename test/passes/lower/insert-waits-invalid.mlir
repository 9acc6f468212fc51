// RUN: tegula-opt %s --tegula-insert-waits -verify-diagnostics -split-input-file

!slot = !warp.slot<64x64xbf16>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

warp.kernel @elsewhere(%c: i1) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %s = warp.wait %r[%zero] copy %zero : !warp.ring<64x64xbf16, stages 2>
      %a = warp.mma %s, %s : !slot, !slot -> !pending
      scf.if %c {
        // expected-error@+1 {{constraint 1: expected the matrix op in the same block}}
        %ta = warp.await %a : !pending
      }
    }
  }
  warp.return
}

// -----

!slot = !warp.slot<64x64xbf16>
!pending = !warp.pending<tensor<64x64xf32, #warp.fragment>>

warp.kernel @uncounted(%c: i1) {
  %r = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %s = warp.wait %r[%zero] copy %zero : !warp.ring<64x64xbf16, stages 2>
      %a = warp.mma %s, %s : !slot, !slot -> !pending
      // expected-note@+1 {{this region issues some between the matrix op and its await}}
      scf.if %c {
        %b = warp.mma %s, %s : !slot, !slot -> !pending
        %tb = warp.await %b : !pending
      }
      // expected-error@+1 {{the matrix ops in flight cannot be counted}}
      %ta = warp.await %a : !pending
    }
  }
  warp.return
}
