// Every op, type and attribute of the warp dialect, through text twice, and through the generic form.
// RUN: tegula-opt %s | FileCheck %s

!mem = memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>>
!kring = !warp.ring<128x64xbf16, stages 2>
!scores = tensor<64x128xf32, #warp.fragment>

// CHECK-LABEL: warp.kernel @pipeline(%{{.*}}: i64 {tile.dim = "N"}) attributes {shared_bytes = 4096 : i64} {
warp.kernel @pipeline(%x: !mem {tile.name = "x"}, %n: i64 {tile.dim = "N"}) attributes {shared_bytes = 4096 : i64} {
  // CHECK-NEXT: %[[Q:.*]] = warp.ring "q" copies 2 consumers 2 : <64x64xbf16, stages 1>
  %qr = warp.ring "q" copies 2 consumers 2 : !warp.ring<64x64xbf16, stages 1>
  // CHECK-NEXT: %[[K:.*]] = warp.ring "k" copies 1 consumers 2 {barriers = 1024 : i64, offset = 0 : i64} : <128x64xbf16, stages 2>
  %kr = warp.ring "k" copies 1 consumers 2 {offset = 0 : i64, barriers = 1024 : i64} : !kring
  %zero = arith.constant 0 : i64
  // CHECK: warp.roles {
  warp.roles {
    // CHECK-NEXT: warp.role "load" warpgroups 1 registers 24 elected {
    warp.role "load" warpgroups 1 registers 24 elected {
      // CHECK-NEXT: %{{.*}} = warp.for_tiles %[[T:.*]] of %[[N:.*]] iter_args(%[[C:.*]] = %{{.*}}) -> (i64) {
      %r = warp.for_tiles %t of %n iter_args(%c = %zero) -> (i64) {
        // CHECK-NEXT: %[[S:.*]] = warp.acquire %[[K]][%[[C]]] copy %[[ZERO:.*]] : <128x64xbf16, stages 2>
        %s = warp.acquire %kr[%c] copy %zero : !kring
        // CHECK-NEXT: warp.copy engine(tma) %{{.*}}[%[[T]], %[[ZERO]], %[[ZERO]], %[[ZERO]]] axes [2, 3] to %[[S]] of %[[K]][%[[C]]] copy %[[ZERO]] : memref<{{.*}}>, <128x64xbf16>, <128x64xbf16, stages 2>
        warp.copy engine(tma) %x[%t, %zero, %zero, %zero] axes [2, 3] to %s of %kr[%c] copy %zero : !mem, !warp.slot<128x64xbf16>, !kring
        // CHECK-NEXT: warp.commit %[[K]][%[[C]]] copy %[[ZERO]] : <128x64xbf16, stages 2>
        warp.commit %kr[%c] copy %zero : !kring
        // CHECK-NEXT: warp.yield %[[C]] : i64
        warp.yield %c : i64
      } {note = 1 : i64}
      // CHECK-NEXT: } {note = 1 : i64}
    }
    // CHECK: warp.role "compute" warpgroups 2 registers 0 {
    warp.role "compute" warpgroups 2 registers 0 {
      // CHECK-NEXT: %[[G:.*]] = warp.warpgroup
      %g = warp.warpgroup
      // CHECK-NEXT: warp.for_tiles %{{.*}} of %{{.*}} {
      warp.for_tiles %t of %n {
        // CHECK-NEXT: %[[QS:.*]] = warp.wait %[[Q]][%{{.*}}] copy %[[G]] : <64x64xbf16, stages 1>
        %qs = warp.wait %qr[%t] copy %g : !warp.ring<64x64xbf16, stages 1>
        %ks = warp.wait %kr[%t] copy %zero : !kring
        // CHECK: warp.zero_unseen %{{.*}} rows(%[[Z:.*]] to %[[Z]]) cols(%[[Z]] to %[[Z]]) seen {
        // CHECK: } possible {
        // CHECK: } : <128x64xbf16>
        warp.zero_unseen %ks rows(%zero to %zero) cols(%zero to %zero) seen { ^bb0(%i: i64, %j: i64): %c = arith.cmpi sge, %i, %j : i64 tile.yield %c : i1 }
          possible { ^bb0(%j: i64): %c = arith.constant true tile.yield %c : i1 } : !warp.slot<128x64xbf16>
        // CHECK: %{{.*}} = warp.read %[[QS]] : <64x64xbf16> -> tensor<64x64xbf16, #warp.fragment>
        %in_registers = warp.read %qs : !warp.slot<64x64xbf16> -> tensor<64x64xbf16, #warp.fragment>
        // CHECK: warp.sync %[[G]] threads 256
        warp.sync %g threads 256
        // CHECK-NEXT: %[[P:.*]] = warp.mma %[[QS]], %[[KS:.*]] transpose_b : !warp.slot<64x64xbf16>, !warp.slot<128x64xbf16> -> <tensor<64x128xf32, #warp.fragment>>
        %p = warp.mma %qs, %ks transpose_b : !warp.slot<64x64xbf16>, !warp.slot<128x64xbf16> -> !warp.pending<!scores>
        // CHECK-NEXT: warp.arrive %[[G]] threads 256
        warp.arrive %g threads 256
        // CHECK-NEXT: %[[F:.*]] = warp.await %[[P]] : <tensor<64x128xf32, #warp.fragment>>
        %f = warp.await %p : !warp.pending<!scores>
        // CHECK-NEXT: warp.release %[[K]][%{{.*}}] copy %{{.*}} : <128x64xbf16, stages 2>
        warp.release %kr[%t] copy %zero : !kring
        // CHECK-NEXT: %[[W:.*]] = warp.pack %[[F]] : tensor<64x128xf32, #warp.fragment> -> tensor<64x128xbf16, #warp.fragment>
        %w = warp.pack %f : !scores -> tensor<64x128xbf16, #warp.fragment>
        %acc = arith.constant dense<0.0> : tensor<64x64xf32, #warp.fragment>
        // CHECK: %[[O:.*]] = warp.mma %[[W]], %[[KS]] acc(%{{.*}} : tensor<64x64xf32, #warp.fragment>) : tensor<64x128xbf16, #warp.fragment>, !warp.slot<128x64xbf16> -> <tensor<64x64xf32, #warp.fragment>>
        %o = warp.mma %w, %ks acc(%acc : tensor<64x64xf32, #warp.fragment>) : tensor<64x128xbf16, #warp.fragment>, !warp.slot<128x64xbf16> -> !warp.pending<tensor<64x64xf32, #warp.fragment>>
        // CHECK-NEXT: warp.await %[[O]] {in_flight = 1 : i64} : <tensor<64x64xf32, #warp.fragment>>
        %u = warp.await %o {in_flight = 1 : i64} : !warp.pending<tensor<64x64xf32, #warp.fragment>>
      }
    }
  }
  warp.return
}

// CHECK-LABEL: warp.kernel private @direct
warp.kernel private @direct(%x: !mem) {
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      // CHECK: %[[T:.*]] = warp.global %{{.*}}[%[[Z:.*]], %[[Z]], %[[Z]], %[[Z]]] axes [2, 3] : memref<?x?x?x64xbf16, strided<[?, ?, ?, ?]>> -> <32x64xbf16>
      %t = warp.global %x[%zero, %zero, %zero, %zero] axes [2, 3] : !mem -> !warp.global<32x64xbf16>
      %q = arith.constant dense<0.0> : tensor<64x64xbf16, #warp.fragment>
      // CHECK: warp.mma %{{.*}}, %[[T]] transpose_b : tensor<64x64xbf16, #warp.fragment>, !warp.global<32x64xbf16> -> <tensor<64x32xf32, #warp.fragment>>
      %s = warp.mma %q, %t transpose_b : tensor<64x64xbf16, #warp.fragment>, !warp.global<32x64xbf16> -> !warp.pending<tensor<64x32xf32, #warp.fragment>>
      // CHECK: warp.mma %{{.*}}, %[[T]] seen(%{{.*}} : tensor<64x32xi1, #warp.fragment>) : tensor<64x32xbf16, #warp.fragment>, !warp.global<32x64xbf16> -> <tensor<64x64xf32, #warp.fragment>>
      %w = arith.constant dense<0.0> : tensor<64x32xbf16, #warp.fragment>
      %seen = arith.constant dense<true> : tensor<64x32xi1, #warp.fragment>
      %u = warp.mma %w, %t seen(%seen : tensor<64x32xi1, #warp.fragment>) : tensor<64x32xbf16, #warp.fragment>, !warp.global<32x64xbf16> -> !warp.pending<tensor<64x64xf32, #warp.fragment>>
      // CHECK-NEXT: arith.constant dense<0.000000e+00> : tensor<64xf32, #warp.rows>
      %rows = arith.constant dense<0.0> : tensor<64xf32, #warp.rows>
    }
  } {note = 1 : i64}
  // CHECK: } {note = 1 : i64}
  warp.return
}
