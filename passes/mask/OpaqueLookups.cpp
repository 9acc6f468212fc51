// What an index depends on, through operands and regions.
#include "passes/mask/OpaqueLookups.h"

#include "dialect/tile/TileDialect.h"

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

class Dependence {
public:
  explicit Dependence(Value on) { known[on] = true; }

  bool operator()(Value value) {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    Operation *op = value.getDefiningOp();
    bool depends = op && op->walk([&](Operation *inner) {
                           return llvm::any_of(inner->getOperands(), std::ref(*this)) ? WalkResult::interrupt() : WalkResult::advance();
                         }).wasInterrupted();
    return known[value] = depends;
  }

private:
  llvm::DenseMap<Value, bool> known;
};

} // namespace

bool tegula::readsOpaqueTable(Value condition, Value row, Value key) {
  Dependence ofRow(row), ofKey(key);
  SmallVector<Value> pending{condition};
  llvm::DenseSet<Operation *> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    bool found = op->walk([&](Operation *inner) {
                     auto lookup = dyn_cast<LookupOp>(inner);
                     if (lookup && llvm::any_of(lookup.getIndices(), std::ref(ofRow)) && llvm::any_of(lookup.getIndices(), std::ref(ofKey))) {
                       auto others = lookup.getIndices().drop_back();
                       if (!KernelOp::isSortedTable(lookup.getTable()) || llvm::any_of(others, std::ref(ofRow)) || llvm::any_of(others, std::ref(ofKey)))
                         return WalkResult::interrupt();
                     }
                     llvm::append_range(pending, inner->getOperands());
                     return WalkResult::advance();
                   }).wasInterrupted();
    if (found)
      return true;
  }
  return false;
}
