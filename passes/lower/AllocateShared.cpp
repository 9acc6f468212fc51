// tegula-allocate-shared: offsets of rings and barriers in shared memory.
//
// In: warp.ring and warp.queue ops. Out: `offset` and `barriers` on each, `shared_bytes` and the list `shared` of what they are for on the kernel. The one idea: a bump allocator, since rings live as long as the kernel.
#include "codegen/Target.h"
#include "passes/Passes.h"
#include "passes/lower/BlockedScratch.h"

namespace tegula {
#define GEN_PASS_DEF_ALLOCATESHAREDPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;

namespace {

struct AllocateSharedPass : tegula::impl::AllocateSharedPassBase<AllocateSharedPass> {
  using AllocateSharedPassBase::AllocateSharedPassBase;

  void runOnOperation() override {
    std::string message;
    const Target *record = lookupTarget(target, message);
    if (!record) {
      getOperation().emitError(message);
      return signalPassFailure();
    }
    Builder b(&getContext());
    auto rings = llvm::to_vector(getOperation().getBody().front().getOps<warp::RingOp>());
    int64_t next = 0;
    SmallVector<Attribute> buffers;
    auto take = [&](StringRef name, int64_t count, int64_t size) {
      if (size != 0)
        buffers.push_back(b.getDictionaryAttr({b.getNamedAttr("buffer", b.getStringAttr(name)), b.getNamedAttr("slots", b.getI64IntegerAttr(count)),
                                               b.getNamedAttr("bytes", b.getI64IntegerAttr(size))}));
      next += size;
    };
    for (warp::RingOp ring : rings) {
      ring.setOffsetAttr(b.getI64IntegerAttr(next));
      take(ring.getName(), slots(ring), tileBytes(ring));
    }
    int64_t first = next, barriers = 0;
    for (warp::RingOp ring : rings) {
      ring.setBarriersAttr(b.getI64IntegerAttr(first + 8 * barriers));
      barriers += 2 * slots(ring);
    }
    take("barriers", barriers, 8 * barriers);
    for (warp::RingOp ring : rings) {
      if (llvm::none_of(ring->getUsers(), llvm::IsaPred<warp::NoteOp>))
        continue;
      ring.setNotesAttr(b.getI64IntegerAttr(next));
      take("notes", slots(ring), noteBytes * slots(ring));
    }
    for (warp::QueueOp queue : getOperation().getBody().front().getOps<warp::QueueOp>()) {
      queue.setOffsetAttr(b.getI64IntegerAttr(next));
      take("tile numbers", 1, queueBytes);
    }
    take("scratch", 1, allocateScratch(getOperation()));
    if (next != 0) // the base of dynamic shared memory is rounded up to the swizzle's 1024 bytes in the kernel
      take("alignment", 1, alignment);
    int64_t total = next;
    if (total > record->sharedPerBlock) {
      InFlightDiagnostic error = getOperation().emitError("needs ") << total << " bytes of shared memory, but " << record->name << " has "
                                                                    << record->sharedPerBlock << " a block";
      for (warp::RingOp ring : rings)
        error.attachNote(ring.getLoc()) << "ring `" << ring.getName() << "`: " << tileBytes(ring) << " bytes in " << slots(ring) << " slots";
      return signalPassFailure();
    }
    if (failed(checkRegisters(*record)))
      return signalPassFailure();
    getOperation()->setAttr("shared_bytes", b.getI64IntegerAttr(total));
    getOperation()->setAttr("shared", b.getArrayAttr(buffers));
    bytes += total;
  }

private:
  /// Roles that ask for more registers than the launch holds would wait for ever.
  LogicalResult checkRegisters(const Target &record) {
    int64_t warpgroups = 0, needed = 0;
    bool isStated = true;
    getOperation()->walk([&](warp::RoleOp role) {
      warpgroups += role.getWarpgroups(), needed += 128 * role.getWarpgroups() * role.getRegisters();
      isStated &= role.getRegisters() != 0;
    });
    int64_t held = warpgroups ? record.registersAtLaunch(warpgroups) : 0;
    if (!isStated || needed <= held)
      return success();
    return getOperation().emitError("its roles need ") << needed << " registers, but " << warpgroups << " warpgroups hold " << held << " at their launch on " << record.name;
  }

  static constexpr int64_t alignment = 1024, queueBytes = 48, noteBytes = 16;

  static int64_t slots(warp::RingOp ring) { return ring.getCopies() * ring.getRing().getType().getStages(); }
  static int64_t tileBytes(warp::RingOp ring) { return slots(ring) * ring.getRing().getType().getSlotBytes(); }
};

} // namespace
