// tegula-fix-reference: weights by one multiply-add, relative to a reference that need not be the max.
//
// In: an attention loop under `softmax = fixed` or `threshold`. Out: the same with folded weights, under `fixed` without running max and rescale, as the reference of a row is its max
// over the first block in which it sees a key; a check of each row; and the stores in a `tile.redo`, whose other program is the one that came in, under the direct schedule. The one
// idea: any reference gives the same output while nothing leaves the range of floats; so check that at the end.
#include "passes/Passes.h"
#include "passes/attention/AttentionProgram.h"
#include "passes/attention/ChooseSchedule.h"
#include "passes/attention/NarrowKeys.h"
#include "passes/attention/ScoreBias.h"
#include "passes/mask/KeyOrder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace tegula {
#define GEN_PASS_DEF_FIXREFERENCEPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// Sums of weights that a check lets pass: no weight of the first block's largest score is lost, and sums and products of weights and values of ordinary size are finite.
constexpr double leastSum = 0x1p-60, greatestSum = 0x1p100;
/// Sums up to here keep the accumulator finite for all values below 2^107; above, it is looked at.
constexpr double ordinarySum = 0x1p20;

/// A reference in units of log2 up to which a multiply-add with it is as good as a difference: a weight of 1 may be off by half a unit in the reference's last place, and rounds to 1 as an
/// operand of this type.
double greatestReference(FloatType operand) { return std::exp2(24.0 - llvm::APFloat::semanticsPrecision(operand.getFloatSemantics())); }

/// Keys of a block in the program that computes rows again.
constexpr int64_t fewKeys = 16;

/// An attention loop whose reference may be fixed.
struct FixableLoop {
  ForBlocksOp loop;
  OnlineSoftmaxOp softmax;
  unsigned max, sum, acc; ///< which carried values
  bool fromFirstBlock = true; ///< no row sees its first key in a later block
  SmallVector<MaskOp> masks;  ///< of the scores
  MapOp biased;               ///< makes scores that are a product and a bias; may be absent
  SmallVector<StoreOp> stores;

  /// Nothing where the form is unsafe or pointless; `reason` says why.
  static std::optional<FixableLoop> match(KernelOp kernel, SoftmaxForm form, std::string &reason);

private:
  bool findLoop(KernelOp kernel, std::string &reason);
  bool findState(std::string &reason);
  bool checkScores(std::string &reason);
  bool findStores(KernelOp kernel, std::string &reason);
};

std::optional<FixableLoop> FixableLoop::match(KernelOp kernel, SoftmaxForm form, std::string &reason) {
  FixableLoop found;
  if (found.findLoop(kernel, reason) && found.findState(reason) && (form != SoftmaxForm::Fixed || found.checkScores(reason)) && found.findStores(kernel, reason))
    return found;
  return std::nullopt;
}

bool FixableLoop::findLoop(KernelOp kernel, std::string &reason) {
  for (ForBlocksOp candidate : kernel.getBody().front().getOps<ForBlocksOp>())
    for (OnlineSoftmaxOp op : candidate.getBody().front().getOps<OnlineSoftmaxOp>()) {
      reason = "it has more than one online softmax";
      if (softmax)
        return false;
      loop = candidate, softmax = op;
    }
  reason = "it has no online softmax in a loop at its top";
  return softmax != nullptr;
}

bool FixableLoop::findState(std::string &reason) {
  std::optional<unsigned> maxIndex, sumIndex, accIndex;
  for (auto [number, next] : llvm::enumerate(loop.getBody().front().getTerminator()->getOperands())) {
    if (next == softmax.getNewMax())
      maxIndex = number;
    if (next == softmax.getNewSum())
      sumIndex = number;
    if (next.getDefiningOp<DotOp>()) {
      reason = "it accumulates more than one output";
      if (accIndex)
        return false;
      accIndex = number;
    }
  }
  reason = "its state is not that of one softmax, from the start";
  if (!maxIndex || !sumIndex || !accIndex)
    return false;
  max = *maxIndex, sum = *sumIndex, acc = *accIndex;
  auto argument = dyn_cast<BlockArgument>(softmax.getMax());
  auto inits = loop.getInits();
  return argument && argument.getOwner() == &loop.getBody().front() && matchPattern(inits[argument.getArgNumber() - 1], m_NegInfFloat()) &&
         matchPattern(inits[sum], m_AnyZeroFloat()) && matchPattern(inits[acc], m_AnyZeroFloat());
}

/// Scores that are a tile times one number for all rows and keys.
struct ScaledScores {
  MapOp map;
  Value tile, factor;

