// tegula-apply-requires: what the host has checked before a launch -> divisions without a guard.
//
// In: a kernel whose integer divisions test their divisor for 0, and its `tile.requires`. Out: the tests of divisors that cannot be 0 are gone. The one idea: a
// program that runs has a point in its grid, so no extent of the grid is 0, and every condition of `requires` holds.
#include "dialect/tile/PrefixExpr.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"

namespace tegula {
#define GEN_PASS_DEF_APPLYREQUIRESPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// Facts about integers, by their prefix text.
class Facts {
public:
  explicit Facts(KernelOp kernel) : kernel(kernel) {
    kernel.walk([&](ProgramIdOp id) {
      for (Value extent : id.getExtents())
        if (auto blocks = extent.getDefiningOp<arith::CeilDivSIOp>())
          positive.insert(nameOf(blocks.getLhs()));
        else
          positive.insert(nameOf(extent));
    });
    positive.erase("");
    auto conditions = kernel->getAttrOfType<ArrayAttr>("tile.requires");
    if (!conditions)
      return;
    for (size_t known = 0, before = ~size_t(0); known != before;) {
      before = known;
      for (auto condition : conditions.getAsRange<DictionaryAttr>()) {
        StringRef text = cast<StringAttr>(condition.get("expr")).getValue();
        assume(PrefixTerm::parse(text));
      }
      known = positive.size() + zero.size();
    }
  }

  /// Whether an integer, or each element of a tile, is at least 1.
  bool isPositive(Value value) const {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.isStrictlyPositive();
    if (positive.contains(nameOf(value)))
      return true;
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::ExtSIOp, tensor::SplatOp>(op))
      return isPositive(op->getOperand(0));
    if (isa_and_nonnull<arith::CeilDivSIOp, arith::MinSIOp>(op))
      return isPositive(op->getOperand(0)) && isPositive(op->getOperand(1));
    if (isa_and_nonnull<arith::MaxSIOp>(op))
      return isPositive(op->getOperand(0)) || isPositive(op->getOperand(1));
    if (isa_and_nonnull<arith::DivSIOp, arith::FloorDivSIOp>(op)) {
      Value x = op->getOperand(0), y = op->getOperand(1);
      return isPositive(x) && isPositive(y) && zero.contains(("(% " + nameOf(x) + " " + nameOf(y) + ")").str());
    }
    return false;
  }

private:
  void assume(const PrefixTerm &condition) {
    if (condition.word == "&&")
      for (const PrefixTerm &each : condition.args)
        assume(each);
    if (condition.word == "||") {
      auto possible = llvm::make_filter_range(condition.args, [&](const PrefixTerm &each) { return !isFalse(each); });
      if (llvm::hasSingleElement(possible))
        assume(*possible.begin());
      return;
    }
    if (condition.args.size() != 2)
      return;
    const PrefixTerm &x = condition.args[0], &y = condition.args[1];
    if (condition.is("==") && y.number() == 0)
      zero.insert(x.text);
    if ((condition.is(">") && y.number() >= 0) || ((condition.is(">=") || condition.is("==")) && y.number() >= 1))
      positive.insert(x.text);
    if ((condition.is("<") && x.number() >= 0) || (condition.is("<=") && x.number() >= 1))
      positive.insert(y.text);
  }

  bool isFalse(const PrefixTerm &condition) const { return condition.is("==") && condition.args[1].number() == 0 && positive.contains(condition.args[0].text); }

  /// Of a dim or a scalar.
  StringRef nameOf(Value value) const {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &kernel.getBody().front())
      return {};
    auto dim = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.dim");
    auto name = dim ? dim : kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name");
    return name && argument.getType().isInteger() ? name.getValue() : StringRef();
  }

  mutable KernelOp kernel;
  llvm::StringSet<> positive, zero;
};

struct ApplyRequiresPass : tegula::impl::ApplyRequiresPassBase<ApplyRequiresPass> {
  void runOnOperation() override {
    Facts facts(getOperation());
    SmallVector<arith::CmpIOp> tests;
    getOperation()->walk([&](arith::CmpIOp test) {
      if (test.getPredicate() == arith::CmpIPredicate::eq && matchPattern(test.getRhs(), m_Zero()))
        tests.push_back(test);
    });
    // In order, since a quotient without its guard may be the next divisor.
    for (arith::CmpIOp test : tests) {
      if (!facts.isPositive(test.getLhs()))
        continue;
      for (Operation *user : llvm::make_early_inc_range(test->getUsers()))
        if (auto select = dyn_cast<arith::SelectOp>(user); select && select.getCondition() == test) {
          select.replaceAllUsesWith(select.getFalseValue());
          select.erase();
          ++applied;
        }
      if (test->use_empty())
        test.erase();
    }
  }
};

} // namespace
