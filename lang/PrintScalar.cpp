//===- PrintScalar.cpp - index code as a person writes it -----------------===//
//
// One idea: a sum is a list of terms with factors, printed in the order in
// which its terms were met.
//
//===----------------------------------------------------------------------===//
#include "lang/PrintScalar.h"

#include "lang/PrintKernelImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::lang;

/// Levels of operators, as the language binds them.
enum Level : unsigned {
  Atom,
  Unary,
  Product,
  Additive,
  Shift,
  BitAnd,
  BitXor,
  BitOr,
  Comparison,
  And,
  Or,
  Choice
};

struct ScalarPrinter::Sum {
  llvm::MapVector<StringRef, int64_t> factors;
  int64_t constant = 0;
  llvm::StringSet<> texts;

  void add(const std::string &term, int64_t factor) {
    int64_t &sum = factors[texts.insert(term).first->getKey()];
    (void)llvm::AddOverflow(sum, factor, sum); // wraps, as the code does
  }
};

/// Adds `factor * value` to the sum. Numbers wrap, as the code's do.
void ScalarPrinter::collect(Value value, int64_t factor, Sum &sum) const {
  Operation *op = names.count(value) ? nullptr : value.getDefiningOp();
  APInt number;
  auto times = [&](int64_t constant) {
    int64_t product;
    (void)llvm::MulOverflow(factor, constant, product);
    return product;
  };
  if (matchPattern(value, m_ConstantInt(&number))) {
    (void)llvm::AddOverflow(sum.constant, times(number.getSExtValue()),
                            sum.constant);
  } else if (isa_and_nonnull<arith::ExtSIOp, arith::TruncIOp>(op)) {
    collect(op->getOperand(0), factor, sum);
  } else if (op && matchDivision(op)) {
    sum.add(print(value).within(Product), factor);
  } else if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    collect(op->getOperand(0), factor, sum);
    collect(op->getOperand(1), isa<arith::AddIOp>(op) ? factor : times(-1),
            sum);
  } else if (isa_and_nonnull<arith::MulIOp>(op) &&
             matchPattern(op->getOperand(1), m_ConstantInt(&number))) {
    collect(op->getOperand(0), times(number.getSExtValue()), sum);
  } else {
    sum.add(print(value).within(Product), factor);
  }
}

ScalarPrinter::Text ScalarPrinter::print(const Sum &sum) {
  std::string text;
  unsigned terms = 0, level = Atom;
  auto add = [&](bool isNegative, const std::string &term) {
    text += terms++ ? (isNegative ? " - " : " + ") : (isNegative ? "-" : "");
    text += term;
    level = std::max<unsigned>(level, terms > 1    ? Additive
                                      : isNegative ? Unary
                                                   : Atom);
  };
  auto addTerms = [&](bool negative) {
    for (auto [term, factor] : sum.factors) {
      if (factor == 0 || (factor < 0) != negative)
        continue;
      uint64_t size = llvm::AbsoluteValue(factor);
      if (size != 1)
        level = std::max<unsigned>(level, Product);
      add(negative,
          size == 1 ? term.str() : std::to_string(size) + " * " + term.str());
    }
  };
  addTerms(false); // first, so that no sum begins with a sign
  addTerms(true);
  if (sum.constant != 0 || terms == 0)
    add(sum.constant < 0, std::to_string(llvm::AbsoluteValue(sum.constant)));
  return {text, level};
}

ScalarPrinter::Text ScalarPrinter::binary(Value x, StringRef sign, Value y,
                                          unsigned level) const {
  unsigned operand = level == And || level == Or ? level : level - 1;
  return {print(x).within(operand) + " " + sign.str() + " " +
              print(y).within(level - 1),
          level};
}

std::string ScalarPrinter::call(StringRef callee, ValueRange operands) const {
  std::string text = callee.str() + "(";
  for (auto [n, operand] : llvm::enumerate(operands))
    text += (n ? ", " : "") + print(operand).text;
  return text + ")";
}

static StringRef signOf(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return "==";
  case arith::CmpIPredicate::ne:
    return "!=";
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return "<";
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return "<=";
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return ">";
  default:
    return ">=";
  }
}

ScalarPrinter::Text ScalarPrinter::print(Value value) const {
  if (auto name = names.find(value); name != names.end())
    return {name->second};
  if (matchPattern(value, m_Constant()) && value.getType().isInteger(1))
    return {matchPattern(value, m_One()) ? "true" : "false"};
  Operation *op = value.getDefiningOp();
  if (!op)
    return {"..."};
  if (std::optional<GuardedDivision> division = matchDivision(op)) {
    if (division->sign == "ceildiv")
      return {call("ceildiv", {division->dividend, division->divisor})};
    return {print(division->dividend).within(Product) + " " +
                division->sign.str() + " " +
                print(division->divisor).within(Unary),
            Product};
  }
  if (value.getType().isInteger(1) ||
      !isa<arith::ConstantOp, arith::ExtSIOp, arith::TruncIOp, arith::AddIOp,
           arith::SubIOp, arith::MulIOp>(op))
    return printOperation(op);
  APInt number;
  if (auto product = dyn_cast<arith::MulIOp>(op);
      product && !matchPattern(product.getRhs(), m_ConstantInt(&number)))
    return {print(product.getLhs()).within(Product) + " * " +
                print(product.getRhs()).within(Unary),
            Product};
  Sum sum;
  collect(value, 1, sum);
  return print(sum);
}

