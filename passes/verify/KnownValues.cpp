// Numbers by each op's own rule for ranges; sizes, scalars and elements of tables by choice.
#include "passes/verify/KnownValues.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tegula;

Known KnownValues::look(Value value) {
  if (auto it = values.find(value); it != values.end())
    return it->second;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isa<warp::KernelOp>(argument.getOwner()->getParentOp()) || !value.getType().isIntOrIndex())
    return {};
  return values[value] = Known::of(choices.choose(kernel.nameOf(argument), kernel.optionsFor(argument)));
}

std::optional<int64_t> KnownValues::numberOf(Value value) {
  Known known = look(value);
  return known.kind == Known::Number ? std::optional(known.number) : std::nullopt;
}

void KnownValues::assign(ValueRange to, ValueRange from) {
  SmallVector<Known> known = llvm::map_to_vector(from, [&](Value value) { return look(value); });
  for (auto [value, what] : llvm::zip(to, known))
    values[value] = what;
}

void KnownValues::evaluate(Operation *op) {
  for (Value result : op->getResults())
    values[result] = {Known::Nothing, 0, 0, !isa<warp::VoteOp, warp::ClaimOp, warp::MarkOp>(op)};
  APInt constant;
  if (matchPattern(op, m_ConstantInt(&constant)))
    values[op->getResult(0)] = Known::of(constant.getSExtValue());
  else if (isa<warp::WarpgroupOp>(op))
    values[op->getResult(0)] = Known::of(warpgroup);
  else if (isa<warp::UniformOp>(op))
    values[op->getResult(0)] = look(op->getOperand(0));
  else if (auto classes = dyn_cast<warp::ClassifyBlocksOp>(op))
    classify(classes);
  else if (isa<math::CtPopOp, math::CountTrailingZerosOp>(op))
    countBits(op);
  else if (auto lookup = dyn_cast<tile::LookupOp>(op))
    lookUp(lookup);
  else if (isa<InferIntRangeInterface>(op))
    compute(op);
}

/// An element of a table is the same wherever it is read. Numbers of a sorted table rise in steps as long as they are high, and are a step more at the next place on another axis, as the ends of
/// documents are to their beginnings.
void KnownValues::lookUp(tile::LookupOp op) {
  auto table = dyn_cast<BlockArgument>(op.getTable());
  Type element = op->getResult(0).getType();
  if (!table || !element.isInteger())
    return;
  SmallVector<int64_t> place;
  for (Value index : op.getIndices()) {
    std::optional<int64_t> number = numberOf(index);
    if (!number)
      return;
    place.push_back(*number);
  }
  auto owner = dyn_cast<warp::KernelOp>(table.getOwner()->getParentOp());
  if (owner && owner.getArgAttr(table.getArgNumber(), "tile.sorted") && !place.empty()) {
    SmallVector<int64_t> steps = kernel.optionsFor(element);
    llvm::erase(steps, 0);
    int64_t step = choices.choose("step of " + kernel.nameOf(table), steps), rise = std::max<int64_t>(place.back(), 0) / step;
    for (int64_t other : ArrayRef(place).drop_back())
      rise += other;
    values[op->getResult(0)] = Known::of(rise * step);
    return;
  }
  std::string key = llvm::join(llvm::map_range(place, [](int64_t number) { return std::to_string(number); }), ", ");
  values[op->getResult(0)] = Known::of(choices.choose(kernel.nameOf(table) + "[" + key + "]", kernel.optionsFor(element)));
}

/// Which blocks are live is chosen, one way for even tiles and one for odd ones: none, the first, some others, all. Every second one has the first flag; of the others, each has all, none, or one of
/// them in turn.
void KnownValues::classify(warp::ClassifyBlocksOp op) {
  std::optional<int64_t> first = numberOf(op.getFirst()), end = numberOf(op.getEnd());
  for (Value result : op.getBits())
    values[result].isVarying = false;
  if (!first || !end)
    return;
  constexpr int64_t all = (int64_t(1) << warp::ClassifyBlocksOp::lanes) - 1, some = 0x36, second = 0xAAAAAAAA;
  int64_t step = op.getStep(), blocks = std::clamp<int64_t>((*end - *first + step - 1) / step, 0, warp::ClassifyBlocksOp::lanes);
  int64_t live = choices.choose("live blocks from " + std::to_string(*first) + " in " + (tile % 2 ? "odd" : "even") + " tiles", {all, 0, 1, some});
  values[op.getBits()[0]] = Known::of(live & ((int64_t(1) << blocks) - 1));
  if (op.getNumResults() > 1)
    values[op.getBits()[1]] = Known::of(second);
  int64_t others = static_cast<int64_t>(op.getNumResults()) - 2;
  if (others <= 0)
    return;
  enum Which { All, None, InTurn };
  int64_t which = choices.choose("flags of blocks", {All, None, InTurn});
  for (int64_t other = 0; other < others; ++other) {
    int64_t bits = which == All ? all : 0;
    for (int64_t block = other; which == InTurn && block < warp::ClassifyBlocksOp::lanes; block += others)
      bits |= int64_t(1) << block;
    values[op.getBits()[2 + other]] = Known::of(bits);
  }
}

void KnownValues::countBits(Operation *op) {
  std::optional<int64_t> number = numberOf(op->getOperand(0));
  if (!number)
    return;
  APInt bits(op->getOperand(0).getType().getIntOrFloatBitWidth(), *number, /*isSigned=*/true);
  values[op->getResult(0)] = Known::of(isa<math::CtPopOp>(op) ? bits.popcount() : bits.countr_zero());
}

/// Of ranges of one number, or of all numbers where nothing is known.
void KnownValues::compute(Operation *op) {
  SmallVector<ConstantIntRanges> ranges;
  bool isVarying = false;
  for (Value operand : op->getOperands()) {
    unsigned width = ConstantIntRanges::getStorageBitwidth(operand.getType());
    if (width == 0)
      return;
    Known known = look(operand);
    bool isNumber = known.kind == Known::Number;
    isVarying |= !isNumber && known.isVarying;
    ranges.push_back(isNumber ? ConstantIntRanges::constant(APInt(width, known.number, /*isSigned=*/true, /*implicitTrunc=*/true)) : ConstantIntRanges::maxRange(width));
  }
  values[op->getResult(0)].isVarying = isVarying;
  cast<InferIntRangeInterface>(op).inferResultRanges(ranges, [&](Value result, const ConstantIntRanges &range) {
    if (std::optional<APInt> number = range.getConstantValue())
      values[result] = Known::of(number->getSExtValue());
  });
}
