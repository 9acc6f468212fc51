// Plans of shared memory for blocked programs, and their allocation: each op its own place while there is room, else all one place, guarded.
#include "passes/lower/BlockedScratch.h"
#include "passes/lower/BlockedThread.h"
#include "passes/schedule/BlockedLayouts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tegula;
using warp::Digit;

static int64_t bytesOf(Type element) { return storedType(element).getIntOrFloatBitWidth() / 8; }

void tegula::close(OpenDigits &open, const AxisStep &step) {
  if (step.kind == AxisStep::Register)
    open.registers[step.index].count = 1;
  else if (step.kind == AxisStep::Lane)
    open.threads[step.index].axis = -1;
  for (unsigned bit : step.bits)
    open.threads[bit].axis = -1;
}

SmallVector<AxisStep> tegula::axisSteps(warp::BlockedAttr layout, int64_t axis, bool ordered) {
  SmallVector<std::pair<int64_t, AxisStep>> steps; // with the stride
  for (auto [index, digit] : llvm::enumerate(layout.getRegisters()))
    if (digit.axis == axis)
      steps.push_back({digit.stride, {AxisStep::Register, static_cast<unsigned>(index), {}}});
  for (auto [bit, digit] : llvm::enumerate(layout.getThreads()))
    if (digit.axis == axis && bit < 5)
      steps.push_back({digit.stride, {AxisStep::Lane, static_cast<unsigned>(bit), {}}});
  SmallVector<std::pair<int64_t, unsigned>> warpBits;
  for (auto [bit, digit] : llvm::enumerate(layout.getThreads()))
    if (digit.axis == axis && bit >= 5)
      warpBits.push_back({digit.stride, static_cast<unsigned>(bit)});
  llvm::sort(warpBits);
  // Neighbours in the order of strides go together.
  int64_t next = -1;
  for (auto [stride, bit] : warpBits) {
    bool joins = !steps.empty() && steps.back().second.kind == AxisStep::Warps && (!ordered || stride == next);
    if (!joins)
      steps.push_back({stride, {AxisStep::Warps, 0, {}}});
    steps.back().second.bits.push_back(bit);
    next = 2 * stride;
  }
  if (ordered)
    llvm::stable_sort(steps, [](auto &a, auto &b) { return a.first < b.first; });
  return llvm::map_to_vector(steps, [](auto &step) { return step.second; });
}

PartsPlan::PartsPlan(const OpenDigits &open, ArrayRef<unsigned> bits) : parts(int64_t(1) << bits.size()), threadWeights(open.threads.size()), partWeights(open.threads.size()), values(1) {
  for (const Digit &digit : open.registers) {
    registerWeights.push_back(values);
    values *= digit.count;
  }
  for (auto [bit, digit] : llvm::enumerate(open.threads)) {
    if (digit.axis < 0 || llvm::is_contained(bits, bit))
      continue;
    threadWeights[bit] = values;
    values *= 2;
  }
  for (auto [place, bit] : llvm::enumerate(bits))
    partWeights[bit] = int64_t(1) << place;
}

