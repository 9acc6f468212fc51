//===- Causal.h - the manifest and arguments that tests share ---*- C++ -*-===//
//
// An item with every kind of argument: three inputs, a table whose extent is an
// expression, two scalars, two outputs of which one is optional. Pipelined and
// direct kernels of it, with images for the stand-in driver.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/KernelSet.h"

#include <string>

namespace tegula::rt::test {

inline const std::string signatureFields = R"json(
  "version": 1, "name": "causal", "symbol": "causal", "target": "sm_90a",
  "tensors": [
    {"name": "q", "type": "bf16", "dims": ["B", "H", "M", 128], "role": "in"},
    {"name": "k", "type": "bf16", "dims": ["B", "G", "N", 128], "role": "in"},
    {"name": "v", "type": "bf16", "dims": ["B", "G", "N", 128], "role": "in"},
    {"name": "starts", "type": "i32", "dims": ["(+ B 1)"], "role": "in"},
    {"name": "o", "type": "bf16", "dims": ["B", "H", "M", 128], "role": "out"},
    {"name": "lse", "type": "f32", "dims": ["B", "H", "M"], "role": "out",
     "optional": true}],
  "scalars": [{"name": "W", "type": "i32"}, {"name": "cap", "type": "f32"}],
  "dims": ["B", "H", "M", "G", "N"],
  "signature": ["q", "k", "v", "starts", "W", "cap", "o", "lse"],
  "requires": [{"text": "M <= N + W", "place": "docs.tg:2:9",
                "expr": "(<= M (+ N W))"}],
  "grid": {"tiles": "(* (ceildiv M 128) (* H B))", "persistent": true},
  "threads": 384, "ctas_per_sm": 1, "registers": 168, "spill_bytes": 0,
  "schedule": {"block_m": 128})json";

/// `manifest` of a kernel that goes before each launch of the others.
inline std::string goingBefore(std::string manifest) {
  return manifest.insert(1, "\"before\": true, ");
}

inline std::string pipelinedManifest() {
  return "{" + signatureFields + R"json(,
  "form": "pipelined", "shared_bytes": 230000,
  "arguments": [
    {"kind": "tensor_map", "tensor": "q", "axes": [3, 2, 1, 0],
     "box": [64, 64, 1, 1], "swizzle": 128},
    {"kind": "tensor_map", "tensor": "k", "axes": [3, 2, 1, 0],
     "box": [64, 128, 1, 1], "swizzle": 128},
    {"kind": "tensor_map", "tensor": "v", "axes": [3, 2, 1, 0],
     "box": [64, 128, 1, 1], "swizzle": 128},
    {"kind": "pointer", "tensor": "starts"},
    {"kind": "pointer", "tensor": "o"},
    {"kind": "stride", "tensor": "o", "axis": 0},
    {"kind": "stride", "tensor": "o", "axis": 2},
    {"kind": "pointer", "tensor": "lse"},
    {"kind": "dim", "dim": "M"}, {"kind": "dim", "dim": "N", "type": "i64"},
    {"kind": "scalar", "name": "W", "type": "i32"},
    {"kind": "scalar", "name": "cap", "type": "f32"}],
  "conditions": [{"kind": "aligned", "tensor": "o", "bytes": 16,
                  "text": "o is 16-byte aligned"}]})json";
}
inline const std::string pipelinedImage =
    "kernel causal 128 128 128 8 8 8 8 8 4 8 4 4\n";

inline std::string directManifest() {
  return "{" + signatureFields + R"json(,
  "form": "direct", "shared_bytes": 1024,
  "arguments": [{"kind": "pointer", "tensor": "q"},
                {"kind": "stride", "tensor": "q", "axis": 1}]})json";
}
inline const std::string directImage = "kernel causal 8 8\n";

/// The direct kernel with counters.
inline std::string workspaceManifest() {
  return "{" + signatureFields + R"json(,
  "form": "direct", "shared_bytes": 1024,
  "arguments": [{"kind": "pointer", "tensor": "q"},
                {"kind": "workspace", "bytes": 16}]})json";
}

/// The direct kernel with a pre-pass, which has one program for each 64 keys;
/// they share two bytes for each of them and each tile of rows.
inline std::string prepassManifest() {
  return "{" + signatureFields + R"json(,
  "form": "direct", "shared_bytes": 1024,
  "arguments": [{"kind": "pointer", "tensor": "q"},
                {"kind": "scratch",
                 "bytes": "(* 2 (* (ceildiv M 128) (ceildiv N 64)))"}],
  "prepass": {
    "symbol": "causal_classes", "threads": 128, "shared_bytes": 256,
    "grid": {"tiles": "(ceildiv N 64)", "persistent": false},
    "arguments": [{"kind": "scratch",
                   "bytes": "(* 2 (* (ceildiv M 128) (ceildiv N 64)))"},
                  {"kind": "dim", "dim": "N"}]}})json";
}
inline const std::string prepassImage =
    "kernel causal 8 8\nkernel causal_classes 8 4\n";

/// Shapes of a call that is right; the pointers are numbers that the stand-in
/// driver is told of.
struct Call {
  int64_t b = 2, h = 8, g = 2, m = 300, n = 400;
  uint64_t base = 0x10000000;
  TensorView q, k, v, starts, o, lse;

  Call() { make(); }
  Call(int64_t b, int64_t h, int64_t g, int64_t m, int64_t n)
      : b(b), h(h), g(g), m(m), n(n) {
    make();
  }
  void make() {
    auto at = [&](int i) {
      return reinterpret_cast<void *>(base + i * 0x1000);
    };
    using E = ElementType;
    q = TensorView::contiguous(at(0), E::bf16, {b, h, m, 128});
    k = TensorView::contiguous(at(1), E::bf16, {b, g, n, 128});
    v = TensorView::contiguous(at(2), E::bf16, {b, g, n, 128});
    starts = TensorView::contiguous(at(3), E::i32, {b + 1});
    o = TensorView::contiguous(at(4), E::bf16, {b, h, m, 128});
    lse = TensorView::contiguous(at(5), E::f32, {b, h, m});
  }
  /// Sets all arguments; the status of the first that is refused.
  Status set(Arguments &arguments) const {
    TEGULA_RETURN_IF_FAILED(arguments.set("q", q));
    TEGULA_RETURN_IF_FAILED(arguments.set("k", k));
    TEGULA_RETURN_IF_FAILED(arguments.set("v", v));
    TEGULA_RETURN_IF_FAILED(arguments.set("starts", starts));
    TEGULA_RETURN_IF_FAILED(arguments.set("o", o));
    TEGULA_RETURN_IF_FAILED(arguments.set("lse", lse));
    TEGULA_RETURN_IF_FAILED(arguments.set("W", 64));
    return arguments.set("cap", 30.0);
  }
};

} // namespace tegula::rt::test
