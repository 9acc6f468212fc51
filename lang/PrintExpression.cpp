//===- PrintExpression.cpp - scalar and elementwise code as text ----------===//
//
// The element code of a mask or a map is written as code on tiles: its row
// index as a column of indices, its key index as a row. Code that spells out a
// rule of the language (a division by what may be 0, a cast that saturates) is
// written as the operator that it stands for.
//
//===----------------------------------------------------------------------===//
#include "lang/PrintKernelImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::lang;
using namespace tegula::tile;

std::string tegula::lang::typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text == "i1" ? "bool" : text;
}

//===----------------------------------------------------------------------===//
// Rules of the language, spelled out
//===----------------------------------------------------------------------===//

/// The divisor of `divisor == 0 ? 1 : divisor`, or the value itself.
static Value unguarded(Value safe) {
  auto select = safe.getDefiningOp<arith::SelectOp>();
  auto isZero = select ? select.getCondition().getDefiningOp<arith::CmpIOp>()
                       : arith::CmpIOp();
  bool isGuard = isZero && isZero.getLhs() == select.getFalseValue() &&
                 isZero.getPredicate() == arith::CmpIPredicate::eq &&
                 matchPattern(isZero.getRhs(), m_Zero()) &&
                 matchPattern(select.getTrueValue(), m_One());
  return isGuard ? select.getFalseValue() : safe;
}

std::optional<GuardedDivision> tegula::lang::matchDivision(Operation *op) {
  // y == 0 ? 0 : x / (y == 0 ? 1 : y)
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    Operation *quotient = select.getFalseValue().getDefiningOp();
    if (!isa_and_nonnull<arith::DivSIOp, arith::FloorDivSIOp,
                         arith::CeilDivSIOp>(quotient) ||
        !matchPattern(select.getTrueValue(), m_Zero()))
      return std::nullopt;
    Value safe = quotient->getOperand(1), divisor = unguarded(safe);
    auto guard = safe.getDefiningOp<arith::SelectOp>();
    if (divisor == safe || guard.getCondition() != select.getCondition())
      return std::nullopt;
    return GuardedDivision{quotient->getOperand(0), divisor,
                           isa<arith::CeilDivSIOp>(quotient) ? "ceildiv" : "/"};
  }
  if (isa<arith::RemSIOp>(op))
    return GuardedDivision{op->getOperand(0), unguarded(op->getOperand(1)),
                           "%"};
  // x - x / y * y
  auto difference = dyn_cast<arith::SubIOp>(op);
  auto product = difference ? difference.getRhs().getDefiningOp<arith::MulIOp>()
                            : arith::MulIOp();
  auto quotient = product
                      ? product.getLhs().getDefiningOp<arith::FloorDivSIOp>()
                      : arith::FloorDivSIOp();
  if (!quotient || quotient.getLhs() != difference.getLhs() ||
      quotient.getRhs() != product.getRhs())
    return std::nullopt;
  return GuardedDivision{quotient.getLhs(), unguarded(quotient.getRhs()), "%"};
}

namespace {
/// A cast of a float to an integer, with its selects for what does not fit.
struct Saturation {
  Value real;
  std::string type;
};
} // namespace

static std::optional<Saturation> matchSaturation(Operation *op) {
  auto low = dyn_cast_or_null<arith::SelectOp>(op);
  auto high = low ? low.getFalseValue().getDefiningOp<arith::SelectOp>()
                  : arith::SelectOp();
  auto rounded = high ? high.getFalseValue().getDefiningOp<arith::FPToSIOp>()
                      : arith::FPToSIOp();
  auto safe = rounded ? rounded.getIn().getDefiningOp<arith::SelectOp>()
                      : arith::SelectOp();
  APInt most;
  if (!safe || !matchPattern(high.getTrueValue(), m_ConstantInt(&most)))
    return std::nullopt;
  unsigned bits = most.getActiveBits(); // 8 for u8, one less than a width else
  return Saturation{safe.getFalseValue(),
                    bits == 8 ? "u8" : "i" + std::to_string(bits + 1)};
}

/// Bools are bytes in memory.
static LookupOp matchBool(Operation *op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::ne ||
      !matchPattern(compare.getRhs(), m_Zero()))
    return {};
  auto lookup = compare.getLhs().getDefiningOp<LookupOp>();
  return lookup && lookup.getResult().getType().isInteger(8) ? lookup
                                                             : LookupOp();
}

