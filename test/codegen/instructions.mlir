// Which instructions become of llvm and nvvm operations.
// RUN: tegula compile %s --start-from=nvvm --emit=ptx -o - | FileCheck %s

// CHECK: // tegula.manifest {"form":"direct",
// CHECK: .version 8.0
// CHECK: .target sm_90a
// CHECK: .extern .shared .align 1024 .b8 smem[]
// CHECK: .visible .entry k(
// CHECK: .reqntid 128
// CHECK: .minnctapersm 1
llvm.mlir.global external @smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @k(%map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %x: f32, %out: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.minctasm = 1 : i32, denormal_fp_math_f32 = "preserve-sign",
                tegula.manifest = {form = "direct", threads = 128 : i32}} {
  // CHECK: ex2.approx.ftz.f32
  %0 = llvm.intr.exp2(%x) : (f32) -> f32
  // CHECK: lg2.approx.ftz.f32
  %1 = llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%0) : (f32) -> f32
  // CHECK: max.ftz.NaN.f32
  %2 = llvm.intr.maximum(%0, %1) : (f32, f32) -> f32
  // Multiplication and addition are not contracted unless asked for.
  // CHECK: mul.rn.ftz.f32
  // CHECK: add.rn.ftz.f32
  %3 = llvm.fmul %2, %x : f32
  %4 = llvm.fadd %3, %x : f32
  // CHECK: fma.rn.ftz.f32
  %5 = llvm.intr.fma(%4, %x, %x) : (f32, f32, f32) -> f32
  // CHECK: // begin inline asm
  // CHECK-NEXT: bar.sync 1, 128;
  llvm.inline_asm has_side_effects asm_dialect = att "bar.sync 1, 128;", "~{memory}" : () -> ()
  // CHECK: st.global.b32
  llvm.store %5, %out : f32, !llvm.ptr<1>
  llvm.return
}