ScalarPrinter::Text ScalarPrinter::printOperation(Operation *op) const {
  bool isFlag =
      op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1);
  return llvm::TypeSwitch<Operation *, Text>(op)
      .Case([&](arith::CmpIOp compare) {
        return binary(compare.getLhs(), signOf(compare.getPredicate()),
                      compare.getRhs(), Comparison);
      })
      .Case([&](arith::AndIOp) {
        return binary(op->getOperand(0), isFlag ? "&&" : "&", op->getOperand(1),
                      isFlag ? And : BitAnd);
      })
      .Case([&](arith::OrIOp) {
        return binary(op->getOperand(0), isFlag ? "||" : "|", op->getOperand(1),
                      isFlag ? Or : BitOr);
      })
      .Case([&](arith::XOrIOp) -> Text {
        if (isFlag && matchPattern(op->getOperand(1), m_One()))
          return {"!" + print(op->getOperand(0)).within(Unary), Unary};
        return binary(op->getOperand(0), isFlag ? "!=" : "^", op->getOperand(1),
                      isFlag ? Comparison : BitXor);
      })
      .Case<arith::ShLIOp>([&](Operation *) {
        return binary(op->getOperand(0), "<<", op->getOperand(1), Shift);
      })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](Operation *) {
        return binary(op->getOperand(0), ">>", op->getOperand(1), Shift);
      })
      .Case<arith::FloorDivSIOp, arith::DivSIOp>([&](Operation *) {
        return binary(op->getOperand(0), "/", op->getOperand(1), Product);
      })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [&](Operation *) { return Text{call("min", op->getOperands())}; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [&](Operation *) { return Text{call("max", op->getOperands())}; })
      .Case([&](math::AbsIOp) { return Text{call("abs", op->getOperands())}; })
      .Case<arith::ExtUIOp, arith::ExtFOp, arith::TruncFOp>(
          [&](Operation *) { return print(op->getOperand(0)); })
      .Case([&](arith::SelectOp select) {
        return Text{print(select.getCondition()).within(Or) + " ? " +
                        print(select.getTrueValue()).within(Or) + " : " +
                        print(select.getFalseValue()).within(Choice),
                    Choice};
      })
      .Case([&](tile::LookupOp lookup) {
        std::string text = print(lookup.getTable()).text + "[";
        for (auto [n, index] : llvm::enumerate(lookup.getIndices()))
          text += (n ? ", " : "") + print(index).text;
        return Text{text + "]"};
      })
      .Case([&](scf::ForOp loop) { return Text{printLoop(loop)}; })
      .Default([](Operation *) { return Text{"..."}; });
}

/// A bounded reduction: "any(t in KS: ...)".
std::string ScalarPrinter::printLoop(Operation *op) const {
  auto loop = cast<scf::ForOp>(op);
  Operation *step =
      loop.getNumResults() == 1
          ? loop.getBody()->getTerminator()->getOperand(0).getDefiningOp()
          : nullptr;
  bool isFlag = step && step->getResult(0).getType().isInteger(1);
  StringRef callee = isa_and_nonnull<arith::OrIOp>(step) && isFlag    ? "any"
                     : isa_and_nonnull<arith::AndIOp>(step) && isFlag ? "all"
                     : isa_and_nonnull<arith::AddIOp>(step)           ? "sum"
                     : isa_and_nonnull<arith::MinSIOp>(step)          ? "min"
                     : isa_and_nonnull<arith::MaxSIOp>(step)          ? "max"
                                                                      : "";
  Value carried = loop.getRegionIterArg(0);
  if (callee.empty() || !matchPattern(loop.getLowerBound(), m_Zero()) ||
      !llvm::is_contained(step->getOperands(), carried))
    return "...";
  Value element = step->getOperand(0) == carried ? step->getOperand(1)
                                                 : step->getOperand(0);
  ScalarPrinter inside(*this);
  std::string variable = "t";
  auto isTaken = [&](const std::string &name) {
    return llvm::any_of(names,
                        [&](const auto &pair) { return pair.second == name; });
  };
  while (isTaken(variable))
    variable += "t";
  inside.names[loop.getInductionVar()] = variable;
  return callee.str() + "(" + variable + " in " +
         print(loop.getUpperBound()).text + ": " + inside.print(element).text +
         ")";
}

/// The bound moves by one where that saves a constant: `j < x + 1` is `j <= x`.
std::string ScalarPrinter::compared(StringRef key, Value bound,
                                    bool isEnd) const {
  Sum sum;
  collect(bound, 1, sum);
  bool moves = sum.constant == 1;
  if (moves)
    sum.constant = 0;
  StringRef sign = isEnd ? (moves ? " <= " : " < ") : (moves ? " > " : " >= ");
  return key.str() + sign.str() + print(sum).text;
}

std::string ScalarPrinter::below(StringRef key, Value end) const {
  return compared(key, end, /*isEnd=*/true);
}

std::string ScalarPrinter::from(StringRef key, Value begin) const {
  return compared(key, begin, /*isEnd=*/false);
}