bool tegula::lang::isSpelledOut(Operation &op) {
  auto isDivision =
      llvm::IsaPred<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
                    arith::RemSIOp, arith::MulIOp>;
  if (isa<arith::SelectOp>(op))
    return unguarded(op.getResult(0)) != op.getResult(0) &&
           llvm::all_of(op.getUsers(), isDivision);
  auto test = dyn_cast<arith::CmpIOp>(op);
  return test && test.getPredicate() == arith::CmpIPredicate::eq &&
         matchPattern(test.getRhs(), m_Zero()) &&
         llvm::all_of(op.getUsers(), llvm::IsaPred<arith::SelectOp>);
}

/// The extent of the keys of the scores that a mask hides.
static OpFoldResult keyExtent(MaskOp mask) {
  for (Operation *user : mask->getUsers()) {
    auto select = dyn_cast<arith::SelectOp>(user);
    if (!select)
      continue;
    Value tile = select.getTrueValue();
    while (isa_and_nonnull<MapOp, arith::MulFOp>(tile.getDefiningOp()))
      tile = tile.getDefiningOp()->getOperand(0);
    auto scores = tile.getDefiningOp<DotOp>();
    auto keys = scores && scores.getTransposeB()
                    ? scores.getRhs().getDefiningOp<LoadOp>()
                    : LoadOp();
    if (keys && keys.getIndices()[keys.getAxes()[0]] == mask.getCols())
      return mask->getParentOfType<KernelOp>().getExtent(keys.getMemory(),
                                                         keys.getAxes()[0]);
  }
  return {};
}

Value tegula::lang::writtenCondition(MaskOp mask) {
  Value yielded = mask.getBody().front().getTerminator()->getOperand(0);
  OpFoldResult end = keyExtent(mask);
  auto isBound = [&](Value condition) {
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    return end && compare &&
           compare.getPredicate() == arith::CmpIPredicate::slt &&
           compare.getLhs() == mask.getBody().getArgument(1) &&
           isEqualConstantIntOrValue(end, compare.getRhs());
  };
  if (isBound(yielded))
    return {};
  auto both = yielded.getDefiningOp<arith::AndIOp>();
  return both && isBound(both.getRhs()) ? both.getLhs() : yielded;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

Text KernelPrinter::constant(Attribute value) {
  if (auto dense = dyn_cast<SplatElementsAttr>(value))
    value = dense.getSplatValue<Attribute>();
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    if (number.getType().isInteger(1))
      return {number.getValue().isZero() ? "false" : "true"};
    if (number.getInt() == INT64_MIN) // whose digits alone fit in no integer
      return {"-9223372036854775807 - 1", false};
    stream << number.getInt();
    return {text, number.getInt() >= 0};
  }
  APFloat real = cast<FloatAttr>(value).getValue();
  if (real.isInfinity())
    return {real.isNegative() ? "-inf" : "inf", !real.isNegative()};
  SmallString<32> digits;
  real.toString(digits, /*FormatPrecision=*/0, /*FormatMaxPadding=*/3);
  StringRef number = digits;
  if (!number.contains('.'))
    digits.insert(llvm::find_if(digits, [](char c) { return c == 'E'; }),
                  {'.', '0'});
  return {std::string(digits), !real.isNegative()};
}

static Text fullOf(ArrayRef<int64_t> shape, const Text &element) {
  std::string extents;
  llvm::raw_string_ostream stream(extents);
  llvm::interleaveComma(shape, stream);
  return Text{"full([" + extents + "], " + element.text + ")"};
}

/// A tile of one value.
FailureOr<Text> KernelPrinter::full(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  Attribute value;
  FailureOr<Text> element = failure();
  if (matchPattern(tile, m_Constant(&value)))
    element = constant(value);
  else if (auto splat = tile.getDefiningOp<tensor::SplatOp>())
    element = expression(splat.getInput());
  else
    return expression(tile);
  if (!type || failed(element))
    return element;
  return fullOf(type.getShape(), *element);
}

/// The same of a scalar.
FailureOr<Text> KernelPrinter::full(ArrayRef<int64_t> shape, Value scalar) {
  FailureOr<Text> element = expression(scalar);
  if (failed(element))
    return failure();
  // A literal would be i32.
  bool isWide =
      matchPattern(scalar, m_Constant()) && scalar.getType().isInteger(64);
  return fullOf(shape, isWide ? Text{"i64(" + element->text + ")"} : *element);
}

