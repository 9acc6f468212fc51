// tegula-share-exponentials: some exponentials of a block on the multiply-add units.
//
// In: math.exp2 on the vectors that hold a thread's part of a block, in a function that says of how many in 16. Out: two vectors, one of them by a polynomial. The one idea: the unit of
// special functions and the multiply-adds run beside each other.
#include "passes/Passes.h"
#include "passes/lower/MathExpansions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tegula {
#define GEN_PASS_DEF_SHAREEXPONENTIALSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

constexpr int64_t leastElements = 16; ///< fewer are row statistics, or rows computed again

struct ShareExponentialsPass : tegula::impl::ShareExponentialsPassBase<ShareExponentialsPass> {
  void runOnOperation() override {
    auto share = getOperation()->getAttrOfType<IntegerAttr>("tile.polynomial");
    if (!share)
      return;
    getOperation()->walk([&](math::Exp2Op op) {
      auto type = dyn_cast<VectorType>(op.getType());
      if (type && type.getElementType().isF32() && type.getNumElements() >= leastElements)
        split(op, type, share.getInt());
    });
    getOperation()->removeAttr("tile.polynomial");
  }

private:
  /// Element i is a polynomial where that makes `share` of 16 evenly.
  void split(math::Exp2Op op, VectorType type, int64_t share) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    SmallVector<int64_t> parts[2], places(type.getNumElements());
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      SmallVector<int64_t> &part = parts[i * share % 16 < share];
      places[i] = part.size();
      part.push_back(i);
    }
    for (int64_t i : parts[1])
      places[i] += parts[0].size();
    Value x = op.getOperand(), exact = math::Exp2Op::create(b, loc, vector::ShuffleOp::create(b, loc, x, x, parts[0]));
    Value polynomials = expandExp2(b, loc, vector::ShuffleOp::create(b, loc, x, x, parts[1]));
    op.replaceAllUsesWith(vector::ShuffleOp::create(b, loc, exact, polynomials, places).getResult());
    op.erase();
    shared += parts[1].size();
  }
};

} // namespace
