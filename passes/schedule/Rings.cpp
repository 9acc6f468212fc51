// One ring for each operand of matrix ops that is loaded, and for each table that comes by blocks.
#include "passes/schedule/Rings.h"

#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace tegula;

bool tegula::isDotOperand(OpOperand &use) {
  auto dot = dyn_cast<tile::DotOp>(use.getOwner());
  return dot && (&use == &dot.getLhsMutable() || &use == &dot.getRhsMutable());
}

bool tegula::feedsMatrixOps(tile::LoadOp load) {
  return !load->use_empty() && llvm::all_of(load->getUses(), [](OpOperand &use) {
    auto zero = dyn_cast<tile::ZeroUnseenOp>(use.getOwner());
    return zero ? llvm::all_of(zero->getUses(), isDotOperand) : isDotOperand(use);
  });
}

Value tegula::loadedTile(Value operand) {
  auto zero = operand.getDefiningOp<tile::ZeroUnseenOp>();
  return zero ? zero.getTile() : operand;
}

bool tegula::isEncoded(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding();
}

static std::string nameOf(tile::KernelOp kernel, Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto name = argument ? kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name") : StringAttr();
  return name ? name.str() : "ring";
}

Rings::Rings(tile::KernelOp kernel, tile::ScheduleAttr schedule) : schedule(schedule) {
  kernel->walk([&](tile::LoadOp load) {
    if (feedsMatrixOps(load) || load.getStages())
      add(kernel, load);
  });
}

std::optional<unsigned> Rings::of(tile::LoadOp load) const {
  auto it = index.find(load);
  return it == index.end() ? std::nullopt : std::optional<unsigned>(it->second);
}

tile::LoadOp Rings::carrierOf(tile::ListedBlockOp block) const {
  for (Operation &op : llvm::make_range(std::next(block->getIterator()), block->getBlock()->end())) {
    auto load = dyn_cast<tile::LoadOp>(op);
    if (!load || !of(load))
      continue;
    SetVector<Operation *> needed;
    BackwardSliceOptions options;
    options.filter = [&](Operation *op) { return op->getBlock() == block->getBlock(); };
    (void)getBackwardSlice(load.getOperation(), &needed, options);
    return needed.contains(block) ? load : tile::LoadOp();
  }
  return {};
}

void Rings::create(OpBuilder &b, Location loc) {
  for (Ring &ring : rings) {
    auto type = warp::RingType::get(b.getContext(), ring.tile.getDimSize(0), ring.tile.getDimSize(1), ring.tile.getElementType(), ring.stages);
    ring.op = warp::RingOp::create(b, loc, type, b.getStringAttr(ring.name), b.getI64IntegerAttr(ring.copies), b.getI64IntegerAttr(schedule.getConsumers()),
                                   IntegerAttr(), IntegerAttr(), IntegerAttr());
  }
}

void Rings::add(tile::KernelOp kernel, tile::LoadOp load) {
  for (auto [number, ring] : llvm::enumerate(rings))
    if (ring.memory == load.getMemory() && ring.tile == load.getTile().getType()) {
      index[load] = number;
      return;
    }
  bool perWarpgroup = isEncoded(load.getTile().getType());
  int64_t stages = load.getStages() ? *load.getStages() : perWarpgroup ? schedule.getQStages() : schedule.getStages();
  index[load] = rings.size();
  rings.push_back({load.getMemory(), load.getTile().getType(), nameOf(kernel, load.getMemory()), load.getAxes()[0], perWarpgroup ? schedule.getConsumers() : 1, stages, {}});
}
