// Notes on slots: the consumer's count is what the producer found, whichever blocks are live. Planted faults, each a line in place of another.
// RUN: tegula-opt %s --pass-pipeline='builtin.module(warp.kernel(tegula-verify-protocol{report=true}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=RIGHT --implicit-check-not=warning
// RIGHT: remark: the protocol holds in every order
// RUN: sed -e 's,//early-read:,,;/not early-read$/d' %s | not tegula-opt --pass-pipeline='builtin.module(warp.kernel(tegula-verify-protocol))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=EARLY-READ
// EARLY-READ: error: `compute 0` reads fill 0 of slot 0 of ring "k", which has not landed
// RUN: sed -e 's,//late-note:,,;/not late-note$/d' %s | not tegula-opt --pass-pipeline='builtin.module(warp.kernel(tegula-verify-protocol))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=LATE-NOTE
// LATE-NOTE: error: `load` writes the note on fill 0 of slot 0 of ring "k", which has been committed
// RUN: sed -e 's,//other-count:,,;/not other-count$/d' %s | not tegula-opt --pass-pipeline='builtin.module(warp.kernel(tegula-verify-protocol))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER-COUNT
// OTHER-COUNT: error: no role can go on

!mem = memref<?x64xbf16, strided<[?, ?]>>
!ring = !warp.ring<64x64xbf16, stages 2>
warp.kernel @notes(%x: !mem {tile.name = "x", tile.dims = ["M", 64], tile.role = "in"}, %M: i64 {tile.dim = "M"}) {
  %k = warp.ring "k" copies 1 consumers 2 : !ring
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  warp.roles {
    warp.role "load" warpgroups 1 registers 24 elected warp {
      %c = warp.for_tiles %t of %one iter_args(%c0 = %zero) -> (i64) {
        %live = warp.classify_blocks %zero to %M step 64 classes {
        ^bb0(%n: i64):
          %sees = arith.cmpi slt, %n, %M : i64
          tile.yield %sees : i1
        } : i64
        %count = math.ctpop %live : i64
        // The first slot is filled for the note alone.
        %end = arith.addi %count, %one : i64
        %c2 = scf.for %b = %zero to %end step %one iter_args(%c1 = %c0) -> (i64) : i64 {
          %s = warp.acquire %k[%c1] copy %zero : !ring
          warp.copy engine(tma) %x[%b, %zero] axes [0, 1] to %s of %k[%c1] copy %zero : !mem, !warp.slot<64x64xbf16>, !ring
          warp.note %k[%c1] copy %zero(%count) : !ring // not late-note
          warp.commit %k[%c1] copy %zero : !ring
          //late-note:warp.note %k[%c1] copy %zero(%count) : !ring
          %next = arith.addi %c1, %one : i64
          scf.yield %next : i64
        }
        warp.yield %c2 : i64
      }
    }
    warp.role "compute" warpgroups 2 registers 240 {
      %c = warp.for_tiles %t of %one iter_args(%c0 = %zero) -> (i64) {
        //early-read:%count = warp.read_note %k[%c0] copy %zero : !ring -> i64
        %s = warp.wait %k[%c0] copy %zero : !ring
        %count = warp.read_note %k[%c0] copy %zero : !ring -> i64 // not early-read
        warp.release %k[%c0] copy %zero : !ring
        %n = arith.addi %c0, %one : i64
        %end = arith.addi %count, %zero : i64 // not other-count
        //other-count:%end = arith.addi %count, %one : i64
        %c2 = scf.for %b = %zero to %end step %one iter_args(%c1 = %n) -> (i64) : i64 {
          %w = warp.wait %k[%c1] copy %zero : !ring
          warp.release %k[%c1] copy %zero : !ring
          %next = arith.addi %c1, %one : i64
          scf.yield %next : i64
        }
        warp.yield %c2 : i64
      }
    }
  }
  warp.return
}
