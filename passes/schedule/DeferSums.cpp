// tegula-defer-sums: row sums that a loop accumulates stay apart by thread until it ends.
//
// In: fragments reduced and accumulated in a block loop. Out: `warp.partial_sum` in the loop, `warp.complete_sum` behind it. The one idea: the sum over the
// quad's lanes is linear, so it commutes with adding two sums and with multiplying one by a value that the lanes share.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tegula {
#define GEN_PASS_DEF_DEFERSUMSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

bool isRows(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa_and_nonnull<warp::RowsAttr>(type.getEncoding());
}

bool isRowSum(Value value) {
  auto reduce = value.getDefiningOp<tile::ReduceOp>();
  return reduce && reduce.getKind() == tile::ReduceKind::Add && isRows(value);
}

/// Whether adds and factors lead from `carried` to the value.
bool isMadeOf(Value value, Value carried) {
  Operation *op = value.getDefiningOp();
  return value == carried || (isa_and_nonnull<arith::AddFOp, arith::MulFOp>(op) && llvm::any_of(op->getOperands(), [&](Value operand) { return isMadeOf(operand, carried); }));
}

bool isLinear(Value value, Value carried);

/// Which operand of a product stands for the sum; the other one is a number that the lanes share. Nothing where none may, or both would.
std::optional<unsigned> sumOperand(arith::MulFOp product, Value carried) {
  bool first = isMadeOf(product.getLhs(), carried), second = isMadeOf(product.getRhs(), carried);
  if (first && second)
    return std::nullopt;
  for (unsigned number : {0, 1})
    if (first + second == 0 || number == unsigned(second))
      if (isLinear(product->getOperand(number), carried))
        return number;
  return std::nullopt;
}

/// Whether the value is linear in row sums and in `carried`.
bool isLinear(Value value, Value carried) {
  if (value == carried || isRowSum(value) || matchPattern(value, m_AnyZeroFloat()))
    return true;
  if (auto sum = value.getDefiningOp<arith::AddFOp>())
    return isLinear(sum.getLhs(), carried) && isLinear(sum.getRhs(), carried);
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && sumOperand(product, carried);
}

/// Whether `carried` reaches, through adds and factors alone, only the operand `next` of the loop's yield.
bool reachesOnly(Value carried, OpOperand &next) {
  return llvm::all_of(carried.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tile::YieldOp>(user))
      return &use == &next;
    return isa<arith::AddFOp, arith::MulFOp>(user) && reachesOnly(user->getResult(0), next);
  });
}

/// The value with partial sums in place of sums.
Value partial(Value value, Value carried) {
  if (value == carried || matchPattern(value, m_AnyZeroFloat()))
    return value;
  Operation *op = value.getDefiningOp();
  OpBuilder b(op);
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return warp::PartialSumOp::create(b, op->getLoc(), value.getType(), reduce.getTile());
  Operation *clone = b.clone(*op);
  auto product = dyn_cast<arith::MulFOp>(op);
  for (unsigned number : {0, 1})
    if (!product || number == *sumOperand(product, carried))
      clone->setOperand(number, partial(op->getOperand(number), carried));
  return clone->getResult(0);
}

struct DeferSumsPass : tegula::impl::DeferSumsPassBase<DeferSumsPass> {
  void runOnOperation() override {
    getOperation()->walk([&](tile::ForBlocksOp loop) {
      for (auto [number, argument] : llvm::enumerate(loop.getIterArgs()))
        if (isRows(argument))
          defer(loop, number);
    });
  }

private:
  void defer(tile::ForBlocksOp loop, unsigned number) {
    Value carried = loop.getIterArgs()[number], init = loop.getInits()[number];
    OpOperand &next = loop.getBody().front().getTerminator()->getOpOperand(number);
    if (!isLinear(next.get(), carried) || !isLinear(init, Value()) || !reachesOnly(carried, next) || next.get() == carried)
      return;
    next.set(partial(next.get(), carried));
    loop.getInitsMutable()[number].set(partial(init, Value()));
    OpBuilder b(loop->getContext());
    b.setInsertionPointAfter(loop);
    Value result = loop.getResult(number);
    auto sum = warp::CompleteSumOp::create(b, loop.getLoc(), result.getType(), result);
    result.replaceAllUsesExcept(sum, sum);
    ++deferred;
  }
};

} // namespace
