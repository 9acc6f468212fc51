// tegula-choose-schedule: sets the schedule of each tile.attention.
//
// In: element type, head dims, a target record, overrides. Out: one #tile.schedule. The one idea: of the pipelined schedules that fit, the one that a model of the machine expects to be
// fastest; what the user fixes is kept or refused with the limit that it breaks.
#include "passes/attention/ChooseSchedule.h"
#include "passes/attention/AttentionProgram.h"
#include "passes/attention/PairTables.h"
#include "passes/attention/ScheduleCost.h"
#include "dialect/tile/PrefixExpr.h"
#include "passes/Passes.h"
#include "passes/mask/KeyOrder.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <utility>

namespace tegula {
#define GEN_PASS_DEF_CHOOSESCHEDULEPASS
#include "passes/Passes.h.inc"
} // namespace tegula

using namespace mlir;
using namespace tegula;
using namespace tegula::tile;

namespace {

using Fields = ScheduleFields;

bool isValid(const Fields &f, MLIRContext *context) {
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  return succeeded(f.check([&] { return emitError(UnknownLoc::get(context)); }));
}

/// What the user fixed: a field that is not named stays free.
struct Overrides {
  std::optional<Form> form;
  std::optional<int64_t> blockM, blockN, consumers, stages, qStages, producerRegisters, consumerRegisters, polynomial;
  std::optional<bool> pingPong, overlap, halfBlocks, packHeads;
  std::optional<SoftmaxForm> softmax;
  std::optional<TileOrder> tiles;
  std::optional<Walk> walk;
  std::optional<Epilogue> epilogue;

  LogicalResult parse(ArrayRef<std::string> texts, FieldError emitError) {
    for (StringRef text : texts) {
      auto [field, value] = text.split('=');
      if (failed(set(field.trim(), value.trim(), emitError)))
        return failure();
    }
    return success();
  }

