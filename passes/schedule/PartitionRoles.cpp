// tegula-partition-roles: tile.kernel with layouts -> warp.kernel with roles and rings.
//
// In: one warpgroup's program. Out: a producer that fills rings and consumers that drain them (`pipelined`), or one role that reads global memory
// itself (`direct`). The one idea: each role is a walk of the same program that keeps what it needs; ring counters are carried by every loop on the way.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tegula {
#define GEN_PASS_DEF_PARTITIONROLESPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

bool isDotOperand(OpOperand &use) {
  auto dot = dyn_cast<tile::DotOp>(use.getOwner());
  return dot && (&use == &dot.getLhsMutable() || &use == &dot.getRhsMutable());
}

/// A load that feeds matrix ops alone, so that a ring or global memory can stand for it.
bool feedsMatrixOps(tile::LoadOp load) {
  return !load->use_empty() && llvm::all_of(load->getUses(), [](OpOperand &use) {
    auto zero = dyn_cast<tile::ZeroUnseenOp>(use.getOwner());
    return zero ? llvm::all_of(zero->getUses(), isDotOperand) : isDotOperand(use);
  });
}

/// The loaded tile that a matrix op reads, which may have been worked on in place.
Value loadedTile(Value operand) {
  auto zero = operand.getDefiningOp<tile::ZeroUnseenOp>();
  return zero ? zero.getTile() : operand;
}

bool isEncoded(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding();
}

/// Whether a matrix op reads the value as its left operand, directly or carried by a block loop.
bool reachesLeftOperand(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto loop = dyn_cast<tile::ForBlocksOp>(user)) // operands: lower, upper, then one for each carried value
      return reachesLeftOperand(loop.getIterArgs()[use.getOperandNumber() - 2]);
    if (isa<tile::YieldOp>(user)) {
      auto loop = dyn_cast<tile::ForBlocksOp>(user->getParentOp());
      return loop && llvm::any_of(loop.getIterArgs()[use.getOperandNumber()].getUses(), isDotOperand);
    }
    return isDotOperand(use);
  });
}

/// Weights on their way to a matrix op: a rounding whose result is a left operand.
bool isPack(Operation &op) {
  return isa<arith::TruncFOp>(op) && isEncoded(op.getResult(0).getType()) && reachesLeftOperand(op.getResult(0));
}

/// The rings of a kernel: one for each tensor, shape and side.
class Rings {
public:
  Rings(tile::KernelOp kernel, tile::ScheduleAttr schedule) : schedule(schedule) {
    kernel->walk([&](tile::LoadOp load) {
      if (feedsMatrixOps(load))
        add(kernel, load);
    });
  }

  struct Ring {
    Value memory;
    RankedTensorType tile;
    std::string name;
    int64_t copies, stages;
    warp::RingOp op;
  };
  SmallVector<Ring> rings;

  std::optional<unsigned> of(tile::LoadOp load) const {
    auto it = index.find(load);
    return it == index.end() ? std::nullopt : std::optional<unsigned>(it->second);
  }

  void create(OpBuilder &b, Location loc) {
    for (Ring &ring : rings) {
      auto type = warp::RingType::get(b.getContext(), ring.tile.getDimSize(0), ring.tile.getDimSize(1), ring.tile.getElementType(), ring.stages);
      ring.op = warp::RingOp::create(b, loc, type, b.getStringAttr(ring.name), b.getI64IntegerAttr(ring.copies),
                                     b.getI64IntegerAttr(schedule.getConsumers()), IntegerAttr(), IntegerAttr());
    }
  }

private:
  void add(tile::KernelOp kernel, tile::LoadOp load) {
    for (auto [number, ring] : llvm::enumerate(rings))
      if (ring.memory == load.getMemory() && ring.tile == load.getTile().getType()) {
        index[load] = number;
        return;
      }
    bool perWarpgroup = isEncoded(load.getTile().getType());
    index[load] = rings.size();
    rings.push_back({load.getMemory(), load.getTile().getType(), nameOf(kernel, load.getMemory()), perWarpgroup ? schedule.getConsumers() : 1,
                     perWarpgroup ? schedule.getQStages() : schedule.getStages(), {}});
  }

