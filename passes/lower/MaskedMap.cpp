// The mask's code, with a select of the element behind it.
#include "passes/lower/MaskedMap.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tegula;

arith::SelectOp tegula::selectOf(tile::MaskOp mask) {
  auto select = mask->hasOneUse() ? dyn_cast<arith::SelectOp>(*mask->user_begin()) : arith::SelectOp();
  DenseElementsAttr hidden;
  bool isMasked = select && select.getCondition() == mask.getKeep() && mask->getBlock() == select->getBlock() && mask.getCols() &&
                  matchPattern(select.getFalseValue(), m_Constant(&hidden)) && hidden.isSplat();
  return isMasked ? select : arith::SelectOp();
}

tile::MapOp tegula::fuseSelect(tile::MaskOp mask, arith::SelectOp select) {
  OpBuilder b(select);
  Location loc = select.getLoc();
  auto type = cast<RankedTensorType>(select.getType());
  auto map = tile::MapOp::create(b, loc, type, select.getTrueValue(), mask.getRows(), mask.getCols());
  Type element = type.getElementType(), i64 = b.getI64Type();
  Block *body = b.createBlock(&map.getBody(), {}, {element, i64, i64}, {loc, loc, loc});
  IRMapping values;
  values.map(mask.getBody().getArguments(), body->getArguments().drop_front());
  for (Operation &op : mask.getBody().front().without_terminator())
    b.clone(op, values);
  DenseElementsAttr hidden;
  matchPattern(select.getFalseValue(), m_Constant(&hidden));
  Value otherwise = arith::ConstantOp::create(b, loc, cast<TypedAttr>(hidden.getSplatValue<Attribute>()));
  Value keep = values.lookupOrDefault(mask.getBody().front().getTerminator()->getOperand(0));
  tile::YieldOp::create(b, loc, arith::SelectOp::create(b, loc, keep, body->getArgument(0), otherwise).getResult());
  select.replaceAllUsesWith(map.getResult());
  select.erase();
  mask.erase();
  return map;
}

void tegula::eraseDead(Block &body) {
  auto ops = llvm::map_to_vector(body.without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}