  /// The first field that was set and that `form` does not read, or "".
  StringRef withoutEffect(Form form) const {
    if (form == Form::Pipelined)
      return "";
    std::pair<StringRef, bool> unread[] = {{"stages", stages.has_value()},
                                           {"q_stages", form == Form::Sequential && qStages},
                                           {"producer_registers", producerRegisters.has_value()},
                                           {"consumer_registers", consumerRegisters.has_value()},
                                           {"ping_pong", pingPong.has_value()},
                                           {"consumers", form == Form::Sequential && consumers},
                                           {"tiles", tiles.has_value()},
                                           {"overlap", overlap.has_value()},
                                           {"walk", walk.has_value()},
                                           {"polynomial", polynomial.has_value()},
                                           {"half_blocks", halfBlocks.has_value()},
                                           {"epilogue", epilogue.has_value()},
                                           {"softmax", form == Form::Sequential && softmax}};
    for (auto [field, isSet] : unread)
      if (isSet)
        return field;
    return "";
  }

private:
  LogicalResult set(StringRef field, StringRef value, FieldError emitError) {
    if (field == "form") {
      form = symbolizeForm(value);
      return form ? success()
                  : emitError(field) << "expected `form` of the schedule to be direct, pipelined or sequential, but got `" << value << "`";
    }
    if (field == "softmax") {
      softmax = symbolizeSoftmaxForm(value);
      return softmax ? success() : emitError(field) << "expected `softmax` of the schedule to be online, threshold or fixed, but got `" << value << "`";
    }
    if (field == "tiles") {
      tiles = symbolizeTileOrder(value);
      return tiles ? success() : emitError(field) << "expected `tiles` of the schedule to be stride, counter or longest_first, but got `" << value << "`";
    }
    if (field == "walk") {
      walk = symbolizeWalk(value);
      return walk ? success() : emitError(field) << "expected `walk` of the schedule to be ascending or descending, but got `" << value << "`";
    }
    if (field == "epilogue") {
      epilogue = symbolizeEpilogue(value);
      return epilogue ? success() : emitError(field) << "expected `epilogue` of the schedule to be wide or pairs, but got `" << value << "`";
    }
    if (auto *slot = llvm::StringSwitch<std::optional<bool> *>(field)
                         .Case("ping_pong", &pingPong).Case("overlap", &overlap).Case("half_blocks", &halfBlocks).Case("pack_heads", &packHeads).Default(nullptr)) {
      std::optional<bool> &flag = *slot;
      flag = llvm::StringSwitch<std::optional<bool>>(value).Cases({"true", "1"}, true).Cases({"false", "0"}, false).Default(std::nullopt);
      return flag ? success() : emitError(field) << "expected `" << field << "` of the schedule to be true or false, but got `" << value << "`";
    }
    auto *slot = llvm::StringSwitch<std::optional<int64_t> *>(field)
                     .Case("block_m", &blockM).Case("block_n", &blockN).Case("consumers", &consumers).Case("stages", &stages)
                     .Case("q_stages", &qStages).Case("producer_registers", &producerRegisters)
                     .Case("consumer_registers", &consumerRegisters).Case("polynomial", &polynomial).Default(nullptr);
    if (!slot)
      return emitError(field) << "unknown field `" << field << "` of the schedule; known: form, block_m, block_n, consumers, stages, q_stages, "
                            "producer_registers, consumer_registers, ping_pong, softmax, tiles, overlap, walk, polynomial, half_blocks, epilogue, pack_heads";
    int32_t number; // every field is far below, so that products of fields stay inside i64
    if (value.getAsInteger(10, number))
      return emitError(field) << "expected `" << field << "` of the schedule to be an integer of 32 bits, but got `" << value << "`";
    *slot = number;
    return success();
  }
};

constexpr int64_t barrierBytes = 1024, panelColumns = 64;

int64_t panels(int64_t dim) { return (dim + panelColumns - 1) / panelColumns; }

/// `setmaxnreg` counts that fill the register file with one producer warpgroup beside `consumers`.
void fillRegisters(Fields &f) {
  static constexpr int64_t producer[] = {24, 24, 32, 32}, consumer[] = {240, 240, 160, 112};
  f.producerRegisters = producer[f.consumers - 1];
  f.consumerRegisters = consumer[f.consumers - 1];
}

bool canPipeline(const AttentionShape &shape, const Target &target) {
  return target.hasTma && target.hasWarpgroupMma && shape.elementBits == 16 && shape.headDim % 8 == 0 && shape.valueDim % 8 == 0 &&
         shape.headDim >= 32 && shape.valueDim >= 32 && shape.headDim <= 256 && shape.valueDim <= 256;
}

bool fits(const Fields &f, MLIRContext *context, const AttentionShape &shape, const Target &target) {
  ScheduleAttr schedule = f.get(context);
  return sharedBytes(schedule, shape) <= target.sharedPerBlock && consumerRegisters(schedule, shape) <= f.consumerRegisters;
}

/// A fixed reference, where one may be taken, from where an ascending walk begins.
SoftmaxForm softmaxOf(const Overrides &fixed, const AttentionShape &shape) {
  bool isFixed = shape.fixesReference && fixed.walk != Walk::Descending;
  return fixed.softmax.value_or(isFixed ? SoftmaxForm::Fixed : SoftmaxForm::Threshold);
}

/// Whether four warpgroups that start and end at blocks of their own, or leave out blocks of a list, are the better choice: where a row sees the keys between two limits, or some of those before
/// it, walks are short, so that what two warpgroups leave idle at their ends, and what they do in vain there, counts. Each then takes one block after the other, as three others have work in the
/// meantime (D = 64: windows of 256 to 4096 keys 1.15 to 1.2 times as fast, with global keys 1.27, chunks of 1024 1.07; documents, whose ids each pair is tested for, .94).
bool walksAlone(const Overrides &fixed, const AttentionShape &shape) {
  bool hasHoles = shape.seesInterval || (shape.growsWithRows && shape.seesByPlace);
  return hasHoles && !shape.seesPrefix && !shape.computesScores && shape.headDim <= 64 && shape.valueDim <= 64 && softmaxOf(fixed, shape) == SoftmaxForm::Fixed;
}

/// A pipelined schedule with `consumers` warpgroups and `blockN` keys, where nothing else is fixed.
Fields pipelined(const Overrides &fixed, MLIRContext *context, const AttentionShape &shape, const Target &target, int64_t consumers, int64_t blockN) {
  Fields f;
  f.form = Form::Pipelined, f.consumers = consumers, f.blockN = blockN;
  f.blockM = fixed.blockM.value_or(64 * consumers);
  // Four warpgroups that end at different blocks are far apart: a deep ring lets the first ones go on, and none waits for the exchange of another's outputs (causal, D = 64: 1.04 to 1.06 times as fast;
  // full, where they end together: .96 to 1.005).
  bool areAlone = consumers == 4 && walksAlone(fixed, shape), areApart = consumers == 4 && (areAlone || shape.growsWithRows);
  f.overlap = fixed.overlap.value_or(!areAlone), f.walk = fixed.walk.value_or(Walk::Ascending), f.polynomial = fixed.polynomial.value_or(0);
  f.epilogue = fixed.epilogue.value_or(areApart ? Epilogue::Pairs : Epilogue::Wide);
  // Half of a block is something to spare where it has as many keys as a warpgroup has rows.
  f.halfBlocks = fixed.halfBlocks.value_or(shape.growsWithRows && blockN % 32 == 0 && blockN >= 128 && f.walk == Walk::Ascending && f.overlap);
  // Where several warpgroups end at different blocks, they do not wait for each other's turns; nor where a tile's keys have a first one too, so that walks are short, but for the exponentials of
  // small heads.
  bool isShort = shape.seesInterval && !shape.seesPrefix && shape.headDim > 64;
  f.pingPong = fixed.pingPong.value_or(consumers > 1 && f.overlap && shape.headDim <= 128 && !isShort && !(shape.growsWithRows && consumers > 2));
  f.softmax = softmaxOf(fixed, shape);
  f.tiles = fixed.tiles.value_or(shape.growsWithRows ? TileOrder::LongestFirst : TileOrder::Counter);
  f.stages = fixed.stages.value_or(2), f.qStages = fixed.qStages.value_or(1);
  if (!isValid(f, context))
    return f;
  fillRegisters(f);
  // Rings of 256 keys, where there is room; a number of slots that is no power of two costs a division a block. A second query tile lets the producer start the next tile's loads while this one's
  // last scores are made.
  AttentionShape twoTables = shape;
  twoTables.tableBits *= 2;
  auto raise = [&](int64_t &field, bool isFixed, int64_t value) {
    int64_t before = std::exchange(field, isFixed ? field : value);
    if (!isFixed && !fits(f, context, twoTables, target))
      field = before;
  };
  raise(f.stages, fixed.stages.has_value(), blockN <= 64 ? 4 : 2);
  if (areApart)
    raise(f.stages, fixed.stages.has_value(), 8);
  raise(f.qStages, fixed.qStages.has_value(), 2);
  return f;
}

/// What a problem of these lengths is expected to run at, on the average of their orders of magnitude.
double expectedSpeed(ScheduleAttr schedule, const AttentionShape &shape, const Target &target) {
  double product = 1;
  for (int64_t length : {1024, 4096, 16384})
    product *= expectedTflops(schedule, shape, target, length);
  return std::cbrt(product);
}

/// The best of those that fit; the smallest where none does.
Fields choosePipelined(const Overrides &fixed, MLIRContext *context, const AttentionShape &shape, const Target &target) {
  // With a running max, or a reference to be looked for in each block, a third warpgroup has too few registers; a fourth one has none for scores to be computed.
  // Rows with lists of their own share few blocks: the fewer rows a tile has, the less is visited and looked through.
  SmallVector<int64_t> consumers{shape.listsKeys ? 1 : 2}, blocks{128, 112, 96, 80, 64, 48, 32, 16};
  if (!shape.listsKeys && shape.seesPrefix && softmaxOf(fixed, shape) == SoftmaxForm::Fixed)
    consumers.append(shape.computesScores ? std::initializer_list<int64_t>{3} : std::initializer_list<int64_t>{3, 4});
  if (walksAlone(fixed, shape))
    consumers = {4, 2};
  if (fixed.consumers)
    consumers = {*fixed.consumers};
  else if (fixed.blockM)
    consumers = {std::max<int64_t>(*fixed.blockM / 64, 1)};
  if (fixed.blockN)
    blocks = {*fixed.blockN};
  Fields best = pipelined(fixed, context, shape, target, consumers.front(), blocks.back());
  double speed = 0;
  for (int64_t count : consumers) {
    if (count < best.consumers && speed > 0)
      break; // the first choice fits
    for (int64_t blockN : blocks) {
      if (blockN < 64 && speed > 0)
        break; // shorter blocks are for where nothing else fits: what a block costs beside its keys was never won back
      Fields f = pipelined(fixed, context, shape, target, count, blockN);
      if (!isValid(f, context) || !fits(f, context, shape, target))
        continue;
      if (double expected = expectedSpeed(f.get(context), shape, target); expected > speed)
        best = f, speed = expected;
    }
  }
  return best;
}

/// Whether scalar code reads a table where `index` says.
bool readsTableAt(Value index) {
  SetVector<Operation *> dependent;
  getForwardSlice(index, &dependent);
  return llvm::any_of(dependent, llvm::IsaPred<LookupOp>);
}

/// Whether several query heads read the keys of one, and what is computed of an element takes nothing from its head, nor from tables by its row: that stays what it is for a tile of one head.
bool canPackHeads(AttentionOp op) {
  auto isFree = [](Region &region, unsigned head) { return region.empty() || (region.getArgument(head).use_empty() && !readsTableAt(region.getArgument(head + 2))); };
  return op.getHeads() != op.getKvHeads() && isFree(op.getScale(), 1) && isFree(op.getScore(), 2) && isFree(op.getMask(), 1) && isFree(op.getWeight(), 2) && isFree(op.getExtra(), 1);
}

/// Whether a thread's registers hold the query tile beside the accumulator: what they leave of 255 is for loads in flight, and was measured.
bool holdsQuery(const AttentionShape &shape) {
  return shape.headDim / 2 * shape.elementBits / 32 + shape.valueDim / 2 <= 128;
}

} // namespace