  static std::optional<ScaledScores> match(Value scores) {
    auto map = scores.getDefiningOp<MapOp>();
    if (!map || map.getInputs().size() != 1)
      return std::nullopt;
    Block &body = map.getBody().front();
    auto product = body.getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
    if (!product || !llvm::hasSingleElement(body.without_terminator()))
      return std::nullopt;
    bool isLeft = product.getLhs() == body.getArgument(0);
    Value factor = isLeft ? product.getRhs() : product.getLhs();
    bool isScaled = (isLeft || product.getRhs() == body.getArgument(0)) && factor.getParentBlock() != &body;
    return isScaled ? std::optional(ScaledScores{map, map.getInputs()[0], factor}) : std::nullopt;
  }
};

/// Scores are a function of the product that is the same for all keys of a row, so that what the first block shows speaks for the rest, or such a product and a bias of bounded growth.
bool FixableLoop::checkScores(std::string &reason) {
  Value scores = softmax.getScores();
  while (auto select = scores.getDefiningOp<arith::SelectOp>()) {
    auto mask = select.getCondition().getDefiningOp<MaskOp>();
    reason = "its scores are chosen by more than a mask";
    if (!mask || !matchPattern(select.getFalseValue(), m_NegInfFloat()))
      return false;
    fromFirstBlock &= seesPrefix(mask.getBody().front().getTerminator()->getOperand(0), mask.getBody().getArgument(1));
    masks.push_back(mask);
    scores = select.getTrueValue();
  }
  auto scaled = ScaledScores::match(scores);
  auto dot = (scaled ? scaled->tile : scores).getDefiningOp<DotOp>();
  reason = "its scores are more than a product, and may grow along the keys";
  if (!dot) {
    biased = scores.getDefiningOp<MapOp>();
    dot = biased && biased.getInputs().size() == 1 ? biased.getInputs()[0].getDefiningOp<DotOp>() : DotOp();
    if (!dot)
      return false;
    if (!dependsOnKey(biased.getBody()))
      biased = {};
    else if (!fromFirstBlock || !ScoreTerms::match(biased.getBody()))
      return false;
  }
  reason = "weights relative to a first block may leave the range of f16";
  return !dot.getLhs().getType().getElementType().isF16();
}

bool FixableLoop::findStores(KernelOp kernel, std::string &reason) {
  kernel->walk([&](StoreOp store) { stores.push_back(store); });
  reason = "its outputs have no place for a mark";
  return !stores.empty() && llvm::all_of(stores, [&](StoreOp store) {
    return store->getParentOp() == kernel && !store.getMask() && holdsMark(store.getTile().getType().getElementType());
  });
}

} // namespace

bool tegula::canFixReference(KernelOp kernel) {
  std::string reason;
  return FixableLoop::match(kernel, SoftmaxForm::Fixed, reason).has_value();
}

bool tegula::canFixReference(AttentionOp op) {
  auto yielded = [](Region &region) { return region.front().getTerminator()->getOperand(0); };
  bool sees = seesPrefix(yielded(op.getMask()), op.getMask().getArgument(4)), isBiased = sees && ScoreTerms::match(op.getScore());
  bool isProduct = op.getReduction() == Reduction::Softmax && (!dependsOnKey(op.getScore()) || isBiased);
  bool readsStatistics = llvm::any_of(op.getEmits(), [](Region &emit) {
    unsigned results = emit.getNumArguments() / 2; // see tegula-decompose
    return !emit.getArgument(results - 2).use_empty() || !emit.getArgument(results - 1).use_empty();
  });
  bool isStored = llvm::all_of(op.getOutputs().getTypes(), [](Type type) { return holdsMark(cast<MemRefType>(type).getElementType()); });
  return isProduct && !readsStatistics && isStored && op.getWeight().empty() && !cast<MemRefType>(op.getQuery().getType()).getElementType().isF16();
}

namespace {

struct FixReferencePass : tegula::impl::FixReferencePassBase<FixReferencePass> {
  void runOnOperation() override {
    SmallVector<KernelOp> kernels(getOperation().getOps<KernelOp>());
    for (KernelOp kernel : kernels) {
      auto schedule = kernel->getAttrOfType<ScheduleAttr>("schedule");
      if (!schedule || schedule.getForm() != Form::Pipelined || schedule.getSoftmax() == SoftmaxForm::Online)
        continue;
      std::string reason;
      std::optional<FixableLoop> found = FixableLoop::match(kernel, schedule.getSoftmax(), reason);
      if (found && !found->softmax.getThreshold()) {
        reason = "its running max is read";
        found.reset();
      }
      Value bias = found ? findBias(kernel, *found) : Value();
      if (found && found->biased && !bias) {
        reason = "the keys that a row sees have no exact bounds, and a bias may grow along them";
        found.reset();
      }
      if (!found && schedule.getSoftmax() == SoftmaxForm::Fixed) { // asked for: the choice knows
        emitRemark(kernel.getLoc()) << "`" << kernel.getSymName() << "` takes softmax = threshold, not fixed: " << reason;
        schedule = withSoftmax(schedule, SoftmaxForm::Threshold);
        kernel->setAttr("schedule", schedule);
        found = FixableLoop::match(kernel, SoftmaxForm::Threshold, reason);
      }
      if (!found || !found->softmax.getThreshold())
        continue;
      fold(kernel, *found, bias, schedule);
      ++folded;
    }
  }

private:
  static ScheduleAttr withSoftmax(ScheduleAttr s, SoftmaxForm softmax) {
    ScheduleFields fields = s.getFields();
    fields.softmax = softmax, fields.polynomial = 0;
    return fields.get(s.getContext());
  }

