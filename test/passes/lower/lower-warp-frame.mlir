// The frame: arguments derived from what the body uses, roles as branches, the persistent loop, and the manifest.
// RUN: tegula-opt %s --tegula-allocate-shared --tegula-lower-warp | FileCheck %s

!x = memref<?x16xf16, strided<[?, ?]>>

// Scalars and dims keep their order; what nothing reads is dropped: the strides of `unused`, and the dim H.
// CHECK-LABEL: llvm.func @frame(
// CHECK-SAME: %{{[^ ]+}}: !llvm.ptr<1> {tegula.argument = {kind = "pointer", tensor = "o"}}, %{{[^ ]+}}: i64 {tegula.argument = {axis = 0 : i64, kind = "stride", tensor = "o"}}, %{{[^ ]+}}: i64 {tegula.argument = {axis = 1 : i64, kind = "stride", tensor = "o"}},
// CHECK-SAME: %[[FLAG:[^ ]+]]: i8 {tegula.argument = {kind = "scalar", name = "flag", type = "bool"}},
// CHECK-SAME: %[[B:[^ ]+]]: i32 {tegula.argument = {dim = "B", kind = "dim"}}, %[[M:[^ ]+]]: i32 {tegula.argument = {dim = "M", kind = "dim"}})
// CHECK-SAME: denormal_fp_math_f32 = "preserve-sign", nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 128>
// CHECK-SAME: tegula.manifest = {
// CHECK-SAME: arguments = [{kind = "pointer", tensor = "o"}, {axis = 0 : i64, kind = "stride", tensor = "o"}, {axis = 1 : i64, kind = "stride", tensor = "o"}, {kind = "scalar", name = "flag", type = "bool"}, {dim = "B", kind = "dim"}, {dim = "M", kind = "dim"}]
// CHECK-SAME: conditions = []
// CHECK-SAME: dims = ["B", "M", "H"]
// CHECK-SAME: form = "direct"
// CHECK-SAME: grid = {persistent = false, tiles = "(* (ceildiv M 64) B)"}
// CHECK-SAME: name = "frame"
// CHECK-SAME: requires = [{expr = "(== M 4)", place = "x.tg:1:1", text = "M == 4"}]
// CHECK-SAME: scalars = [{name = "flag", type = "bool"}]
// CHECK-SAME: schedule = {block_m = 64 : i64, block_n = 16 : i64, consumers = 1 : i64, form = "direct"
// CHECK-SAME: shared_bytes = 0 : i64
// CHECK-SAME: signature = ["unused", "o", "flag"]
// CHECK-SAME: tensors = [{dims = ["H", 16], name = "unused", role = "in", type = "f16"}, {dims = ["(+ M 1)", 16], name = "o", role = "out", type = "f16"}]
// CHECK-SAME: threads = 128 : i64
warp.kernel @frame(%u: !x {tile.name = "unused", tile.dims = ["H", 16], tile.role = "in"}, %o: !x {tile.name = "o", tile.dims = ["(+ M 1)", 16], tile.role = "out"}, %flag: i1 {tile.name = "flag"},
                   %B: i64 {tile.dim = "B"}, %M: i64 {tile.dim = "M"}, %H: i64 {tile.dim = "H"})
    attributes {schedule = #tile.schedule<form = direct, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>,
                tile.requires = [{text = "M == 4", place = "x.tg:1:1", expr = "(== M 4)"}]} {
  warp.roles {
    // One role needs no branch; direct kernels set no registers and no barriers.
    // CHECK-NOT: nvvm.setmaxregister
    // CHECK-NOT: mbarrier
    warp.role "compute" warpgroups 1 registers 0 {
      // CHECK: %[[SET:.*]] = arith.cmpi ne, %[[FLAG]], %{{.*}} : i8
      %c64 = arith.constant 64 : i64
      %blocks = arith.ceildivsi %M, %c64 : i64
      %total = arith.muli %blocks, %B : i64
      %zero = arith.constant 0 : i64
      // CHECK: nvvm.read.ptx.sreg.ctaid.x
      // CHECK: %[[FIRST:.*]] = arith.extui %{{.*}} : i32 to i64
      // CHECK-NEXT: nvvm.read.ptx.sreg.nctaid.x
      // CHECK: %[[STEP:.*]] = arith.extui %{{.*}} : i32 to i64
      // CHECK: scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %[[STEP]] iter_args(
      %r = warp.for_tiles %t of %total iter_args(%c = %zero) -> (i64) {
        scf.if %flag {
          %h = arith.constant dense<1.0> : tensor<64x16xf16, #warp.fragment>
          tile.store %h, %o[%t, %zero] axes [0, 1] : tensor<64x16xf16, #warp.fragment>, !x
        }
        %d = arith.addi %c, %t : i64
        warp.yield %d : i64
      }
    }
  }
  warp.return
}

// What a pipelined kernel demands of the tensors that it stores in words.
// CHECK-LABEL: llvm.func @pipelined(
// CHECK-SAME: conditions = [{bytes = 4 : i64, kind = "aligned", tensor = "o", text = "`o` starts at a multiple of 4 bytes"}, {bytes = 4 : i64, kind = "stride_multiple", tensor = "o", text = "strides of `o` are multiples of 4 bytes"}, {kind = "inner_contiguous", tensor = "o", text = "the last axis of `o` has stride 1"}]
// CHECK-SAME: shared_bytes = 9232 : i64
warp.kernel @pipelined(%o: !x {tile.name = "o", tile.dims = ["M", 16], tile.role = "out"}, %M: i64 {tile.dim = "M"})
    attributes {schedule = #tile.schedule<form = pipelined, block_m = 64, block_n = 16, consumers = 1, stages = 1, q_stages = 1, producer_registers = 0, consumer_registers = 0, ping_pong = false, softmax = online>} {
  %r = warp.ring "x" copies 1 consumers 1 : !warp.ring<64x64xbf16, stages 1>
  warp.roles {
    warp.role "compute" warpgroups 1 registers 0 {
      %zero = arith.constant 0 : i64
      %h = arith.constant dense<1.0> : tensor<64x16xf16, #warp.fragment>
      tile.store %h, %o[%zero, %zero] axes [0, 1] : tensor<64x16xf16, #warp.fragment>, !x
    }
  }
  warp.return
}
