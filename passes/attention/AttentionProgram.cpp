// The form of an attention loop, read from tile sizes and uses.
#include "passes/attention/AttentionProgram.h"
#include "passes/mask/KeyOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

constexpr int64_t maxConsumers = 4, columnStep = 8;

bool isRightOperand(OpOperand &use) {
  auto dot = dyn_cast<DotOp>(use.getOwner());
  return dot && &use == &dot.getRhsMutable();
}

/// A loaded tile, with or without the rows of unseen keys, that right operands alone read.
bool isRightOperand(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<LoadOp, ZeroUnseenOp>(op) && !value.use_empty() && llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto zero = dyn_cast<ZeroUnseenOp>(use.getOwner());
    return zero ? isRightOperand(zero.getResult()) : isRightOperand(use);
  });
}

class Matcher {
public:
  Matcher(KernelOp kernel, std::pair<Location, std::string> &reason) : kernel(kernel), reason(reason) {}

  std::optional<AttentionProgram> run() {
    if (!findProducts() || !checkTiles())
      return std::nullopt;
    return AttentionProgram{rows, static_cast<int64_t>(loop.getStep()),
                            {scores.getLhs().getType().getDimSize(1), output.getRhs().getType().getDimSize(1),
                             scores.getLhs().getType().getElementTypeBitWidth(), hasLongerTiles(), canFixReference(kernel)}};
  }

private:
  bool no(Location loc, const Twine &text) {
    reason = {loc, text.str()};
    return false;
  }

  bool findProducts() {
    if (!llvm::hasSingleElement(kernel.getBody().front().getOps<ProgramIdOp>()))
      return no(kernel.getLoc(), "it has no grid");
    SmallVector<DotOp> dots;
    kernel->walk([&](DotOp dot) { dots.push_back(dot); });
    for (DotOp dot : dots) {
      auto parent = dyn_cast<ForBlocksOp>(dot->getParentOp());
      if (!parent || (loop && loop != parent))
        return no(dot.getLoc(), "a `dot` stands outside the one loop over blocks");
      loop = parent;
      DotOp &which = dot.getTransposeB() && !dot.getAcc() ? scores : output;
      if (which)
        return no(dot.getLoc(), "the loop has more than the product that makes scores and the one that adds to the output");
      which = dot;
    }
    if (!scores || !output || !output.getAcc())
      return no(kernel.getLoc(), "it has no loop of `dot`, online softmax, `dot`");
    rows = scores.getLhs().getType().getDimSize(0);
    if (rows % warpgroupRows != 0 || rows > maxConsumers * warpgroupRows)
      return no(scores.getLoc(), "a tile has " + Twine(rows) + " rows of queries, where warpgroups own 64 each, up to 256");
    for (DotOp dot : {scores, output}) {
      if (!isRightOperand(dot.getRhs()))
        return no(dot.getLoc(), "the right operand of a `dot` is computed, or used elsewhere too");
      if (!isa<FloatType>(dot.getLhs().getType().getElementType()))
        return no(dot.getLoc(), "a `dot` is of integers");
    }
    if (scores.getRhs().getType().getDimSize(0) != static_cast<int64_t>(loop.getStep()) || loop.getStep() % 16 != 0)
      return no(scores.getLoc(), "the loop's step is not the number of keys of a block, in sixteens");
    return true;
  }

  bool checkTiles() {
    auto result = kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<MaskOp, MapOp, ZeroUnseenOp>(op))
        return checkTypes(op) ? WalkResult::skip() : WalkResult::interrupt();
      return isPart(op) && checkTypes(op) ? WalkResult::advance() : WalkResult::interrupt();
    });
    return !result.wasInterrupted();
  }

  bool isPart(Operation *op) {
    bool hasTiles = llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) || llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
    if (!hasTiles || isa<LoadOp, ZeroUnseenOp, DotOp, OnlineSoftmaxOp, ScaleRowsOp, MergeOp, FinishOp, AnyOp, ForBlocksOp, YieldOp, scf::IfOp, scf::YieldOp, tensor::SplatOp>(op))
      return true;
    if (auto store = dyn_cast<StoreOp>(op); store && !store.getMask())
      return true;
    if (auto reduce = dyn_cast<ReduceOp>(op))
      if (reduce.getTile().getType().getRank() == 2 && reduce.getAxis().value_or(1) == 1 && llvm::is_contained({ReduceKind::Add, ReduceKind::Max}, reduce.getKind()))
        return true;
    if (auto broadcast = dyn_cast<BroadcastOp>(op); broadcast && broadcast.getAxes() == ArrayRef<int64_t>{0})
      return true;
    if (op->hasTrait<OpTrait::Elementwise>() && isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      return true;
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isa<SplatElementsAttr>(constant.getValue()))
      return true;
    return no(op->getLoc(), "`" + op->getName().getStringRef() + "` moves data between threads");
  }

  bool checkTypes(Operation *op) {
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || isRightOperand(result))
        continue;
      if (type.getRank() > 2 || type.getDimSize(0) != rows || (type.getRank() == 2 && type.getDimSize(1) % columnStep != 0))
        return no(op->getLoc(), "a tile is not of " + Twine(rows) + " rows and a multiple of 8 columns");
    }
    return true;
  }

  /// Whether a mask lets later rows see more keys.
  bool hasLongerTiles() {
    return kernel
        ->walk([](MaskOp mask) {
          Region &body = mask.getBody();
          bool grows = growsWithRows(body.front().getTerminator()->getOperand(0), body.getArgument(0), body.getArgument(1));
          return grows ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  KernelOp kernel;
  std::pair<Location, std::string> &reason;
  ForBlocksOp loop;
  DotOp scores, output;
  int64_t rows = 0;
};

} // namespace

std::optional<AttentionProgram> tegula::matchAttentionProgram(KernelOp kernel, std::pair<Location, std::string> &reason) {
  return Matcher(kernel, reason).run();
}

std::optional<double> tegula::foldableScale(AttentionOp op) {
  Value yielded = op.getScale().front().getTerminator()->getOperand(0);
  FloatAttr value;
  if (!matchPattern(yielded, m_Constant(&value)))
    return std::nullopt;
  double scale = value.getValueAsDouble();
  return std::isfinite(scale) && scale > 0 ? std::optional<double>(scale) : std::nullopt;
}
