// A tile.map of pairs, its extremes, and one byte a block.
//
// A pair that is visible counts 1, one that is hidden -1, one that does not exist 0: the largest and the smallest of a block say what class it has.
#include "passes/mask/ClassesProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

static constexpr int64_t mostPairs = 4096, mostColumns = 128; ///< that are looked at together

namespace {

class Writer : public PrepassWriter {
public:
  using PrepassWriter::PrepassWriter;

  void write() {
    makeProgram("_classes");
    Value keys = clone(condition.keyEnd), blocks = arith::CeilDivSIOp::create(b, loc, keys, constant(condition.keys));
    SmallVector<Value> place = makeGrid({blocks, clone(condition.tiles)});
    Value block = place[0], tile = place[1];
    auto [least, most] = extremes(tile, block);
    Value zero = constant32(0), some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, most, zero), all = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, least, zero);
    auto bit = [&](Value flag, int64_t value) {
      Value set = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(value)), clear = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
      return arith::SelectOp::create(b, loc, flag, set, clear);
    };
    Value first = bit(some, 1), second = bit(all, 2);
    ScatterOp::create(b, loc, arith::OrIOp::create(b, loc, first, second), program.getArguments().back(), ValueRange{lead, tile, block}, Value());
  }

private:
  /// The smallest and the largest count of a block's pairs.
  std::pair<Value, Value> extremes(Value tile, Value block) {
    int64_t columns = std::min<int64_t>(llvm::PowerOf2Ceil(condition.keys), mostColumns), rows = std::min<int64_t>(llvm::PowerOf2Ceil(condition.rows), mostPairs / columns);
    Value row = arith::MulIOp::create(b, loc, tile, constant(condition.rows)), key = arith::MulIOp::create(b, loc, block, constant(condition.keys));
    auto end = [&](Value first, int64_t count, Value limit) -> Value {
      Value past = arith::AddIOp::create(b, loc, first, constant(count));
      return limit ? arith::MinSIOp::create(b, loc, past, clone(limit)).getResult() : past;
    };
    Value rowEnd = end(row, condition.rows, condition.queries), keyEnd = end(key, condition.keys, condition.keyEnd);
    prepareOutside();
    Value none = constant32(0), rowStep = constant(rows), columnStep = constant(columns);
    auto byRows = scf::ForOp::create(b, loc, row, rowEnd, rowStep, ValueRange{none, none});
    b.setInsertionPointToStart(byRows.getBody());
    auto byColumns = scf::ForOp::create(b, loc, key, keyEnd, columnStep, byRows.getRegionIterArgs());
    scf::YieldOp::create(b, loc, byColumns.getResults());
    b.setInsertionPointToStart(byColumns.getBody());
    auto counts = MapOp::create(b, loc, RankedTensorType::get({rows, columns}, b.getI32Type()), ValueRange(), byRows.getInductionVar(), byColumns.getInductionVar());
    fill(counts, rowEnd, keyEnd);
    auto reduce = [&](ReduceKind kind) -> Value { return ReduceOp::create(b, loc, kind, ReduceOp::create(b, loc, kind, counts)); };
    Value least = reduce(ReduceKind::Minimum), most = reduce(ReduceKind::Maximum);
    least = arith::MinSIOp::create(b, loc, least, byColumns.getRegionIterArgs()[0]);
    most = arith::MaxSIOp::create(b, loc, most, byColumns.getRegionIterArgs()[1]);
    scf::YieldOp::create(b, loc, ValueRange{least, most});
    b.setInsertionPointAfter(byRows);
    return {byRows.getResult(0), byRows.getResult(1)};
  }

  void fill(MapOp counts, Value rowEnd, Value keyEnd) {
    Type i64 = b.getI64Type();
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&counts.getBody(), {}, {i64, i64}, {loc, loc});
    Value i = body->getArgument(0), j = body->getArgument(1);
    map.map(condition.region->getArgument(0), i);
    map.map(condition.region->getArgument(1), j);
    Value seen;
    for (Value part : condition.parts) {
      Value here = clone(part);
      seen = seen ? arith::AndIOp::create(b, loc, seen, here).getResult() : here;
    }
    Value hasRow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, i, rowEnd), hasKey = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, j, keyEnd);
    Value exists = arith::AndIOp::create(b, loc, hasRow, hasKey), one = constant32(1), minus = constant32(-1), none = constant32(0);
    Value count = arith::SelectOp::create(b, loc, seen, one, minus);
    YieldOp::create(b, loc, arith::SelectOp::create(b, loc, exists, count, none).getResult());
  }
};

} // namespace

void tegula::writeClassesProgram(KernelOp kernel, const PairCondition &condition, ArrayRef<GridAxis> axes) { Writer(kernel, condition, axes).write(); }
