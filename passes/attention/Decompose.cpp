// tegula-decompose: tile.attention -> a tile program for one block of query rows of one head.
//
// In: the whole problem with its schedule. Out: the kernel's body as loads, dots, scalar regions and the online softmax over blocks of
// keys. The one idea: a program is written once, in terms of `block_m` and `block_n`, and every target starts from it.
#include "passes/Passes.h"
#include "passes/attention/AttentionProgram.h"
#include "passes/attention/ChooseSchedule.h"

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

bool yieldsArgument(Region &region, unsigned number) {
  return region.front().getTerminator()->getOperand(0) == region.getArgument(number);
}

bool isAlwaysTrue(Region &mask) { return matchPattern(mask.front().getTerminator()->getOperand(0), m_One()); }

/// What outputs are made of: a tile of block_m rows, and one value a row.
struct Results {
  Value output, lse, rowMax, rowSum;
};

/// Which of the row statistics outputs read.
struct Reads {
  bool rowMax = false, rowSum = false;

  explicit Reads(AttentionOp op) {
    for (Region &emit : op.getEmits()) {
      // (o, lse, rowmax, rowsum, b, h, g, i, e) or (lse, rowmax, rowsum, b, h, g, i)
      unsigned results = emit.getNumArguments() / 2;
      rowMax |= !emit.getArgument(results - 2).use_empty();
      rowSum |= !emit.getArgument(results - 1).use_empty();
    }
  }
};

/// Builds the tile program in place of one tile.attention.
class Decomposer {
public:
  Decomposer(AttentionOp op, ScheduleAttr schedule)
      : op(op), reads(op), b(op), loc(op.getLoc()), blockM(schedule.getBlockM()), blockN(schedule.getBlockN()), scoreType(op.getScoreType()),
        elementType(cast<MemRefType>(op.getQuery().getType()).getElementType()), isSoftmax(op.getReduction() == Reduction::Softmax) {
    carriesSum = isSoftmax || op.getReduction() == Reduction::Mean || reads.rowSum;
    // A lazy maximum is not the maximum.
    threshold = reads.rowMax || reads.rowSum ? 0 : rescaleThreshold(schedule.getSoftmax());
  }