MovePlan::MovePlan(RankedTensorType from, RankedTensorType to) {
  warp::BlockedAttr source = blockedLayout(from), target = blockedLayout(to);
  isReshape = from.getShape() != to.getShape();
  keepsThreads = !isReshape && source.getThreads() == target.getThreads();
  elements = 0;
  auto reach = [&](warp::BlockedAttr layout, ArrayRef<int64_t> weights) {
    int64_t last = 0;
    for (auto [axis, weight] : llvm::enumerate(weights))
      last += (layout.getCoverage(axis) - 1) * weight;
    elements = std::max(elements, last + 1);
  };
  auto rowMajor = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> weights(shape.size(), 1);
    for (int64_t axis = static_cast<int64_t>(shape.size()) - 2; axis >= 0; --axis)
      weights[axis] = weights[axis + 1] * shape[axis + 1];
    return weights;
  };
  if (isReshape) {
    fromWeights = rowMajor(from.getShape()), toWeights = rowMajor(to.getShape());
  } else {
    int64_t rank = from.getRank(), fast = rank - 1;
    if (!source.getRegisters().empty() && source.getContiguous(source.getRegisters().front().axis) > 1)
      fast = source.getRegisters().front().axis;
    else if (!target.getRegisters().empty())
      fast = target.getRegisters().front().axis;
    fromWeights.assign(rank, 0);
    fromWeights[fast] = 1;
    int64_t quantum = 16 / bytesOf(from.getElementType()), next = std::max(source.getCoverage(fast), target.getCoverage(fast));
    next = llvm::divideCeil(next, quantum) * quantum + (rank > 1 ? quantum : 0); // a pad keeps lines off one another's banks
    for (int64_t axis = rank - 1; axis >= 0; --axis)
      if (axis != fast) {
        fromWeights[axis] = next;
        next *= std::max(source.getCoverage(axis), target.getCoverage(axis));
      }
    toWeights = fromWeights;
  }
  reach(source, fromWeights);
  reach(target, toWeights);
}

/// The distance of lines that puts what a warp reads at once in different banks: `ldmatrix` reads 8 lines of 16 bytes, tf32 fragments 8 x 4 words.
static int64_t pitchOf(int64_t length, int64_t size, bool innerIsFast) {
  if (size == 2)
    return 8 * (llvm::divideCeil(length, 8) | 1);
  if (size != 4)
    return llvm::alignTo(length, 16) + 16;
  int64_t wanted = innerIsFast ? 4 : 8;
  return llvm::alignTo(std::max<int64_t>(0, length - wanted), 32) + wanted;
}

int64_t tegula::dotStep(Type element) { return element.isF16() || element.isBF16() ? 16 : element.isF32() ? 8 : 1; }

/// The tile of an operand with its layout: of registers, or of the copies from memory.
static RankedTensorType operandTile(Value operand, int64_t threads) {
  auto global = dyn_cast<warp::GlobalType>(operand.getType());
  if (!global)
    return cast<RankedTensorType>(operand.getType());
  auto op = operand.getDefiningOp<warp::GlobalOp>();
  int64_t shape[] = {global.getRows(), global.getColumns()}, last = cast<MemRefType>(op.getMemory().getType()).getRank() - 1;
  BlockedHints hints;
  hints.threads = threads;
  hints.fastAxis = op.getAxes()[0] == last ? 0 : 1;
  hints.elements = 16 / bytesOf(global.getElementType());
  return RankedTensorType::get(shape, global.getElementType(), chooseBlocked(op.getContext(), shape, hints));
}

DotPlan::DotPlan(warp::DotOp op) {
  warp::BlockedAttr result = blockedLayout(op.getType());
  RankedTensorType left = operandTile(op.getLhs(), result.getNumThreads()), right = operandTile(op.getRhs(), result.getNumThreads());
  Type element = left.getElementType();
  int64_t step = dotStep(element), size = bytesOf(element);
  depth = llvm::divideCeil(left.getDimSize(1), step) * step;
  bytes = 0;
  auto place = [&](Value value, RankedTensorType tile, int64_t innerAxis, int64_t outerPlaces) {
    warp::BlockedAttr layout = blockedLayout(tile);
    Operand operand;
    operand.tile = tile;
    operand.innerAxis = innerAxis, operand.outerAxis = 1 - innerAxis;
    operand.innerIsFast = layout.getRegisters().empty() || layout.getRegisters().front().axis == innerAxis || layout.getContiguous(layout.getRegisters().front().axis) == 1;
    int64_t inner = std::max(depth, layout.getCoverage(innerAxis)), outer = std::max(outerPlaces, layout.getCoverage(operand.outerAxis));
    operand.needsZeros = (isa<warp::GlobalType>(value.getType()) ? tile.getDimSize(innerAxis) : layout.getCoverage(innerAxis)) < depth;
    operand.lines = operand.innerIsFast ? outer : inner;
    operand.pitch = pitchOf(operand.innerIsFast ? inner : outer, size, operand.innerIsFast);
    operand.offset = bytes;
    bytes += llvm::alignTo(operand.lines * operand.pitch * size, 16);
    return operand;
  };
  lhs = place(op.getLhs(), left, 1, result.getCoverage(0));
  rhs = place(op.getRhs(), right, op.getTransposeB() ? 1 : 0, result.getCoverage(1));
}