  /// The program as it came in, under the direct schedule, with few keys a block: it is to be small, and it seldom runs.
  FlatSymbolRefAttr makeOther(KernelOp kernel, FixableLoop &found, ScheduleAttr s) {
    OpBuilder b(kernel);
    b.setInsertionPointAfter(kernel);
    IRMapping map;
    auto other = cast<KernelOp>(b.clone(*kernel, map));
    other.setSymName((kernel.getSymName() + "_again").str());
    SymbolTable(getOperation()).insert(other);
    auto loop = cast<ForBlocksOp>(map.lookup(found.loop.getOperation()));
    (void)narrowKeys(loop, fewKeys);
    ScheduleFields direct{.blockM = s.getBlockM(), .blockN = static_cast<int64_t>(loop.getStep()), .consumers = s.getConsumers(), .qStages = 0};
    other->setAttr("schedule", direct.get(s.getContext()));
    other->walk([](OnlineSoftmaxOp softmax) { softmax.setThreshold(0); });
    return FlatSymbolRefAttr::get(other.getSymNameAttr());
  }

  void fold(KernelOp kernel, FixableLoop &found, Value bias, ScheduleAttr schedule) {
    FlatSymbolRefAttr other = makeOther(kernel, found, schedule);
    found.softmax.setFolded(true);
    bool isFixed = schedule.getSoftmax() == SoftmaxForm::Fixed;
    if (isFixed) {
      found.softmax.setThreshold(0);
      found.softmax.setFixed(true);
      found.softmax.setFromFirstBlock(found.fromFirstBlock);
      if (bias)
        setBasis(found, bias);
    }
    Value max = takeFactor(found);
    OpBuilder b(found.loop->getContext());
    b.setInsertionPointAfterValue(max);
    Value valid = isFixed ? checkWeights(b, found, max) : checkReference(b, found, max);
    if (Value factor = found.softmax.getFactor()) {
      auto rows = cast<RankedTensorType>(valid.getType()).clone(factor.getType());
      Value isAboveZero = compare(b, arith::CmpFPredicate::OGT, tensor::SplatOp::create(b, valid.getLoc(), factor, rows), 0.0);
      valid = arith::AndIOp::create(b, valid.getLoc(), valid, isAboveZero);
    }
    b.setInsertionPoint(found.stores.back());
    auto redo = RedoOp::create(b, found.stores.back().getLoc(), valid, other);
    Block *body = b.createBlock(&redo.getStores());
    for (StoreOp store : found.stores)
      store->moveBefore(body, body->end());
    b.setInsertionPointToEnd(body);
    YieldOp::create(b, redo.getLoc());
  }

  /// The largest bias of each row, if the scores have one.
  static Value findBias(KernelOp kernel, FixableLoop &found) {
    if (!found.biased)
      return {};
    return largestBias(found.loop, found.biased, *ScoreTerms::match(found.biased.getBody()), found.masks, IndexRanges(rangesAtLaunch(kernel)));
  }

  /// The scores without their bias, of which the first block's max is taken.
  static void setBasis(FixableLoop &found, Value bias) {
    OpBuilder b(found.softmax);
    auto map = cast<MapOp>(b.clone(*found.biased));
    map.getBody().front().getTerminator()->setOperand(0, ScoreTerms::match(map.getBody())->product);
    Value basis = map.getResult();
    for (MaskOp mask : llvm::reverse(found.masks)) {
      auto select = cast<arith::SelectOp>(*mask->getUsers().begin());
      Value own = cast<MaskOp>(b.clone(*mask)).getResult(); // not that of the scores, which goes under a test
      basis = arith::SelectOp::create(b, select.getLoc(), own, basis, select.getFalseValue());
    }
    found.softmax.getBasisMutable().assign(basis);
    found.softmax.getBiasMutable().assign(bias);
  }

