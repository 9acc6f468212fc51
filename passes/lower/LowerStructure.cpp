// The frame of a kernel: arguments, thread indices, roles and the tile loop; then its manifest.
//
// In: warp.kernel. Out: llvm.func whose arguments are tensor maps, pointers, strides, dims and scalars, each described by `tegula.argument`.
// The one idea: arguments are derived from what the body uses; what nothing reads is dropped after the body has been lowered.
#include "dialect/tile/PrefixExpr.h"
#include "dialect/tile/Signature.h"
#include "passes/lower/InlinePtx.h"
#include "passes/lower/LowerWarp.h"
#include "runtime/Packing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/BitVector.h"

#include <map>

using namespace mlir;
using namespace tegula;

namespace {

constexpr StringLiteral argumentAttr = "tegula.argument", manifestAttr = "tegula.manifest";

NamedAttribute named(Builder &b, StringRef name, Attribute value) { return b.getNamedAttr(name, value); }
NamedAttribute named(Builder &b, StringRef name, StringRef value) { return b.getNamedAttr(name, b.getStringAttr(value)); }
NamedAttribute named(Builder &b, StringRef name, int64_t value) { return b.getNamedAttr(name, b.getI64IntegerAttr(value)); }

/// Builds the function of one kernel.
class FrameBuilder {
public:
  explicit FrameBuilder(warp::KernelOp kernel) : kernel(kernel), b(kernel), loc(kernel.getLoc()) {}

  FailureOr<KernelState> run() {
    state.schedule = kernel->getAttrOfType<tile::ScheduleAttr>("schedule");
    if (!state.schedule && !kernel->hasAttr("schedule"))
      return kernel.emitError("has no schedule");
    totalWarpgroups = warpgroups();
    state.threads = 128 * totalWarpgroups;
    needs = conditions();
    declareSharedMemory();
    makeFunction();
    placeThread();
    if (failed(expandArguments()) || failed(describe()))
      return failure();
    if (hasUnknownExtent)
      return kernel.emitError("an extent of the grid is no expression of dims and integer parameters that a launch can evaluate");
    Block *body = &kernel.getBody().front();
    warp::RolesOp roles;
    for (Operation &op : llvm::make_early_inc_range(*body)) {
      if (isa<warp::ReturnOp>(op))
        continue;
      op.moveBefore(entry, entry->end());
      if (auto found = dyn_cast<warp::RolesOp>(op))
        roles = found;
    }
    b.setInsertionPointToEnd(entry);
    LLVM::ReturnOp::create(b, loc, ValueRange());
    if (!roles)
      return kernel.emitError("has no warp.roles");
    b.setInsertionPoint(roles);
    initialiseBarriers();
    branchOnRole(roles);
    kernel.erase();
    return state;
  }

private:
  void declareSharedMemory() {
    auto module = kernel->getParentOfType<ModuleOp>();
    if (module.lookupSymbol("smem"))
      return;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false, LLVM::Linkage::External, "smem",
                           Attribute(), /*alignment=*/1024, /*addrSpace=*/3);
  }

  int64_t warpgroups() {
    int64_t count = 0;
    kernel->walk([&](warp::RoleOp role) { count += role.getWarpgroups(); });
    return count;
  }

