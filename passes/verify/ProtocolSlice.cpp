// Events first, then backwards from what they need.
#include "passes/verify/ProtocolSlice.h"

using namespace mlir;
using namespace tegula;

/// Whether a matrix op reads slots, and so runs beside what follows it.
static bool isAsynchronous(warp::MmaOp op) { return isa<warp::SlotType>(op.getRhs().getType()); }

static bool isEvent(Operation *op) {
  if (auto mma = dyn_cast<warp::MmaOp>(op))
    return isAsynchronous(mma);
  if (auto await = dyn_cast<warp::AwaitOp>(op)) {
    auto mma = await.getPending().getDefiningOp<warp::MmaOp>();
    return !mma || isAsynchronous(mma);
  }
  if (auto tiles = dyn_cast<warp::ForTilesOp>(op))
    return tiles.getDynamic();
  return isa<warp::AcquireOp, warp::WaitOp, warp::CommitOp, warp::ReleaseOp, warp::CopyOp, warp::NoteOp, warp::ReadNoteOp, warp::ReadOp, warp::ZeroUnseenOp, warp::SyncOp, warp::ArriveOp>(op);
}

ProtocolSlice::ProtocolSlice(warp::KernelOp kernel) : kernel(kernel) {
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isEvent(op))
      addEvent(op);
  });
  for (Operation *op : holders)
    if (auto branch = dyn_cast<scf::IfOp>(op); branch && !onlyOwnArm(branch))
      need(branch.getCondition());
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (live.contains(op))
      liveOps[op->getBlock()].push_back(op);
  });
}

ArrayRef<Operation *> ProtocolSlice::opsOf(Block *block) const {
  auto it = liveOps.find(block);
  return it == liveOps.end() ? ArrayRef<Operation *>() : ArrayRef<Operation *>(it->second);
}

bool ProtocolSlice::holdsEvents(Region &region) const {
  return llvm::any_of(events, [&](Operation *op) { return region.isAncestor(op->getParentRegion()); });
}

Region *ProtocolSlice::onlyOwnArm(scf::IfOp branch) const {
  Region *arm = holdsEvents(branch.getThenRegion()) ? &branch.getThenRegion() : &branch.getElseRegion();
  for (Operation *op : events) {
    if (!branch->isProperAncestor(op) || isa<warp::ZeroUnseenOp>(op))
      continue;
    auto sync = dyn_cast<warp::SyncOp>(op);
    if (!sync || sync.getThreads() != protocol::agentThreads)
      return nullptr;
  }
  bool bothArms = arm == &branch.getThenRegion() && holdsEvents(branch.getElseRegion());
  return bothArms ? nullptr : arm;
}

void ProtocolSlice::addEvent(Operation *op) {
  events.insert(op);
  markLive(op);
  for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp()) {
    if (!holders.insert(parent).second)
      break;
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      needAll({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    else if (auto tiles = dyn_cast<warp::ForTilesOp>(parent))
      need(tiles.getTotal());
  }
  bool isCopy = isa<warp::CopyOp>(op);
  for (Value operand : op->getOperands())
    if (isa<warp::SlotType, warp::PendingType>(operand.getType()) || (!isCopy && operand.getType().isInteger(64) && !isa<warp::ZeroUnseenOp>(op)))
      need(operand);
  if (auto copy = dyn_cast<warp::CopyOp>(op))
    needAll({copy.getCounter(), copy.getCopy()});
}

/// An op is looked at, and so are those around it.
void ProtocolSlice::markLive(Operation *op) {
  for (; op != kernel && live.insert(op).second; op = op->getParentOp())
    ;
}

void ProtocolSlice::needAll(ValueRange values) {
  for (Value value : values)
    need(value);
}

void ProtocolSlice::need(Value value) {
  if (!needed.insert(value).second)
    return;
  if (auto argument = dyn_cast<BlockArgument>(value))
    needArgument(argument);
  else
    needResult(cast<OpResult>(value));
}

void ProtocolSlice::needCarried(Operation *loop, Value init, Operation *terminator, unsigned number) {
  markLive(loop);
  need(init);
  need(terminator->getOperand(number));
}

/// All of a search: what it carries, and how it decides.
void ProtocolSlice::needSearch(scf::WhileOp loop) {
  markLive(loop);
  needAll(loop.getInits());
  needAll(loop.getConditionOp()->getOperands());
  needAll(loop.getYieldOp()->getOperands());
}

void ProtocolSlice::needArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto search = dyn_cast<scf::WhileOp>(parent))
    needSearch(search);
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    needAll({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    if (number > 0)
      needCarried(loop, loop.getInitArgs()[number - 1], loop.getBody()->getTerminator(), number - 1);
  } else if (auto tiles = dyn_cast<warp::ForTilesOp>(parent)) {
    need(tiles.getTotal());
    if (number > 0)
      needCarried(tiles, tiles.getInits()[number - 1], tiles.getBody().front().getTerminator(), number - 1);
  }
}

void ProtocolSlice::needResult(OpResult result) {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  markLive(op);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    needAll({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    needCarried(loop, loop.getInitArgs()[number], loop.getBody()->getTerminator(), number);
  } else if (auto tiles = dyn_cast<warp::ForTilesOp>(op)) {
    need(tiles.getTotal());
    needCarried(tiles, tiles.getInits()[number], tiles.getBody().front().getTerminator(), number);
  } else if (auto search = dyn_cast<scf::WhileOp>(op)) {
    needSearch(search);
  } else if (auto classes = dyn_cast<warp::ClassifyBlocksOp>(op)) {
    needAll({classes.getFirst(), classes.getEnd()}); // what it finds is assumed
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    need(branch.getCondition());
    need(branch.thenYield()->getOperand(number));
    need(branch.elseYield()->getOperand(number));
  } else if (op->getNumRegions() == 0 && !events.contains(op)) {
    for (Value operand : op->getOperands())
      if (operand.getType().isIntOrIndex())
        need(operand);
  }
}

LogicalResult ProtocolSlice::verifyThreads() const {
  for (Operation *op : events) {
    auto role = op->getParentOfType<warp::RoleOp>();
    if (!role)
      return op->emitOpError("stands in no role");
    if (isa<warp::AcquireOp, warp::CopyOp, warp::NoteOp, warp::CommitOp>(op) && !role.getElected())
      return op->emitOpError("is for one thread, but all ") << protocol::agentThreads * role.getWarpgroups() << " threads of role `" << role.getName() << "` come here; expected an `elected` role";
    if (isa<warp::ReleaseOp, warp::MmaOp, warp::ReadOp, warp::ZeroUnseenOp, warp::SyncOp, warp::ArriveOp>(op) && role.getElected())
      return op->emitOpError("is for whole warps, but role `") << role.getName() << "` is one elected thread";
  }
  return success();
}
