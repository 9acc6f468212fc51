// tegula-partition-roles: tile.kernel with layouts -> warp.kernel with roles and rings.
//
// In: one warpgroup's program. Out: a producer that fills rings and consumers that drain them (`pipelined`), or one role that reads global memory
// itself (`direct`). The one idea: each role is a walk of the same program that keeps what it needs; ring counters are carried by every loop on the way.
#include "codegen/Target.h"
#include "passes/Passes.h"
#include "passes/mask/KeyLoop.h"
#include "passes/schedule/ConsumerRole.h"
#include "passes/schedule/ProducerRole.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tegula {
#define GEN_PASS_DEF_PARTITIONROLESPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

struct PartitionRolesPass : tegula::impl::PartitionRolesPassBase<PartitionRolesPass> {
  using PartitionRolesPassBase::PartitionRolesPassBase;

  void runOnOperation() override {
    std::string message;
    record = lookupTarget(target, message);
    if (!record) {
      getOperation().emitError(message);
      return signalPassFailure();
    }
    SmallVector<tile::KernelOp> kernels(getOperation().getOps<tile::KernelOp>());
    llvm::SetVector<Operation *> others = programsOfRedos(getOperation());
    for (tile::KernelOp kernel : kernels)
      if (!others.contains(kernel) && !kernel->getAttrOfType<tile::ProgramAttr>("schedule") && failed(partition(kernel)))
        return signalPassFailure();
    for (Operation *other : others)
      other->erase();
  }

private:
  LogicalResult partition(tile::KernelOp kernel) {
    auto schedule = kernel->getAttrOfType<tile::ScheduleAttr>("schedule");
    if (!schedule)
      return kernel.emitError("has no schedule");
    if (!llvm::hasSingleElement(kernel.getBody().front().getOps<tile::ProgramIdOp>()))
      return kernel.emitError("expected one tile.program_id at the top of the kernel");
    bool pipelined = schedule.getForm() == tile::Form::Pipelined;
    bool lists = kernel->walk([](tile::ListBlocksOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (lists)
      schedule = withLanes(schedule, *record);
    OpBuilder b(kernel);
    Location loc = kernel.getLoc();
    auto result = warp::KernelOp::create(b, loc, kernel.getSymNameAttr(), kernel.getFunctionTypeAttr(), kernel.getArgAttrsAttr(), kernel.getResAttrsAttr());
    result->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    result->setAttr("schedule", schedule);
    if (Attribute packing = kernel->getAttr("tile.packing"))
      result->setAttr("tile.packing", packing);
    Block *body = b.createBlock(&result.getBody());
    IRMapping arguments;
    for (BlockArgument argument : kernel.getArguments())
      arguments.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
    Rings all(kernel, schedule);
    if (pipelined)
      all.create(b, loc), rings += all.rings.size();
    else
      all.rings.clear();
    if (schedule.getTiles() != tile::TileOrder::Stride)
      warp::QueueOp::create(b, loc, b.getI64IntegerAttr(schedule.getConsumers()), IntegerAttr());
    auto redos = kernel.getBody().front().getOps<tile::RedoOp>();
    tile::RedoOp redo = redos.empty() ? tile::RedoOp() : *redos.begin();
    auto roles = warp::RolesOp::create(b, loc);
    warp::ReturnOp::create(b, loc);
    b.createBlock(&roles.getBody());
    if (pipelined) {
      OpBuilder::InsertionGuard guard(b);
      role(b, loc, "load", 1, schedule.getProducerRegisters(), true, lists);
      if (failed(ProducerRole(b, arguments, all, schedule).build(kernel)))
        return failure();
      warp::YieldOp::create(b, loc);
    }
    role(b, loc, "compute", schedule.getConsumers(), schedule.getConsumerRegisters(), false, false);
    uint64_t issued = 0;
    if (failed(ConsumerRole(b, arguments, all, schedule, redo, issued).build(kernel)))
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

  /// Of a producer that looks at blocks: what such code takes, from the consumers.
  static tile::ScheduleAttr withLanes(tile::ScheduleAttr s, const Target &target) {
    constexpr int64_t enough = 56, most = 128;
    if (s.getProducerRegisters() == 0)
      return s;
    auto eights = [](int64_t number) { return number / 8 * 8; };
    int64_t all = target.registersAtLaunch(s.getConsumers() + 1) / 128;
    int64_t each = std::min(s.getConsumerRegisters(), eights((all - enough) / s.getConsumers()));
    tile::ScheduleFields fields = s.getFields();
    fields.producerRegisters = std::min(eights(all - each * s.getConsumers()), most), fields.consumerRegisters = each;
    return fields.get(s.getContext());
  }

  static void role(OpBuilder &b, Location loc, StringRef name, int64_t warpgroups, int64_t registers, bool elected, bool wholeWarp) {
    auto op = warp::RoleOp::create(b, loc, b.getStringAttr(name), b.getI64IntegerAttr(warpgroups), b.getI64IntegerAttr(registers),
                                   elected ? b.getUnitAttr() : UnitAttr(), wholeWarp ? b.getUnitAttr() : UnitAttr());
    b.createBlock(&op.getBody());
  }

  const Target *record = nullptr;
};

} // namespace
