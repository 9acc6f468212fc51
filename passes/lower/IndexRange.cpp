// Interval arithmetic over arith ops and loop counters.
//
// Upstream's integer range analysis iterates over all loops of the kernel to a fixed point, which does not end for counters that grow; here
// only what an element region reads is looked at, backwards, and a carried value has no range.
#include "passes/lower/IndexRange.h"

#include "dialect/tile/PrefixExpr.h"
#include "dialect/tile/TileDialect.h"
#include "dialect/warp/WarpDialect.h"
#include "runtime/Packing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tegula;

namespace {

using Wide = __int128;

std::optional<IndexRange> hull(std::initializer_list<Wide> ends) {
  Wide low = std::min(ends), high = std::max(ends);
  if (low < INT64_MIN || high > INT64_MAX)
    return std::nullopt;
  return IndexRange{static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

/// The range of an integer type's own values.
std::optional<IndexRange> ofWidth(unsigned bits, bool isSigned) {
  if (bits > 32)
    return std::nullopt;
  Wide one = 1;
  return isSigned ? hull({-(one << (bits - 1)), (one << (bits - 1)) - 1}) : hull({0, (one << bits) - 1});
}

/// Of shifts and of `&`, `|` and `^`.
std::optional<IndexRange> combineBits(Operation *op, IndexRange x, IndexRange y) {
  Wide a = x.low, b = x.high, c = y.low, d = y.high;
  if (isa<arith::ShLIOp, arith::ShRSIOp>(op)) {
    if (c < 0 || d > 31) // no more than the width of what is narrowed
      return std::nullopt;
    if (isa<arith::ShLIOp>(op))
      return hull({a << c, a << d, b << c, b << d});
    return hull({a >> c, a >> d, b >> c, b >> d});
  }
  bool bothSigned = a < 0 && c < 0;
  if (isa<arith::AndIOp>(op)) // at most what is not negative
    return bothSigned ? std::nullopt : hull({0, a < 0 ? d : c < 0 ? b : std::min(b, d)});
  if (c == -1 && d == -1 && isa<arith::XOrIOp>(op))
    return hull({-1 - b, -1 - a});
  if (a < 0 || c < 0)
    return std::nullopt;
  return hull({isa<arith::OrIOp>(op) ? std::max(a, c) : Wide(0), b + d});
}

std::optional<IndexRange> combine(Operation *op, IndexRange x, IndexRange y) {
  Wide a = x.low, b = x.high, c = y.low, d = y.high;
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return combineBits(op, x, y);
  if (isa<arith::AddIOp>(op))
    return hull({a + c, b + d});
  if (isa<arith::SubIOp>(op))
    return hull({a - d, b - c});
  if (isa<arith::MulIOp>(op))
    return hull({a * c, a * d, b * c, b * d});
  if (isa<arith::MinSIOp>(op))
    return hull({std::min(a, c), std::min(b, d)});
  if (isa<arith::MaxSIOp>(op))
    return hull({std::max(a, c), std::max(b, d)});
  // A quotient is at most as far from 0 as the dividend, a remainder less far than the divisor.
  Wide dividend = std::max(b, -a), divisor = std::max({d, -c, Wide(1)});
  if (isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>(op)) {
    if (a >= 0 && c >= 1)
      return hull({a / d, isa<arith::CeilDivSIOp>(op) ? (b + c - 1) / c : b / c});
    return hull({-dividend - 1, dividend + 1});
  }
  if (isa<arith::DivUIOp>(op))
    return a >= 0 && c >= 1 ? hull({a / d, b / c}) : std::nullopt;
  if (isa<arith::RemSIOp>(op))
    return a >= 0 ? hull({0, std::min(b, divisor - 1)}) : hull({-(divisor - 1), divisor - 1});
  return std::nullopt;
}

} // namespace

std::optional<IndexRange> IndexRanges::of(Value value, unsigned depth) {
  if (auto it = ranges.find(value); it != ranges.end())
    return it->second;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getBitWidth() <= 64)
    return IndexRange{constant.getSExtValue(), constant.getSExtValue()};
  constexpr unsigned maxDepth = 24;
  if (depth > maxDepth)
    return std::nullopt;
  std::optional<IndexRange> range;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || loop.getInductionVar() != value)
      return std::nullopt;
    auto lower = of(loop.getLowerBound(), depth + 1), upper = of(loop.getUpperBound(), depth + 1);
    if (lower && upper)
      range = IndexRange{lower->low, std::max(lower->low, upper->high)};
  } else {
    range = compute(value.getDefiningOp(), value, depth);
  }
  if (range)
    ranges[value] = *range;
  return range;
}

/// Narrows the ranges of named integers by what a condition says of them and a number.
static void assume(const tile::PrefixTerm &condition, const llvm::StringMap<Value> &named, DenseMap<Value, IndexRange> &known) {
  if (condition.word == "&&")
    for (const tile::PrefixTerm &each : condition.args)
      assume(each, named, known);
  if (condition.args.size() != 2)
    return;
  bool isNameLeft = condition.args[1].number().has_value();
  const tile::PrefixTerm &name = condition.args[isNameLeft ? 0 : 1];
  std::optional<int64_t> number = condition.args[isNameLeft ? 1 : 0].number();
  auto found = named.find(name.word);
  if (!number || !name.args.empty() || found == named.end())
    return;
  IndexRange &range = known.find(found->second)->second;
  auto says = [&](StringRef left, StringRef right) { return condition.word == (isNameLeft ? left : right); };
  if (*number > INT64_MIN && *number < INT64_MAX) {
    if (says(">", "<") || says(">=", "<=") || condition.word == "==")
      range.low = std::max(range.low, *number + says(">", "<"));
    if (says("<", ">") || says("<=", ">=") || condition.word == "==")
      range.high = std::min(range.high, *number - says("<", ">"));
  }
  range.high = std::max(range.low, range.high); // where no launch is possible
}

