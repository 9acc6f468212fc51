//===- GpuKernels.h - small kernels by hand, with manifests -----*- C++ -*-===//
//
// `facts` writes each parameter to its output, so that a test sees what a
// kernel gets. `box` copies one box of a tensor through shared memory by TMA.
// `tickets` takes its tiles from a counter in its workspace. `passed` takes what
// its pre-pass leaves.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace tegula::rt::test {

inline constexpr const char *factsManifest = R"json({
  "version": 1, "name": "facts", "symbol": "facts", "target": "sm_80",
  "form": "direct",
  "tensors": [
    {"name": "x", "type": "bf16", "dims": ["B", "M"], "role": "in"},
    {"name": "out", "type": "i64", "dims": [6], "role": "out"}],
  "scalars": [{"name": "W", "type": "i32"}, {"name": "cap", "type": "f32"}],
  "dims": ["B", "M"],
  "arguments": [
    {"kind": "pointer", "tensor": "out"},
    {"kind": "dim", "dim": "M"}, {"kind": "stride", "tensor": "x", "axis": 0},
    {"kind": "scalar", "name": "W", "type": "i32"},
    {"kind": "scalar", "name": "cap", "type": "f32"},
    {"kind": "pointer", "tensor": "x"}],
  "grid": {"tiles": "(? (== M 0) 0 3)"}, "threads": 32})json";

inline constexpr const char *factsPtx = R"ptx(
.version 7.0
.target sm_80
.address_size 64
.visible .entry facts(.param .u64 out, .param .u32 m, .param .u64 stride,
                      .param .u32 w, .param .f32 cap, .param .u64 x)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  or.b32 %r0, %r0, %r1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra done;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd0, %rd0;
  ld.param.s32 %rd1, [m];
  st.global.u64 [%rd0], %rd1;
  ld.param.u64 %rd1, [stride];
  st.global.u64 [%rd0+8], %rd1;
  ld.param.s32 %rd1, [w];
  st.global.u64 [%rd0+16], %rd1;
  ld.param.u32 %rd1, [cap];
  st.global.u64 [%rd0+24], %rd1;
  ld.param.u64 %rd1, [x];
  st.global.u64 [%rd0+32], %rd1;
  mov.u32 %r2, %nctaid.x;
  cvt.u64.u32 %rd1, %r2;
  st.global.u64 [%rd0+40], %rd1;
done:
  ret;
}
)ptx";

/// Box {8, 4, 2, 1}, innermost first, at row `row` of head 0 and batch 0.
inline constexpr const char *boxManifest = R"json({
  "version": 1, "name": "box", "symbol": "box", "target": "sm_90",
  "form": "pipelined",
  "tensors": [
    {"name": "x", "type": "bf16", "dims": ["B", "H", "M", 8], "role": "in"},
    {"name": "out", "type": "bf16", "dims": [2, 4, 8], "role": "out"}],
  "scalars": [{"name": "row", "type": "i32"}],
  "dims": ["B", "H", "M"],
  "arguments": [
    {"kind": "tensor_map", "tensor": "x", "axes": [3, 2, 1, 0],
     "box": [8, 4, 2, 1], "swizzle": 0},
    {"kind": "pointer", "tensor": "out"},
    {"kind": "scalar", "name": "row", "type": "i32"}],
  "grid": {"tiles": "1"}, "threads": 64, "shared_bytes": 200000})json";

inline constexpr const char *boxPtx = R"ptx(
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 128 .b8 smem[];
.visible .entry box(.param .align 64 .b8 map[128], .param .u64 out,
                    .param .u32 row)
{
  .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .pred %p<3>; .reg .b16 %h<2>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, smem;
  add.u32 %r2, %r1, 128;            // data, after the barrier
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra ready;
  mbarrier.init.shared.b64 [%r1], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async.shared::cta;
ready:
  bar.sync 0;
  @%p0 bra wait;
  mbarrier.arrive.expect_tx.shared.b64 %rd0, [%r1], 128;
  mov.b64 %rd1, map;
  cvta.param.u64 %rd1, %rd1;
  ld.param.u32 %r3, [row];
  mov.u32 %r4, 0;
  cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r4, %r3, %r4, %r4}], [%r1];