/// `base + lane` along an axis of a tile, by the name that it gets.
FailureOr<Text> KernelPrinter::index(Value base, unsigned axis,
                                     RankedTensorType tile) {
  FailureOr<Text> first = expression(base);
  if (failed(first))
    return failure();
  std::string lanes = "iota(" + std::to_string(tile.getDimSize(axis)) + ")";
  lanes = matchPattern(base, m_Zero()) ? "i64(" + lanes + ")"
                                       : first->bracketed() + " + " + lanes;
  if (tile.getRank() == 2)
    lanes = (axis == 0 ? "col(" : "row(") + lanes + ")";
  std::string &name = indexTiles[lanes];
  if (name.empty()) {
    name = fresh(axis == 0 ? "I" : "J");
    line() << "let " << name << " = " << lanes << "\n";
  }
  return Text{name};
}

/// An argument of element code.
FailureOr<Text> KernelPrinter::argument(BlockArgument value) {
  Operation *parent = value.getOwner()->getParentOp();
  unsigned number = value.getArgNumber();
  if (auto mask = dyn_cast<MaskOp>(parent))
    return index(number == 0 ? mask.getRows() : mask.getCols(), number,
                 mask.getKeep().getType());
  auto map = dyn_cast<MapOp>(parent);
  if (!map)
    return emitError(value.getLoc(), "a carried value has no text in the "
                                     "kernel language yet");
  auto type = cast<RankedTensorType>(map.getResult().getType());
  unsigned inputs = map.getInputs().size();
  if (number >= inputs)
    return index(number == inputs ? map.getRows() : map.getCols(),
                 number - inputs, type);
  Value input = map.getInputs()[number];
  FailureOr<Text> text = expression(input);
  bool isRow = cast<RankedTensorType>(input.getType()).getRank() == 1;
  if (succeeded(text) && isRow && type.getRank() == 2)
    return Text{"col(" + text->text + ")"};
  return text;
}

/// Bit 0: an element's value changes from row to row; bit 1: across a row.
static unsigned axesOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned number = argument.getArgNumber();
    if (isa<MaskOp>(parent))
      return 1u << number;
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return value == loop.getInductionVar() ? 0 : 3;
    auto map = dyn_cast<MapOp>(parent);
    if (!map)
      return 0;
    if (number >= map.getInputs().size())
      return 1u << (number - map.getInputs().size());
    return cast<RankedTensorType>(map.getInputs()[number].getType())
                       .getRank() == 1
               ? 1
               : 3;
  }
  if (!elementOwner(value.getDefiningOp()))
    return 0;
  if (value.getDefiningOp<scf::ForOp>()) // has all axes
    return 3;
  unsigned axes = 0;
  for (Value operand : value.getDefiningOp()->getOperands())
    axes |= axesOf(operand);
  return axes;
}

/// Indices that vary along different axes are spread to the whole tile, since
/// index tiles of one place have the same axes.
FailureOr<Text> KernelPrinter::lookup(LookupOp op) {
  unsigned all = 0;
  bool isMixed = false;
  for (Value index : op.getIndices()) {
    unsigned axes = axesOf(index);
    isMixed |= axes != 0 && all != 0 && axes != all;
    all |= axes;
  }
  std::string text = nameOf(op.getTable()).str() + "[";
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    FailureOr<Text> x = expression(index);
    if (failed(x))
      return failure();
    std::string at = x->text;
    unsigned axes = axesOf(index);
    if (isMixed && axes != 0 && axes != 3) {
      auto tile =
          cast<RankedTensorType>(elementOwner(op)->getResult(0).getType());
      at = "broadcast(" + at + ", [" + std::to_string(tile.getDimSize(0)) +
           ", " + std::to_string(tile.getDimSize(1)) + "])";
    }
    text += (i ? ", " : "") + at;
  }
  return Text{text + "]"};
}

