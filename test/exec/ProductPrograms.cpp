//===- ProductPrograms.cpp - matrix products ------------------------------===//
//
// Operands in both orders, in every type that has products.
//
//===----------------------------------------------------------------------===//
#include "ProgramParts.h"

#include <cmath>

using namespace tegula::exec;

ProgramCase tegula::exec::product(const std::string &type,
                                  const std::string &tiles,
                                  const std::string &form, int64_t m, int64_t n,
                                  int64_t k) {
  size_t x = tiles.find('x'), y = tiles.rfind('x');
  std::string bm = tiles.substr(0, x), bn = tiles.substr(x + 1, y - x - 1),
              bk = tiles.substr(y + 1);
  bool isInteger = type[0] == 'i', flipped = form != "kn";
  std::string to = isInteger ? "i32" : "f32",
              acc = "tensor<" + bm + "x" + bn + "x" + to + ">",
              left = "tensor<" + bm + "x" + bk + "x" + type + ">",
              right = "tensor<" + bk + "x" + bn + "x" + type + ">",
              rightFlipped = "tensor<" + bn + "x" + bk + "x" + type + ">",
              mt = matrixOf(type);
  std::string load = flipped ? "%B = tile.load %b[%n, %k] axes [0, 1] : " + mt +
                                   " -> " + rightFlipped + "\n"
                             : "%B = tile.load %b[%k, %n] axes [0, 1] : " + mt +
                                   " -> " + right + "\n";
  std::string operand = "%B", flag, operandType = right;
  if (form == "nk") {
    flag = " transpose_b";
    operandType = rightFlipped;
  } else if (form == "op") {
    load += "%T = tile.transpose %B permutation [1, 0] : " + rightFlipped +
            " -> " + right + "\n";
    operand = "%T";
  }
  ProgramCase c;
  c.name = "product-" + type + "-" + tiles + "-" + form;
  c.text = kernel(
      tensor("a", type, {"M", "K"}) + ", " +
          tensor("b", type,
                 flipped ? std::vector<std::string>{"N", "K"}
                         : std::vector<std::string>{"K", "N"}) +
          ", " + tensor("bias", to, {"N"}) + ", " +
          tensor("o", to, {"M", "N"}, "out") + dim("M") + dim("N") + dim("K"),
      "%bm = arith.constant " + bm + " : i64\n%bn = arith.constant " + bn +
          R"( : i64
%tm = arith.ceildivsi %M, %bm : i64
%tn = arith.ceildivsi %N, %bn : i64
%pm, %pn = tile.program_id of (%tm, %tn) : i64, i64
%m = arith.muli %pm, %bm : i64
%n = arith.muli %pn, %bn : i64
%none = arith.constant dense<)" +
          (isInteger ? "0" : "0.0") + "> : " + acc + R"(
%sum = tile.for_blocks %k = %zero to %K step )" +
          bk + " iter_args(%u = %none) -> (" + acc +
          ") {\n%A = tile.load %a[%m, %k] axes [0, 1] : " + mt + " -> " + left +
          "\n" + load + "%w = tile.dot %A, " + operand + flag +
          " acc(%u : " + acc + ") : " + left + ", " + operandType + " -> " +
          acc + "\ntile.yield %w : " + acc +
          "\n}\n%lb = tile.load %bias[%n] axes [0] : " + vectorOf(to) +
          " -> tensor<" + bn + "x" + to +
          ">\n%bb = tile.broadcast %lb axes [1] : tensor<" + bn + "x" + to +
          "> -> " + acc + "\n%r = " +
          (isInteger ? "arith.addi" : "arith.addf") + " %sum, %bb : " + acc +
          "\ntile.store %r, %o[%m, %n] axes [0, 1] : " + acc + ", " +
          matrixOf(to) + "\n");
  double range = isInteger ? 100 : 1;
  c.tensors = {
      {"a", {m, k}, -range, range},
      {"b", flipped ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n},
       -range, range},
      {"bias", {n}, -range, range},
      {"o", {m, n}}};
  c.answer = [=](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = in[2][j];
        for (int64_t t = 0; t < k; ++t)
          sum += in[0][i * k + t] * in[1][flipped ? j * k + t : t * n + j];
        result.push_back(sum);
      }
    return result;
  };
  return c;
}

ProgramCase tegula::exec::attentionBlock() {
  std::string m = matrixOf("bf16"), s = "tensor<32x48xf32>";
  ProgramCase c;
  c.name = "attention-block";
  c.text = kernel(
      tensor("q", "bf16", {"M", "D"}) + ", " + tensor("k", "bf16", {"N", "D"}) +
          ", " + tensor("v", "bf16", {"N", "D"}) + ", " +
          tensor("o", "bf16", {"M", "D"}, "out") + dim("M") + dim("N") +
          dim("D"),
      gridOver("M", "32") + "%Q = tile.load %q[%i, %zero] axes [0, 1] : " + m +
          " -> tensor<32x64xbf16>\n%K = tile.load %k[%zero, %zero] axes [0, 1] "
          ": " +
          m +
          " -> tensor<48x64xbf16>\n%V = tile.load %v[%zero, %zero] axes [0, 1] "
          ": " +
          m + R"( -> tensor<48x64xbf16>
%S = tile.dot %Q, %K transpose_b : tensor<32x64xbf16>, tensor<48x64xbf16> -> )" +
          s + R"(
%top = tile.reduce max %S : )" +
          s + R"( -> tensor<32xf32>
%tops = tile.broadcast %top : tensor<32xf32> -> )" +
          s + R"(
%d = arith.subf %S, %tops : )" +
          s + R"(
%e = math.exp %d : )" +
          s + R"(
%sum = tile.reduce add %e : )" +
          s + R"( -> tensor<32xf32>
%e16 = arith.truncf %e : )" +
          s + R"( to tensor<32x48xbf16>
%U = tile.dot %e16, %V : tensor<32x48xbf16>, tensor<48x64xbf16> -> tensor<32x64xf32>
%sums = tile.broadcast %sum : tensor<32xf32> -> tensor<32x64xf32>
%O = arith.divf %U, %sums : tensor<32x64xf32>
%o16 = arith.truncf %O : tensor<32x64xf32> to tensor<32x64xbf16>
tile.store %o16, %o[%i, %zero] axes [0, 1] : tensor<32x64xbf16>, )" +
          m + "\n");
  c.tensors = {
      {"q", {70, 64}}, {"k", {48, 64}}, {"v", {48, 64}}, {"o", {70, 64}}};
  c.tolerance = 1e-2;
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (int64_t i = 0; i < 70; ++i) {
      Values score(48), row(64);
      double sum = 0;
      for (int64_t j = 0; j < 48; ++j) {
        for (int64_t d = 0; d < 64; ++d)
          score[j] += in[0][i * 64 + d] * in[1][j * 64 + d];
        sum += score[j] = std::exp(score[j]);
      }
      for (int64_t j = 0; j < 48; ++j)
        for (int64_t d = 0; d < 64; ++d)
          row[d] += score[j] / sum * in[2][j * 64 + d];
      result.insert(result.end(), row.begin(), row.end());
    }
    return result;
  };
  return c;
}
