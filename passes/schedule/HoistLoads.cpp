// tegula-hoist-loads: loads together, before what waits.
//
// In: a tile program in the order of its text. Out: the same, with loads moved up to the load before them. The one idea: a reduction over all threads waits
// for what it reads; a load behind it would start only then, though nothing that it needs is missing.
#include "passes/Passes.h"

namespace tegula {
#define GEN_PASS_DEF_HOISTLOADSPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

struct HoistLoadsPass : tegula::impl::HoistLoadsPassBase<HoistLoadsPass> {
  void runOnOperation() override {
    if (!getOperation()->hasAttrOfType<tile::ProgramAttr>("schedule"))
      return;
    threads = getOperation()->getAttrOfType<tile::ProgramAttr>("schedule").getThreads();
    getOperation()->walk([&](Block *block) { hoist(*block); });
  }

private:
  void hoist(Block &block) {
    Operation *before = nullptr; // the last load, or what no load may pass
    int64_t words = 0;           // that loads so far hold, in one thread
    bool waits = false;          // since then
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto load = dyn_cast<tile::LoadOp>(op);
      if (!load) {
        bool isScalarCode = isa<tile::MaskOp, tile::MapOp, tile::CombineOp>(op), reads = isa<tile::GatherOp, tile::LookupOp>(op);
        if ((!isMemoryEffectFree(&op) && !reads) || (op.getNumRegions() > 0 && !isScalarCode))
          before = &op, words = 0, waits = false;
        waits |= isa<tile::ReduceOp, tile::CombineOp, tile::CumsumOp, tile::AnyOp>(op);
        continue;
      }
      if (llvm::any_of(load->getUsers(), llvm::IsaPred<tile::DotOp, tile::TransposeOp>)) // a matrix op reads it from memory itself
        continue;
      words += wordsOf(load);
      if (waits && words <= mostWords && moveUp(load, before))
        ++hoisted;
      before = load;
    }
  }

  int64_t wordsOf(tile::LoadOp load) const {
    RankedTensorType tile = load.getType();
    return llvm::divideCeil(tile.getNumElements() * tile.getElementTypeBitWidth(), 32 * threads);
  }

  /// Behind `before` and what the operands need.
  bool moveUp(tile::LoadOp load, Operation *before) {
    for (Value operand : load->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (maker && maker->getBlock() == load->getBlock() && (!before || before->isBeforeInBlock(maker)))
        before = maker;
    }
    if (before && before->getNextNode() == load)
      return false;
    if (before)
      load->moveAfter(before);
    else
      load->moveBefore(&load->getBlock()->front());
    return true;
  }

  static constexpr int64_t mostWords = 24; ///< of a thread, for tiles that wait in registers
  int64_t threads = 0;
};

} // namespace