int64_t tegula::sharedBytes(ScheduleAttr schedule, const AttentionShape &shape) {
  if (schedule.getForm() != Form::Pipelined)
    return 0;
  int64_t row = panelColumns * 2, q = panels(shape.headDim) * row, v = panels(shape.valueDim) * row;
  int64_t tables = llvm::divideCeil(schedule.getBlockN() * shape.tableBits / 8, row) * row * schedule.getBlockM();
  return tables + schedule.getQStages() * schedule.getBlockM() * q + schedule.getStages() * schedule.getBlockN() * (q + v) + barrierBytes;
}

int64_t tegula::consumerRegisters(ScheduleAttr schedule, const AttentionShape &shape) {
  // Scores in f32, packed weights, the accumulator; addresses, row statistics and counters.
  int64_t rest = schedule.getSoftmax() == SoftmaxForm::Fixed ? 28 + shape.valueDim / 16 + (shape.computesScores ? 16 : 0) : 48;
  // Elements of tables on their way from shared memory, where there are more of them than pairs of 16 bits, or tests beside them.
  if (shape.tableBits)
    rest += std::max((shape.tableBits - 16) * schedule.getBlockN() / 36, shape.growsWithRows ? schedule.getBlockN() / 4 + 1 : 0);
  return schedule.getBlockN() / 2 + schedule.getBlockN() / 4 + shape.valueDim / 2 + rest;
}