  /// A number that all scores are multiplied by meets the one that the exponential needs anyway. The max is then one of products alone, and times that number behind the loop.
  /// Gives the max behind the loop.
  static Value takeFactor(FixableLoop &found) {
    Value max = found.loop.getResult(found.max);
    OpOperand *scores = &found.softmax.getScoresMutable();
    for (auto select = scores->get().getDefiningOp<arith::SelectOp>(); select; select = scores->get().getDefiningOp<arith::SelectOp>()) {
      if (!select->hasOneUse() || !matchPattern(select.getFalseValue(), m_NegInfFloat()))
        return max;
      scores = &select.getTrueValueMutable();
    }
    std::optional<ScaledScores> scaled = ScaledScores::match(scores->get());
    if (!scaled || !scaled->map->hasOneUse() || found.loop.getBody().isAncestor(scaled->factor.getParentRegion()))
      return max;
    scores->set(scaled->tile); // before the operands move
    found.softmax.getFactorMutable().assign(scaled->factor);
    scaled->map->erase();
    OpBuilder b(found.loop->getContext());
    b.setInsertionPointAfter(found.loop);
    auto rows = cast<RankedTensorType>(max.getType());
    Value natural = arith::MulFOp::create(b, max.getLoc(), max, tensor::SplatOp::create(b, max.getLoc(), scaled->factor, rows));
    max.replaceAllUsesExcept(natural, natural.getDefiningOp());
    return natural;
  }

  static Value compare(OpBuilder &b, arith::CmpFPredicate predicate, Value value, double number) {
    auto rows = cast<RankedTensorType>(value.getType());
    auto splat = DenseElementsAttr::get(rows, FloatAttr::get(rows.getElementType(), number).getValue());
    return arith::CmpFOp::create(b, value.getLoc(), predicate, value, arith::ConstantOp::create(b, value.getLoc(), splat));
  }

  /// Which rows stand under a running max: it is not too far from 0 for a multiply-add, or there is none, as they saw no key.
  Value checkReference(OpBuilder &b, FixableLoop &found, Value max) {
    auto product = cast<DotOp>(found.loop.getBody().front().getTerminator()->getOperand(found.acc).getDefiningOp());
    double limit = greatestReference(cast<FloatType>(product.getLhs().getType().getElementType())) / (found.softmax.getScale().convertToDouble() * llvm::numbers::log2e);
    Value isBelow = compare(b, arith::CmpFPredicate::OLT, max, limit), isAbove = compare(b, arith::CmpFPredicate::OGT, max, -limit);
    Value isNear = arith::AndIOp::create(b, max.getLoc(), isBelow, isAbove);
    return arith::OrIOp::create(b, max.getLoc(), isNear, compare(b, arith::CmpFPredicate::OEQ, max, -std::numeric_limits<double>::infinity()));
  }

  /// Which rows stand: their sum is in range and their accumulator finite, or they saw no key: then nothing is in the sum, relative to 0 (a block hid all of its keys) or to
  /// nothing (there was no block, or none that it sees). Relative to any other reference, a sum of 0 is one whose weights were lost.
  Value checkWeights(OpBuilder &b, FixableLoop &found, Value max) {
    Location loc = found.loop.getLoc();
    Value sum = found.loop.getResult(found.sum), acc = found.loop.getResult(found.acc);
    Value least = compare(b, arith::CmpFPredicate::OGT, sum, leastSum), most = compare(b, arith::CmpFPredicate::OLT, sum, greatestSum);
    Value big = compare(b, arith::CmpFPredicate::OGT, sum, ordinarySum);
    auto finite = scf::IfOp::create(
        b, loc, AnyOp::create(b, loc, b.getI1Type(), big),
        [&](OpBuilder &, Location) {
          // x - x is 0, or NaN where x is no finite number.
          Value zeros = arith::SubFOp::create(b, loc, acc, acc);
          scf::YieldOp::create(b, loc, compare(b, arith::CmpFPredicate::OEQ, ReduceOp::create(b, loc, ReduceKind::Add, zeros), 0.0));
        },
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, least); });
    Value inRange = arith::AndIOp::create(b, loc, arith::AndIOp::create(b, loc, least, most), finite.getResult(0));
    Value isZero = compare(b, arith::CmpFPredicate::OEQ, max, 0.0), isNothing = compare(b, arith::CmpFPredicate::OEQ, max, -std::numeric_limits<double>::infinity());
    Value isNone = arith::OrIOp::create(b, loc, isZero, isNothing);
    Value sawNone = arith::AndIOp::create(b, loc, compare(b, arith::CmpFPredicate::OEQ, sum, 0.0), isNone);
    return arith::OrIOp::create(b, loc, inRange, sawNone);
  }
};

} // namespace