FailureOr<std::string> KernelPrinter::place(Value memory, ValueRange indices,
                                            ArrayRef<int64_t> axes,
                                            RankedTensorType tile) {
  auto type = cast<MemRefType>(memory.getType());
  std::string text = nameOf(memory).str() + "[";
  for (auto [axis, index] : llvm::enumerate(indices)) {
    text += axis ? ", " : "";
    const auto *slice = llvm::find(axes, static_cast<int64_t>(axis));
    int64_t extent = slice == axes.end()
                         ? 0
                         : tile.getDimSize(std::distance(axes.begin(), slice));
    if (slice != axes.end() && matchPattern(index, m_Zero()) &&
        type.getDimSize(axis) == extent) {
      text += ":";
      continue;
    }
    FailureOr<Text> at = expression(index);
    if (failed(at))
      return failure();
    text += slice == axes.end()
                ? at->text
                : at->bracketed() + " :+ " + std::to_string(extent);
  }
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

FailureOr<Text> KernelPrinter::expression(Value value) {
  if (auto it = names.find(value); it != names.end())
    return Text{it->second};
  if (auto blockArgument = dyn_cast<BlockArgument>(value))
    return argument(blockArgument);
  Operation *op = value.getDefiningOp();
  // Element code is met here first.
  if (elementOwner(op) && !isInline(*op)) {
    if (failed(define(value)))
      return failure();
    return Text{names[value]};
  }
  return operation(op);
}

FailureOr<Text> KernelPrinter::binary(Value left, StringRef sign, Value right) {
  FailureOr<Text> x = expression(left), y = failure();
  if (succeeded(x))
    y = expression(right);
  if (failed(y))
    return failure();
  return Text{x->bracketed() + " " + sign.str() + " " + y->bracketed(), false};
}

FailureOr<Text> KernelPrinter::call(StringRef callee, ValueRange operands) {
  std::string text = callee.str() + "(";
  for (auto [i, operand] : llvm::enumerate(operands)) {
    FailureOr<Text> x = expression(operand);
    if (failed(x))
      return failure();
    text += (i ? ", " : "") + x->text;
  }
  return Text{text + ")"};
}

FailureOr<Text> KernelPrinter::select(arith::SelectOp op) {
  if (std::optional<Saturation> cast = matchSaturation(op))
    return call(cast->type, cast->real);
  // Scores know by themselves which keys exist.
  if (auto mask = op.getCondition().getDefiningOp<MaskOp>();
      mask && !writtenCondition(mask))
    return expression(op.getTrueValue());
  FailureOr<Text> text = call("where", op.getOperands());
  // Two literals would be i32.
  IntegerAttr yes, no;
  bool isWide = matchPattern(op.getTrueValue(), m_Constant(&yes)) &&
                matchPattern(op.getFalseValue(), m_Constant(&no)) &&
                yes.getType().isInteger(64);
  return isWide && succeeded(text)
             ? FailureOr<Text>(Text{"i64(" + text->text + ")"})
             : text;
}

/// Casts by the name of the type; null text where `op` is none.
FailureOr<Text> KernelPrinter::convert(Operation *op) {
  if (!isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::ExtFOp,
           arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return Text{};
  if (isa<arith::TruncIOp>(op))
    if (auto cast = matchSaturation(op->getOperand(0).getDefiningOp()))
      return call(cast->type, cast->real);
  return call(typeName(getElementTypeOrSelf(op->getResult(0).getType())),
              op->getOperands());
}

static StringRef comparisonSign(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    static constexpr StringLiteral signs[] = {"==", "!=", "<", "<=", ">", ">="};
    auto predicate = static_cast<unsigned>(compare.getPredicate());
    return predicate < std::size(signs) ? signs[predicate] : StringLiteral("");
  }
  auto compare = dyn_cast<arith::CmpFOp>(op);
  if (!compare)
    return "";
  using F = arith::CmpFPredicate;
  switch (compare.getPredicate()) {
  case F::OEQ:
    return "==";
  case F::UNE:
    return "!=";
  case F::OLT:
    return "<";
  case F::OLE:
    return "<=";
  case F::OGT:
    return ">";
  case F::OGE:
    return ">=";
  default:
    return "";
  }
}

static StringRef binarySign(Operation *op) {
  bool isBool = getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1);
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddIOp, arith::AddFOp>([](auto) { return "+"; })
      .Case<arith::SubIOp, arith::SubFOp>([](auto) { return "-"; })
      .Case<arith::MulIOp, arith::MulFOp>([](auto) { return "*"; })
      .Case<arith::DivFOp, arith::DivSIOp, arith::FloorDivSIOp>(
          [](auto) { return "/"; })
      .Case<arith::AndIOp>([&](auto) { return isBool ? "&&" : "&"; })
      .Case<arith::OrIOp>([&](auto) { return isBool ? "||" : "|"; })
      .Case<arith::XOrIOp>([](auto) { return "^"; })
      .Default([&](auto) { return comparisonSign(op); });
}