ScheduleAttr tegula::chooseSchedule(MLIRContext *context, const AttentionShape &shape, const Target *target,
                                    ArrayRef<std::string> overrideTexts, FieldError emitError) {
  Overrides fixed;
  if (failed(fixed.parse(overrideTexts, emitError)))
    return {};
  Fields f;
  f.form = fixed.form.value_or(!target ? Form::Sequential : canPipeline(shape, *target) ? Form::Pipelined : Form::Direct);
  if ((f.form == Form::Sequential) != !target) {
    emitError("form") << "form `" << stringifyForm(f.form) << "` of the schedule does not run on " << (target ? target->name : "the CPU");
    return {};
  }
  if (f.form == Form::Pipelined && !canPipeline(shape, *target)) {
    emitError("form") << "form `pipelined` of the schedule needs 16-bit operands and head dims from 32 to 256 in steps of 8 on a target with TMA and "
                   "wgmma, but got "
                << shape.elementBits << "-bit operands and head dims " << shape.headDim << " and " << shape.valueDim << " on " << target->name;
    return {};
  }
  if (StringRef field = fixed.withoutEffect(f.form); !field.empty()) {
    emitError(field) << "field `" << field << "` of the schedule has no effect under form `" << stringifyForm(f.form)
                << "`; leave it out, or set form=pipelined";
    return {};
  }
  switch (f.form) {
  case Form::Sequential:
    f.blockM = fixed.blockM.value_or(64), f.blockN = fixed.blockN.value_or(64), f.consumers = 1;
    break;
  case Form::Direct:
    f.consumers = fixed.consumers.value_or(std::max<int64_t>(fixed.blockM.value_or(64) / 64, 1));
    f.blockM = fixed.blockM.value_or(64 * f.consumers);
    f.blockN = fixed.blockN.value_or(16);
    f.qStages = fixed.qStages.value_or(holdsQuery(shape));
    f.softmax = fixed.softmax.value_or(SoftmaxForm::Online);
    break;
  case Form::Pipelined:
    f = choosePipelined(fixed, context, shape, *target);
    // Tables that leave no room for blocks of a sensible size are read where they lie.
    if (shape.tableBits && (!isValid(f, context) || !fits(f, context, shape, *target) || (!fixed.blockN && f.blockN < 64))) {
      AttentionShape alone = shape;
      alone.tableBits = 0;
      return chooseSchedule(context, alone, target, overrideTexts, emitError);
    }
    if (failed(f.check([&] { return emitError(""); })))
      return {};
    f.producerRegisters = fixed.producerRegisters.value_or(f.producerRegisters);
    f.consumerRegisters = fixed.consumerRegisters.value_or(f.consumerRegisters);
    break;
  }
  f.packHeads = fixed.packHeads.value_or(shape.packsHeads && !target); // on a GPU a kernel of its own, which launches take that it is good for
  if (failed(f.check([&] { return emitError(""); })))
    return {};
  ScheduleAttr schedule = f.get(context);
  if (f.form != Form::Pipelined)
    return schedule;
  if (int64_t bytes = sharedBytes(schedule, shape); bytes > target->sharedPerBlock) {
    emitError("") << "the schedule needs " << bytes << " bytes of shared memory, but " << target->name << " has " << target->sharedPerBlock
                << " a block; lower block_n, stages or q_stages";
    return {};
  }
  if (int64_t registers = consumerRegisters(schedule, shape); registers > f.consumerRegisters) {
    emitError("") << "the schedule needs about " << registers << " registers a consumer thread, but has " << f.consumerRegisters
                << "; lower block_n or consumers";
    return {};
  }
  int64_t registers = 128 * (f.producerRegisters + f.consumers * f.consumerRegisters), held = target->registersAtLaunch(f.consumers + 1);
  if (registers > held) {
    emitError("") << "the schedule's roles need " << registers << " registers, but " << f.consumers + 1 << " warpgroups hold " << held << " at their launch on " << target->name;
    return {};
  }
  return schedule;
}