  static std::string nameOf(tile::KernelOp kernel, Value memory) {
    auto argument = dyn_cast<BlockArgument>(memory);
    auto name = argument ? kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name") : StringAttr();
    return name ? name.str() : "ring";
  }

  tile::ScheduleAttr schedule;
  DenseMap<Operation *, unsigned> index;
};

/// What both walks share: where they write, what values became, the ring counters, and the loop over tiles.
class RoleBuilder {
public:
  RoleBuilder(OpBuilder &b, const IRMapping &arguments, Rings &rings) : b(b), map(arguments), rings(rings) {}
  virtual ~RoleBuilder() = default;

  LogicalResult build(tile::KernelOp kernel) {
    Location loc = kernel.getLoc();
    zero = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0));
    counters.assign(rings.rings.size(), zero);
    Block &body = kernel.getBody().front();
    auto id = *body.getOps<tile::ProgramIdOp>().begin();
    for (Operation &op : llvm::make_range(body.begin(), id->getIterator()))
      if (failed(emit(op)))
        return failure();
    Value total = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
    for (Value extent : id.getExtents())
      total = arith::MulIOp::create(b, loc, total, map.lookup(extent));
    auto loop = warp::ForTilesOp::create(b, loc, TypeRange(ValueRange(counters)), total, counters);
    OpBuilder::InsertionGuard guard(b);
    Block *inner = b.createBlock(&loop.getBody());
    inner->addArgument(b.getI64Type(), loc);
    for (Value &counter : counters)
      counter = inner->addArgument(counter.getType(), loc);
    decode(id, inner->getArgument(0));
    for (Operation &op : llvm::make_range(std::next(id->getIterator()), std::prev(body.end())))
      if (failed(emit(op)))
        return failure();
    finishBlock(body);
    warp::YieldOp::create(b, loc, counters);
    return success();
  }

protected:
  virtual LogicalResult emit(Operation &op) = 0;
  virtual void finishBlock(Block &) {}

  /// Coordinates of a tile number, the first fastest.
  void decode(tile::ProgramIdOp id, Value number) {
    Location loc = id.getLoc();
    for (auto [extent, index] : llvm::zip(id.getExtents().drop_back(), id.getIndices().drop_back())) {
      map.map(index, arith::RemSIOp::create(b, loc, number, map.lookup(extent)).getResult());
      number = arith::DivSIOp::create(b, loc, number, map.lookup(extent));
    }
    map.map(id.getIndices().back(), number);
  }

  void advance(unsigned ring, Location loc) {
    Value one = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1));
    counters[ring] = arith::AddIOp::create(b, loc, counters[ring], one);
  }

  /// Opens an scf.for in place of a block loop, with the counters carried behind `inits`; the body is filled by `fill`, which gives the next values.
  scf::ForOp loop(tile::ForBlocksOp op, ArrayRef<Value> inits, function_ref<FailureOr<SmallVector<Value>>(ValueRange)> fill) {
    Location loc = op.getLoc();
    SmallVector<Value> all(inits);
    all.append(counters.begin(), counters.end());
    Value step = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(op.getStep()));
    auto result = scf::ForOp::create(b, loc, map.lookup(op.getLower()), map.lookup(op.getUpper()), step, all);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(result.getBody());
    if (!result.getBody()->empty())
      result.getBody()->getTerminator()->erase();
    b.setInsertionPointToEnd(result.getBody());
    map.map(op.getInductionVar(), result.getInductionVar());
    ValueRange carried = result.getRegionIterArgs();
    counters.assign(carried.begin() + inits.size(), carried.end());
    FailureOr<SmallVector<Value>> next = fill(carried.take_front(inits.size()));
    if (failed(next))
      return {};
    next->append(counters.begin(), counters.end());
    scf::YieldOp::create(b, loc, *next);
    counters.assign(result.getResults().begin() + inits.size(), result.getResults().end());
    return result;
  }

  OpBuilder &b;
  IRMapping map;
  Rings &rings;
  SmallVector<Value> counters;
  Value zero;
};