int64_t tegula::scratchBytes(Operation *op) {
  if (auto convert = dyn_cast<warp::ConvertOp>(op)) {
    MovePlan plan(convert.getTile().getType(), convert.getResult().getType());
    return plan.keepsThreads ? 0 : plan.elements * bytesOf(convert.getTile().getType().getElementType());
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op); reshape && blockedLayout(reshape.getTile().getType())) {
    if (isRenaming(reshape))
      return 0; // the layout says it all
    return MovePlan(reshape.getTile().getType(), reshape.getResult().getType()).elements * bytesOf(reshape.getTile().getType().getElementType());
  }
  if (auto dot = dyn_cast<warp::DotOp>(op))
    return DotPlan(dot).bytes;
  Value tile;
  int64_t axis = 0, size = 0;
  bool ordered = true;
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    tile = reduce.getTile(), axis = reduce.getReducedAxis(), ordered = false, size = reduce.getKind() == tile::ReduceKind::Argmax ? 4 : 0;
  else if (auto combine = dyn_cast<tile::CombineOp>(op))
    tile = combine.getTile(), axis = combine.getAxis();
  else if (auto sums = dyn_cast<tile::CumsumOp>(op))
    tile = sums.getTile(), axis = sums.getAxis();
  warp::BlockedAttr layout = tile ? blockedLayout(tile.getType()) : warp::BlockedAttr();
  if (!layout)
    return 0;
  size += bytesOf(getElementTypeOrSelf(tile));
  OpenDigits open(layout);
  int64_t bytes = 0;
  for (const AxisStep &step : axisSteps(layout, axis, ordered)) {
    if (step.kind == AxisStep::Warps) {
      PartsPlan plan(open, step.bits);
      bytes = std::max(bytes, (plan.parts * plan.values + 16) * size);
    }
    close(open, step);
  }
  return bytes;
}

/// Whether threads meet in `op` in any case.
static bool meets(Operation *op) { return isa<warp::FenceOp>(op) || op->hasAttr(scratchAttr); }

int64_t tegula::allocateScratch(warp::KernelOp kernel) {
  constexpr int64_t small = 2048; // has a place of its own
  SmallVector<std::pair<Operation *, int64_t>> own, sharing;
  kernel->walk([&](Operation *op) {
    if (int64_t bytes = scratchBytes(op))
      (bytes <= small ? own : sharing).push_back({op, llvm::alignTo(bytes, 16)});
  });
  Builder b(kernel.getContext());
  int64_t next = 0, largest = 0;
  for (auto [op, bytes] : own) {
    op->setAttr(scratchAttr, b.getI64IntegerAttr(next));
    next += bytes;
  }
  for (auto [op, bytes] : sharing) {
    op->setAttr(scratchAttr, b.getI64IntegerAttr(next));
    largest = std::max(largest, bytes);
  }
  for (auto &[op, bytes] : llvm::concat<std::pair<Operation *, int64_t>>(own, sharing)) {
    bool alone = bytes <= small || sharing.size() == 1;
    // Threads that come back to the op have met at another one of its block since they read.
    bool metSince = llvm::any_of(*op->getBlock(), [&, op = op](Operation &other) { return &other != op && meets(&other); });
    if (!alone || !metSince)
      op->setAttr(guardedAttr, b.getUnitAttr());
  }
  return next + largest;
}
