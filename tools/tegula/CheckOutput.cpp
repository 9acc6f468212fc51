//===- CheckOutput.cpp - an output beside the reference -------------------===//
//
// Each element has its own limit, and all of them together have one.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Deviation.h"
#include "tools/tegula/Reference.h"

#include <cstdio>

using namespace tegula;
using namespace tegula::tool;

/// Half the distance between numbers of `type` near `value`.
static double halfUlp(ElementType type, double value) {
  if (!rt::isFloat(type))
    return 0;
  int smallest = type == ElementType::f16 ? -14 : -126;
  int exponent = value == 0 ? smallest : std::max(std::ilogb(value), smallest);
  return std::ldexp(unitRoundoff(type), exponent);
}

static std::string wrongText(llvm::StringRef name,
                             llvm::ArrayRef<int64_t> index, double value,
                             double expected, double limit) {
  char numbers[128];
  std::snprintf(numbers, sizeof numbers, " is %.9g, expected %.9g within %.3g",
                value, expected, limit);
  return name.str() + shapeText(index) + numbers;
}

namespace {
/// Collects an output's elements into an OutputCheck.
class Comparison {
public:
  Comparison(llvm::StringRef name, ElementType type) : name(name), type(type) {}

  void add(llvm::ArrayRef<int64_t> index, double value, double expected,
           double plainError) {
    double error = errorOf(value, expected);
    double limit = 0;
    if (std::isfinite(expected))
      limit = 2 * plainError + halfUlp(type, expected);
    result.maxAbs = std::max(result.maxAbs, error);
    if (std::isfinite(limit))
      result.limit = std::max(result.limit, limit);
    result.worst = std::max(result.worst, error == 0   ? 0
                                          : limit == 0 ? infinity
                                                       : error / limit);
    l2.add(error, expected);
    if (!(error <= limit) && result.firstWrong.empty())
      result.firstWrong = wrongText(name, index, value, expected, limit);
  }

  OutputCheck finish(double plainL2, const Tensor &tensor) {
    result.relL2 = l2.relative();
    result.relL2Limit = 2 * plainL2 + unitRoundoff(type);
    for (int64_t offset = 0; offset < tensor.size(); ++offset)
      result.nan += std::isnan(tensor.real(offset));
    result.ok = result.worst <= 1 && result.relL2 <= result.relL2Limit;
    if (result.worst <= 1 && !result.ok)
      result.firstWrong = name + ": relative L2 error above its limit";
    return result;
  }

private:
  const std::string name;
  const ElementType type;
  L2 l2;
  OutputCheck result;
};
} // namespace

OutputCheck tegula::tool::checkOutput(const Reference &reference,
                                      const Problem &problem, unsigned output) {
  const lang::Output &declared = problem.item->outputs[output];
  const Tensor &tensor = problem.tensors[declared.tensor];
  bool isO = declared.element->kind == lang::Expr::Row &&
             declared.element->row == lang::RowValue::O;
  Comparison comparison(problem.item->tensors[declared.tensor].name,
                        tensor.type());
  for (const ReferenceRow &row : reference.rows) {
    const std::vector<double> &expected = row.outputs[output];
    for (int64_t e = 0; e < static_cast<int64_t>(expected.size()); ++e) {
      int64_t index[] = {row.at.b, row.at.h, row.at.i, e};
      auto at = llvm::ArrayRef(index).take_front(tensor.shape().size());
      double value = tensor.real(tensor.offsetOf(at));
      if (isO && row.empty) // exactly 0
        comparison.add(at, value == 0 ? 0 : infinity, 0, 0);
      else
        comparison.add(at, value, expected[e], row.errors[output]);
    }
  }
  return comparison.finish(reference.plainL2[output], tensor);
}
