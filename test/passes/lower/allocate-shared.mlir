// Tiles first, each slot in whole panels of 64 columns, then one full and one empty barrier a slot; 1024 bytes to align the base.
// RUN: tegula-opt %s --tegula-allocate-shared | FileCheck %s

// CHECK-LABEL: warp.kernel @three() attributes {shared = [{buffer = "q", bytes = 16384 : i64, slots = 2 : i64},
// CHECK-SAME: {buffer = "k", bytes = 98304 : i64, slots = 3 : i64}, {buffer = "v", bytes = 2048 : i64, slots = 1 : i64},
// CHECK-SAME: {buffer = "barriers", bytes = 96 : i64, slots = 12 : i64}, {buffer = "alignment", bytes = 1024 : i64, slots = 1 : i64}], shared_bytes = 117856 : i64} {
warp.kernel @three() {
  // CHECK-NEXT: warp.ring "q" copies 2 consumers 2 {barriers = 116736 : i64, offset = 0 : i64}
  %q = warp.ring "q" copies 2 consumers 2 : !warp.ring<64x64xbf16, stages 1>
  // CHECK-NEXT: warp.ring "k" copies 1 consumers 2 {barriers = 116768 : i64, offset = 16384 : i64}
  %k = warp.ring "k" copies 1 consumers 2 : !warp.ring<128x72xbf16, stages 3>
  // CHECK-NEXT: warp.ring "v" copies 1 consumers 2 {barriers = 116816 : i64, offset = 114688 : i64}
  %v = warp.ring "v" copies 1 consumers 2 {offset = 7 : i64} : !warp.ring<16x16xf16, stages 1>
  warp.return
}

// The queue of tile numbers stands behind the barriers: two numbers, two full and two empty barriers.
// CHECK-LABEL: warp.kernel @queue() attributes {{.*}}buffer = "tile numbers"{{.*}}shared_bytes = 5200 : i64} {
warp.kernel @queue() {
  // CHECK-NEXT: warp.queue consumers 2 {offset = 4128 : i64}
  warp.queue consumers 2
  // CHECK-NEXT: warp.ring "x" copies 1 consumers 2 {barriers = 4096 : i64, offset = 0 : i64}
  %r = warp.ring "x" copies 1 consumers 2 : !warp.ring<16x64xf16, stages 2>
  warp.return
}

// CHECK-LABEL: warp.kernel @none() attributes {shared = [], shared_bytes = 0 : i64} {
warp.kernel @none() {
  warp.return
}