  /// Returns whether the scale was folded.
  bool run() {
    locateProgram();
    std::optional<double> folded = isSoftmax && yieldsArgument(op.getScore(), 0) ? foldableScale(op) : std::nullopt;
    softmaxScale = folded.value_or(1.0);
    scoresAreDots = folded.has_value();

    Value query = LoadOp::create(b, loc, tileType({blockM, op.getHeadDim()}, elementType), op.getQuery(), ValueRange{batch, head, row, zero},
                                 b.getDenseI64ArrayAttr({2, 3}));
    auto loop = ForBlocksOp::create(b, loc, zero, op.getKeys(), blockN, initialState(),
                                    [&](OpBuilder &inner, Location, Value key, ValueRange carried) {
                                      OpBuilder::InsertionGuard guard(b);
                                      b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
                                      return block(query, key, carried);
                                    });
    Results results = isSoftmax ? finishSoftmax(loop.getResults()) : finishSum(loop.getResults());
    for (auto [output, emit] : llvm::zip(op.getOutputs(), op.getEmits()))
      store(output, emit, results);
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

  /// A tile in another element type: floats are rounded or widened, flags become 0 and 1.
  Value convert(Value tile, Type element) {
    auto type = cast<RankedTensorType>(tile.getType());
    if (type.getElementType() == element)
      return tile;
    if (type.getElementType().isInteger(1))
      return arith::ExtUIOp::create(b, loc, type.clone(element), tile);
    if (type.getElementTypeBitWidth() < element.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, loc, type.clone(element), tile);
    return arith::TruncFOp::create(b, loc, type.clone(element), tile);
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

  //===-- the loop over blocks of keys ------------------------------------------------------------===//

  /// (max, sum, accumulator): max under softmax alone, sum where something reads it.
  SmallVector<Value> initialState() {
    SmallVector<Value> state;
    if (isSoftmax)
      state.push_back(splat({blockM}, -std::numeric_limits<double>::infinity()));
    if (carriesSum)
      state.push_back(splat({blockM}, 0.0));
    state.push_back(splat({blockM, op.getValueDim()}, 0.0));
    return state;
  }

  /// One block of keys: returns the next state.
  SmallVector<Value> block(Value query, Value key, ValueRange state) {
    Value keys = LoadOp::create(b, loc, tileType({blockN, op.getHeadDim()}, elementType), op.getKey(),
                                ValueRange{batch, kvHead, key, zero}, b.getDenseI64ArrayAttr({2, 3}));
    Value dots = DotOp::create(b, loc, tileType({blockM, blockN}, scoreType), query, keys, Value(), /*transpose_b=*/true);
    Value all = scores(dots, key), visible = mask(all, key), acc = state.back(), weights;
    SmallVector<Value> next;
    if (isSoftmax) {
      auto softmax = OnlineSoftmaxOp::create(b, loc, visible, state[0], state[1], llvm::APFloat(softmaxScale), threshold);
      acc = ScaleRowsOp::create(b, loc, acc, softmax.getRescale());
      weights = softmax.getWeights();
      next = {softmax.getNewMax(), softmax.getNewSum()};
    } else {
      weights = visible;
      if (carriesSum)
        next.push_back(arith::AddFOp::create(b, loc, state[0], ReduceOp::create(b, loc, ReduceKind::Add, weights)));
    }
    if (!op.getWeight().empty())
      weights = weighted(weights, all, key);
    weights = convert(weights, elementType);
    Value values = LoadOp::create(b, loc, tileType({blockN, op.getValueDim()}, elementType), op.getValue(),
                                  ValueRange{batch, kvHead, key, zero}, b.getDenseI64ArrayAttr({2, 3}));
    if (!isAlwaysTrue(op.getMask()))
      values = withoutUnseen(values, key);
    next.push_back(DotOp::create(b, loc, acc.getType(), weights, values, acc, /*transpose_b=*/false));
    return next;
  }

  /// A tile.map of rows and, if given, columns. `body` gets the elements of the inputs, then the indices.
  Value map(RankedTensorType type, ValueRange inputs, Value cols, function_ref<Value(ValueRange)> body) {
    auto op = MapOp::create(b, loc, type, inputs, row, cols);
    SmallVector<Type> arguments;
    for (Value input : inputs)
      arguments.push_back(cast<RankedTensorType>(input.getType()).getElementType());
    arguments.append(type.getRank(), b.getI64Type());
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&op.getBody(), {}, arguments, SmallVector<Location>(arguments.size(), loc));
    YieldOp::create(b, loc, body(block->getArguments()));
    return op;
  }

  Value scores(Value dots, Value key) {
    if (scoresAreDots)
      return dots;
    return map(cast<RankedTensorType>(dots.getType()), dots, key, [&](ValueRange at) {
      Value s = at[0], i = at[1], j = at[2];
      Value scale = inlineRegion(b, op.getScale(), {batch, head, kvHead, i});
      Value scaled = arith::MulFOp::create(b, loc, s, scale);
      return inlineRegion(b, op.getScore(), {scaled, batch, head, kvHead, i, j});
    });
  }

  /// Hidden scores become -inf, hidden weights 0.
  Value mask(Value scores, Value key) {
    Value keep = keepTile(key), hidden = splat({blockM, blockN}, isSoftmax ? -std::numeric_limits<double>::infinity() : 0.0);
    return arith::SelectOp::create(b, loc, keep, scores, hidden);
  }

  Value keepTile(Value key) {
    auto keep = MaskOp::create(b, loc, tileType({blockM, blockN}, b.getI1Type()), row, key);
    Type i64 = b.getI64Type();
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&keep.getBody(), {}, {i64, i64}, {loc, loc});
    Value i = body->getArgument(0), j = body->getArgument(1);
    Value visible = isAlwaysTrue(op.getMask()) ? Value() : inlineRegion(b, op.getMask(), {batch, head, kvHead, i, j});
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, j, op.getKeys());
    YieldOp::create(b, loc, ValueRange{visible ? arith::AndIOp::create(b, loc, visible, exists).getResult() : exists});
    return keep;
  }

  /// Values at keys that the user's mask hides from every row of the tile enter no product. What lies past the last key was loaded as 0.
  Value withoutUnseen(Value values, Value key) {
    Value last = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, row, constant(blockM)), op.getQueries());
    auto result = ZeroUnseenOp::create(b, loc, values, row, last, key, op.getKeys(), Value());
    Type i64 = b.getI64Type();
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&result.getSeen(), {}, {i64, i64}, {loc, loc});
    YieldOp::create(b, loc, inlineRegion(b, op.getMask(), {batch, head, kvHead, body->getArgument(0), body->getArgument(1)}));
    return result;
  }

  /// The weights that enter the output. What has no weight stays without, whatever the region gives there.
  Value weighted(Value weights, Value scores, Value key) {
    SmallVector<Value> inputs{weights};
    bool readsScore = !op.getWeight().getArgument(0).use_empty();
    if (readsScore)
      inputs.push_back(scores);
    return map(cast<RankedTensorType>(weights.getType()), inputs, key, [&](ValueRange at) {
      Value none = arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, 0.0)), s = none;
      Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, at[0], none);
      if (readsScore) {
        s = at[1];
        if (softmaxScale != 1.0)
          s = arith::MulFOp::create(b, loc, s, arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, softmaxScale)));
      }
      ValueRange place = at.take_back(2);
      Value factor = inlineRegion(b, op.getWeight(), {s, batch, head, kvHead, place[0], place[1]});
      return arith::SelectOp::create(b, loc, isNone, none, arith::MulFOp::create(b, loc, at[0], factor)).getResult();
    });
  }

  //===-- from the state to outputs ---------------------------------------------------------------===//

  Results finishSoftmax(ValueRange state) {
    Results results;
    Value max = state[0], sum = state[1], acc = state[2];
    double scale = softmaxScale;
    bool hasExtra = !op.getExtra().empty();
    results.rowSum = sum;
    if (reads.rowMax || hasExtra)
      results.rowMax = scale == 1.0 ? max : arith::MulFOp::create(b, loc, max, splat({blockM}, scale)).getResult();
    if (hasExtra) {
      // One more key, of weight exp(extra) and value 0.
      auto rows = cast<RankedTensorType>(max.getType());
      bool isUniform = op.getExtra().getArgument(3).use_empty();
      Value extra = isUniform ? tensor::SplatOp::create(b, loc, inlineRegion(b, op.getExtra(), {batch, head, kvHead, row}), rows).getResult()
                              : map(rows, {}, Value(), [&](ValueRange at) { return inlineRegion(b, op.getExtra(), {batch, head, kvHead, at[0]}); });
      Value none = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, extra, splat({blockM}, -std::numeric_limits<double>::infinity()));
      Value zero = splat({blockM}, 0.0), one = splat({blockM}, 1.0), weight = arith::SelectOp::create(b, loc, none, zero, one);
      auto merged =
          MergeOp::create(b, loc, results.rowMax, sum, acc, extra, weight, splat({blockM, op.getValueDim()}, 0.0), llvm::APFloat(1.0));
      max = merged.getMax(), sum = merged.getSum(), acc = merged.getAcc(), scale = 1.0;
    }
    if (reads.rowMax) { // the running maximum passes NaN over, the sum does not
      Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, results.rowSum, results.rowSum);
      results.rowMax = arith::SelectOp::create(b, loc, isNaN, results.rowSum, results.rowMax);
    }
    auto finish = FinishOp::create(b, loc, max, sum, acc, b.getF64FloatAttr(scale));
    results.output = finish.getOutput(), results.lse = finish.getLse();
    return results;
  }

  Results finishSum(ValueRange state) {
    Results results;
    if (carriesSum)
      results.rowSum = state.front();
    results.output = state.back();
    if (op.getReduction() == Reduction::Mean)
      results.output = map(cast<RankedTensorType>(state.back().getType()), {results.rowSum, state.back()}, zero,
                           [&](ValueRange at) { return quotient(at[1], at[0]); });
    return results;
  }

  /// 0 where the divisor is 0. The reciprocal is one for a row.
  Value quotient(Value x, Value divisor) {
    Value none = arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, 0.0)), one = arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, 1.0));
    Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, divisor, none);
    Value inverse = arith::DivFOp::create(b, loc, one, arith::SelectOp::create(b, loc, isNone, one, divisor));
    return arith::SelectOp::create(b, loc, isNone, none, arith::MulFOp::create(b, loc, x, inverse));
  }

  void store(Value memory, Region &emit, const Results &results) {
    auto type = cast<MemRefType>(memory.getType());
    int64_t rank = type.getRank();
    SmallVector<Value> values{results.lse, results.rowMax, results.rowSum};
    if (rank == 4)
      values.insert(values.begin(), results.output);
    Value tile;
    for (int64_t i = 0; i < rank && !tile; ++i)
      if (yieldsArgument(emit, i) && (rank == 3 || i == 0))
        tile = values[i];
    if (!tile)
      tile = emitted(emit, values, rank);
    SmallVector<Value> indices{batch, head, row};
    SmallVector<int64_t> axes{2};
    if (rank == 4)
      indices.push_back(zero), axes.push_back(3);
    StoreOp::create(b, loc, convert(tile, type.getElementType()), memory, indices, b.getDenseI64ArrayAttr(axes));
  }

  /// What an emit region makes of the results that it reads.
  Value emitted(Region &emit, ArrayRef<Value> values, int64_t rank) {
    SmallVector<Value> inputs;
    for (auto [number, value] : llvm::enumerate(values))
      if (!emit.getArgument(number).use_empty())
        inputs.push_back(value);
    SmallVector<int64_t> shape{blockM};
    if (rank == 4)
      shape.push_back(op.getValueDim());
    Type element = emit.front().getTerminator()->getOperand(0).getType();
    return map(tileType(shape, element), inputs, rank == 4 ? zero : Value(), [&](ValueRange at) {
      Value unread = arith::ConstantOp::create(b, loc, b.getFloatAttr(scoreType, 0.0));
      SmallVector<Value> arguments;
      size_t next = 0;
      for (size_t number = 0; number < values.size(); ++number)
        arguments.push_back(emit.getArgument(number).use_empty() ? unread : at[next++]);
      arguments.append({batch, head, kvHead});
      ValueRange place = at.drop_front(inputs.size());
      arguments.append(place.begin(), place.end());
      return inlineRegion(b, emit, arguments);
    });
  }

  AttentionOp op;
  Reads reads;
  OpBuilder b;
  Location loc;
  int64_t blockM, blockN, threshold;
  FloatType scoreType;
  Type elementType;
  bool isSoftmax, carriesSum, scoresAreDots = false;
  double softmaxScale = 1.0;
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