wait:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;
  @!%p1 bra wait;
  shl.b32 %r5, %r0, 1;
  add.u32 %r6, %r2, %r5;
  ld.shared.b16 %h0, [%r6];
  ld.param.u64 %rd2, [out];
  cvta.to.global.u64 %rd2, %rd2;
  cvt.u64.u32 %rd3, %r5;
  add.u64 %rd2, %rd2, %rd3;
  st.global.b16 [%rd2], %h0;
  ret;
}
)ptx";

/// CTAs take tiles off the counter at byte 0 and add 1 to `seen` of each; the
/// last CTA to be done, by the counter at byte 4, zeroes both and counts 5
/// redone rows. Sleeps on the way, so that launches overlap where they can.
inline constexpr const char *ticketsManifest = R"json({
  "version": 1, "name": "tickets", "symbol": "tickets", "target": "sm_80",
  "form": "direct",
  "tensors": [{"name": "seen", "type": "i32", "dims": ["T"], "role": "out"}],
  "dims": ["T"],
  "arguments": [{"kind": "workspace", "bytes": 16},
                {"kind": "pointer", "tensor": "seen"},
                {"kind": "dim", "dim": "T"}],
  "grid": {"tiles": "(min T 8)"}, "threads": 1})json";

inline constexpr const char *ticketsPtx = R"ptx(
.version 7.0
.target sm_80
.address_size 64
.visible .entry tickets(.param .u64 workspace, .param .u64 seen, .param .u32 t)
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<1>;
  ld.param.u64 %rd0, [workspace];
  cvta.to.global.u64 %rd0, %rd0;
  ld.param.u64 %rd1, [seen];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u32 %r0, [t];
  mov.u32 %r1, %nctaid.x;
  sub.u32 %r1, %r1, 1;
next:
  atom.global.add.u32 %r2, [%rd0], 1;
  setp.ge.u32 %p0, %r2, %r0;
  @%p0 bra done;
  nanosleep.u32 2000;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd1, %rd2;
  red.global.add.u32 [%rd2], 1;
  bra next;
done:
  membar.gl;
  atom.global.add.u32 %r3, [%rd0+4], 1;
  setp.ne.u32 %p0, %r3, %r1;
  @%p0 bra end;
  mov.u64 %rd3, 0;
  st.global.u64 [%rd0], %rd3;
  red.global.add.u32 [%rd0+8], 5;
end:
  ret;
}
)ptx";

/// The pre-pass leaves `W + i` for each `i` below T, the kernel, after a while,
/// takes it. Sleeps on the way, so that launches overlap where they can.
inline constexpr const char *passedManifest = R"json({
  "version": 1, "name": "passed", "symbol": "passed", "target": "sm_80",
  "form": "direct",
  "tensors": [{"name": "out", "type": "i32", "dims": ["T"], "role": "out"}],
  "scalars": [{"name": "W", "type": "i32"}],
  "dims": ["T"],
  "arguments": [{"kind": "scratch", "bytes": "(* 4 T)"},
                {"kind": "pointer", "tensor": "out"}],
  "grid": {"tiles": "T"}, "threads": 1,
  "prepass": {"symbol": "passed_first", "grid": {"tiles": "T"}, "threads": 1,
              "arguments": [{"kind": "scratch", "bytes": "(* 4 T)"},
                            {"kind": "scalar", "name": "W", "type": "i32"}]}})json";

inline constexpr const char *passedPtx = R"ptx(
.version 7.0
.target sm_80
.address_size 64
.visible .entry passed_first(.param .u64 scratch, .param .u32 w)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [scratch];
  cvta.to.global.u64 %rd0, %rd0;
  ld.param.u32 %r0, [w];
  mov.u32 %r1, %ctaid.x;
  nanosleep.u32 2000;
  add.u32 %r2, %r0, %r1;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %rd0, %rd1;
  st.global.u32 [%rd1], %r2;
  ret;
}
.visible .entry passed(.param .u64 scratch, .param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [scratch];
  cvta.to.global.u64 %rd0, %rd0;
  ld.param.u64 %rd2, [out];
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r1, %ctaid.x;
  nanosleep.u32 2000;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd0, %rd0, %rd1;
  add.u64 %rd2, %rd2, %rd1;
  ld.global.u32 %r0, [%rd0];
  st.global.u32 [%rd2], %r0;
  ret;
}
)ptx";

} // namespace tegula::rt::test
