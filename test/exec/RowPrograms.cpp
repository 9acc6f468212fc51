//===- RowPrograms.cpp - elementwise code and reductions ------------------===//
//
// Sums of vectors, softmax and norms of rows, reductions and scans along an
// axis.
//
//===----------------------------------------------------------------------===//
#include "ProgramParts.h"

#include <algorithm>
#include <cmath>

using namespace tegula::exec;

ProgramCase tegula::exec::vectorAdd(const std::string &type, int64_t n,
                                    const std::string &tile) {
  std::string t = "tensor<" + tile + "x" + type + ">", m = vectorOf(type),
              add = type[0] == 'i' ? "arith.addi" : "arith.addf";
  ProgramCase c;
  c.name = "add-" + type + "-" + std::to_string(n);
  c.text =
      kernel(tensor("x", type, {"N"}) + ", " + tensor("y", type, {"N"}) + ", " +
                 tensor("o", type, {"N"}, "out") + dim("N"),
             gridOver("N", tile) + "%a = tile.load %x[%i] axes [0] : " + m +
                 " -> " + t + "\n%b = tile.load %y[%i] axes [0] : " + m +
                 " -> " + t + "\n%c = " + add + " %a, %b : " + t +
                 "\ntile.store %c, %o[%i] axes [0] : " + t + ", " + m + "\n");
  double range = type[0] == 'i' ? 30 : 1;
  c.tensors = {
      {"x", {n}, -range, range}, {"y", {n}, -range, range}, {"o", {n}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values sum;
    for (size_t i = 0; i < in[0].size(); ++i)
      sum.push_back(in[0][i] + in[1][i]);
    return sum;
  };
  return c;
}

ProgramCase tegula::exec::rowSoftmax(int64_t rows, int64_t columns,
                                     const std::string &tile) {
  std::string t = "tensor<" + tile + "xf32>", m = matrixOf("f32");
  ProgramCase c;
  c.name = "softmax-" + std::to_string(columns);
  c.text =
      kernel(tensor("x", "f32", {"R", "C"}) + ", " +
                 tensor("o", "f32", {"R", "C"}, "out") + dim("R") + dim("C"),
             "%r = tile.program_id of (%R) : i64\n"
             "%a = tile.load %x[%r, %zero] axes [1] : " +
                 m + " -> " + t + R"(
%lane = tile.iota : tensor<)" +
                 tile + R"(xi64>
%n = tensor.splat %C : tensor<)" +
                 tile + R"(xi64>
%in = arith.cmpi slt, %lane, %n : tensor<)" +
                 tile + R"(xi64>
%none = arith.constant dense<0xFF800000> : )" +
                 t + R"(
%b = arith.select %in, %a, %none : tensor<)" +
                 tile + "xi1>, " + t + R"(
%m = tile.reduce maximum %b : )" +
                 t + R"( -> f32
%ms = tensor.splat %m : )" +
                 t + R"(
%d = arith.subf %b, %ms : )" +
                 t + R"(
%e = math.exp %d : )" +
                 t + R"(
%s = tile.reduce add %e : )" +
                 t + R"( -> f32
%ss = tensor.splat %s : )" +
                 t + R"(
%y = arith.divf %e, %ss : )" +
                 t + R"(
tile.store %y, %o[%r, %zero] axes [1] : )" +
                 t + ", " + m + "\n");
  c.tensors = {{"x", {rows, columns}, -5, 5}, {"o", {rows, columns}}};
  c.answer = [columns](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (size_t row = 0; row < in[0].size(); row += columns) {
      double largest = -INFINITY, sum = 0;
      for (int64_t i = 0; i < columns; ++i)
        largest = std::max(largest, in[0][row + i]);
      for (int64_t i = 0; i < columns; ++i)
        sum += std::exp(in[0][row + i] - largest);
      for (int64_t i = 0; i < columns; ++i)
        result.push_back(std::exp(in[0][row + i] - largest) / sum);
    }
    return result;
  };
  return c;
}

ProgramCase tegula::exec::rmsNorm(int64_t rows, int64_t columns,
                                  const std::string &tile) {
  std::string f = "tensor<" + tile + "xf32>", t = "tensor<" + tile + "xbf16>",
              m = matrixOf("bf16");
  ProgramCase c;
  c.name = "rmsnorm-" + std::to_string(columns);
  c.text = kernel(
      tensor("x", "bf16", {"R", "C"}) + ", " + tensor("w", "bf16", {"C"}) +
          ", " + tensor("o", "bf16", {"R", "C"}, "out") + dim("R") + dim("C"),
      "%r = tile.program_id of (%R) : i64\n"
      "%x16 = tile.load %x[%r, %zero] axes [1] : " +
          m + " -> " + t + "\n%w16 = tile.load %w[%zero] axes [0] : " +
          vectorOf("bf16") + " -> " + t + "\n%a = arith.extf %x16 : " + t +
          " to " + f + "\n%g = arith.extf %w16 : " + t + " to " + f +
          "\n%sq = arith.mulf %a, %a : " + f +
          "\n%s = tile.reduce add %sq : " + f + R"( -> f32
%n = arith.sitofp %C : i64 to f32
%mean = arith.divf %s, %n : f32
%eps = arith.constant 1.0e-5 : f32
%me = arith.addf %mean, %eps : f32
%rs = math.rsqrt %me : f32
%rss = tensor.splat %rs : )" +
          f + "\n%y = arith.mulf %a, %rss : " + f +
          "\n%z = arith.mulf %y, %g : " + f +
          "\n%z16 = arith.truncf %z : " + f + " to " + t +
          "\ntile.store %z16, %o[%r, %zero] axes [1] : " + t + ", " + m + "\n");
  c.tensors = {
      {"x", {rows, columns}}, {"w", {columns}}, {"o", {rows, columns}}};
  c.tolerance = 5e-3;
  c.answer = [columns](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (size_t row = 0; row < in[0].size(); row += columns) {
      double sum = 0;
      for (int64_t i = 0; i < columns; ++i)
        sum += in[0][row + i] * in[0][row + i];
      for (int64_t i = 0; i < columns; ++i)
        result.push_back(in[0][row + i] * in[1][i] /
                         std::sqrt(sum / columns + 1e-5));
    }
    return result;
  };
  return c;
}