  void makeFunction() {
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {});
    state.function = LLVM::LLVMFuncOp::create(b, loc, kernel.getSymName(), type);
    state.function->setAttr("nvvm.kernel", b.getUnitAttr());
    state.function->setAttr("nvvm.reqntid", b.getDenseI32ArrayAttr({static_cast<int32_t>(128 * totalWarpgroups)}));
    auto program = kernel->getAttrOfType<tile::ProgramAttr>("schedule");
    state.function->setAttr("nvvm.minctasm", b.getI32IntegerAttr(program ? program.getCtas() : 1));
    state.function->setAttr("denormal_fp_math_f32", b.getStringAttr("preserve-sign"));
    if (auto schedule = kernel->getAttrOfType<tile::ScheduleAttr>("schedule"); schedule && schedule.getPolynomial())
      state.function->setAttr("tile.polynomial", b.getI64IntegerAttr(schedule.getPolynomial()));
    entry = state.function.addEntryBlock(b);
    b.setInsertionPointToEnd(entry);
  }

  void placeThread() {
    ThreadPlace &place = state.place;
    Type i32 = b.getI32Type(), i64 = b.getI64Type();
    auto constant = [&](int64_t value) { return constantInt(b, loc, value); };
    auto widen = [&](Value value) -> Value { return arith::ExtUIOp::create(b, loc, i64, value); };
    place.thread = NVVM::ThreadIdXOp::create(b, loc, i32);
    Value group = arith::ShRUIOp::create(b, loc, place.thread, constant(7));
    Value all = constant(-1), zero = constant(0), lanes = constant(31), three = constant(3);
    place.group = NVVM::ShflOp::create(b, loc, i32, all, group, zero, lanes, NVVM::ShflKind::idx, UnitAttr());
    Value lane = arith::AndIOp::create(b, loc, place.thread, lanes), warp = arith::ShRUIOp::create(b, loc, place.thread, constant(5));
    warp = arith::AndIOp::create(b, loc, warp, three);
    place.laneIsFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lane, zero);
    Value above = arith::MulIOp::create(b, loc, warp, constant(16)), inside = arith::ShRUIOp::create(b, loc, lane, constant(2));
    place.row = widen(arith::AddIOp::create(b, loc, above, inside));
    Value pair = arith::AndIOp::create(b, loc, lane, three);
    place.column = widen(arith::MulIOp::create(b, loc, pair, constant(2)));
    if (sharedBytes() == 0 && kernel.getBody().front().getOps<warp::RingOp>().empty())
      return;
    Value symbol = LLVM::AddressOfOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext(), 3), "smem");
    Value address = LLVM::PtrToIntOp::create(b, loc, i32, symbol);
    Value past = arith::AddIOp::create(b, loc, address, constant(1023));
    place.shared = arith::AndIOp::create(b, loc, past, constant(-1024));
  }

  Value addArgument(Type type, ArrayRef<NamedAttribute> facts) {
    types.push_back(type);
    arguments.push_back(b.getDictionaryAttr(facts));
    return entry->addArgument(type, loc);
  }

  /// How many heads share a tile is known to the launch, which passes it.
  void passPackings() {
    SmallVector<tile::PackingOp> ops;
    kernel->walk([&](tile::PackingOp op) { ops.push_back(op); });
    std::map<std::string, Value> shifts;
    for (tile::PackingOp op : ops) {
      std::string text = prefix(op.getShift());
      Value &shift = shifts[text];
      if (!shift) {
        Value narrow = addArgument(b.getI32Type(), {named(b, "kind", "value"), named(b, "expr", text), named(b, "type", "i32")});
        shift = arith::ExtUIOp::create(b, loc, b.getI64Type(), narrow);
        state.ranges[shift] = {0, mostPacking};
      }
      op.getShift().replaceAllUsesWith(shift);
      op.erase();
    }
  }

  /// Gives every argument of the kernel its parts, and casts them back to what the body uses.
  LogicalResult expandArguments() {
    passPackings();
    llvm::StringMap<Value> dims;
    Type i64 = b.getI64Type(), pointer = LLVM::LLVMPointerType::get(b.getContext(), 1);
    SmallVector<std::pair<BlockArgument, SmallVector<Value>>> memories;
    for (BlockArgument argument : kernel.getArguments()) {
      auto facts = [&](StringRef name) { return kernel.getArgAttr(argument.getArgNumber(), name); };
      if (auto dim = dyn_cast_or_null<StringAttr>(facts("tile.dim"))) {
        Value narrow = addArgument(b.getI32Type(), {named(b, "kind", "dim"), named(b, "dim", dim)});
        dims[dim.getValue()] = arith::ExtUIOp::create(b, loc, i64, narrow);
        state.ranges[dims[dim.getValue()]] = rangeOfDim;
        argument.replaceAllUsesWith(dims[dim.getValue()]);
        continue;
      }
      auto name = dyn_cast_or_null<StringAttr>(facts("tile.name"));
      if (!name)
        return kernel.emitError("argument ") << argument.getArgNumber() << " has neither `tile.name` nor `tile.dim`";
      auto memory = dyn_cast<MemRefType>(argument.getType());
      if (!memory) {
        Type type = argument.getType().isInteger(1) ? b.getI8Type() : argument.getType();
        Value value = addArgument(type, {named(b, "kind", "scalar"), named(b, "name", name), named(b, "type", tile::elementTypeName(argument.getType()))});
        if (type != argument.getType())
          value = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, constantInt(b, loc, 0, 8));
        argument.replaceAllUsesWith(value);
        continue;
      }
      if (facts("tile.role") == b.getStringAttr("scratch")) {
        memories.push_back({argument, {addArgument(pointer, {named(b, "kind", "scratch"), named(b, "bytes", tile::describeScratch(kernel, argument.getArgNumber()))})}});
        continue;
      }
      makeTensorMaps(argument, name);
      SmallVector<Value> parts{addArgument(pointer, {named(b, "kind", "pointer"), named(b, "tensor", name)})};
      for (int64_t axis = 0; axis < memory.getRank(); ++axis)
        parts.push_back(addArgument(i64, {named(b, "kind", "stride"), named(b, "tensor", name), named(b, "axis", axis)}));
      memories.push_back({argument, parts});
    }
    for (auto &[argument, parts] : memories) {
      auto extents = dyn_cast_or_null<ArrayAttr>(kernel.getArgAttr(argument.getArgNumber(), "tile.dims"));
      auto memory = cast<MemRefType>(argument.getType());
      if (!extents || static_cast<int64_t>(extents.size()) != memory.getRank())
        return kernel.emitError("argument ") << argument.getArgNumber() << " needs one entry of `tile.dims` an axis";
      Value wanted = wantedOutput(argument, parts.front());
      for (Attribute extent : extents) {
        FailureOr<Value> value = extentValue(extent, dims);
        if (failed(value))
          return failure();
        parts.push_back(wanted ? arith::SelectOp::create(b, loc, wanted, *value, constantInt(b, loc, 0, 64)) : *value);
      }
      if (static_cast<int64_t>(parts.size()) == 1 + memory.getRank()) { // scratch: row-major
        SmallVector<Value> strides{constantInt(b, loc, 1, 64)};
        for (Value extent : llvm::reverse(ArrayRef(parts).drop_front(2)))
          strides.push_back(arith::MulIOp::create(b, loc, strides.back(), extent));
        parts.insert(parts.begin() + 1, strides.rbegin(), strides.rend());
      }
      Value cast = UnrealizedConversionCastOp::create(b, loc, TypeRange{memory}, parts).getResult(0);
      argument.replaceAllUsesWith(cast);
    }
    if (int64_t bytes = workspaceBytes())
      state.workspace = addArgument(pointer, {named(b, "kind", "workspace"), named(b, "bytes", bytes)});
    state.function.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types));
    for (auto [number, facts] : llvm::enumerate(arguments)) {
      state.function.setArgAttr(number, argumentAttr, facts);
      if (!isTensorMap(facts))
        continue;
      state.function.setArgAttr(number, "llvm.byval", TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), 128)));
      state.function.setArgAttr(number, "llvm.align", b.getI64IntegerAttr(64));
      state.function.setArgAttr(number, "nvvm.grid_constant", b.getUnitAttr());
    }
    return success();
  }

  /// 0 where nothing is counted; counts of visits stand behind the others.
  int64_t workspaceBytes() {
    int64_t bytes = 0;
    kernel->walk([&](Operation *op) { bytes = std::max<int64_t>(bytes, isa<tile::VisitOp>(op) ? 32 : isa<warp::QueueOp, warp::ClaimOp>(op) ? 16 : 0); });
    return bytes;
  }

  /// Whether the pointer of an optional output is not null; nothing for other arguments. An output that is not wanted has no elements, so that
  /// every store to it is dropped.
  Value wantedOutput(BlockArgument argument, Value pointer) {
    if (!kernel.getArgAttr(argument.getArgNumber(), "tile.optional"))
      return Value();
    Value null = LLVM::ZeroOp::create(b, loc, pointer.getType());
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, pointer, null);
  }

  static bool isTensorMap(Attribute facts) {
    return cast<StringAttr>(cast<DictionaryAttr>(facts).get("kind")).getValue() == "tensor_map";
  }

  /// A number, a dim, or `(op a b)` over them.
  FailureOr<Value> extentValue(Attribute extent, const llvm::StringMap<Value> &dims) {
    if (auto number = dyn_cast<IntegerAttr>(extent))
      return constantInt(b, loc, number.getInt(), 64);
    StringRef text = cast<StringAttr>(extent).getValue();
    Value value = tile::emitPrefix(b, loc, text, [&](StringRef name) -> Value {
      if (Value dim = dims.lookup(name))
        return dim;
      for (auto [number, facts] : llvm::enumerate(arguments))
        if (auto scalar = cast<DictionaryAttr>(facts).getAs<StringAttr>("name"); scalar && scalar.getValue() == name)
          return b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), entry->getArgument(number));
      return {};
    });
    if (!value)
      return kernel.emitError("cannot compute the extent `") << text << "`";
    return value;
  }

  /// One map for each shape of box that the kernel copies out of a tensor. Rows of a narrower box lie as far apart in shared memory: the swizzle says how far. A box of packed rows has
  /// 2^shift heads and the rest of its rows in positions, heads first.
  void makeTensorMaps(BlockArgument memory, StringAttr name) {
    std::map<std::tuple<int64_t, int64_t, int64_t, std::string>, Value> maps; // (rows, axis of rows, columns, shift)
    for (Operation *user : memory.getUsers()) {
      auto copy = dyn_cast<warp::CopyOp>(user);
      if (!copy)
        continue;
      warp::RingType ring = copy.getRing().getType();
      int64_t rows = ring.getRows(), axis = copy.getAxes()[0], rank = cast<MemRefType>(memory.getType()).getRank();
      for (int64_t panel = 0; panel < ring.getPanels(); ++panel) {
        int64_t columns = ring.getCopiedColumns(panel);
        std::string shift = copy.getShift() ? prefix(copy.getShift()) : "";
        Value &map = maps[{rows, axis, columns, shift}];
        if (!map) {
          SmallVector<int64_t> axes;
          SmallVector<Attribute> box;
          for (int64_t a = rank - 1; a >= 0; --a) {
            axes.push_back(a);
            box.push_back(b.getI64IntegerAttr(a == rank - 1 ? columns : a == axis ? rows : 1));
          }
          if (copy.getShift()) {
            std::string heads = "(<< 1 " + shift + ")";
            std::swap(axes[1], axes[2]);
            box[1] = b.getStringAttr(heads), box[2] = b.getStringAttr("(/ " + std::to_string(rows) + " " + heads + ")");
          }
          map = addArgument(LLVM::LLVMPointerType::get(b.getContext()),
                            {named(b, "kind", "tensor_map"), named(b, "tensor", name), named(b, "axes", b.getI64ArrayAttr(axes)),
                             named(b, "box", b.getArrayAttr(box)), named(b, "swizzle", 128)});
        }
        state.tensorMaps[copy].push_back(map);
      }
    }
  }

  //===-- control flow ----------------------------------------------------------------------------===//

  void initialiseBarriers() {
    auto rings = llvm::to_vector(entry->getOps<warp::RingOp>());
    auto queues = entry->getOps<warp::QueueOp>();
    if (rings.empty() && queues.empty())
      return;
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, state.place.thread, constantInt(b, loc, 0));
    auto branch = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      for (warp::RingOp ring : rings) {
        int64_t slots = ring.getCopies() * ring.getRing().getType().getStages();
        int64_t readers = 4 * (ring.getCopies() > 1 ? 1 : ring.getConsumers());
        for (int64_t i = 0; i < 2 * slots; ++i) {
          Value address = arith::AddIOp::create(b, loc, state.place.shared, constantInt(b, loc, *ring.getBarriers() + 8 * i));
          ptx::mbarrierInit(b, loc, address, constantInt(b, loc, i < slots ? 1 : readers));
        }
      }
      for (warp::QueueOp queue : queues)
        initialiseQueue(b, queue, state.place.shared);
      NVVM::FenceMbarrierInitOp::create(b, loc);
      NVVM::FenceProxyOp::create(b, loc, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
                                 NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
    }
    Value barrier = constantInt(b, loc, 0), threads = constantInt(b, loc, 128 * totalWarpgroups);
    ptx::barrierSync(b, loc, barrier, threads);
  }

  /// `if group < n0 { first role } else { rest }`.
  void branchOnRole(warp::RolesOp roles) {
    auto all = llvm::to_vector(roles.getBody().front().getOps<warp::RoleOp>());
    int64_t first = 0;
    for (auto [number, role] : llvm::enumerate(all)) {
      bool last = number + 1 == all.size();
      scf::IfOp branch;
      if (!last) {
        Value mine = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, state.place.group,
                                           constantInt(b, loc, first + role.getWarpgroups()));
        branch = scf::IfOp::create(b, loc, mine, /*withElseRegion=*/true);
        b.setInsertionPointToStart(branch.thenBlock());
      }
      enterRole(role, first);
      if (branch)
        b.setInsertionPointToStart(branch.elseBlock());
      first += role.getWarpgroups();
    }
    roles.erase();
  }

  void enterRole(warp::RoleOp role, int64_t first) {
    OpBuilder::InsertionGuard guard(b);
    if (int64_t registers = role.getRegisters())
      NVVM::SetMaxRegisterOp::create(b, loc, registers,
                                     role.getElected() ? NVVM::SetMaxRegisterAction::decrease : NVVM::SetMaxRegisterAction::increase);
    if (role.getElected()) {
      constexpr int64_t lanes = 32;
      Value chosen = role.getWholeWarp() ? arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, state.place.thread, constantInt(b, loc, 128 * first + lanes))
                                         : arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, state.place.thread, constantInt(b, loc, 128 * first));
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, chosen, /*withElseRegion=*/false).thenBlock());
    }
    Value group = arith::SubIOp::create(b, loc, state.place.group, constantInt(b, loc, first));
    Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), group);
    state.ranges[wide] = {0, static_cast<int64_t>(role.getWarpgroups()) - 1};
    role->walk([&](warp::WarpgroupOp op) {
      op.replaceAllUsesWith(wide);
      op.erase();
    });
    role->walk([&](warp::ForTilesOp op) {
      if (op.getDynamic())
        lowerDynamicTiles(op, *entry->getOps<warp::QueueOp>().begin(), role, state);
      else
        lowerStridedTiles(op);
    });
    fillByFirstLane(role);
    countByOneThread(role, first, state);
    Block &body = role.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      op.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
  }

  /// What fills a slot: copies, notes and the commit, one after the other.
  void fillByFirstLane(warp::RoleOp role) {
    if (!role.getWholeWarp())
      return;
    SmallVector<Operation *> fills;
    auto isFill = llvm::IsaPred<warp::CopyOp, warp::NoteOp, warp::CommitOp>;
    role->walk([&](Operation *op) {
      if (isFill(op) && !(op->getPrevNode() && isFill(op->getPrevNode())))
        fills.push_back(op);
    });
    for (Operation *op : fills) {
      OpBuilder at(op);
      enterFirstLane(at, op->getLoc(), role, state);
      Operation *end = &*at.getInsertionPoint();
      while (isFill(op)) {
        Operation *next = op->getNextNode();
        op->moveBefore(end);
        op = next;
      }
    }
  }

  //===-- manifest --------------------------------------------------------------------------------===//

  LogicalResult describe() {
    FailureOr<SmallVector<NamedAttribute>> facts = tile::describeSignature(kernel);
    if (failed(facts))
      return failure();
    facts->append({named(b, "form", tile::stringifyForm(form())),
                   named(b, "grid", b.getDictionaryAttr({named(b, "tiles", gridRule()), named(b, "persistent", b.getBoolAttr(isPipelined()))})),
                   named(b, "threads", state.threads), named(b, "shared_bytes", sharedBytes()), named(b, "ctas_per_sm", 1),
                   named(b, "schedule", scheduleFacts()), named(b, "conditions", b.getArrayAttr(needs))});
    if (kernel->hasAttr("tile.prepass"))
      facts->push_back(named(b, "prepass", b.getBoolAttr(true)));
    if (auto packing = kernel->getAttrOfType<StringAttr>("tile.packing"))
      facts->push_back(named(b, "packing", packing));
    if (state.schedule && state.schedule.getPackHeads())
      facts->push_back(named(b, "packed", b.getBoolAttr(true)));
    if (Attribute shared = kernel->getAttr("shared"))
      facts->push_back(named(b, "shared", shared));
    state.function->setAttr(manifestAttr, b.getDictionaryAttr(*facts));
    return success();
  }

  tile::Form form() { return state.schedule ? state.schedule.getForm() : tile::Form::Direct; }
  bool isPipelined() { return form() == tile::Form::Pipelined; }

  int64_t sharedBytes() {
    auto bytes = kernel->getAttrOfType<IntegerAttr>("shared_bytes");
    return bytes ? bytes.getInt() : 0;
  }

  DictionaryAttr scheduleFacts() {
    if (state.schedule)
      return tile::describeSchedule(state.schedule);
    auto program = kernel->getAttrOfType<tile::ProgramAttr>("schedule");
    return b.getDictionaryAttr({named(b, "form", tile::stringifyForm(form())), named(b, "threads", program.getThreads()), named(b, "ctas", program.getCtas())});
  }

  /// What a pipelined kernel needs of the tensors that it stores in words; the rules of tensor maps follow from the maps themselves.
  SmallVector<Attribute> conditions() {
    SmallVector<Attribute> result;
    if (!isPipelined())
      return result;
    llvm::SetVector<StringAttr> stored;
    kernel->walk([&](tile::StoreOp store) {
      if (store.getTile().getType().getRank() == 2 && store.getTile().getType().getElementTypeBitWidth() == 16)
        stored.insert(kernel.getArgAttrOfType<StringAttr>(cast<BlockArgument>(store.getMemory()).getArgNumber(), "tile.name"));
    });
    for (StringAttr name : stored) {
      std::string tensor = "`" + name.str() + "`";
      result.push_back(b.getDictionaryAttr({named(b, "kind", "aligned"), named(b, "tensor", name), named(b, "bytes", 4),
                                            named(b, "text", tensor + " starts at a multiple of 4 bytes")}));
      result.push_back(b.getDictionaryAttr({named(b, "kind", "stride_multiple"), named(b, "tensor", name), named(b, "bytes", 4),
                                            named(b, "text", "strides of " + tensor + " are multiples of 4 bytes")}));
      result.push_back(b.getDictionaryAttr({named(b, "kind", "inner_contiguous"), named(b, "tensor", name),
                                            named(b, "text", "the last axis of " + tensor + " has stride 1")}));
    }
    return result;
  }

  /// The number of tiles as a prefix expression over dims, read off the tile loop's bound.
  std::string gridRule() {
    std::string rule = "1";
    kernel->walk([&](warp::ForTilesOp op) {
      rule = prefix(op.getTotal());
      return WalkResult::interrupt();
    });
    return rule;
  }

  /// Of the kernel's arguments by name, and of those of the function that replaced them: dims and scalars, widened or not.
  std::string prefix(Value value) {
    std::string text = tile::printPrefix(value, [&](BlockArgument argument) -> std::string {
      auto facts = argument.getOwner() == entry ? cast<DictionaryAttr>(arguments[argument.getArgNumber()]) : DictionaryAttr();
      for (StringRef kind : {"dim", "name", "expr"})
        if (auto name = facts ? facts.getAs<StringAttr>(kind) : StringAttr())
          return name.str();
      if (argument.getOwner()->getParentOp() == kernel)
        for (StringRef kind : {"tile.dim", "tile.name"})
          if (auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kind))
            return name.str();
      return "";
    });
    hasUnknownExtent |= text.empty();
    return text.empty() ? "0" : text;
  }

  warp::KernelOp kernel;
  OpBuilder b;
  Location loc;
  KernelState state;
  Block *entry = nullptr;
  int64_t totalWarpgroups = 0;
  SmallVector<Attribute> needs;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> arguments;
  bool hasUnknownExtent = false;
};

} // namespace