static StringRef callee(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::MinSIOp, arith::MinimumFOp>([](auto) { return "min"; })
      .Case<arith::MaxSIOp, arith::MaximumFOp>([](auto) { return "max"; })
      .Case<arith::CeilDivSIOp>([](auto) { return "ceildiv"; })
      .Case<math::AbsFOp, math::AbsIOp>([](auto) { return "abs"; })
      .Case<math::ExpOp>([](auto) { return "exp"; })
      .Case<math::Exp2Op>([](auto) { return "exp2"; })
      .Case<math::LogOp>([](auto) { return "log"; })
      .Case<math::Log2Op>([](auto) { return "log2"; })
      .Case<math::TanhOp>([](auto) { return "tanh"; })
      .Case<math::SqrtOp>([](auto) { return "sqrt"; })
      .Case<math::RsqrtOp>([](auto) { return "rsqrt"; })
      .Case<math::PowFOp>([](auto) { return "pow"; })
      .Case<RandomOp>([](auto) { return "random"; })
      .Default([](auto) { return ""; });
}

FailureOr<Text> KernelPrinter::operation(Operation *op) {
  if (auto constantOp = dyn_cast<arith::ConstantOp>(op))
    return constant(constantOp.getValue());
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return expression(splat.getInput());
  if (auto mask = dyn_cast<MaskOp>(op)) {
    Value condition = writtenCondition(mask);
    return condition ? expression(condition) : FailureOr<Text>(Text{"true"});
  }
  if (auto map = dyn_cast<MapOp>(op))
    return expression(map.getBody().front().getTerminator()->getOperand(0));
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return elementLoop(loop);
  if (auto look = dyn_cast<LookupOp>(op))
    return lookup(look);
  if (auto look = matchBool(op))
    return lookup(look);
  if (auto load = dyn_cast<LoadOp>(op)) {
    FailureOr<std::string> from =
        place(load.getMemory(), load.getIndices(), load.getAxes(),
              load.getTile().getType());
    if (failed(from))
      return failure();
    return Text{"load " + *from};
  }
  if (auto dot = dyn_cast<DotOp>(op)) {
    FailureOr<Text> lhs = expression(dot.getLhs()), rhs = failure(), acc;
    if (succeeded(lhs))
      rhs = expression(dot.getRhs());
    acc = dot.getAcc() ? expression(dot.getAcc()) : FailureOr<Text>(Text());
    if (failed(rhs) || failed(acc))
      return failure();
    return Text{
        "dot(" + lhs->text + ", " +
        (dot.getTransposeB() ? "transpose(" + rhs->text + ")" : rhs->text) +
        (dot.getAcc() ? ", " + acc->text : "") + ")"};
  }
  if (auto reduce = dyn_cast<ReduceOp>(op);
      reduce && reduce.getKind() == ReduceKind::Add) {
    FailureOr<Text> tile = expression(reduce.getTile());
    if (failed(tile))
      return failure();
    return Text{"sum(" + tile->text +
                ", axis = " + std::to_string(reduce.getReducedAxis()) + ")"};
  }
  if (auto zero = dyn_cast<ZeroUnseenOp>(op)) // is a part of masked products
    return expression(zero.getTile());
  if (std::optional<GuardedDivision> division = matchDivision(op)) {
    if (division->sign == "ceildiv")
      return call("ceildiv", {division->dividend, division->divisor});
    return binary(division->dividend, division->sign, division->divisor);
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return select(choice);
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()) &&
      getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1)) {
    FailureOr<Text> x = expression(op->getOperand(0));
    return failed(x) ? x : FailureOr<Text>(Text{"!" + x->bracketed()});
  }
  if (isa<arith::NegFOp>(op)) {
    FailureOr<Text> x = expression(op->getOperand(0));
    return failed(x) ? x : FailureOr<Text>(Text{"-" + x->bracketed(), false});
  }
  if (StringRef sign = binarySign(op); !sign.empty())
    return binary(op->getOperand(0), sign, op->getOperand(1));
  if (StringRef name = callee(op); !name.empty())
    return call(name, op->getOperands());
  FailureOr<Text> cast = convert(op);
  if (failed(cast) || !cast->text.empty())
    return cast;
  return op->emitError("`")
         << op->getName() << "` has no text in the kernel language";
}