std::optional<std::vector<std::string>> tegula::smallerSchedule(ScheduleAttr schedule, ArrayRef<std::string> overrides) {
  auto isFree = [&](StringRef field) {
    return llvm::none_of(overrides, [&](StringRef text) { return text.split('=').first.trim() == field; });
  };
  std::vector<std::string> next(overrides.begin(), overrides.end());
  if (schedule.getForm() == Form::Pipelined) {
    constexpr int64_t least = 16;
    if (schedule.getConsumers() == 4 && !schedule.getOverlap() && isFree("consumers") && isFree("block_m"))
      next.push_back("consumers=2"); // with shorter blocks four are no gain
    else if (isFree("block_n") && schedule.getBlockN() > least)
      next.push_back("block_n=" + std::to_string(std::max(schedule.getBlockN() * 3 / 4 / least * least, least)));
    else if (overrides.empty())
      next.push_back("form=direct");
    else
      return std::nullopt;
    return next;
  }
  if (schedule.getForm() != Form::Direct || schedule.getQStages() == 0 || !isFree("q_stages"))
    return std::nullopt;
  if (isFree("form"))
    next.push_back("form=direct");
  next.push_back("q_stages=0");
  return next;
}

Location tegula::schedulePlace(Operation *op, ArrayRef<std::string> overrides, StringRef field) {
  Operation *kernel = isa<KernelOp>(op) ? op : op->getParentOp();
  auto fields = kernel->getAttrOfType<ArrayAttr>("tile.schedule"), places = kernel->getAttrOfType<ArrayAttr>("tile.schedule_places");
  auto names = [&](StringRef text) { return field.empty() || text.split('=').first.trim() == field; };
  if (!fields || !places || fields.size() != places.size() || llvm::any_of(overrides, names))
    return op->getLoc();
  for (auto [text, place] : llvm::reverse(llvm::zip(fields.getAsRange<StringAttr>(), places.getAsRange<LocationAttr>())))
    if (names(text))
      return place;
  return op->getLoc();
}

