// An interpreter of what decides events, and the events that it comes to.
#include "passes/verify/RoleRun.h"
#include "passes/lower/LowerWarp.h"
#include "passes/verify/KnownValues.h"

#include <array>
#include <optional>

using namespace mlir;
using namespace tegula;
using protocol::EventKind;

/// Named barrier 8 + w is the votes' of warpgroup w of the kernel; 0 is the whole CTA's.
static constexpr int64_t firstVoteBarrier = 8, namedBarriers = 16;
/// Loops that are longer than this over small sizes are not those of a pipelined kernel.
static constexpr int64_t mostTurns = 64;
/// What the states of the search have room for.
static constexpr size_t mostAgents = 16, mostEvents = 1 << 14;

RoleRun::RoleRun(const ProtocolSlice &slice) : slice(slice) {
  for (auto [number, op] : llvm::enumerate(slice.getEvents()))
    siteOf[op] = number;
  warp::KernelOp kernel = slice.getKernel();
  for (auto ring : kernel.getBody().front().getOps<warp::RingOp>())
    addRing(ring);
  for (auto queue : kernel.getBody().front().getOps<warp::QueueOp>()) {
    queueSlot = empty.slots.size();
    for (int slot : {0, 1})
      empty.slots.push_back({"slot " + std::to_string(slot) + " of the queue of tile numbers", static_cast<int>(queue.getConsumers())});
  }
  for (int64_t barrier = 0; barrier < namedBarriers; ++barrier)
    empty.barriers.push_back("named barrier " + std::to_string(barrier));
  kernel->walk([&](warp::CopyOp copy) { addUnit(copy); });
  kernel->walk([&](warp::ForTilesOp tiles) { asksForNumber[tiles] = tileEnd(tiles.getBody().front()).first; });
  int64_t warpgroup = 0;
  kernel->walk([&](warp::RoleOp role) {
    bool votes = role->walk([](Operation *op) { return isa<warp::VoteOp, warp::ClaimOp>(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
    for (uint64_t i = 0; i < role.getWarpgroups(); ++i, ++warpgroup)
      if (votes)
        voteBarriers.push_back(firstVoteBarrier + warpgroup);
  });
}

void RoleRun::addRing(warp::RingOp ring) {
  int64_t stages = ring.getRing().getType().getStages(), copies = ring.getCopies();
  if (copies < 1 || copies > int64_t(mostAgents))
    return; // its ops cannot be followed
  rings[ring.getRing()] = {static_cast<int>(empty.slots.size()), copies, stages};
  mostStages = std::max(mostStages, stages);
  for (int64_t copy = 0; copy < copies; ++copy)
    for (int64_t slot = 0; slot < stages; ++slot)
      empty.slots.push_back({"slot " + std::to_string(slot) + " of ring \"" + ring.getName().str() + "\"" + (copies > 1 ? " for warpgroup " + std::to_string(copy) : ""),
                             copies > 1 ? 1 : static_cast<int>(ring.getConsumers())});
}

/// The dim along which a copy's rows lie, and how many rows of it a block has.
void RoleRun::addUnit(warp::CopyOp copy) {
  auto memory = dyn_cast<BlockArgument>(copy.getMemory());
  auto dims = memory ? slice.getKernel().getArgAttrOfType<ArrayAttr>(memory.getArgNumber(), "tile.dims") : ArrayAttr();
  auto ring = rings.find(copy.getRing());
  if (!dims || ring == rings.end())
    return;
  int64_t &unit = units[dims[copy.getAxes()[0]]];
  unit = std::max(unit, ring->second.copies * copy.getRing().getType().getRows());
  largestUnit = std::max(largestUnit, unit);
}

SmallVector<int64_t> RoleRun::optionsFor(BlockArgument argument) const {
  if (auto dim = slice.getKernel().getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.dim")) {
    int64_t unit = units.lookup(dim);
    if (unit == 0)
      return {1};
    SmallVector<int64_t> sizes{1};
    for (int64_t blocks = 1; blocks <= std::min<int64_t>(mostStages, 4) + 1; ++blocks)
      sizes.push_back(blocks * unit + 1);
    sizes.push_back(0);
    return sizes;
  }
  if (argument.getType().isInteger(1))
    return optionsFor(argument.getType());
  // A limit may lie at the edge of a block, just past it, and in the middle of a tile of several blocks.
  int64_t smallestUnit = largestUnit;
  for (auto [dim, unit] : units)
    smallestUnit = std::min(smallestUnit, unit);
  return {0, 1, 2, smallestUnit + 1, 1 << 20};
}

SmallVector<int64_t> RoleRun::optionsFor(Type element) const {
  if (element.isInteger(1))
    return {0, 1};
  return {0, 1, largestUnit + 1, 1 << 20};
}

std::string RoleRun::nameOf(BlockArgument argument) const {
  for (StringRef kind : {"tile.dim", "tile.name"})
    if (auto name = slice.getKernel().getArgAttrOfType<StringAttr>(argument.getArgNumber(), kind))
      return name.str();
  return "argument " + std::to_string(argument.getArgNumber());
}

SmallVector<Operation *> RoleRun::unreached() const {
  SmallVector<Operation *> result;
  llvm::copy_if(slice.getEvents(), std::back_inserter(result), [&](Operation *op) { return !reached.contains(op); });
  return result;
}

namespace tegula {

/// One warpgroup, or the elected thread of a role.
class AgentRun {
public:
  AgentRun(RoleRun &kernel, Choices &choices, warp::RoleOp role, int64_t warpgroup) : kernel(kernel), choices(choices), role(role), values(kernel, choices, warpgroup) {
    agent.name = role.getName().str();
    if (role.getWarpgroups() > 1)
      agent.name += " " + std::to_string(warpgroup);
  }

  FailureOr<protocol::Agent> run() {
    if (failed(runBlock(*role->getParentOp()->getBlock(), role)) || failed(runBlock(role.getBody().front())))
      return failure();
    return std::move(agent);
  }

private:
  struct Read {
    int64_t product;
    int slot, round;
  };

  /// The text is wrong, and not only hard to follow.
  InFlightDiagnostic refuse(Operation *op) {
    kernel.outcome = RoleRun::Outcome::Refused;
    return op->emitOpError();
  }

  LogicalResult cannot(Operation *op, const Twine &why) {
    kernel.outcome = RoleRun::Outcome::Unclear;
    return op->emitWarning("the protocol of this kernel is not checked: ") << why;
  }

  LogicalResult tooLong() {
    kernel.outcome = RoleRun::Outcome::TooLong;
    return failure();
  }

  //===-- control flow ----------------------------------------------------------------------------===//

  /// Runs the live ops of a block, as far as `end` if that is given.
  LogicalResult runBlock(Block &block, Operation *end = nullptr) {
    for (Operation *op : kernel.slice.opsOf(&block)) {
      if (end && op->isAncestor(end))
        break;
      if (failed(runOp(op)))
        return failure();
    }
    return success();
  }

  LogicalResult runOp(Operation *op) {
    if (agent.events.size() > mostEvents)
      return tooLong();
    if (auto site = kernel.siteOf.find(op); site != kernel.siteOf.end() && !isa<warp::ForTilesOp>(op)) {
      kernel.reached.insert(op);
      return makeEvent(op);
    }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return runLoop(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return runBranch(branch);
    if (auto search = dyn_cast<scf::WhileOp>(op))
      return runSearch(search);
    if (auto tiles = dyn_cast<warp::ForTilesOp>(op))
      return runTiles(tiles);
    if (kernel.slice.holdsEvents(op))
      return cannot(op, "it has rings or barriers inside `" + op->getName().getStringRef() + "`");
    values.evaluate(op);
    return success();
  }

  LogicalResult runLoop(scf::ForOp loop) {
    std::optional<int64_t> lower = values.numberOf(loop.getLowerBound()), upper = values.numberOf(loop.getUpperBound()), step = values.numberOf(loop.getStep());
    bool hasEvents = kernel.slice.holdsEvents(loop);
    if (lower && upper && step && *step > 0 && *upper > *lower && *upper - *lower > *step * mostTurns)
      return tooLong();
    if (!lower || !upper || !step || *step <= 0) {
      if (hasEvents)
        return cannot(loop, "the bounds of a loop over rings or barriers cannot be followed");
      for (Value result : loop.getResults())
        values.set(result, {});
      return success();
    }
    int outer = block;
    values.assign(loop.getRegionIterArgs(), loop.getInitArgs());
    int turn = 0;
    for (int64_t i = *lower; i < *upper; i += *step, ++turn) {
      if (hasEvents)
        block = turn;
      values.set(loop.getInductionVar(), Known::of(i));
      if (failed(runBlock(*loop.getBody())))
        return failure();
      values.assign(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands());
    }
    block = outer;
    values.assign(loop.getResults(), loop.getRegionIterArgs());
    return success();
  }

  /// A loop without events that looks for something.
  LogicalResult runSearch(scf::WhileOp search) {
    if (kernel.slice.holdsEvents(search))
      return cannot(search, "it has rings or barriers inside `scf.while`");
    values.assign(search.getBeforeArguments(), search.getInits());
    for (int64_t turn = 0; turn < mostTurns; ++turn) {
      scf::ConditionOp condition = search.getConditionOp();
      if (failed(runBlock(*search.getBeforeBody())))
        return failure();
      std::optional<int64_t> goesOn = values.numberOf(condition.getCondition());
      if (!goesOn || !*goesOn) {
        values.assign(search.getResults(), condition.getArgs());
        for (Value result : search.getResults())
          if (!goesOn)
            values.set(result, {});
        return success();
      }
      values.assign(search.getAfterArguments(), condition.getArgs());
      if (failed(runBlock(*search.getAfterBody())))
        return failure();
      values.assign(search.getBeforeArguments(), search.getYieldOp()->getOperands());
    }
    return tooLong();
  }

  LogicalResult runBranch(scf::IfOp branch) {
    Known condition = values.look(branch.getCondition());
    Region *arm = nullptr;
    if (condition.kind == Known::Number)
      arm = condition.number ? &branch.getThenRegion() : &branch.getElseRegion();
    else if (kernel.slice.holdsEvents(branch))
      arm = kernel.slice.onlyOwnArm(branch);
    if (!arm && !kernel.slice.holdsEvents(branch)) {
      for (Value result : branch.getResults())
        values.set(result, {Known::Nothing, 0, 0, condition.isVarying});
      return success();
    }
    if (!arm && condition.isVarying)
      return refuse(branch) << "some warps of `" << agent.name << "` may go one way here and some the other, but rings and barriers inside count all of them";
    if (!arm)
      arm = choices.choose("condition " + std::to_string(decisions++) + " of data in " + agent.name, {1, 0}) ? &branch.getThenRegion() : &branch.getElseRegion();
    if (arm->empty())
      return success();
    if (failed(runBlock(arm->front())))
      return failure();
    values.assign(branch.getResults(), arm->front().getTerminator()->getOperands());
    return success();
  }

  /// All tiles of the grid: this CTA is the only one.
  LogicalResult runTiles(warp::ForTilesOp tiles) {
    std::optional<int64_t> total = values.numberOf(tiles.getTotal());
    if (!total)
      return cannot(tiles, "the number of tiles cannot be followed");
    if (*total > mostTurns)
      return tooLong();
    if (tiles.getDynamic())
      kernel.reached.insert(tiles);
    Block &body = tiles.getBody().front();
    ValueRange carried = body.getArguments().drop_front();
    values.assign(carried, tiles.getInits());
    for (tile = 0; tile < *total; ++tile) {
      values.setTile(tile);
      values.set(body.getArgument(0), Known::of(tile));
      if (failed(runTile(tiles)))
        return failure();
      values.assign(carried, body.getTerminator()->getOperands());
    }
    tile = -1;
    values.assign(tiles.getResults(), carried);
    return success();
  }

  /// One tile. Its producer passes the next number on behind it, consumers ask for it where they have freed their slots.
  LogicalResult runTile(warp::ForTilesOp tiles) {
    Block &body = tiles.getBody().front();
    Operation *asks = tiles.getDynamic() && !role.getElected() ? kernel.asksForNumber.lookup(tiles) : nullptr;
    for (Operation *op : kernel.slice.opsOf(&body)) {
      if (asks && !op->isBeforeInBlock(asks)) {
        nextNumber(tiles);
        asks = nullptr;
      }
      if (failed(runOp(op)))
        return failure();
    }
    if (asks || (tiles.getDynamic() && role.getElected()))
      nextNumber(tiles);
    return success();
  }

  /// The number of the next tile, or that there is none, goes through the queue.
  void nextNumber(warp::ForTilesOp tiles) {
    int slot = kernel.queueSlot + tile % 2, round = tile / 2;
    auto kinds = role.getElected() ? std::array{EventKind::Acquire, EventKind::Store, EventKind::Commit} : std::array{EventKind::Wait, EventKind::Touch, EventKind::Release};
    for (EventKind kind : kinds)
      add(tiles, kind, slot, round);
  }

  //===-- events ----------------------------------------------------------------------------------===//

  void add(Operation *op, EventKind kind, int object, int round = 0, int threads = 0) {
    agent.events.push_back({kind, object, round, threads, kernel.siteOf.lookup(op), tile, block});
  }

  LogicalResult makeEvent(Operation *op) {
    if (auto mma = dyn_cast<warp::MmaOp>(op))
      return issue(mma);
    if (auto await = dyn_cast<warp::AwaitOp>(op))
      return finish(await);
    if (auto zero = dyn_cast<warp::ZeroUnseenOp>(op))
      return touch(zero);
    if (auto read = dyn_cast<warp::ReadOp>(op))
      return readTile(read);
    if (auto sync = dyn_cast<warp::SyncOp>(op))
      return meet(sync, sync.getBarrier(), sync.getThreads(), true);
    if (auto arrive = dyn_cast<warp::ArriveOp>(op))
      return meet(arrive, arrive.getBarrier(), arrive.getThreads(), false);
    if (auto acquire = dyn_cast<warp::AcquireOp>(op))
      return onRing(acquire, EventKind::Acquire);
    if (auto wait = dyn_cast<warp::WaitOp>(op))
      return onRing(wait, EventKind::Wait);
    if (auto commit = dyn_cast<warp::CommitOp>(op))
      return onRing(commit, EventKind::Commit);
    if (auto note = dyn_cast<warp::NoteOp>(op))
      return onRing(note, EventKind::Note);
    if (auto note = dyn_cast<warp::ReadNoteOp>(op))
      return onRing(note, EventKind::Touch);
    if (auto release = dyn_cast<warp::ReleaseOp>(op))
      return onRing(release, EventKind::Release);
    return onRing(cast<warp::CopyOp>(op), EventKind::Fill);
  }

  template <typename OpT> LogicalResult onRing(OpT op, EventKind kind) {
    auto ring = kernel.rings.find(op.getRing());
    std::optional<int64_t> counter = values.numberOf(op.getCounter()), copy = values.numberOf(op.getCopy());
    if (ring == kernel.rings.end() || !counter || !copy || *counter < 0)
      return cannot(op, "a counter of a ring cannot be followed");
    auto [first, copies, stages] = ring->second;
    if (*copy < 0 || *copy >= copies)
      return refuse(op) << "expected a copy below " << copies << ", but got " << *copy;
    int slot = first + *copy * stages + *counter % stages, round = *counter / stages;
    if constexpr (std::is_same_v<OpT, warp::CopyOp>)
      if (Known to = values.look(op.getSlot()); to.kind == Known::Slot && to.number != slot)
        return refuse(op) << "fills " << kernel.empty.slots[to.number].name << ", but counts on the barrier of " << kernel.empty.slots[slot].name;
    add(op, kind, slot, round);
    if constexpr (std::is_same_v<OpT, warp::NoteOp>)
      return write(op, kernel.notes[{slot, round}]);
    else if constexpr (std::is_same_v<OpT, warp::ReadNoteOp>)
      return read(op, kernel.notes[{slot, round}]);
    if (op->getNumResults())
      values.set(op->getResult(0), {Known::Slot, slot, round});
    return success();
  }

  LogicalResult write(warp::NoteOp op, SmallVector<Known> &note) {
    note = llvm::map_to_vector(op.getValues(), [&](Value value) { return values.look(value); });
    return success();
  }

  /// The role that writes notes has been followed before. What is not a number is no more so for who reads it, but the same for all.
  LogicalResult read(warp::ReadNoteOp op, ArrayRef<Known> note) {
    if (note.size() < op.getNumResults())
      return refuse(op) << "reads " << op.getNumResults() << " numbers of a note of " << note.size();
    for (auto [result, known] : llvm::zip(op.getValues(), note))
      values.set(result, known.kind == Known::Number ? known : Known{Known::Nothing, 0, 0, /*isVarying=*/false});
    return success();
  }

  LogicalResult issue(warp::MmaOp mma) {
    for (Value operand : {mma.getLhs(), mma.getRhs()}) {
      if (!isa<warp::SlotType>(operand.getType()))
        continue;
      Known slot = values.look(operand);
      if (slot.kind != Known::Slot)
        return cannot(mma, "the slot of an operand cannot be followed");
      add(mma, EventKind::Read, slot.number, slot.round);
      if (llvm::is_contained(zeroed, slot.number))
        return refuse(mma) << "reads " << kernel.empty.slots[slot.number].name << ", into which other warps of `" << agent.name
                           << "` may still write zeros; expected a `warp.sync` of the warpgroup behind `warp.zero_unseen`";
      running.push_back({products, static_cast<int>(slot.number), slot.round});
    }
    values.set(mma.getResult(), {Known::Product, products++});
    return success();
  }

  /// Matrix ops end in the order in which they were issued.
  LogicalResult finish(warp::AwaitOp await) {
    Known product = values.look(await.getPending());
    if (product.kind != Known::Product)
      return cannot(await, "the matrix op that is awaited cannot be followed");
    llvm::erase_if(running, [&](const Read &read) {
      if (read.product > product.number)
        return false;
      add(await, EventKind::Done, read.slot, read.round);
      return true;
    });
    return success();
  }

  LogicalResult touch(warp::ZeroUnseenOp zero) {
    Known slot = values.look(zero.getSlot());
    if (slot.kind != Known::Slot)
      return cannot(zero, "the slot of an operand cannot be followed");
    add(zero, EventKind::Touch, slot.number, slot.round);
    zeroed.push_back(slot.number);
    return success();
  }

  LogicalResult readTile(warp::ReadOp read) {
    Known slot = values.look(read.getSlot());
    if (slot.kind != Known::Slot)
      return cannot(read, "the slot of an operand cannot be followed");
    add(read, EventKind::Touch, slot.number, slot.round);
    return success();
  }

  LogicalResult meet(Operation *op, Value barrier, int64_t threads, bool waits) {
    std::optional<int64_t> number = values.numberOf(barrier);
    if (!number)
      return cannot(op, "the number of a named barrier cannot be followed");
    if (threads < protocol::agentThreads || threads > int64_t(mostAgents) * protocol::agentThreads || threads % protocol::agentThreads)
      return refuse(op) << "expected a multiple of " << protocol::agentThreads << " threads, up to " << mostAgents * protocol::agentThreads << ", but got " << threads;
    if (*number < 1 || *number >= namedBarriers)
      return refuse(op) << "expected a named barrier from 1 to " << namedBarriers - 1 << ", but got " << *number;
    if (llvm::is_contained(kernel.voteBarriers, *number))
      return refuse(op) << "named barrier " << *number << " is taken by votes";
    add(op, EventKind::Meet, *number, 0, threads);
    if (waits) {
      add(op, EventKind::Pass, *number);
      zeroed.clear();
    }
    return success();
  }

  RoleRun &kernel;
  Choices &choices;
  warp::RoleOp role;
  protocol::Agent agent;
  KnownValues values;
  SmallVector<Read> running;     ///< of slots, by matrix ops that are not awaited
  SmallVector<int64_t> zeroed;   ///< slots that this warpgroup has written zeros to since its last barrier
  int64_t products = 0;
  int tile = -1, block = -1, decisions = 0;
};

} // namespace tegula

RoleRun::Outcome RoleRun::run(Choices &choices, protocol::System &system) {
  system = empty;
  notes.clear();
  SmallVector<std::pair<warp::RoleOp, int64_t>> agents; // a role and which of its warpgroups
  for (auto roles : slice.getKernel().getBody().front().getOps<warp::RolesOp>())
    for (auto role : roles.getBody().front().getOps<warp::RoleOp>())
      for (int64_t warpgroup = 0, count = role.getElected() ? 1 : role.getWarpgroups(); warpgroup < count && agents.size() <= mostAgents; ++warpgroup)
        agents.push_back({role, warpgroup});
  if (agents.size() > mostAgents) {
    slice.getKernel().emitWarning("the protocol of this kernel is not checked: it has more than ") << mostAgents << " warpgroups";
    return Outcome::Unclear;
  }
  for (auto [role, warpgroup] : agents) {
    FailureOr<protocol::Agent> agent = AgentRun(*this, choices, role, warpgroup).run();
    if (failed(agent))
      return outcome;
    system.agents.push_back(std::move(*agent));
  }
  return Outcome::Done;
}
