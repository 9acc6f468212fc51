// Tiles over keys, found from the product that makes scores: its right operand has a row a key, and what is computed from its result, up to the product that
// takes weights, a column a key.
#include "passes/attention/NarrowKeys.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

class Narrower {
public:
  Narrower(ForBlocksOp loop, int64_t keys) : loop(loop), body(loop.getBody().front()), keys(keys) {}

  bool run() {
    for (DotOp dot : body.getOps<DotOp>()) {
      DotOp &which = dot.getTransposeB() && !dot.getAcc() ? scores : output;
      if (which)
        return false;
      which = dot;
    }
    if (!scores || !output || loop.getStep() % keys != 0 || !findColumns() || !isRow(scores.getRhs()) || !isRow(output.getRhs()))
      return false;
    loop.setStep(keys);
    for (DotOp dot : {scores, output})
      for (Value rows = dot.getRhs(); rows; rows = rows.getDefiningOp<ZeroUnseenOp>() ? rows.getDefiningOp<ZeroUnseenOp>().getTile() : Value())
        rows.setType(resized(rows, 0));
    for (Value column : columns)
      column.setType(resized(column, 1));
    for (OpOperand *constant : constants)
      narrowConstant(*constant);
    return true;
  }

private:
  static bool isTile(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 2;
  }

  bool isRow(Value value) {
    if (auto zero = value.getDefiningOp<ZeroUnseenOp>())
      value = zero.getTile();
    auto load = value.getDefiningOp<LoadOp>();
    return load && load->getBlock() == &body && load->hasOneUse();
  }

  RankedTensorType resized(Value value, unsigned axis) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = keys;
    return type.clone(shape);
  }

  /// Everything on the way from scores to weights, and what it is combined with.
  bool findColumns() {
    columns.insert(scores.getResult());
    for (size_t next = 0; next < columns.size(); ++next) {
      Value column = columns[next];
      if (Operation *op = column.getDefiningOp(); op != scores && !takesOperands(op))
        return false;
      for (Operation *user : column.getUsers())
        if (!takesResults(user))
          return false;
    }
    return true;
  }

  bool takesResults(Operation *user) {
    if (user->getBlock() != &body || isa<YieldOp>(user))
      return false;
    if (user == output)
      return true;
    for (Value result : user->getResults())
      if (isTile(result))
        columns.insert(result);
    return takesOperands(user);
  }

  bool takesOperands(Operation *op) {
    if (op->getBlock() != &body)
      return false;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isTile(operand.get()))
        continue;
      Operation *maker = operand.get().getDefiningOp();
      if (isa_and_nonnull<arith::ConstantOp>(maker)) {
        constants.insert(&operand);
        continue;
      }
      if (!maker || (!isa<MaskOp, MapOp, BroadcastOp, OnlineSoftmaxOp, DotOp, tensor::SplatOp>(maker) && !maker->hasTrait<OpTrait::Elementwise>()))
        return false;
      columns.insert(operand.get());
    }
    return true;
  }

  /// A constant may serve tiles of other meaning and equal shape, so each use gets its own.
  void narrowConstant(OpOperand &use) {
    OpBuilder b(use.getOwner());
    auto constant = use.get().getDefiningOp<arith::ConstantOp>();
    auto value = cast<DenseElementsAttr>(constant.getValue()).resizeSplat(resized(use.get(), 1));
    use.set(arith::ConstantOp::create(b, constant.getLoc(), value));
  }

  ForBlocksOp loop;
  Block &body;
  int64_t keys;
  DotOp scores, output;
  llvm::SetVector<Value> columns;
  llvm::SetVector<OpOperand *> constants;
};

} // namespace

bool tegula::narrowKeys(ForBlocksOp loop, int64_t keys) { return Narrower(loop, keys).run(); }
