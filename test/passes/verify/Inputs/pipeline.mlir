// A producer, two consumers that take turns, and a queue of tile numbers. A test's variant X is the text with lines `//X:` taken in and lines that end in `not X` left out.
module {
  warp.kernel @scores(%q: memref<?x64xbf16, strided<[?, ?]>> {tile.dims = ["M", 64], tile.name = "q"}, %k: memref<?x64xbf16, strided<[?, ?]>> {tile.dims = ["N", 64], tile.name = "k"},
                      %M: i64 {tile.dim = "M"}, %N: i64 {tile.dim = "N"}, %flag: memref<?xi1, strided<[?]>> {tile.name = "flag"}, %o: memref<?xf32, strided<[?]>>) {
    %qr = warp.ring "q" copies 2 consumers 2 : !warp.ring<64x64xbf16, stages 1>
    %kr = warp.ring "k" copies 1 consumers 2 : !warp.ring<64x64xbf16, stages 2> // not three-readers not one-reader
    //three-readers: %kr = warp.ring "k" copies 1 consumers 3 : !warp.ring<64x64xbf16, stages 2>
    //one-reader: %kr = warp.ring "k" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 2>
    //deeper: %deeper = warp.ring "deeper" copies 1 consumers 2 : !warp.ring<64x64xbf16, stages 3>
    warp.queue consumers 2 // not stride
    //outside: %zero = arith.constant 0 : i64
    //outside: %lost = warp.acquire %qr[%zero] copy %zero : !warp.ring<64x64xbf16, stages 1>
    warp.roles {
      warp.role "load" warpgroups 1 registers 24 elected {
        %c0 = arith.constant 0 : i64
        %c1 = arith.constant 1 : i64
        %c2 = arith.constant 2 : i64
        %c64 = arith.constant 64 : i64
        %c128 = arith.constant 128 : i64
        %tiles = arith.ceildivsi %M, %c128 : i64
        %r:2 = warp.for_tiles %t of %tiles iter_args(%qc = %c0, %kc = %c0) -> (i64, i64) {
          scf.for %g = %c0 to %c2 step %c1 : i64 {
            %qs = warp.acquire %qr[%qc] copy %g : !warp.ring<64x64xbf16, stages 1>
            warp.copy engine(tma) %q[%t, %c0] axes [0, 1] to %qs of %qr[%qc] copy %g : memref<?x64xbf16, strided<[?, ?]>>, !warp.slot<64x64xbf16>, !warp.ring<64x64xbf16, stages 1>
            warp.commit %qr[%qc] copy %g : !warp.ring<64x64xbf16, stages 1>
          }
          %q1 = arith.addi %qc, %c1 : i64
          %k1 = scf.for %n = %c0 to %N step %c64 iter_args(%c = %kc) -> (i64) : i64 {
            %next = arith.addi %c, %c1 : i64
            %last = arith.subi %c, %c2 : i64
            %ks = warp.acquire %kr[%c] copy %c0 : !warp.ring<64x64xbf16, stages 2> // not no-acquire
            //no-acquire: %isFirst = arith.cmpi slt, %last, %c0 : i64
            //no-acquire: %ks = scf.if %isFirst -> (!warp.slot<64x64xbf16>) {
            //no-acquire:   %fresh = warp.acquire %kr[%c] copy %c0 : !warp.ring<64x64xbf16, stages 2>
            //no-acquire:   scf.yield %fresh : !warp.slot<64x64xbf16>
            //no-acquire: } else {
            //no-acquire:   %old = warp.wait %kr[%last] copy %c0 : !warp.ring<64x64xbf16, stages 2>
            //no-acquire:   scf.yield %old : !warp.slot<64x64xbf16>
            //no-acquire: }
            //early-commit: warp.commit %kr[%c] copy %c0 : !warp.ring<64x64xbf16, stages 2>
            //other-slot: %other = warp.acquire %kr[%next] copy %c0 : !warp.ring<64x64xbf16, stages 2>
            //other-slot: warp.copy engine(tma) %k[%n, %c0] axes [0, 1] to %other of %kr[%c] copy %c0 : memref<?x64xbf16, strided<[?, ?]>>, !warp.slot<64x64xbf16>, !warp.ring<64x64xbf16, stages 2>
            warp.copy engine(tma) %k[%n, %c0] axes [0, 1] to %ks of %kr[%c] copy %c0 : memref<?x64xbf16, strided<[?, ?]>>, !warp.slot<64x64xbf16>, !warp.ring<64x64xbf16, stages 2> // not no-copy
            warp.commit %kr[%c] copy %c0 : !warp.ring<64x64xbf16, stages 2> // not no-commit not early-commit
            scf.yield %next : i64
          }
          //lone-release: warp.release %qr[%qc] copy %c0 : !warp.ring<64x64xbf16, stages 1>
          warp.yield %q1, %k1 : i64, i64
        } {dynamic} // not stride not no-numbers
        //stride: }
        //no-numbers: }
      }
      warp.role "compute" warpgroups 2 registers 240 { // not many-groups
      //many-groups: warp.role "compute" warpgroups 16 registers 240 {
        %true = arith.constant true
        %c0 = arith.constant 0 : i64
        %c1 = arith.constant 1 : i64
        %c2 = arith.constant 2 : i64
        %c3 = arith.constant 3 : i64
        %c9 = arith.constant 9 : i64
        %c64 = arith.constant 64 : i64
        %c128 = arith.constant 128 : i64
        %w = warp.warpgroup
        %thread = warp.thread
        %turn = arith.addi %w, %c1 : i64
        %other = arith.subi %c2, %w : i64
        %own = arith.addi %w, %c3 : i64
        %isFirst = arith.cmpi eq, %w, %c0 : i64
        %isLast = arith.cmpi eq, %w, %c1 : i64
        %isHuge = arith.cmpi eq, %M, %c9 : i64
        %isLow = arith.cmpi slt, %thread, %c64 : i64
        scf.if %isLast {
          warp.arrive %c1 threads 256 // not no-first-turn
        }
        %tiles = arith.ceildivsi %M, %c128 : i64
        %r:2 = warp.for_tiles %t of %tiles iter_args(%qc = %c0, %kc = %c0) -> (i64, i64) {
          %qs = warp.wait %qr[%qc] copy %w : !warp.ring<64x64xbf16, stages 1>
          %q1 = arith.addi %qc, %c1 : i64
          %k1 = scf.for %n = %c0 to %N step %c64 iter_args(%c = %kc) -> (i64) : i64 { // not unknown-bound
          //unknown-bound: %k1 = scf.for %n = %c0 to %thread step %c64 iter_args(%c = %kc) -> (i64) : i64 {
            %next = arith.addi %c, %c1 : i64
            %nextRound = arith.addi %c, %c2 : i64
            %at = arith.addi %n, %w : i64
            %dead = tile.lookup %flag[%n] : memref<?xi1, strided<[?]>>
            %ownDead = tile.lookup %flag[%at] : memref<?xi1, strided<[?]>>
            %ks = warp.wait %kr[%c] copy %c0 : !warp.ring<64x64xbf16, stages 2> // not wrong-slot not wrong-phase not deeper
            //wrong-slot: %ks = warp.wait %kr[%next] copy %c0 : !warp.ring<64x64xbf16, stages 2>
            //wrong-phase: %ks = warp.wait %kr[%nextRound] copy %c0 : !warp.ring<64x64xbf16, stages 2>
            //deeper: %ks = warp.wait %deeper[%c] copy %c0 : !warp.ring<64x64xbf16, stages 3>
            //zero: %unknown = warp.mark %o[%n] : memref<?xf32, strided<[?]>>
            //zero: scf.if %unknown {
            //zero:   warp.zero_unseen %ks rows(%c0 to %c64) cols(%n to %N) seen {
            //zero:   ^bb0(%i: i64, %j: i64):
            //zero:     %sees = arith.cmpi sge, %i, %j : i64
            //zero:     tile.yield %sees : i1
            //zero:   } : !warp.slot<64x64xbf16>
            //zero:   warp.sync %own threads 128 // not no-sync
            //zero: }
            //dead: scf.if %dead {} else {
            //own-dead: scf.if %ownDead {} else {
            //skips: scf.if %isFirst {
            warp.sync %turn threads 256 // not wrong-count not shared not no-sync not wrong-number not votes not unknown-number not odd-count
            //odd-count: warp.sync %turn threads 200
            //skips: }
            //wrong-count: warp.sync %turn threads 384
            //shared: warp.sync %c1 threads 128
            //wrong-number: warp.sync %c0 threads 256
            //votes: %any = warp.vote %isLow : i1
            //votes: warp.sync %c9 threads 256
            //unknown-number: warp.sync %thread threads 256
            %p = warp.mma %qs, %ks transpose_b : !warp.slot<64x64xbf16>, !warp.slot<64x64xbf16> -> !warp.pending<tensor<64x64xf32, #warp.fragment>>
            warp.arrive %other threads 256 // not no-turn-given not no-sync not shared
            //early-release: scf.if %true {
            //early-release:   warp.release %kr[%c] copy %c0 : !warp.ring<64x64xbf16, stages 2>
            //early-release: }
            %s = warp.await %p : !warp.pending<tensor<64x64xf32, #warp.fragment>>
            //dead: }
            //own-dead: }
            //some-warps: scf.if %isLow {
            //one-releases: scf.if %isFirst {
            warp.release %kr[%c] copy %c0 : !warp.ring<64x64xbf16, stages 2> // not wrong-release not early-release not no-release
            //one-releases: }
            //some-warps: }
            //twice: warp.release %kr[%c] copy %c0 : !warp.ring<64x64xbf16, stages 2>
            //wrong-release: warp.release %kr[%next] copy %c0 : !warp.ring<64x64xbf16, stages 2>
            scf.yield %next : i64
          }
          //unreached: scf.if %isHuge {
          //unreached:   warp.release %qr[%qc] copy %w : !warp.ring<64x64xbf16, stages 1>
          //unreached: }
          //many-copies: %x = warp.acquire %qr[%qc] copy %w : !warp.ring<64x64xbf16, stages 1>
          warp.release %qr[%qc] copy %w : !warp.ring<64x64xbf16, stages 1> // not wrong-copy
          //wrong-copy: warp.release %qr[%qc] copy %c2 : !warp.ring<64x64xbf16, stages 1>
          warp.yield %q1, %k1 : i64, i64
        } {dynamic} // not stride
        //stride: }
        scf.if %isFirst {
          warp.sync %c1 threads 256 // not no-last-turn not no-sync
        }
      }
    }
    warp.return
  }
}