namespace {
struct ChooseSchedulePass : tegula::impl::ChooseSchedulePassBase<ChooseSchedulePass> {
  using ChooseSchedulePassBase::ChooseSchedulePassBase;

  /// The fields of the kernel's own `tile.schedule`, then the overrides. A form among the overrides replaces the former, which may belong to
  /// another one; so does the CPU, which has a form of its own.
  SmallVector<std::string> fixedFields(bool onCpu) {
    SmallVector<std::string> texts;
    auto own = getOperation()->getAttrOfType<ArrayAttr>("tile.schedule");
    if (own && !onCpu && llvm::none_of(overrides, [](StringRef text) { return text.split('=').first.trim() == "form"; }))
      for (StringAttr text : own.getAsRange<StringAttr>())
        texts.push_back(text.str());
    texts.append(overrides.begin(), overrides.end());
    return texts;
  }

  void runOnOperation() override {
    const Target *record = nullptr;
    std::string message;
    if (target != "cpu" && !(record = lookupTarget(target, message))) {
      getOperation().emitError(message);
      return signalPassFailure();
    }
    for (AttentionOp op : getOperation().getBody().getOps<AttentionOp>()) {
      if (op.getSchedule())
        continue;
      unsigned bits = cast<MemRefType>(op.getQuery().getType()).getElementTypeBitWidth();
      if (record && bits == 64) {
        op.emitError("f64 runs on the CPU target only; use `--target cpu`, or f32, bf16 or f16");
        return signalPassFailure();
      }
      Region &mask = op.getMask(); // (b, h, g, i, j)
      Value visible = mask.front().getTerminator()->getOperand(0), row = mask.getArgument(3), key = mask.getArgument(4);
      AttentionShape shape{op.getHeadDim(), op.getValueDim(), bits, growsWithRows(visible, row, key), canFixReference(op), seesPrefix(visible, key),
                           op.getScore().front().getTerminator()->getOperand(0) != op.getScore().getArgument(0), seesInterval(visible, key), listsKeys(mask, row, key),
                           /*seesByPlace=*/!readsTable(visible, mask), canPackHeads(op), pairTableBits(op)};
      auto schedule = chooseSchedule(&getContext(), shape, record, fixedFields(!record), [&](StringRef field) { return scheduleError(op, field); });
      if (!schedule)
        return signalPassFailure();
      op.setScheduleAttr(schedule);
      if (record && shape.packsHeads && llvm::none_of(fixedFields(!record), [](StringRef text) { return text.split('=').first.trim() == "pack_heads"; }))
        offerPacking(op, schedule);
      explain(schedule, shape, record);
      ++chosen;
    }
    bool isProgram = getOperation().getBody().getOps<AttentionOp>().empty() && !getOperation()->hasAttr("schedule");
    if (isProgram && record && failed(scheduleProgram(*record)))
      signalPassFailure();
  }

private:
  /// Says for which launches a kernel with `pack_heads` is the better one.
  void offerPacking(AttentionOp op, ScheduleAttr schedule) {
    std::string text = "(packing";
    for (Value operand : {op.getQueries(), op.getHeads(), op.getKvHeads()}) {
      std::string term = printPrefix(operand);
      if (term.empty())
        return;
      text += " " + term;
    }
    getOperation()->setAttr("tile.packing", StringAttr::get(&getContext(), text + " " + std::to_string(schedule.getBlockM()) + ")"));
  }

  InFlightDiagnostic scheduleError(Operation *op, StringRef field) { return emitError(schedulePlace(op, overrides, field)); }

