//===- MovePrograms.cpp - elements that change places ---------------------===//
//
// Transposes, reshapes and broadcasts; gathers, scatters and atomics.
//
//===----------------------------------------------------------------------===//
#include "ProgramParts.h"

#include <algorithm>

using namespace tegula::exec;

ProgramCase tegula::exec::transposedCopy(const std::string &type) {
  std::string m = matrixOf(type);
  ProgramCase c;
  c.name = "transpose-" + type;
  c.text =
      kernel(tensor("x", type, {"R", "C"}) + ", " +
                 tensor("o", type, {"C", "R"}, "out") + dim("R") + dim("C"),
             R"(%c32 = arith.constant 32 : i64
%c64 = arith.constant 64 : i64
%tr = arith.ceildivsi %R, %c32 : i64
%tc = arith.ceildivsi %C, %c64 : i64
%pr, %pc = tile.program_id of (%tr, %tc) : i64, i64
%r = arith.muli %pr, %c32 : i64
%c = arith.muli %pc, %c64 : i64
%a = tile.load %x[%r, %c] axes [0, 1] : )" +
                 m + " -> tensor<32x64x" + type + R"(>
%t = tile.transpose %a permutation [1, 0] : tensor<32x64x)" +
                 type + "> -> tensor<64x32x" + type + R"(>
%s = arith.constant dense<)" +
                 (type[0] == 'i' ? "1" : "1.0") + "> : tensor<64x32x" + type +
                 ">\n%u = " + (type[0] == 'i' ? "arith.addi" : "arith.addf") +
                 " %t, %s : tensor<64x32x" + type +
                 ">\ntile.store %u, %o[%c, %r] axes [0, 1] : tensor<64x32x" +
                 type + ">, " + m + "\n");
  c.tensors = {{"x", {75, 130}, -9, 9}, {"o", {130, 75}}};
  c.tolerance = 5e-3;
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (int64_t j = 0; j < 130; ++j)
      for (int64_t i = 0; i < 75; ++i)
        result.push_back(in[0][i * 130 + j] + 1);
    return result;
  };
  return c;
}

ProgramCase tegula::exec::reshaped(int64_t a, int64_t b, int64_t c1,
                                   int64_t d) {
  auto text = [](int64_t x, int64_t y) {
    return "tensor<" + std::to_string(x) + "x" + std::to_string(y) + "xf32>";
  };
  std::string from = text(a, b), to = text(c1, d), m = matrixOf("f32");
  ProgramCase c;
  c.name = "reshape-" + std::to_string(b) + "-" + std::to_string(d);
  c.text =
      kernel(tensor("x", "f32", {"A", "B"}) + ", " +
                 tensor("o", "f32", {"C", "D"}, "out") + dim("A") + dim("B") +
                 dim("C") + dim("D"),
             "%v = tile.load %x[%zero, %zero] axes [0, 1] : " + m + " -> " +
                 from + "\n%r = tile.reshape %v : " + from + " -> " + to +
                 "\ntile.store %r, %o[%zero, %zero] axes [0, 1] : " + to +
                 ", " + m + "\n");
  c.tensors = {{"x", {a, b}}, {"o", {c1, d}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    return in[0];
  };
  return c;
}

ProgramCase tegula::exec::broadcasts() {
  std::string t = "tensor<24x40xf32>", m = matrixOf("f32"), v = vectorOf("f32");
  ProgramCase c;
  c.name = "broadcasts";
  c.text = kernel(
      tensor("x", "f32", {"R", "C"}) + ", " + tensor("w", "f32", {"C"}) + ", " +
          tensor("v", "f32", {"R"}) + ", " +
          tensor("o", "f32", {"R", "C"}, "out") + dim("R") + dim("C"),
      "%a = tile.load %x[%zero, %zero] axes [0, 1] : " + m + " -> " + t + R"(
%lw = tile.load %w[%zero] axes [0] : )" +
          v + R"( -> tensor<40xf32>
%lv = tile.load %v[%zero] axes [0] : )" +
          v + R"( -> tensor<24xf32>
%s = tile.reduce add %a axis 0 : )" +
          t + R"( -> tensor<40xf32>
%k = arith.constant dense<24.0> : tensor<40xf32>
%mean = arith.divf %s, %k : tensor<40xf32>
%bm = tile.broadcast %mean axes [1] : tensor<40xf32> -> )" +
          t + R"(
%bw = tile.broadcast %lw axes [1] : tensor<40xf32> -> )" +
          t + R"(
%bv = tile.broadcast %lv : tensor<24xf32> -> )" +
          t + R"(
%d = arith.subf %a, %bm : )" +
          t + R"(
%e = arith.mulf %d, %bw : )" +
          t + R"(
