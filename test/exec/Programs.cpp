//===- Programs.cpp - the table of tile programs --------------------------===//
//
// Each op of tile programs at least once, over tiles that no layout divides and
// extents that no tile divides.
//
//===----------------------------------------------------------------------===//
#include "Program.h"

#include <cmath>

using namespace tegula::exec;

/// The kernel `p` around a body; `tensors` and `dims` as MLIR arguments.
static std::string kernel(const std::string &arguments,
                          const std::string &body) {
  return "tile.kernel @p(" + arguments + ") {\n%zero = arith.constant 0 : i64\n" +
         body + "tile.return\n}\n";
}

/// An argument that is a tensor: `dims` is a comma-separated list of names.
static std::string tensor(const std::string &name, const std::string &type,
                          const std::vector<std::string> &dims,
                          const std::string &role = "in") {
  std::string shape, strides, names;
  for (const std::string &dim : dims) {
    shape += "?x";
    strides += strides.empty() ? "?" : ", ?";
    names += (names.empty() ? "\"" : ", \"") + dim + "\"";
  }
  return "%" + name + ": memref<" + shape + type + ", strided<[" + strides +
         "]>> {tile.name = \"" + name + "\", tile.dims = [" + names +
         "], tile.role = \"" + role + "\"}";
}

static std::string dim(const std::string &name) {
  return ", %" + name + ": i64 {tile.dim = \"" + name + "\"}";
}

static std::string vectorOf(const std::string &type) {
  return "memref<?x" + type + ", strided<[?]>>";
}
static std::string matrixOf(const std::string &type) {
  return "memref<?x?x" + type + ", strided<[?, ?]>>";
}

/// `%i = p * tile`, with one program for each tile of `dim`.
static std::string gridOver(const std::string &dim, const std::string &tile) {
  return "%size = arith.constant " + tile +
         " : i64\n%tiles = arith.ceildivsi %" + dim +
         ", %size : i64\n%p = tile.program_id of (%tiles) : i64\n"
         "%i = arith.muli %p, %size : i64\n";
}

//===-- elementwise -------------------------------------------------------===//