/// The producer: scalar code and loads.
class Producer : public RoleBuilder {
public:
  using RoleBuilder::RoleBuilder;

private:
  LogicalResult emit(Operation &op) override {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (std::optional<unsigned> ring = rings.of(load))
        return copy(load, *ring);
      return success();
    }
    if (auto blocks = dyn_cast<tile::ForBlocksOp>(op)) {
      bool any = blocks->walk([&](tile::LoadOp load) { return rings.of(load) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
      if (!any)
        return success();
      auto result = loop(blocks, {}, [&](ValueRange) -> FailureOr<SmallVector<Value>> {
        for (Operation &inner : blocks.getBody().front().without_terminator())
          if (failed(emit(inner)))
            return failure();
        return SmallVector<Value>();
      });
      return success(result != nullptr);
    }
    bool scalar = op.getNumRegions() == 0 && (isMemoryEffectFree(&op) || isa<tile::LookupOp>(op)) && llvm::none_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
                  llvm::all_of(op.getOperands(), [&](Value operand) { return map.contains(operand); });
    if (scalar && !isa<warp::WarpgroupOp>(op))
      b.clone(op, map);
    return success();
  }

  LogicalResult copy(tile::LoadOp load, unsigned number) {
    Location loc = load.getLoc();
    Rings::Ring &ring = rings.rings[number];
    for (int64_t instance = 0; instance < ring.copies; ++instance) {
      IRMapping local;
      SmallVector<Value> indices;
      for (Value index : load.getIndices()) {
        Value value = forWarpgroup(index, instance, local);
        if (!value)
          return load.emitError("the index of a load depends on values that its producer does not have");
        indices.push_back(value);
      }
      Value which = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(instance));
      auto slot = warp::AcquireOp::create(b, loc, slotType(ring.op), ring.op, counters[number], which);
      warp::CopyOp::create(b, loc, map.lookup(load.getMemory()), indices, load.getAxesAttr(), slot, ring.op, counters[number], which);
      warp::CommitOp::create(b, loc, ring.op, counters[number], which);
    }
    advance(number, loc);
    return success();
  }

  static Type slotType(warp::RingOp ring) {
    auto type = ring.getRing().getType();
    return warp::SlotType::get(type.getContext(), type.getRows(), type.getColumns(), type.getElementType());
  }

  /// A scalar as warpgroup `instance` of the consumers computes it.
  Value forWarpgroup(Value value, int64_t instance, IRMapping &local) {
    if (Value known = local.lookupOrNull(value))
      return known;
    if (Value known = map.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op)
      return {};
    if (isa<warp::WarpgroupOp>(op)) {
      Value constant = arith::ConstantOp::create(b, op->getLoc(), b.getI64IntegerAttr(instance));
      local.map(value, constant);
      return constant;
    }
    if (!isMemoryEffectFree(op) || op->getNumRegions() != 0)
      return {};
    for (Value operand : op->getOperands()) {
      Value mapped = forWarpgroup(operand, instance, local);
      if (!mapped)
        return {};
      local.map(operand, mapped);
    }
    b.clone(*op, local);
    return local.lookup(value);
  }
};

/// The consumer: everything but the loads of matrix operands.
class Consumer : public RoleBuilder {
public:
  Consumer(OpBuilder &b, const IRMapping &arguments, Rings &rings, tile::ScheduleAttr schedule, uint64_t &matrixOps)
      : RoleBuilder(b, arguments, rings), pipelined(schedule.getForm() == tile::Form::Pipelined),
        queryInRegisters(!pipelined && schedule.getQStages() > 0), consumers(schedule.getConsumers()), matrixOps(matrixOps) {}

private:
  struct Slot {
    unsigned ring;
    Value counter, copy;
    Block *block;                 ///< of the tile program: the slot is released at the latest at its end
    bool heldToEnd;               ///< a nested block reads it
    SmallVector<Value> readers;   ///< results of matrix ops that are not awaited yet
  };

