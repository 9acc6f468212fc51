// One recursive descent over the text; what it reads is emitted at once.
#include "dialect/tile/PrefixExpr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tegula::tile;

namespace {

class Emitter {
public:
  Emitter(OpBuilder &b, Location loc, StringRef text, function_ref<Value(StringRef)> named) : b(b), loc(loc), rest(text), named(named) {}

  Value all() {
    Value value = term();
    return rest.trim().empty() ? value : Value();
  }

private:
  Value term() {
    rest = rest.ltrim();
    bool isCall = rest.consume_front("(");
    StringRef word = rest.take_until([](char c) { return c == ' ' || c == ')'; });
    rest = rest.drop_front(word.size());
    int64_t number;
    if (!isCall)
      return word.getAsInteger(10, number) ? named(word) : constant(number);
    SmallVector<Value> operands;
    while (!(rest = rest.ltrim()).consume_front(")")) {
      Value operand = rest.empty() ? Value() : term();
      if (!operand)
        return {};
      operands.push_back(operand);
    }
    if (operands.size() == 1)
      return unary(word, operands[0]);
    Value result = operands.empty() ? Value() : operands[0];
    for (Value operand : ArrayRef<Value>(operands).drop_front(operands.empty() ? 0 : 1))
      result = result ? binary(word, result, operand) : Value();
    return result;
  }

  Value unary(StringRef op, Value x) {
    if (op == "abs") return math::AbsIOp::create(b, loc, x);
    if (op == "neg" || op == "-") return arith::SubIOp::create(b, loc, constant(0), x);
    return {};
  }

  Value binary(StringRef op, Value x, Value y) {
    if (op == "+") return arith::AddIOp::create(b, loc, x, y);
    if (op == "-") return arith::SubIOp::create(b, loc, x, y);
    if (op == "*") return arith::MulIOp::create(b, loc, x, y);
    if (op == "min") return arith::MinSIOp::create(b, loc, x, y);
    if (op == "max") return arith::MaxSIOp::create(b, loc, x, y);
    if (op == "/" || op == "ceildiv" || op == "%") return divide(op, x, y);
    return {};
  }

  Value divide(StringRef op, Value x, Value y) {
    Value none;
    if (!matchPattern(y, m_NonZero())) {
      none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, constant(0));
      y = arith::SelectOp::create(b, loc, none, constant(1), y);
    }
    Value result = op == "ceildiv" ? arith::CeilDivSIOp::create(b, loc, x, y).getResult() : arith::FloorDivSIOp::create(b, loc, x, y).getResult();
    if (op == "%")
      result = arith::SubIOp::create(b, loc, x, arith::MulIOp::create(b, loc, result, y));
    return none ? arith::SelectOp::create(b, loc, none, constant(0), result).getResult() : result;
  }

  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

  OpBuilder &b;
  Location loc;
  StringRef rest;
  function_ref<Value(StringRef)> named;
};

} // namespace

Value tegula::tile::emitPrefix(OpBuilder &b, Location loc, StringRef text, function_ref<Value(StringRef)> named) {
  return Emitter(b, loc, text, named).all();
}

Value tegula::tile::emitPrefix(OpBuilder &b, Location loc, StringRef text, KernelOp kernel) {
  return emitPrefix(b, loc, text, [&](StringRef name) -> Value {
    for (BlockArgument argument : kernel.getArguments())
      for (StringRef fact : {"tile.dim", "tile.name"})
        if (auto own = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), fact); own && own.getValue() == name && argument.getType().isSignlessInteger())
          return b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), argument);
    return {};
  });
}

std::string tegula::tile::printPrefix(Value value, function_ref<std::string(BlockArgument)> named) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return std::to_string(number.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(value))
    return named(argument);
  Operation *op = value.getDefiningOp();
  if (isa<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp>(op)) // of values that fit
    return printPrefix(op->getOperand(0), named);
  if (auto packing = dyn_cast<PackingOp>(op)) {
    std::string text = "(packing";
    for (Value operand : op->getOperands()) {
      std::string term = printPrefix(operand, named);
      if (term.empty())
        return "";
      text += " " + term;
    }
    return text + " " + std::to_string(packing.getRows()) + ")";
  }
  StringRef name = llvm::TypeSwitch<Operation *, StringRef>(op)
                       .Case<arith::AddIOp>([](auto) { return "+"; })
                       .Case<arith::SubIOp>([](auto) { return "-"; })
                       .Case<arith::MulIOp>([](auto) { return "*"; })
                       .Case<arith::MinSIOp>([](auto) { return "min"; })
                       .Case<arith::MaxSIOp>([](auto) { return "max"; })
                       .Case<arith::CeilDivSIOp>([](auto) { return "ceildiv"; })
                       .Case<arith::ShLIOp>([](auto) { return "<<"; })
                       .Case<arith::ShRSIOp>([](auto) { return ">>"; })
                       .Case<arith::DivSIOp, arith::FloorDivSIOp>([](auto) { return "/"; }) // of what is not negative
                       .Default([](auto) { return ""; });
  if (name.empty())
    return "";
  std::string x = printPrefix(op->getOperand(0), named), y = printPrefix(op->getOperand(1), named);
  return x.empty() || y.empty() ? "" : "(" + name.str() + " " + x + " " + y + ")";
}

std::string tegula::tile::printPrefix(Value value) {
  return printPrefix(value, [](BlockArgument argument) -> std::string {
    auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
    for (StringRef fact : {"tile.dim", "tile.name"})
      if (auto name = kernel ? kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), fact) : StringAttr(); name && argument.getType().isSignlessInteger())
        return name.getValue().str();
    return "";
  });
}

PrefixTerm PrefixTerm::parse(StringRef &rest) {
  PrefixTerm term;
  rest = rest.ltrim();
  const char *begin = rest.begin();
  bool isCall = rest.consume_front("(");
  term.word = rest.take_until([](char c) { return c == ' ' || c == ')'; });
  rest = rest.drop_front(term.word.size());
  while (isCall && !rest.ltrim().consume_front(")") && !rest.empty())
    term.args.push_back(parse(rest));
  if (isCall)
    rest = rest.ltrim().drop_front();
  term.text = StringRef(begin, rest.begin() - begin);
  return term;
}

std::optional<int64_t> PrefixTerm::number() const {
  int64_t value;
  return args.empty() && !word.getAsInteger(10, value) ? std::optional(value) : std::nullopt;
}