DenseMap<Value, IndexRange> tegula::rangesAtLaunch(FunctionOpInterface kernel) {
  DenseMap<Value, IndexRange> known;
  llvm::StringMap<Value> named;
  for (BlockArgument argument : kernel.getArguments())
    if (auto dim = dyn_cast_or_null<StringAttr>(kernel.getArgAttr(argument.getArgNumber(), "tile.dim")))
      known[argument] = rangeOfDim, named[dim.getValue()] = argument;
    else if (auto name = dyn_cast_or_null<StringAttr>(kernel.getArgAttr(argument.getArgNumber(), "tile.name")); name && argument.getType().isInteger(32))
      known[argument] = *ofWidth(32, /*isSigned=*/true), named[name.getValue()] = argument;
  if (auto conditions = kernel->getAttrOfType<ArrayAttr>("tile.requires"))
    for (auto condition : conditions.getAsRange<DictionaryAttr>()) {
      StringRef text = cast<StringAttr>(condition.get("expr")).getValue();
      assume(tile::PrefixTerm::parse(text), named, known);
    }
  kernel->walk([&](tile::ProgramIdOp id) {
    for (Value index : id.getIndices())
      known[index] = {0, int64_t(1) << 31}; // of a grid axis
  });
  return known;
}

arith::FloorDivSIOp tegula::quotientOfRemainder(Operation *op) {
  auto difference = dyn_cast<arith::SubIOp>(op);
  auto product = difference ? difference.getRhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  auto quotient = product ? product.getLhs().getDefiningOp<arith::FloorDivSIOp>() : arith::FloorDivSIOp();
  return quotient && quotient.getLhs() == difference.getLhs() && quotient.getRhs() == product.getRhs() ? quotient : arith::FloorDivSIOp();
}

std::optional<IndexRange> IndexRanges::compute(Operation *op, Value value, unsigned depth) {
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    std::optional<IndexRange> source = of(op->getOperand(0), depth + 1);
    bool isSigned = isa<arith::ExtSIOp>(op);
    if (source && (isSigned || source->low >= 0))
      return source;
    return ofWidth(getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth(), isSigned);
  }
  if (isa<arith::TruncIOp>(op)) {
    std::optional<IndexRange> source = of(op->getOperand(0), depth + 1);
    return source && value.getType().isInteger(32) && source->fitsI32() ? source : std::nullopt;
  }
  if (isa<tile::PackingOp>(op))
    return IndexRange{0, mostPacking};
  if (isa<warp::WarpgroupOp>(op))
    return IndexRange{0, 7}; // a CTA has at most 1024 threads
  if (isa<tile::ListedBlockOp, warp::ReadNoteOp>(op))
    return IndexRange{0, tile::ForBlocksOp::classifiedKeys - 1};
  if (isa<warp::UniformOp>(op))
    return of(op->getOperand(0), depth + 1);
  if (isa<arith::SelectOp>(op)) {
    auto x = of(op->getOperand(1), depth + 1), y = of(op->getOperand(2), depth + 1);
    return x && y ? std::optional(IndexRange{std::min(x->low, y->low), std::max(x->high, y->high)}) : std::nullopt;
  }
  if (arith::FloorDivSIOp division = quotientOfRemainder(op)) {
    auto dividend = of(division.getLhs(), depth + 1), divisor = of(division.getRhs(), depth + 1);
    if (dividend && divisor) // the remainder has the divisor's sign, whatever the range of the product is
      return hull({std::min(Wide(divisor->low) + 1, Wide(0)), std::max(Wide(divisor->high) - 1, Wide(0))});
  }
  if (isa<math::AbsIOp>(op)) {
    std::optional<IndexRange> x = of(op->getOperand(0), depth + 1);
    if (!x)
      return std::nullopt;
    Wide low = x->low, high = x->high;
    return hull({std::max({low, -high, Wide(0)}), std::max(high, -low)});
  }
  if (isa<tile::IotaOp>(op))
    return IndexRange{0, cast<RankedTensorType>(value.getType()).getDimSize(0) - 1};
  if (isa<tensor::SplatOp, tile::BroadcastOp>(op))
    return of(op->getOperand(0), depth + 1);
  if (op->getNumOperands() != 2 || !getElementTypeOrSelf(value).isSignlessInteger() || getElementTypeOrSelf(value).isInteger(1))
    return std::nullopt;
  auto x = of(op->getOperand(0), depth + 1), y = of(op->getOperand(1), depth + 1);
  if (isa<arith::RemSIOp>(op) && !x && y) // the dividend may be anything, but the divisor bounds the result; a tile number is not negative
    return hull({-(std::max(Wide(y->high), -Wide(y->low)) - 1), std::max(Wide(y->high), -Wide(y->low)) - 1});
  if (isa<arith::MinUIOp>(op) && y && y->low >= 0) // the other one may be anything
    return IndexRange{0, y->high};
  if (isa<arith::MaxUIOp>(op))
    return x && y && x->low >= 0 && y->low >= 0 ? std::optional(IndexRange{std::max(x->low, y->low), std::max(x->high, y->high)}) : std::nullopt;
  if (isa<arith::AndIOp>(op) && y && y->low >= 0)
    return IndexRange{0, y->high};
  return x && y ? combine(op, *x, *y) : std::nullopt;
}