ProgramCase tegula::exec::reduction(const std::string &kind,
                                    const std::string &type, int64_t rows,
                                    int64_t columns, int axis) {
  std::string shape =
                  std::to_string(rows) + "x" + std::to_string(columns) + "x",
              kept = std::to_string(axis == 0 ? columns : rows) + "x",
              to = kind == "argmax" ? "i32" : type;
  ProgramCase c;
  c.name = "reduce-" + kind + "-" + type + "-" + std::to_string(rows) + "x" +
           std::to_string(columns) + "-axis" + std::to_string(axis);
  c.text = kernel(
      tensor("x", type, {"R", "C"}) + ", " +
          tensor("o", to, {axis == 0 ? "C" : "R"}, "out") + dim("R") + dim("C"),
      "%one = arith.constant 1 : i64\n"
      "%p = tile.program_id of (%one) : i64\n"
      "%a = tile.load %x[%zero, %zero] axes [0, 1] : " +
          matrixOf(type) + " -> tensor<" + shape + type +
          ">\n%r = tile.reduce " + kind + " %a axis " + std::to_string(axis) +
          " : tensor<" + shape + type + "> -> tensor<" + kept + to +
          ">\ntile.store %r, %o[%zero] axes [0] : tensor<" + kept + to + ">, " +
          vectorOf(to) + "\n");
  bool isReal = type[0] == 'f';
  double range = type == "i1" ? 1 : isReal ? 1 : 9;
  c.tensors = {{"x", {rows, columns}, type == "i1" ? 0 : -range, range},
               {"o", {axis == 0 ? columns : rows}}};
  c.answer = [=](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (int64_t i = 0; i < (axis == 0 ? columns : rows); ++i) {
      double best = 0;
      int64_t place = 0;
      for (int64_t j = 0; j < (axis == 0 ? rows : columns); ++j) {
        double x = in[0][axis == 0 ? j * columns + i : i * columns + j];
        if (kind == "argmax" && (j == 0 || x > best))
          place = j;
        if (j == 0)
          best = x;
        else if (kind == "add")
          best += x;
        else if (kind == "minimum" || kind == "and")
          best = std::min(best, x);
        else
          best = std::max(best, x);
      }
      result.push_back(kind == "argmax" ? place : best);
    }
    return result;
  };
  return c;
}

ProgramCase tegula::exec::runningSums(const std::string &type, int64_t rows,
                                      int64_t columns, int axis) {
  std::string t = "tensor<" + std::to_string(rows) + "x" +
                  std::to_string(columns) + "x" + type + ">",
              m = matrixOf(type);
  ProgramCase c;
  c.name = "cumsum-" + type + "-" + std::to_string(rows) + "x" +
           std::to_string(columns) + "-axis" + std::to_string(axis);
  c.text =
      kernel(tensor("x", type, {"R", "C"}) + ", " +
                 tensor("o", type, {"R", "C"}, "out") + dim("R") + dim("C"),
             "%a = tile.load %x[%zero, %zero] axes [0, 1] : " + m + " -> " + t +
                 "\n%r = tile.cumsum %a axis " + std::to_string(axis) + " : " +
                 t + "\ntile.store %r, %o[%zero, %zero] axes [0, 1] : " + t +
                 ", " + m + "\n");
  double range = type[0] == 'f' ? 1 : 9;
  c.tensors = {{"x", {rows, columns}, -range, range}, {"o", {rows, columns}}};
  c.answer = [=](const std::string &, const std::vector<Values> &in) {
    Values result = in[0];
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        if (axis == 0 ? i > 0 : j > 0)
          result[i * columns + j] +=
              result[axis == 0 ? (i - 1) * columns + j : i * columns + j - 1];
    return result;
  };
  return c;
}

ProgramCase tegula::exec::lastNonZero(int64_t rows, int64_t columns) {
  std::string t = "tensor<" + std::to_string(rows) + "x" +
                  std::to_string(columns) + "xi32>";
  ProgramCase c;
  c.name = "combine-last-" + std::to_string(columns);
  c.text =
      kernel(tensor("x", "i32", {"R", "C"}) + ", " +
                 tensor("o", "i32", {"R"}, "out") + dim("R") + dim("C"),
             "%a = tile.load %x[%zero, %zero] axes [0, 1] : " +
                 matrixOf("i32") + " -> " + t + R"(
%none = arith.constant 0 : i32
%r = tile.combine %a init %none axis 1 {
^bb0(%u: i32, %v: i32):
  %k = arith.constant 0 : i32
  %is = arith.cmpi ne, %v, %k : i32
  %w = arith.select %is, %v, %u : i32
  tile.yield %w : i32
} : )" + t + " -> tensor<" +
                 std::to_string(rows) + R"(xi32>
tile.store %r, %o[%zero] axes [0] : tensor<)" +
                 std::to_string(rows) + "xi32>, " + vectorOf("i32") + "\n");
  c.tensors = {{"x", {rows, columns}, -1, 2}, {"o", {rows}}};
  c.answer = [=](const std::string &, const std::vector<Values> &in) {
    Values result(rows);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        if (in[0][i * columns + j] != 0)
          result[i] = in[0][i * columns + j];
    return result;
  };
  return c;
}
