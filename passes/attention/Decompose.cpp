// tegula-decompose: tile.attention -> a tile program for one block of query rows of one head.
//
// In: the whole problem with its schedule. Out: the kernel's body as loads, dots, scalar regions and the online softmax over blocks of
// keys. The one idea: a program is written once, in terms of `block_m` and `block_n`, and every target starts from it.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace tegula {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

/// Clones the ops of a one-block region with its arguments replaced, and returns the yielded value.
Value inlineRegion(OpBuilder &builder, Region &region, ValueRange arguments) {
  IRMapping map;
  map.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    builder.clone(op, map);
  return map.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

/// The value of a region that yields the same finite number above 0 for all arguments, which can be folded into the softmax.
std::optional<double> foldableScale(AttentionOp op) {
  Value yielded = op.getScale().front().getTerminator()->getOperand(0);
  FloatAttr value;
  if (!matchPattern(yielded, m_Constant(&value)))
    return std::nullopt;
  double scale = value.getValueAsDouble();
  return std::isfinite(scale) && scale > 0 ? std::optional<double>(scale) : std::nullopt;
}

bool isIdentity(Region &score) { return score.front().getTerminator()->getOperand(0) == score.getArgument(0); }

bool isAlwaysTrue(Region &mask) { return matchPattern(mask.front().getTerminator()->getOperand(0), m_One()); }

/// Builds the tile program in place of one tile.attention.
class Decomposer {
public:
  Decomposer(AttentionOp op, ScheduleAttr schedule)
      : op(op), b(op), loc(op.getLoc()), blockM(schedule.getBlockM()), blockN(schedule.getBlockN()),
        threshold(schedule.getRescaleThreshold()), scoreType(op.getScoreType()),
        elementType(cast<MemRefType>(op.getQuery().getType()).getElementType()) {}

  /// Returns whether the scale was folded.
  bool run() {
    locateProgram();
    std::optional<double> folded = isIdentity(op.getScore()) ? foldableScale(op) : std::nullopt;
    softmaxScale = folded.value_or(1.0);
    scoresAreDots = folded.has_value();

    int64_t headDim = op.getHeadDim(), valueDim = op.getValueDim();
    Value query = LoadOp::create(b, loc, tileType({blockM, headDim}, elementType), op.getQuery(), ValueRange{batch, head, row, zero},
                                 b.getDenseI64ArrayAttr({2, 3}));
    SmallVector<Value> state{splat({blockM}, -std::numeric_limits<double>::infinity()), splat({blockM}, 0.0),
                             splat({blockM, valueDim}, 0.0)};
    auto loop = ForBlocksOp::create(b, loc, zero, op.getKeys(), blockN, state,
                                    [&](OpBuilder &inner, Location, Value key, ValueRange carried) {
                                      OpBuilder::InsertionGuard guard(b);
                                      b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
                                      return block(query, key, carried);
                                    });
    auto finish = FinishOp::create(b, loc, loop.getResult(0), loop.getResult(1), loop.getResult(2), b.getF64FloatAttr(softmaxScale));
    for (Value output : op.getOutputs())
      if (cast<MemRefType>(output.getType()).getRank() == 4)
        StoreOp::create(b, loc, narrow(finish.getOutput()), output, ValueRange{batch, head, row, zero}, b.getDenseI64ArrayAttr({2, 3}));
      else
        StoreOp::create(b, loc, finish.getLse(), output, ValueRange{batch, head, row}, b.getDenseI64ArrayAttr({2}));
    op.erase();
    return folded.has_value();
  }

private:
  RankedTensorType tileType(ArrayRef<int64_t> shape, Type element) { return RankedTensorType::get(shape, element); }

  Value splat(ArrayRef<int64_t> shape, double value) {
    auto type = tileType(shape, scoreType);
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, FloatAttr::get(scoreType, value).getValue()));
  }

  Value constant(int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

  /// Rounds a tile to the operands' type.
  Value narrow(Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    return type.getElementType() == elementType ? tile : arith::TruncFOp::create(b, loc, type.clone(elementType), tile).getResult();
  }

  /// The program's batch, query head, key head and first query row. Row blocks are fastest, so that neighbours share keys.
  void locateProgram() {
    zero = constant(0);
    Value blocks = arith::CeilDivSIOp::create(b, loc, op.getQueries(), constant(blockM));
    auto id = ProgramIdOp::create(b, loc, TypeRange{b.getI64Type(), b.getI64Type(), b.getI64Type()},
                                  ValueRange{blocks, op.getHeads(), op.getBatch()});
    row = arith::MulIOp::create(b, loc, id.getResult(0), constant(blockM));
    head = id.getResult(1);
    batch = id.getResult(2);
    kvHead = arith::DivSIOp::create(b, loc, head, arith::DivSIOp::create(b, loc, op.getHeads(), op.getKvHeads()));
  }

  /// One block of keys: returns the next (max, sum, accumulator).
  SmallVector<Value> block(Value query, Value key, ValueRange state) {
    Value keys = LoadOp::create(b, loc, tileType({blockN, op.getHeadDim()}, elementType), op.getKey(),
                                ValueRange{batch, kvHead, key, zero}, b.getDenseI64ArrayAttr({2, 3}));
    Value dots = DotOp::create(b, loc, tileType({blockM, blockN}, scoreType), query, keys, Value(), /*transpose_b=*/true);
    Value visible = mask(scores(dots, key), key);
    auto softmax = OnlineSoftmaxOp::create(b, loc, visible, state[0], state[1], llvm::APFloat(softmaxScale), threshold);
    Value rescaled = ScaleRowsOp::create(b, loc, state[2], softmax.getRescale());
    Value weights = narrow(softmax.getWeights());
    Value values = LoadOp::create(b, loc, tileType({blockN, op.getValueDim()}, elementType), op.getValue(),
                                  ValueRange{batch, kvHead, key, zero}, b.getDenseI64ArrayAttr({2, 3}));
    Value acc = DotOp::create(b, loc, rescaled.getType(), weights, values, rescaled, /*transpose_b=*/false);
    return {softmax.getNewMax(), softmax.getNewSum(), acc};
  }

  Value scores(Value dots, Value key) {
    if (scoresAreDots)
      return dots;
    auto score = ScoreOp::create(b, loc, dots.getType(), dots, row, key);
    Type i64 = b.getI64Type();
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&score.getBody(), {}, {scoreType, i64, i64}, {loc, loc, loc});
    Value i = body->getArgument(1), j = body->getArgument(2);
    Value scale = inlineRegion(b, op.getScale(), {batch, head, kvHead, i});
    Value scaled = arith::MulFOp::create(b, loc, body->getArgument(0), scale);
    YieldOp::create(b, loc, ValueRange{inlineRegion(b, op.getScore(), {scaled, batch, head, kvHead, i, j})});
    return score;
  }

  /// Hidden scores become -inf.
  Value mask(Value scores, Value key) {
    Value keep = keepTile(key);
    return arith::SelectOp::create(b, loc, keep, scores, splat({blockM, blockN}, -std::numeric_limits<double>::infinity()));
  }

  Value keepTile(Value key) {
    auto keep = MaskOp::create(b, loc, tileType({blockM, blockN}, b.getI1Type()), row, key);
    Type i64 = b.getI64Type();
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&keep.getBody(), {}, {i64, i64}, {loc, loc});
    Value i = body->getArgument(0), j = body->getArgument(1);
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, j, op.getKeys());
    Value result = exists;
    if (!isAlwaysTrue(op.getMask()))
      result = arith::AndIOp::create(b, loc, inlineRegion(b, op.getMask(), {batch, head, kvHead, i, j}), exists);
    YieldOp::create(b, loc, ValueRange{result});
    return keep;
  }

  AttentionOp op;
  OpBuilder b;
  Location loc;
  int64_t blockM, blockN, threshold;
  FloatType scoreType;
  Type elementType;
  double softmaxScale = 1.0;
  bool scoresAreDots = false;
  Value zero, batch, head, kvHead, row;
};

struct DecomposePass : tegula::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    SmallVector<AttentionOp> ops(getOperation().getBody().getOps<AttentionOp>());
    for (AttentionOp op : ops) {
      std::optional<ScheduleAttr> schedule = op.getSchedule();
      if (!schedule) {
        op.emitOpError("has no schedule; run tegula-choose-schedule first");
        return signalPassFailure();
      }
      getOperation()->setAttr("schedule", *schedule);
      folded += Decomposer(op, *schedule).run();
    }
  }
};

} // namespace
