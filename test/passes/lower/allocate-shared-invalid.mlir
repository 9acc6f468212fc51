// RUN: tegula-opt %s --tegula-allocate-shared -verify-diagnostics -split-input-file
// RUN: not tegula-opt %s --tegula-allocate-shared=target=sm_12 2>&1 | FileCheck %s
// CHECK: error: expected a known architecture (sm_90a), but got 'sm_12'

// expected-error@+1 {{needs 246928 bytes of shared memory, but sm_90a has 232448 a block}}
warp.kernel @big() {
  // expected-note@+1 {{ring `q`: 16384 bytes in 2 slots}}
  %q = warp.ring "q" copies 2 consumers 2 : !warp.ring<64x64xbf16, stages 1>
  // expected-note@+1 {{ring `k`: 229376 bytes in 7 slots}}
  %k = warp.ring "k" copies 1 consumers 2 : !warp.ring<128x128xbf16, stages 7>
  warp.return
}

// -----

// What setmaxnreg hands out is what the launch holds: 168 a thread, 504 in each lane of three warpgroups.
// expected-error@+1 {{its roles need 65536 registers, but 3 warpgroups hold 64512 at their launch on sm_90a}}
warp.kernel @greedy() {
  warp.roles {
    warp.role "load" warpgroups 1 registers 32 elected {
    }
    warp.role "compute" warpgroups 2 registers 240 {
    }
  }
  warp.return
}