  LogicalResult emit(Operation &op) override {
    if (auto load = dyn_cast<tile::LoadOp>(op); load && feedsMatrixOps(load) && (!queryInRegisters || !isEncoded(load.getTile().getType()))) {
      take(load);
      return success();
    }
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      issue(dot);
      return success();
    }
    if (auto zero = dyn_cast<tile::ZeroUnseenOp>(op)) {
      zeroUnseen(zero);
      return success();
    }
    if (isPack(op)) {
      awaitFragmentReaders(op.getBlock());
      awaitOperands(op);
      Value packed = warp::PackOp::create(b, op.getLoc(), op.getResult(0).getType(), map.lookup(op.getOperand(0)));
      map.map(op.getResult(0), packed);
      return success();
    }
    awaitOperands(op);
    if (auto blocks = dyn_cast<tile::ForBlocksOp>(op))
      return blockLoop(blocks);
    b.clone(op, map);
    return success();
  }

  LogicalResult blockLoop(tile::ForBlocksOp blocks) {
    SmallVector<Value> inits;
    for (Value init : blocks.getInits())
      inits.push_back(map.lookup(init));
    Block &body = blocks.getBody().front();
    auto result = loop(blocks, inits, [&](ValueRange carried) -> FailureOr<SmallVector<Value>> {
      for (auto [argument, value] : llvm::zip(blocks.getIterArgs(), carried))
        map.map(argument, value);
      for (Operation &inner : body.without_terminator())
        if (failed(emit(inner)))
          return failure();
      awaitOperands(*body.getTerminator());
      finishBlock(body);
      SmallVector<Value> next;
      for (Value value : body.getTerminator()->getOperands())
        next.push_back(map.lookup(value));
      return next;
    });
    if (!result)
      return failure();
    for (auto [old, value] : llvm::zip(blocks.getResults(), result.getResults()))
      map.map(old, value);
    return success();
  }

  void take(tile::LoadOp load) {
    Location loc = load.getLoc();
    if (!pipelined) {
      SmallVector<Value> indices;
      for (Value index : load.getIndices())
        indices.push_back(map.lookup(index));
      auto tile = load.getTile().getType();
      auto type = warp::GlobalType::get(b.getContext(), tile.getDimSize(0), tile.getDimSize(1), tile.getElementType());
      map.map(load.getTile(), warp::GlobalOp::create(b, loc, type, map.lookup(load.getMemory()), indices, load.getAxesAttr()).getResult());
      return;
    }
    unsigned number = *rings.of(load);
    Rings::Ring &ring = rings.rings[number];
    Value copy = zero;
    if (ring.copies > 1)
      copy = warp::WarpgroupOp::create(b, loc, b.getI64Type());
    auto type = ring.op.getRing().getType();
    auto slotType = warp::SlotType::get(b.getContext(), type.getRows(), type.getColumns(), type.getElementType());
    Value slot = warp::WaitOp::create(b, loc, slotType, ring.op, counters[number], copy);
    map.map(load.getTile(), slot);
    bool nested = llvm::any_of(load->getUsers(), [&](Operation *user) { return user->getBlock() != load->getBlock(); });
    slots[load.getTile()] = {number, counters[number], copy, load->getBlock(), nested, {}};
    advance(number, loc);
  }

  /// In the slot, under the op's condition, with a barrier of the warpgroup's own behind.
  void zeroUnseen(tile::ZeroUnseenOp op) {
    Location loc = op.getLoc();
    map.map(op.getResult(), map.lookup(op.getTile()));
    if (!pipelined) {
      seen[op.getResult()] = seenPairs(op);
      return;
    }
    Value barrier = arith::AddIOp::create(b, loc, warp::WarpgroupOp::create(b, loc, b.getI64Type()),
                                          arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(1 + consumers)));
    OpBuilder::InsertionGuard guard(b);
    if (op.getPartial())
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, map.lookup(op.getPartial()), /*withElseRegion=*/false).thenBlock());
    auto zero = warp::ZeroUnseenOp::create(b, loc, map.lookup(op.getTile()), map.lookup(op.getFirst()), map.lookup(op.getLast()),
                                           map.lookup(op.getCols()), map.lookup(op.getEnd()));
    op.getSeen().cloneInto(&zero.getSeen(), map);
    op.getPossible().cloneInto(&zero.getPossible(), map);
    warp::SyncOp::create(b, loc, barrier, b.getI64IntegerAttr(128));
  }

  /// Which pairs of this warpgroup's rows and the keys of a block are visible: all, where the op's condition is false.
  Value seenPairs(tile::ZeroUnseenOp op) {
    Location loc = op.getLoc();
    auto type = RankedTensorType::get({64, op.getTile().getType().getDimSize(0)}, b.getI1Type(), warp::FragmentAttr::get(b.getContext()));
    auto pairs = [&](OpBuilder &at, Location loc) -> Value {
      Value rows = arith::MulIOp::create(at, loc, warp::WarpgroupOp::create(at, loc, at.getI64Type()), arith::ConstantOp::create(at, loc, at.getI64IntegerAttr(64)));
      auto mask = tile::MaskOp::create(at, loc, type, arith::AddIOp::create(at, loc, map.lookup(op.getFirst()), rows), map.lookup(op.getCols()));
      op.getSeen().cloneInto(&mask.getBody(), map);
      Block &body = mask.getBody().front();
      Operation *yield = body.getTerminator();
      OpBuilder inside(yield);
      Value exists = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt, body.getArgument(0), map.lookup(op.getLast()));
      yield->setOperand(0, arith::AndIOp::create(inside, loc, yield->getOperand(0), exists));
      return mask;
    };
    if (!op.getPartial())
      return pairs(b, loc);
    return scf::IfOp::create(
               b, loc, map.lookup(op.getPartial()), [&](OpBuilder &at, Location loc) { scf::YieldOp::create(at, loc, pairs(at, loc)); },
               [&](OpBuilder &at, Location loc) {
                 scf::YieldOp::create(at, loc, arith::ConstantOp::create(at, loc, DenseElementsAttr::get(type, true)).getResult());
               })
        .getResult(0);
  }

  void issue(tile::DotOp dot) {
    ++matrixOps;
    if (dot.getAcc())
      awaitValue(dot.getAcc());
    awaitValue(dot.getLhs());
    auto tile = cast<RankedTensorType>(dot.getResult().getType());
    Value acc = dot.getAcc() ? map.lookup(dot.getAcc()) : Value();
    pending[dot.getResult()] = warp::MmaOp::create(b, dot.getLoc(), warp::PendingType::get(b.getContext(), tile), map.lookup(dot.getLhs()),
                                                   map.lookup(dot.getRhs()), acc, seen.lookup(dot.getRhs()), dot.getTransposeB());
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      if (auto it = slots.find(loadedTile(operand)); it != slots.end())
        it->second.readers.push_back(dot.getResult());
  }

  /// Awaits a matrix op's result and releases the slots that no running op reads any more.
  void awaitValue(Value value) {
    auto it = pending.find(value);
    if (it == pending.end())
      return;
    auto awaited = warp::AwaitOp::create(b, value.getLoc(), cast<RankedTensorType>(value.getType()), it->second, IntegerAttr());
    map.map(value, awaited.getTile());
    pending.erase(it);
    SmallVector<Value> done;
    for (auto &[tile, slot] : slots) {
      if (!llvm::is_contained(slot.readers, value))
        continue;
      llvm::erase(slot.readers, value);
      if (slot.readers.empty() && !slot.heldToEnd)
        done.push_back(tile);
    }
    for (Value tile : done)
      release(tile);
  }

  void release(Value tile) {
    Slot slot = slots.find(tile)->second;
    warp::ReleaseOp::create(b, tile.getLoc(), rings.rings[slot.ring].op, slot.counter, slot.copy);
    slots.erase(tile);
  }

  void awaitOperands(Operation &op) {
    SmallVector<Value> used(op.getOperands());
    op.walk([&](Operation *inner) { used.append(inner->operand_begin(), inner->operand_end()); });
    for (Value value : used)
      awaitValue(value);
  }

  /// Awaits every matrix op of this block that still reads a fragment, before the registers of the next one are written.
  void awaitFragmentReaders(Block *block) {
    SmallVector<Value> running;
    for (auto &[value, op] : pending)
      if (value.getParentBlock() == block && isEncoded(cast<warp::MmaOp>(op.getDefiningOp()).getLhs().getType()))
        running.push_back(value);
    for (Value value : running)
      awaitValue(value);
  }

  void finishBlock(Block &block) override {
    SmallVector<Value> left;
    for (auto &[value, op] : pending)
      if (value.getParentBlock() == &block)
        left.push_back(value);
    for (Value value : left)
      awaitValue(value);
    SmallVector<Value> open;
    for (auto &[tile, slot] : slots)
      if (slot.block == &block)
        open.push_back(tile);
    for (Value tile : open)
      release(tile);
  }

  bool pipelined, queryInRegisters;
  int64_t consumers;
  uint64_t &matrixOps;
  llvm::MapVector<Value, Value> pending; ///< result of a dot -> the matrix op's pending value
  DenseMap<Value, Value> seen;           ///< tile in global memory -> which pairs of rows and keys are visible
  llvm::MapVector<Value, Slot> slots;    ///< loaded tile -> the slot that holds it
};