FailureOr<KernelState> tegula::lowerStructure(warp::KernelOp kernel) { return FrameBuilder(kernel).run(); }

void tegula::finishKernel(KernelState &state) {
  LLVM::LLVMFuncOp function = state.function;
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
    if (isa<warp::RingOp, warp::QueueOp>(op))
      op.erase();
  // Casts between a memref and its parts cancel; what is left of them has no use.
  SmallVector<UnrealizedConversionCastOp> casts;
  function->walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  reconcileUnrealizedCasts(casts);
  // Several rounds: a scalar computation that nothing uses keeps its operands alive.
  bool changed = true;
  while (changed) {
    changed = false;
    function->walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (op != function && isOpTriviallyDead(op)) {
        op->erase();
        changed = true;
      }
    });
  }
  llvm::BitVector unused(function.getNumArguments());
  SmallVector<Type> types;
  SmallVector<Attribute> kept, attributes;
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (argument.use_empty()) {
      unused.set(number);
      continue;
    }
    types.push_back(argument.getType());
    kept.push_back(function.getArgAttr(number, argumentAttr));
    DictionaryAttr facts = function.getArgAttrDict(number);
    attributes.push_back(facts);
  }
  function.getBody().front().eraseArguments(unused);
  function.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(function.getContext()), types));
  Builder b(function.getContext());
  NamedAttrList facts(function->getAttrOfType<DictionaryAttr>(manifestAttr));
  facts.set("arguments", b.getArrayAttr(kept));
  function->setAttr(manifestAttr, facts.getDictionary(function.getContext()));
  function.setArgAttrsAttr(b.getArrayAttr(attributes));
}