static ProgramCase vectorAdd(const std::string &type, int64_t n,
                             const std::string &tile) {
  std::string t = "tensor<" + tile + "x" + type + ">", m = vectorOf(type),
              add = type[0] == 'i' ? "arith.addi" : "arith.addf";
  ProgramCase c;
  c.name = "add-" + type + "-" + std::to_string(n);
  c.text = kernel(
      tensor("x", type, {"N"}) + ", " + tensor("y", type, {"N"}) + ", " +
          tensor("o", type, {"N"}, "out") + dim("N"),
      gridOver("N", tile) + "%a = tile.load %x[%i] axes [0] : " + m + " -> " + t +
          "\n%b = tile.load %y[%i] axes [0] : " + m + " -> " + t + "\n%c = " +
          add + " %a, %b : " + t + "\ntile.store %c, %o[%i] axes [0] : " + t +
          ", " + m + "\n");
  double range = type[0] == 'i' ? 30 : 1;
  c.tensors = {{"x", {n}, -range, range}, {"y", {n}, -range, range}, {"o", {n}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values sum;
    for (size_t i = 0; i < in[0].size(); ++i)
      sum.push_back(in[0][i] + in[1][i]);
    return sum;
  };
  return c;
}

//===-- rows --------------------------------------------------------------===//

static ProgramCase rowSoftmax(int64_t rows, int64_t columns,
                              const std::string &tile) {
  std::string t = "tensor<" + tile + "xf32>", m = matrixOf("f32");
  ProgramCase c;
  c.name = "softmax-" + std::to_string(columns);
  c.text = kernel(tensor("x", "f32", {"R", "C"}) + ", " +
                      tensor("o", "f32", {"R", "C"}, "out") + dim("R") + dim("C"),
                  "%r = tile.program_id of (%R) : i64\n"
                  "%a = tile.load %x[%r, %zero] axes [1] : " + m + " -> " + t + R"(
%lane = tile.iota : tensor<)" + tile + R"(xi64>
%n = tensor.splat %C : tensor<)" + tile + R"(xi64>
%in = arith.cmpi slt, %lane, %n : tensor<)" + tile + R"(xi64>
%none = arith.constant dense<0xFF800000> : )" + t + R"(
%b = arith.select %in, %a, %none : tensor<)" + tile + "xi1>, " + t + R"(
%m = tile.reduce maximum %b : )" + t + R"( -> f32
%ms = tensor.splat %m : )" + t + R"(
%d = arith.subf %b, %ms : )" + t + R"(
%e = math.exp %d : )" + t + R"(
%s = tile.reduce add %e : )" + t + R"( -> f32
%ss = tensor.splat %s : )" + t + R"(
%y = arith.divf %e, %ss : )" + t + R"(
tile.store %y, %o[%r, %zero] axes [1] : )" + t + ", " + m + "\n");
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

static ProgramCase rmsNorm(int64_t rows, int64_t columns,
                           const std::string &tile) {
  std::string f = "tensor<" + tile + "xf32>", t = "tensor<" + tile + "xbf16>",
              m = matrixOf("bf16");
  ProgramCase c;
  c.name = "rmsnorm-" + std::to_string(columns);
  c.text = kernel(tensor("x", "bf16", {"R", "C"}) + ", " +
                      tensor("w", "bf16", {"C"}) + ", " +
                      tensor("o", "bf16", {"R", "C"}, "out") + dim("R") + dim("C"),
                  "%r = tile.program_id of (%R) : i64\n"
                  "%x16 = tile.load %x[%r, %zero] axes [1] : " + m + " -> " + t +
                      "\n%w16 = tile.load %w[%zero] axes [0] : " +
                      vectorOf("bf16") + " -> " + t +
                      "\n%a = arith.extf %x16 : " + t + " to " + f +
                      "\n%g = arith.extf %w16 : " + t + " to " + f +
                      "\n%sq = arith.mulf %a, %a : " + f +
                      "\n%s = tile.reduce add %sq : " + f + R"( -> f32
%n = arith.sitofp %C : i64 to f32
%mean = arith.divf %s, %n : f32
%eps = arith.constant 1.0e-5 : f32
%me = arith.addf %mean, %eps : f32
%rs = math.rsqrt %me : f32
%rss = tensor.splat %rs : )" + f + "\n%y = arith.mulf %a, %rss : " + f +
                      "\n%z = arith.mulf %y, %g : " + f +
                      "\n%z16 = arith.truncf %z : " + f + " to " + t +
                      "\ntile.store %z16, %o[%r, %zero] axes [1] : " + t + ", " +
                      m + "\n");
  c.tensors = {{"x", {rows, columns}}, {"w", {columns}}, {"o", {rows, columns}}};
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

/// o[reduced] = KIND of a tile that covers x, whole extents only.
static ProgramCase reduction(const std::string &kind, const std::string &type,
                             int64_t rows, int64_t columns, int axis) {
  std::string shape = std::to_string(rows) + "x" + std::to_string(columns) + "x",
              kept = std::to_string(axis == 0 ? columns : rows) + "x",
              to = kind == "argmax" ? "i32" : type;
  ProgramCase c;
  c.name = "reduce-" + kind + "-" + type + "-" + std::to_string(rows) + "x" +
           std::to_string(columns) + "-axis" + std::to_string(axis);
  c.text = kernel(tensor("x", type, {"R", "C"}) + ", " +
                      tensor("o", to, {axis == 0 ? "C" : "R"}, "out") + dim("R") +
                      dim("C"),
                  "%one = arith.constant 1 : i64\n"
                  "%p = tile.program_id of (%one) : i64\n"
                  "%a = tile.load %x[%zero, %zero] axes [0, 1] : " +
                      matrixOf(type) + " -> tensor<" + shape + type +
                      ">\n%r = tile.reduce " + kind + " %a axis " +
                      std::to_string(axis) + " : tensor<" + shape + type +
                      "> -> tensor<" + kept + to +
                      ">\ntile.store %r, %o[%zero] axes [0] : tensor<" + kept +
                      to + ">, " + vectorOf(to) + "\n");
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

static ProgramCase runningSums(const std::string &type, int64_t rows,
                               int64_t columns, int axis) {
  std::string t = "tensor<" + std::to_string(rows) + "x" +
                  std::to_string(columns) + "x" + type + ">",
              m = matrixOf(type);
  ProgramCase c;
  c.name = "cumsum-" + type + "-" + std::to_string(rows) + "x" +
           std::to_string(columns) + "-axis" + std::to_string(axis);
  c.text = kernel(tensor("x", type, {"R", "C"}) + ", " +
                      tensor("o", type, {"R", "C"}, "out") + dim("R") + dim("C"),
                  "%a = tile.load %x[%zero, %zero] axes [0, 1] : " + m + " -> " +
                      t + "\n%r = tile.cumsum %a axis " + std::to_string(axis) +
                      " : " + t +
                      "\ntile.store %r, %o[%zero, %zero] axes [0, 1] : " + t +
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

/// The last element of each row that is not 0: associative, but does not
/// commute.
static ProgramCase lastNonZero(int64_t rows, int64_t columns) {
  std::string t = "tensor<" + std::to_string(rows) + "x" +
                  std::to_string(columns) + "xi32>";
  ProgramCase c;
  c.name = "combine-last-" + std::to_string(columns);
  c.text = kernel(
      tensor("x", "i32", {"R", "C"}) + ", " + tensor("o", "i32", {"R"}, "out") +
          dim("R") + dim("C"),
      "%a = tile.load %x[%zero, %zero] axes [0, 1] : " + matrixOf("i32") +
          " -> " + t + R"(
%none = arith.constant 0 : i32
%r = tile.combine %a init %none axis 1 {
^bb0(%u: i32, %v: i32):
  %k = arith.constant 0 : i32
  %is = arith.cmpi ne, %v, %k : i32
  %w = arith.select %is, %v, %u : i32
  tile.yield %w : i32
} : )" + t + " -> tensor<" + std::to_string(rows) + R"(xi32>
tile.store %r, %o[%zero] axes [0] : tensor<)" + std::to_string(rows) + "xi32>, " +
          vectorOf("i32") + "\n");
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

//===-- moves -------------------------------------------------------------===//

static ProgramCase transposedCopy(const std::string &type) {
  std::string m = matrixOf(type);
  ProgramCase c;
  c.name = "transpose-" + type;
  c.text = kernel(
      tensor("x", type, {"R", "C"}) + ", " + tensor("o", type, {"C", "R"}, "out") +
          dim("R") + dim("C"),
      R"(%c32 = arith.constant 32 : i64
%c64 = arith.constant 64 : i64
%tr = arith.ceildivsi %R, %c32 : i64
%tc = arith.ceildivsi %C, %c64 : i64
%pr, %pc = tile.program_id of (%tr, %tc) : i64, i64
%r = arith.muli %pr, %c32 : i64
%c = arith.muli %pc, %c64 : i64
%a = tile.load %x[%r, %c] axes [0, 1] : )" + m + " -> tensor<32x64x" + type + R"(>
%t = tile.transpose %a permutation [1, 0] : tensor<32x64x)" + type +
          "> -> tensor<64x32x" + type + R"(>
%s = arith.constant dense<)" + (type[0] == 'i' ? "1" : "1.0") +
          "> : tensor<64x32x" + type + ">\n%u = " +
          (type[0] == 'i' ? "arith.addi" : "arith.addf") +
          " %t, %s : tensor<64x32x" + type +
          ">\ntile.store %u, %o[%c, %r] axes [0, 1] : tensor<64x32x" + type +
          ">, " + m + "\n");
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

static ProgramCase reshaped(int64_t a, int64_t b, int64_t c1, int64_t d) {
  auto text = [](int64_t x, int64_t y) {
    return "tensor<" + std::to_string(x) + "x" + std::to_string(y) + "xf32>";
  };
  std::string from = text(a, b), to = text(c1, d), m = matrixOf("f32");
  ProgramCase c;
  c.name = "reshape-" + std::to_string(b) + "-" + std::to_string(d);
  c.text = kernel(tensor("x", "f32", {"A", "B"}) + ", " +
                      tensor("o", "f32", {"C", "D"}, "out") + dim("A") +
                      dim("B") + dim("C") + dim("D"),
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

/// o[i, j] = (x[i, j] - mean over i) * w[j] + v[i]: both broadcasts.
static ProgramCase broadcasts() {
  std::string t = "tensor<24x40xf32>", m = matrixOf("f32"), v = vectorOf("f32");
  ProgramCase c;
  c.name = "broadcasts";
  c.text = kernel(
      tensor("x", "f32", {"R", "C"}) + ", " + tensor("w", "f32", {"C"}) + ", " +
          tensor("v", "f32", {"R"}) + ", " + tensor("o", "f32", {"R", "C"}, "out") +
          dim("R") + dim("C"),
      "%a = tile.load %x[%zero, %zero] axes [0, 1] : " + m + " -> " + t + R"(
%lw = tile.load %w[%zero] axes [0] : )" + v + R"( -> tensor<40xf32>
%lv = tile.load %v[%zero] axes [0] : )" + v + R"( -> tensor<24xf32>
%s = tile.reduce add %a axis 0 : )" + t + R"( -> tensor<40xf32>
%k = arith.constant dense<24.0> : tensor<40xf32>
%mean = arith.divf %s, %k : tensor<40xf32>
%bm = tile.broadcast %mean axes [1] : tensor<40xf32> -> )" + t + R"(
%bw = tile.broadcast %lw axes [1] : tensor<40xf32> -> )" + t + R"(
%bv = tile.broadcast %lv : tensor<24xf32> -> )" + t + R"(
%d = arith.subf %a, %bm : )" + t + R"(
%e = arith.mulf %d, %bw : )" + t + R"(
%f = arith.addf %e, %bv : )" + t + R"(
tile.store %f, %o[%zero, %zero] axes [0, 1] : )" + t + ", " + m + "\n");
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

//===-- computed places ---------------------------------------------------===//

/// o[i] = x[ids[i]] where ids[i] is even, else 7; y[ids[i]] = i for ids unique.
static ProgramCase gathers() {
  ProgramCase c;
  c.name = "gather";
  c.text = kernel(
      tensor("x", "f32", {"V"}) + ", " + tensor("ids", "i32", {"N"}) + ", " +
          tensor("o", "f32", {"N"}, "out") + dim("V") + dim("N"),
      gridOver("N", "256") + R"(%k = tile.load %ids[%i] axes [0] : )" +
          vectorOf("i32") + R"( -> tensor<256xi32>
%w = arith.extsi %k : tensor<256xi32> to tensor<256xi64>
%one = arith.constant dense<1> : tensor<256xi32>
%none = arith.constant dense<0> : tensor<256xi32>
%low = arith.andi %k, %one : tensor<256xi32>
%even = arith.cmpi eq, %low, %none : tensor<256xi32>
%seven = arith.constant 7.0 : f32
%g = tile.gather %x[%w] mask %even fill %seven : )" + vectorOf("f32") +
          R"(, tensor<256xi64> -> tensor<256xf32>
tile.store %g, %o[%i] axes [0] : tensor<256xf32>, )" + vectorOf("f32") + "\n");
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

static ProgramCase scatters() {
  ProgramCase c;
  c.name = "scatter";
  c.text = kernel(
      tensor("x", "bf16", {"N"}) + ", " + tensor("o", "bf16", {"N"}, "out") +
          dim("N"),
      gridOver("N", "96") + R"(%a = tile.load %x[%i] axes [0] : )" +
          vectorOf("bf16") + R"( -> tensor<96xbf16>
%lane = tile.iota : tensor<96xi64>
%first = tensor.splat %i : tensor<96xi64>
%at = arith.addi %lane, %first : tensor<96xi64>
%one = arith.constant 1 : i64
%last = arith.subi %N, %one : i64
%lasts = tensor.splat %last : tensor<96xi64>
%back = arith.subi %lasts, %at : tensor<96xi64>
tile.scatter %a, %o[%back] : tensor<96xbf16>, )" + vectorOf("bf16") +
          ", tensor<96xi64>\n");
  c.tensors = {{"x", {777}}, {"o", {777}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    return Values(in[0].rbegin(), in[0].rend());
  };
  return c;
}

static ProgramCase histogram(const std::string &type) {
  ProgramCase c;
  bool isReal = type[0] != 'i';
  c.name = "histogram-" + type;
  c.text = kernel(
      tensor("ids", "i32", {"N"}) + ", " + tensor("o", type, {"V"}, "out") +
          dim("N") + dim("V"),
      gridOver("N", "1024") + R"(%k = tile.load %ids[%i] axes [0] : )" +
          vectorOf("i32") + R"( -> tensor<1024xi32>
%w = arith.extsi %k : tensor<1024xi32> to tensor<1024xi64>
%lane = tile.iota : tensor<1024xi64>
%left = arith.subi %N, %i : i64
%lefts = tensor.splat %left : tensor<1024xi64>
%in = arith.cmpi slt, %lane, %lefts : tensor<1024xi64>
%one = arith.constant dense<)" + (isReal ? "1.0" : "1") + "> : tensor<1024x" +
          type + R"(>
tile.atomic_add %one, %o[%w] mask %in : tensor<1024x)" + type + ">, " +
          vectorOf(type) + ", tensor<1024xi64>\n");
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

//===-- matrix products ---------------------------------------------------===//

/// c = a * b + bias, with a loop over the depth; b as [K, N], or [N, K] read
/// transposed by the product, or by tile.transpose.
static ProgramCase product(const std::string &type, const std::string &tiles,
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
  std::string load =
      flipped ? "%B = tile.load %b[%n, %k] axes [0, 1] : " + mt + " -> " +
                    rightFlipped + "\n"
              : "%B = tile.load %b[%k, %n] axes [0, 1] : " + mt + " -> " +
                    right + "\n";
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
%none = arith.constant dense<)" + (isInteger ? "0" : "0.0") + "> : " + acc + R"(
%sum = tile.for_blocks %k = %zero to %K step )" + bk + " iter_args(%u = %none) -> (" +
          acc + ") {\n%A = tile.load %a[%m, %k] axes [0, 1] : " + mt + " -> " +
          left + "\n" + load + "%w = tile.dot %A, " + operand + flag +
          " acc(%u : " + acc + ") : " + left + ", " + operandType + " -> " + acc +
          "\ntile.yield %w : " + acc + "\n}\n%lb = tile.load %bias[%n] axes [0] : " +
          vectorOf(to) + " -> tensor<" + bn + "x" + to +
          ">\n%bb = tile.broadcast %lb axes [1] : tensor<" + bn + "x" + to +
          "> -> " + acc + "\n%r = " + (isInteger ? "arith.addi" : "arith.addf") +
          " %sum, %bb : " + acc +
          "\ntile.store %r, %o[%m, %n] axes [0, 1] : " + acc + ", " +
          matrixOf(to) + "\n");
  double range = isInteger ? 100 : 1;
  c.tensors = {{"a", {m, k}, -range, range},
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

/// One block of attention by hand: two products with a row softmax between.
static ProgramCase attentionBlock() {
  std::string m = matrixOf("bf16"), s = "tensor<32x48xf32>";
  ProgramCase c;
  c.name = "attention-block";
  c.text = kernel(
      tensor("q", "bf16", {"M", "D"}) + ", " + tensor("k", "bf16", {"N", "D"}) +
          ", " + tensor("v", "bf16", {"N", "D"}) + ", " +
          tensor("o", "bf16", {"M", "D"}, "out") + dim("M") + dim("N") + dim("D"),
      gridOver("M", "32") + "%Q = tile.load %q[%i, %zero] axes [0, 1] : " + m +
          " -> tensor<32x64xbf16>\n%K = tile.load %k[%zero, %zero] axes [0, 1] : " +
          m + " -> tensor<48x64xbf16>\n%V = tile.load %v[%zero, %zero] axes [0, 1] : " +
          m + R"( -> tensor<48x64xbf16>
%S = tile.dot %Q, %K transpose_b : tensor<32x64xbf16>, tensor<48x64xbf16> -> )" +
          s + R"(
%top = tile.reduce max %S : )" + s + R"( -> tensor<32xf32>
%tops = tile.broadcast %top : tensor<32xf32> -> )" + s + R"(
%d = arith.subf %S, %tops : )" + s + R"(
%e = math.exp %d : )" + s + R"(
%sum = tile.reduce add %e : )" + s + R"( -> tensor<32xf32>
%e16 = arith.truncf %e : )" + s + R"( to tensor<32x48xbf16>
%U = tile.dot %e16, %V : tensor<32x48xbf16>, tensor<48x64xbf16> -> tensor<32x64xf32>
%sums = tile.broadcast %sum : tensor<32xf32> -> tensor<32x64xf32>
%O = arith.divf %U, %sums : tensor<32x64xf32>
%o16 = arith.truncf %O : tensor<32x64xf32> to tensor<32x64xbf16>
tile.store %o16, %o[%i, %zero] axes [0, 1] : tensor<32x64xbf16>, )" + m + "\n");
  c.tensors = {{"q", {70, 64}}, {"k", {48, 64}}, {"v", {48, 64}}, {"o", {70, 64}}};
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

//===-- control -----------------------------------------------------------===//

/// Row sums in a loop over column blocks, and a branch on the row's number.
static ProgramCase loopAndBranch() {
  std::string t = "tensor<128xf32>";
  ProgramCase c;
  c.name = "loop-branch";
  c.text = kernel(
      tensor("x", "f32", {"R", "C"}) + ", " + tensor("o", "f32", {"R"}, "out") +
          dim("R") + dim("C"),
      "%r = tile.program_id of (%R) : i64\n%none = arith.constant dense<0.0> : " + t + R"(
%step = arith.constant 128 : i64
%sum = scf.for %c = %zero to %C step %step iter_args(%u = %none) -> ()" + t + R"() : i64 {
  %a = tile.load %x[%r, %c] axes [1] : )" + matrixOf("f32") + " -> " + t + R"(
  %w = arith.addf %u, %a : )" + t + R"(
  scf.yield %w : )" + t + R"(
}
%s = tile.reduce add %sum : )" + t + R"( -> f32
%two = arith.constant 2 : i64
%bit = arith.remsi %r, %two : i64
%odd = arith.cmpi ne, %bit, %zero : i64
%y = scf.if %odd -> (f32) {
  %n = arith.negf %s : f32
  scf.yield %n : f32
} else {
  %neg = arith.negf %sum : )" + t + R"(
  %m = tile.reduce minimum %neg : )" + t + R"( -> f32
  scf.yield %m : f32
}
tile.scatter %y, %o[%r] : f32, )" + vectorOf("f32") + ", i64\n");
  c.tensors = {{"x", {9, 1000}}, {"o", {9}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (int64_t i = 0; i < 9; ++i) {
      Values lanes(128);
      double sum = 0, most = -INFINITY;
      for (int64_t j = 0; j < 1000; ++j) {
        lanes[j % 128] += in[0][i * 1000 + j];
        sum += in[0][i * 1000 + j];
      }
      for (double lane : lanes)
        most = std::max(most, lane);
      result.push_back(i % 2 ? -sum : -most);
    }
    return result;
  };
  return c;
}

/// A tile starts before the tensor and ends past it; other axes out of range.
static ProgramCase outside() {
  std::string t = "tensor<8x16xf32>", m = "memref<?x?x?xf32, strided<[?, ?, ?]>>";
  ProgramCase c;
  c.name = "outside";
  c.text = kernel(
      tensor("x", "f32", {"A", "B", "C"}) + ", " +
          tensor("o", "f32", {"P", "B", "C"}, "out") + dim("A") + dim("B") +
          dim("C") + dim("P"),
      R"(%p = tile.program_id of (%P) : i64
%one = arith.constant 1 : i64
%three = arith.constant 3 : i64
%q = arith.subi %p, %one : i64
%back = arith.subi %zero, %three : i64
%a = tile.load %x[%q, %back, %three] axes [1, 2] : )" + m + " -> " + t + R"(
tile.store %a, %o[%p, %zero, %zero] axes [1, 2] : )" + t + ", " + m + R"(
tile.store %a, %o[%back, %zero, %zero] axes [1, 2] : )" + t + ", " + m + "\n");
  c.tensors = {{"x", {3, 5, 12}}, {"o", {5, 5, 12}}};
  c.answer = [](const std::string &, const std::vector<Values> &in) {
    Values result;
    for (int64_t p = 0; p < 5; ++p)
      for (int64_t i = 0; i < 5; ++i)
        for (int64_t j = 0; j < 12; ++j) {
          bool in0 = p >= 1 && p <= 3, in1 = i >= 3, in2 = j + 3 < 12;
          result.push_back(
              in0 && in1 && in2
                  ? in[0][((p - 1) * 5 + i - 3) * 12 + j + 3]
                  : 0);
        }
    return result;
  };
  return c;
}

std::vector<ProgramCase> tegula::exec::programCases() {
  std::vector<ProgramCase> all;
  for (const char *type : {"f32", "bf16", "f16", "f64", "i8", "i16", "i32", "i64"})
    all.push_back(vectorAdd(type, 5000, "1024"));
  for (ProgramCase &c : all)
    c.tolerance = c.name.find("f16") != std::string::npos ? 8e-3 : 1e-6;
  all.push_back(vectorAdd("f32", 1, "64"));
  all.push_back(vectorAdd("f32", 1000, "1000"));
  all.push_back(rowSoftmax(7, 1000, "1024"));
  all.push_back(rowSoftmax(5, 4096, "4096"));
  all.push_back(rmsNorm(6, 999, "1024"));
  all.push_back(rmsNorm(3, 4096, "4096"));
  for (int axis : {0, 1}) {
    for (const char *kind : {"add", "maximum", "minimum", "argmax"})
      for (const char *type : {"f32", "i32", "i64"})
        all.push_back(reduction(kind, type, 64, 96, axis));
    all.push_back(reduction("and", "i1", 16, 6, axis));
    all.push_back(reduction("or", "i1", 6, 16, axis));
    all.push_back(reduction("add", "f32", 7, 1030, axis));
    all.push_back(reduction("argmax", "f32", 1030, 7, axis));
    all.push_back(reduction("add", "f64", 33, 40, axis));
    all.push_back(runningSums("i32", 16, 200, axis));
    all.push_back(runningSums("f32", 3, 1000, axis));
    all.push_back(runningSums("i64", 130, 5, axis));
  }
  all.push_back(lastNonZero(4, 1024));
  all.push_back(lastNonZero(33, 50));
  for (const char *type : {"f32", "bf16", "i8", "i64"})
    all.push_back(transposedCopy(type));
  all.push_back(reshaped(8, 48, 16, 24));
  all.push_back(reshaped(30, 7, 21, 10));
  all.push_back(reshaped(1, 256, 256, 1));
  all.push_back(broadcasts());
  all.push_back(gathers());
  all.push_back(scatters());
  for (const char *type : {"i32", "i64", "f32", "f16", "bf16"})
    all.push_back(histogram(type));
  for (const char *form : {"kn", "nk", "op"}) {
    all.push_back(product("bf16", "64x64x32", form, 100, 90, 70));
    all.push_back(product("f16", "128x128x64", form, 150, 260, 200));
    all.push_back(product("f32", "64x32x16", form, 100, 90, 70));
    all.push_back(product("i8", "32x32x64", form, 40, 50, 130));
  }
  all.push_back(product("i32", "16x16x16", "kn", 20, 30, 40));
  all.push_back(product("bf16", "128x256x64", "kn", 200, 300, 100));
  all.push_back(product("bf16", "4x24x8", "kn", 9, 50, 20));
  all.push_back(product("f32", "4x8x4", "nk", 9, 20, 10));
  all.push_back(attentionBlock());
  all.push_back(loopAndBranch());
  all.push_back(outside());
  return all;
}

std::vector<ProgramCase> tegula::exec::timedPrograms() {
  ProgramCase add = vectorAdd("f32", int64_t(1) << 26, "1024"),
              softmax = rowSoftmax(16384, 4096, "4096"),
              norm = rmsNorm(16384, 4096, "4096"),
              square = product("bf16", "128x128x64", "kn", 4096, 4096, 4096);
  return {add, softmax, norm, square};
}