struct PartitionRolesPass : tegula::impl::PartitionRolesPassBase<PartitionRolesPass> {
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels(getOperation().getOps<tile::KernelOp>());
    for (tile::KernelOp kernel : kernels)
      if (!kernel->getAttrOfType<tile::ProgramAttr>("schedule") && failed(partition(kernel)))
        return signalPassFailure();
  }

private:
  LogicalResult partition(tile::KernelOp kernel) {
    auto schedule = kernel->getAttrOfType<tile::ScheduleAttr>("schedule");
    if (!schedule)
      return kernel.emitError("has no schedule");
    if (!llvm::hasSingleElement(kernel.getBody().front().getOps<tile::ProgramIdOp>()))
      return kernel.emitError("expected one tile.program_id at the top of the kernel");
    bool pipelined = schedule.getForm() == tile::Form::Pipelined;
    OpBuilder b(kernel);
    Location loc = kernel.getLoc();
    auto result = warp::KernelOp::create(b, loc, kernel.getSymNameAttr(), kernel.getFunctionTypeAttr(), kernel.getArgAttrsAttr(), kernel.getResAttrsAttr());
    result->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    Block *body = b.createBlock(&result.getBody());
    IRMapping arguments;
    for (BlockArgument argument : kernel.getArguments())
      arguments.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
    Rings all(kernel, schedule);
    if (pipelined)
      all.create(b, loc), rings += all.rings.size();
    else
      all.rings.clear();
    auto roles = warp::RolesOp::create(b, loc);
    warp::ReturnOp::create(b, loc);
    b.createBlock(&roles.getBody());
    if (pipelined) {
      OpBuilder::InsertionGuard guard(b);
      role(b, loc, "load", 1, schedule.getProducerRegisters(), true);
      if (failed(Producer(b, arguments, all).build(kernel)))
        return failure();
      warp::YieldOp::create(b, loc);
    }
    role(b, loc, "compute", schedule.getConsumers(), schedule.getConsumerRegisters(), false);
    uint64_t issued = 0;
    if (failed(Consumer(b, arguments, all, schedule, issued).build(kernel)))
      return failure();
    warp::YieldOp::create(b, loc);
    matrixOps += issued;
    kernel.erase();
    result->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
    return success();
  }

  static void role(OpBuilder &b, Location loc, StringRef name, int64_t warpgroups, int64_t registers, bool elected) {
    auto op = warp::RoleOp::create(b, loc, b.getStringAttr(name), b.getI64IntegerAttr(warpgroups), b.getI64IntegerAttr(registers),
                                   elected ? b.getUnitAttr() : UnitAttr());
    b.createBlock(&op.getBody());
  }
};

} // namespace