%f = arith.addf %e, %bv : )" +
          t + R"(
tile.store %f, %o[%zero, %zero] axes [0, 1] : )" +
          t + ", " + m + "\n");
  c.tensors = {{"x", {24, 40}}, {"w", {40}}, {"v", {24}}, {"o", {24, 40}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values result(24 * 40);
    for (int64_t j = 0; j < 40; ++j) {
      double mean = 0;
      for (int64_t i = 0; i < 24; ++i)
        mean += in[0][i * 40 + j] / 24;
      for (int64_t i = 0; i < 24; ++i)
        result[i * 40 + j] = (in[0][i * 40 + j] - mean) * in[1][j] + in[2][i];
    }
    return result;
  };
  return c;
}

ProgramCase tegula::exec::gathers() {
  ProgramCase c;
  c.name = "gather";
  c.text =
      kernel(tensor("x", "f32", {"V"}) + ", " + tensor("ids", "i32", {"N"}) +
                 ", " + tensor("o", "f32", {"N"}, "out") + dim("V") + dim("N"),
             gridOver("N", "256") + R"(%k = tile.load %ids[%i] axes [0] : )" +
                 vectorOf("i32") + R"( -> tensor<256xi32>
%w = arith.extsi %k : tensor<256xi32> to tensor<256xi64>
%one = arith.constant dense<1> : tensor<256xi32>
%none = arith.constant dense<0> : tensor<256xi32>
%low = arith.andi %k, %one : tensor<256xi32>
%even = arith.cmpi eq, %low, %none : tensor<256xi32>
%seven = arith.constant 7.0 : f32
%g = tile.gather %x[%w] mask %even fill %seven : )" +
                 vectorOf("f32") +
                 R"(, tensor<256xi64> -> tensor<256xf32>
tile.store %g, %o[%i] axes [0] : tensor<256xf32>, )" +
                 vectorOf("f32") + "\n");
  c.tensors = {{"x", {500}}, {"ids", {1000}, -20, 520}, {"o", {1000}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (double id : in[1]) {
      bool even = static_cast<int64_t>(id) % 2 == 0;
      result.push_back(even ? in[0][std::min(499.0, std::max(0.0, id))] : 7);
    }
    return result;
  };
  return c;
}

ProgramCase tegula::exec::scatters() {
  ProgramCase c;
  c.name = "scatter";
  c.text = kernel(tensor("x", "bf16", {"N"}) + ", " +
                      tensor("o", "bf16", {"N"}, "out") + dim("N"),
                  gridOver("N", "96") + R"(%a = tile.load %x[%i] axes [0] : )" +
                      vectorOf("bf16") + R"( -> tensor<96xbf16>
%lane = tile.iota : tensor<96xi64>
%first = tensor.splat %i : tensor<96xi64>
%at = arith.addi %lane, %first : tensor<96xi64>
%one = arith.constant 1 : i64
%last = arith.subi %N, %one : i64
%lasts = tensor.splat %last : tensor<96xi64>
%back = arith.subi %lasts, %at : tensor<96xi64>
tile.scatter %a, %o[%back] : tensor<96xbf16>, )" +
                      vectorOf("bf16") + ", tensor<96xi64>\n");
  c.tensors = {{"x", {777}}, {"o", {777}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    return Values(in[0].rbegin(), in[0].rend());
  };
  return c;
}

ProgramCase tegula::exec::histogram(const std::string &type) {
  ProgramCase c;
  bool isReal = type[0] != 'i';
  c.name = "histogram-" + type;
  c.text =
      kernel(tensor("ids", "i32", {"N"}) + ", " +
                 tensor("o", type, {"V"}, "out") + dim("N") + dim("V"),
             gridOver("N", "1024") + R"(%k = tile.load %ids[%i] axes [0] : )" +
                 vectorOf("i32") + R"( -> tensor<1024xi32>
%w = arith.extsi %k : tensor<1024xi32> to tensor<1024xi64>
%lane = tile.iota : tensor<1024xi64>
%left = arith.subi %N, %i : i64
%lefts = tensor.splat %left : tensor<1024xi64>
%in = arith.cmpi slt, %lane, %lefts : tensor<1024xi64>
%one = arith.constant dense<)" +
                 (isReal ? "1.0" : "1") + "> : tensor<1024x" + type + R"(>
tile.atomic_add %one, %o[%w] mask %in : tensor<1024x)" +
                 type + ">, " + vectorOf(type) + ", tensor<1024xi64>\n");
  c.tensors = {{"ids", {5000}, -1, 63}, {"o", {64}, 0, 0}};
  c.updated = {"o"};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values result(64);
    for (double id : in[0])
      if (id >= 0)
        ++result[id];
    return result;
  };
  return c;
}