  /// What was chosen and why, for those who ask for remarks.
  void explain(ScheduleAttr schedule, AttentionShape shape, const Target *record) {
    if (schedule.getForm() != Form::Pipelined)
      return;
    ScheduleCost cost = scheduleCost(schedule, shape);
    if (sharedBytes(schedule, shape) > record->sharedPerBlock)
      shape.tableBits = 0;
    double whole = record->sharedPerBlock, used = sharedBytes(schedule, shape);
    remark::analysis(getOperation().getLoc(), remark::RemarkOpts::name("schedule").category("schedule").function(getOperation().getSymName()))
        << llvm::formatv("{0} warpgroups of 64 rows, blocks of {1} keys: {2:f0} of {3:f0} KB of shared memory, about {4} of {5} registers a thread; a round of blocks takes {6:f0} cycles, bound by {7} "
                         "(matrix products {8:f0}, exponentials {9:f0}, one warpgroup alone {10:f0}, copies {11:f0}); expected {12:f0} TFLOP/s at 4096 keys",
                         schedule.getConsumers(), schedule.getBlockN(), used / 1024, whole / 1024, consumerRegisters(schedule, shape), schedule.getConsumerRegisters(), cost.round, cost.bound(), cost.matrix,
                         cost.exponentials, cost.chain, cost.copies, expectedTflops(schedule, shape, *record, 4096))
               .str();
  }

  /// Whether more than the output and the lse is made of the state behind the loop: a lazy maximum is not the maximum.
  static bool readsState(OnlineSoftmaxOp softmax) {
    auto loop = dyn_cast<ForBlocksOp>(softmax->getParentOp());
    if (!loop)
      return true;
    auto isState = [](Operation *op) { return isa<FinishOp, MergeOp>(op); };
    auto isRead = [&](Operation *op) { return !isState(op) && !(isa<arith::MulFOp>(op) && llvm::all_of(op->getUsers(), isState)); };
    return llvm::any_of(llvm::zip(loop.getResults(), loop.getBody().front().getTerminator()->getOperands()), [&](auto carried) {
      auto [result, next] = carried;
      return (next == softmax.getNewMax() || next == softmax.getNewSum()) && llvm::any_of(result.getUsers(), isRead);
    });
  }

  /// A program written by hand fixes its tile; the choice is of the rest. One that has not the form of an attention loop is left without a schedule.
  LogicalResult scheduleProgram(const Target &record) {
    KernelOp kernel = getOperation();
    std::pair<Location, std::string> reason{kernel.getLoc(), ""};
    std::optional<AttentionProgram> program = matchAttentionProgram(kernel, reason);
    if (!program) {
      if (!kernel.getOps<ForBlocksOp>().empty() && kernel->walk([](OnlineSoftmaxOp) { return WalkResult::interrupt(); }).wasInterrupted())
        emitRemark(reason.first) << "`" << kernel.getSymName() << "` is not scheduled as an attention loop: " << reason.second;
      return success();
    }
    program->shape.tableBits = pairTableBits(kernel);
    SmallVector<std::string> texts = fixedFields(/*onCpu=*/false);
    for (StringRef text : texts)
      if (auto [field, value] = text.split('='); field.trim() == "pack_heads" && value.trim() != "false" && value.trim() != "0")
        return scheduleError(kernel, "pack_heads") << "field `pack_heads` of the schedule is for `attention` items: a tile program says itself which rows a tile has";
      else if (text.starts_with("block_m") || text.starts_with("block_n"))
        return scheduleError(kernel, text.split('=').first) << "field `" << text.split('=').first << "` of the schedule is fixed by the program's tile of " << program->rows
                                           << " rows and " << program->keys << " keys";
    bool hasForm = llvm::any_of(texts, [](StringRef text) { return text.starts_with("form"); });
    texts.push_back("block_m=" + std::to_string(program->rows));
    texts.push_back("block_n=" + std::to_string(program->keys));
    ScheduleAttr schedule;
    {
      // What the tile does not allow is an error only for what the user asked for.
      std::string message;
      ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
        message = diagnostic.str();
        return success(!hasForm);
      });
      schedule = chooseSchedule(&getContext(), program->shape, &record, texts, [&](StringRef field) { return scheduleError(kernel, field); });
      reason.second = message;
    }
    if (!schedule && !hasForm) {
      emitRemark(kernel.getLoc()) << "`" << kernel.getSymName() << "` takes the direct schedule: " << reason.second;
      texts.push_back("form=direct");
      schedule = chooseSchedule(&getContext(), program->shape, &record, texts, [&](StringRef field) { return scheduleError(kernel, field); });
    }
    if (!schedule)
      return failure();
    kernel->setAttr("schedule", schedule);
    kernel->walk([&](OnlineSoftmaxOp softmax) { softmax.setThreshold(readsState(softmax) ? 0 : rescaleThreshold(schedule.getSoftmax())); });
    ++chosen;
    return success();
  }
};
} // namespace
