// Drives the stages. Each step takes the state from one stage to the next, is timed, and can be dumped, stopped after, or started from.
#include "codegen/Compiler.h"

#include "codegen/FatalErrorGuard.h"
#include "codegen/Manifest.h"
#include "codegen/Ptx.h"
#include "lang/EmitTile.h"
#include "lang/PrintKernel.h"
#include "lang/Lang.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/attention/ChooseSchedule.h"
#include "passes/cpu/CpuPasses.h"
#include "passes/mask/PrepassWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include <chrono>

using namespace mlir;
using namespace tegula;

namespace {
/// Remembers the pass that failed.
struct NoteFailedPass final : PassInstrumentation {
  explicit NoteFailedPass(std::string &name) : name(name) {}
  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (name.empty())
      name = pass->getArgument().empty() ? pass->getName().str() : pass->getArgument().str();
  }
  std::string &name;
};
} // namespace

/// Whether the stages lead from one to the other; the CPU branches off after `tile`, source text of the tile program after `attention`.
static bool isReachable(Stage from, Stage to) {
  if (from == to)
    return true;
  if (from == Stage::Cpu || from == Stage::Kernel || (to == Stage::Cpu && from > Stage::Tile) || (to == Stage::Kernel && from > Stage::Attention))
    return false;
  return from < to;
}

/// One compilation on its way through the stages.
struct Compiler::Run {
  Run(MLIRContext &context, const CompileRequest &request, CompileResult &result)
      : context(context), request(request), result(result), stream(messages), frontEnd(sources),
        handler(sources, &context, stream) {
    context.setRemarkEngine(nullptr);
    if (request.remarks)
      (void)remark::enableOptimizationRemarks(context, /*streamer=*/nullptr, std::make_unique<remark::RemarkEmittingPolicyAll>(),
                                              {std::nullopt, ".*", ".*", ".*", ".*"}, /*printAsEmitRemarks=*/true);
  }

  ~Run() { result.diagnostics += frontEnd.str() + messages; }

  bool fail(CompileStatus status) {
    result.status = status;
    return false;
  }

  bool fail(CompileStatus status, const Twine &message) {
    stream << "error: " << message << "\n";
    return fail(status);
  }

  //===-- stages ----------------------------------------------------------------------------------===//

  bool go(Stage last) {
    stage = request.startFrom;
    if (!isReachable(stage, last))
      return fail(CompileStatus::Usage, "stage `" + stageName(last) + "` cannot be reached from stage `" + stageName(stage) + "`");
    if (request.target == "cpu" && last >= Stage::Warp && last <= Stage::Cubin)
      return fail(CompileStatus::Usage, "stage `" + stageName(last) + "` belongs to GPU targets, but the target is `cpu`");
    schedule = request.schedule;
    if (!knownTarget() || !read() || !verifyProtocol() || !advanceTo(last))
      return false;
    if (stage == Stage::Cubin && (!takeSmallerSchedules() || !reportAssembler()))
      return false;
    result.text = text();
    return true;
  }

  bool advanceTo(Stage last) {
    while (stage != last) {
      bool branches = (last == Stage::Cpu && stage == Stage::Tile) || (last == Stage::Kernel && stage == Stage::Attention);
      Stage next = branches ? last : static_cast<Stage>(static_cast<int>(stage) + 1);
      auto start = std::chrono::steady_clock::now();
      if (!advance(next))
        return false;
      stage = next;
      if (!verifyProtocol())
        return false;
      std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
      addTime(passed.count());
      if (!dump())
        return false;
      if (stage == Stage::Attention && last == Stage::Cubin && !request.claims && llvm::any_of(module->getOps<tile::KernelOp>(), [](tile::KernelOp kernel) {
            return !kernel.getBody().getOps<tile::AttentionOp>().empty();
          }))
        problem = module->clone();
    }
    return true;
  }

  /// A stage that a smaller schedule goes through again counts once.
  void addTime(double milliseconds) {
    auto known = llvm::find_if(result.times, [&](const StageTime &time) { return time.stage == stage; });
    if (known != result.times.end())
      known->milliseconds += milliseconds;
    else
      result.times.push_back({stage, milliseconds});
  }

  /// Where the machine code spills, compiles again under the next smaller schedule that the user leaves open, until one does not. What a register
  /// holds is known to ptxas alone. Keeps the attempt that spills least.
  bool takeSmallerSchedules() {
    if (!problem || !slowness(result.assembler))
      return true;
    CompileResult best = result;
    tile::ScheduleAttr first = chosen, bestSchedule = chosen;
    size_t said = messages.size();
    while (slowness(result.assembler)) {
      std::optional<std::vector<std::string>> next = smallerSchedule(chosen, request.schedule);
      if (!next)
        break;
      schedule = std::move(*next);
      module = problem->clone();
      stage = Stage::Attention;
      if (!advanceTo(Stage::Cubin))
        return false;
      messages.resize(said); // the passes repeat themselves
      if (slowness(result.assembler) < slowness(best.assembler))
        best = result, bestSchedule = chosen;
    }
    auto times = result.times;
    result = std::move(best);
    result.times = std::move(times);
    if (bestSchedule != first)
      stream << "remark: the first schedule (" << brief(first) << ") does not fit the registers; took " << brief(bestSchedule) << "\n";
    return true;
  }

  static std::string brief(tile::ScheduleAttr schedule) {
    return llvm::formatv("{0}, block_n = {1}, q_stages = {2}", tile::stringifyForm(schedule.getForm()), schedule.getBlockN(), schedule.getQStages());
  }

  /// 0 for machine code as it should be; serialised matrix ops are worse than any spill.
  uint64_t slowness(const PtxasFacts &facts) const {
    bool serialised = llvm::any_of(facts.notes, [](const PtxasNote &note) { return note.serialises; });
    return (uint64_t(serialised) << 32) + std::max<int64_t>(0, int64_t(facts.spillStores) - bytesOutsideLoop());
  }

  /// What a thread may spill once a tile: a few values that live across the block loop cost less than a smaller block does. A schedule with a fixed
  /// reference fills the registers in that loop exactly, and what lives across it, for stores and for the rows that are computed again, goes to
  /// memory around it: more where four warpgroups share the registers.
  int64_t bytesOutsideLoop() const {
    if (!chosen || chosen.getForm() != tile::Form::Pipelined)
      return 0;
    if (chosen.getSoftmax() != tile::SoftmaxForm::Fixed)
      return 32;
    return chosen.getConsumers() == 4 ? 384 : 192;
  }

  bool knownTarget() {
    std::string message;
    return request.target == "cpu" || lookupTarget(request.target, message) || fail(CompileStatus::UserError, message);
  }

  /// Takes in the text of the first stage.
  bool read() {
    switch (stage) {
    case Stage::Source:
    case Stage::Cubin:
      return stage == Stage::Source || fail(CompileStatus::UserError, "cannot start from stage `cubin`");
    case Stage::Ptx: {
      result.ptx = request.text;
      std::optional<llvm::json::Object> found = manifestOfPtx(request.text);
      if (!found)
        return fail(CompileStatus::UserError, request.name + ": expected PTX with a manifest in a comment, as `--emit=ptx` writes it");
      manifest = std::move(*found);
      return true;
    }
    default:
      sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(request.text, request.name), SMLoc());
      module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
      noteForm();
      return module || fail(CompileStatus::UserError);
    }
  }

  PipelineOptions options() const {
    PipelineOptions options;
    options.target = request.target;
    options.schedule = schedule;
    options.approximateTanh = request.approximateTanh;
    options.countVisits = request.countVisits;
    return options;
  }

  /// Of the module at stage `attention`.
  MaskFacts describe() {
    OwningOpRef<ModuleOp> copy = module->clone();
    PassManager pm(&context);
    pm.addNestedPass<tile::KernelOp>(createRaiseMasksPass());
    return succeeded(pm.run(*copy)) ? describeMasks(*copy) : MaskFacts();
  }

  /// From source to the program that counts.
  std::optional<VisitsProgram> goVisits() {
    schedule = request.schedule;
    if (!knownTarget() || !read() || !advanceTo(Stage::Attention))
      return std::nullopt;
    VisitsProgram program;
    program.mask = describe();
    PassManager bounded(&context);
    buildVisitsPipeline(bounded, options());
    if (!run(bounded, Stage::Tile))
      return std::nullopt;
    auto isPrepass = [](tile::KernelOp kernel) { return kernel->hasAttr("tile.prepass"); };
    bool hasPrepass = llvm::any_of(module->getOps<tile::KernelOp>(), isPrepass);
    auto kernel = *module->getOps<tile::KernelOp>().begin();
    auto facts = kernel->getAttrOfType<DictionaryAttr>("visits");
    program.rows = facts.getAs<IntegerAttr>("rows").getInt();
    program.keys = facts.getAs<IntegerAttr>("keys").getInt();
    if (auto steps = facts.getAs<IntegerAttr>("steps"))
      program.steps = steps.getInt();
    for (MaskTerm &term : program.mask.terms) {
      term.isLookedUp &= hasPrepass, term.isSearched &= program.steps > 1;
      if (!hasPrepass)
        term.placedBy.clear();
    }
    if (auto reference = facts.getAs<StringAttr>("reference"))
      program.reference = reference.str();
    for (auto each : module->getOps<tile::KernelOp>())
      for (BlockArgument argument : each.getArguments())
        if (auto name = each.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "tile.name");
            isa<MemRefType>(argument.getType()) && each.getArgAttr(argument.getArgNumber(), "tile.role") == StringAttr::get(&context, "in") && !argument.use_empty() && name != prepassTable)
          program.tables.push_back(name.str());
    OwningOpRef<ModuleOp> whole = module->clone();
    program.kernel = lowerForCpu(*whole, [&](tile::KernelOp each) { return !isPrepass(each); });
    if (hasPrepass && program.kernel)
      program.prepass = lowerForCpu(*whole, isPrepass);
    return program.kernel && hasPrepass == (program.prepass != nullptr) ? std::optional<VisitsProgram>(std::move(program)) : std::nullopt;
  }

  /// The kernel of a module that is wanted, for this host.
  std::unique_ptr<CpuKernel> lowerForCpu(ModuleOp whole, function_ref<bool(tile::KernelOp)> isWanted) {
    module = whole.clone();
    for (tile::KernelOp kernel : llvm::to_vector(module->getOps<tile::KernelOp>()))
      if (!isWanted(kernel))
        kernel.erase();
    PassManager lowered(&context);
    buildCpuPipeline(lowered);
    return run(lowered, Stage::Cpu) ? makeCpuKernel() : nullptr;
  }

  std::unique_ptr<CpuKernel> makeCpuKernel() {
    rt::Result<std::unique_ptr<CpuKernel>> kernel = CpuKernel::create(*module, request.optimize);
    if (kernel.ok())
      return std::move(*kernel);
    fail(CompileStatus::Internal, "internal: stage cpu: " + kernel.status().message());
    return nullptr;
  }

  bool advance(Stage next) {
    PassManager pm(&context);
    switch (next) {
    case Stage::Source:
      return true;
    case Stage::Attention:
      return emitAttention();
    case Stage::Tile:
      if (request.claims)
        buildClaimsPipeline(pm);
      else
        buildTilePipeline(pm, options());
      return run(pm, next);
    case Stage::Warp:
      buildWarpPipeline(pm, options());
      return run(pm, next);
    case Stage::Nvvm:
      buildNvvmPipeline(pm, options());
      return run(pm, next);
    case Stage::Cpu:
      buildCpuPipeline(pm);
      return run(pm, next);
    case Stage::Kernel:
      buildKernelPipeline(pm, options());
      return run(pm, next) && printKernels();
    case Stage::Ptx:
      return emitCode();
    case Stage::Cubin:
      return assemble();
    }
    return false;
  }

  std::unique_ptr<lang::Item> resolve() {
    lang::ast::File file = lang::parseText(request.text, request.name, frontEnd);
    // After a syntax error too: the rest of the file is checked in the same run.
    std::unique_ptr<lang::Item> item = lang::analyze(file, request.item, request.defines, frontEnd);
    if (!item || frontEnd.hasErrors()) {
      fail(CompileStatus::UserError);
      return nullptr;
    }
    return item;
  }

  bool emitAttention() {
    std::unique_ptr<lang::Item> item = resolve();
    if (!item)
      return false;
    module = lang::emitTile(*item, sources, context);
    return module && succeeded(verify(*module)) ? true : internal(Stage::Attention);
  }

  bool printKernels() {
    llvm::raw_string_ostream os(kernelText);
    for (auto kernel : module->getOps<tile::KernelOp>())
      if (failed(lang::printKernel(kernel, os)))
        return fail(CompileStatus::UserError);
    return true;
  }

#ifdef NDEBUG
  static constexpr bool verifiesEachPass = false;
#else
  static constexpr bool verifiesEachPass = true;
#endif

  bool run(PassManager &pm, Stage next) {
    pm.enableVerifier(verifiesEachPass); // each stage ends with a verification in any case
    pm.addInstrumentation(std::make_unique<NoteFailedPass>(failedPass));
    bool done = false;
    std::string message;
    if (!runGuarded([&] { done = succeeded(pm.run(*module)) && (verifiesEachPass || succeeded(verify(*module))); }, message)) {
      stream << "error: internal: " << message << "\n";
      (void)module.release(); // in an unknown state
      return internal(next);
    }
    noteForm();
    if (done)
      return true;
    // What a pass says of the user's choice or program is the user's: of schedules and masks on the way to `tile`, of what threads can run on the way to
    // `warp`. Whatever a later stage cannot do was let through by an earlier one.
    bool users = next == Stage::Kernel || next == Stage::Tile || next == Stage::Warp || request.startFrom != Stage::Source;
    return users && messages.find("internal:") == std::string::npos ? fail(CompileStatus::UserError) : internal(next);
  }

  /// At the stage `warp`, on request and where a person may have edited the text. A fault in what the passes wrote is theirs, whatever the schedule.
  bool verifyProtocol() {
    bool isEdited = request.startFrom == Stage::Warp;
    if (stage != Stage::Warp || !(isEdited || request.verifyProtocol))
      return true;
    PassManager pm(&context);
    pm.addNestedPass<warp::KernelOp>(createVerifyProtocolPass(VerifyProtocolPassOptions{request.verifyProtocol}));
    if (run(pm, Stage::Warp))
      return true;
    return isEdited ? false : internal(Stage::Warp);
  }

  /// What a later stage cannot do is the fault of an earlier one, or of who wrote the text that the run started from.
  bool failLate(Stage at) { return request.startFrom == Stage::Source ? internal(at) : fail(CompileStatus::UserError); }

  bool emitCode() {
    FailureOr<llvm::json::Object> facts = buildManifest(*module, request.target);
    if (failed(facts))
      return failLate(Stage::Ptx);
    PtxOptions options;
    std::string message;
    options.target = lookupTarget(request.target, message);
    FailureOr<PtxCode> code = emitPtx(*module, options);
    if (failed(code))
      return failLate(Stage::Ptx);
    manifest = std::move(*facts);
    if (request.claims)
      manifest["before"] = true;
    addCodeFacts(manifest, {code->symbol, request.target, code->ptxVersion, std::nullopt, std::nullopt});
    result.ptx = manifestComment(manifest) + code->text;
    writeManifest();
    return true;
  }

  bool assemble() {
    PtxasOptions options;
    std::string message;
    options.target = lookupTarget(request.target, message);
    PtxasResult assembled = assemblePtx(result.ptx, options);
    if (assembled.status == PtxasStatus::Missing)
      return fail(CompileStatus::Lacks, assembled.message);
    if (assembled.status == PtxasStatus::Failed) {
      stream << "error: " << assembled.message << "\ncommand: " << assembled.command << "\n" << assembled.log;
      return failLate(Stage::Cubin);
    }
    result.cubin = std::move(assembled.cubin);
    result.assembler = assembled.facts;
    addCodeFacts(manifest, {manifest.getString("symbol").value_or("").str(), request.target,
                            static_cast<unsigned>(manifest.getInteger("ptx_version").value_or(0)), assembled.facts.registers,
                            assembled.facts.spillStores + assembled.facts.spillLoads});
    writeManifest();
    return true;
  }

  /// Spills and matrix ops that wait for one another make the kernel slow: a warning where Tegula chose the schedule, a remark where the user did.
  bool reportAssembler() {
    const PtxasFacts &facts = result.assembler;
    bool chosenFreely = request.schedule.empty() && request.startFrom == Stage::Source;
    StringRef severity = chosenFreely ? "warning: " : "remark: ";
    for (const PtxasNote &note : facts.notes)
      stream << (note.serialises ? severity : "remark: ") << "ptxas: " << note.text << "\n";
    if (facts.spillStores > bytesOutsideLoop())
      stream << severity << "the kernel spills " << facts.spillStores << " bytes of registers"
             << (chosenFreely && problem ? " under every schedule that was tried" : "") << "\n";
    return true;
  }

  //===-- results ---------------------------------------------------------------------------------===//

  void writeManifest() { result.manifest = llvm::formatv("{0:2}", llvm::json::Value(llvm::json::Object(manifest))).str() + "\n"; }

  void noteForm() {
    if (!module)
      return;
    module->walk([&](Operation *op) {
      if (op->hasAttrOfType<tile::ProgramAttr>("schedule"))
        result.form = "direct"; // tile programs have no other
      auto schedule = op->getAttrOfType<tile::ScheduleAttr>("schedule");
      if (schedule)
        result.form = tile::stringifyForm(schedule.getForm()).str(), chosen = schedule;
      return schedule ? WalkResult::interrupt() : WalkResult::advance();
    });
  }

  std::string text() {
    if (stage == Stage::Source)
      return request.text;
    if (stage == Stage::Ptx)
      return result.ptx;
    if (stage == Stage::Cubin)
      return result.cubin;
    if (stage == Stage::Kernel)
      return kernelText;
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    os << "\n";
    return text;
  }

  bool dump() {
    if (request.dumpDir.empty())
      return true;
    if (std::error_code error = llvm::sys::fs::create_directories(request.dumpDir))
      return fail(CompileStatus::UserError, "cannot make the folder `" + request.dumpDir + "`: " + error.message());
    SmallString<128> path(request.dumpDir);
    llvm::sys::path::append(path, llvm::formatv("{0,0-2:02}-{1}.{2}", static_cast<int>(stage), stageName(stage), stageExtension(stage)).str());
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    if (!error)
      out << text();
    if (!error && out.has_error())
      error = out.error();
    out.clear_error();
    return error ? fail(CompileStatus::UserError, "cannot write `" + path + "`: " + error.message()) : true;
  }

  /// A fault of the compiler: keeps what is needed to see it again.
  bool internal(Stage at) {
    std::string where = "internal: stage " + stageName(at).str() + (failedPass.empty() ? "" : ", pass " + failedPass) + " failed";
    SmallString<128> path;
    int descriptor;
    std::string options;
    for (const lang::Define &define : request.defines)
      options += " -D " + define.name + "=" + define.value;
    if (!request.schedule.empty())
      options += " --schedule " + llvm::join(request.schedule, ",");
    if (request.verifyProtocol)
      options += " --verify-protocol";
    StringRef extension = stageExtension(request.startFrom);
    if (llvm::sys::fs::createTemporaryFile("tegula-reproducer", extension, descriptor, path))
      return fail(CompileStatus::Internal, where);
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << request.text;
    return fail(CompileStatus::Internal, where + "; to see it again: tegula compile " + path +
                                             (request.item.empty() ? "" : " --item " + request.item) + options + " --start-from " +
                                             stageName(request.startFrom) + " --stop-after " + stageName(at));
  }

  MLIRContext &context;
  const CompileRequest &request;
  CompileResult &result;
  std::string messages;
  llvm::raw_string_ostream stream;
  llvm::SourceMgr sources;
  lang::Diagnostics frontEnd;
  SourceMgrDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  OwningOpRef<ModuleOp> problem;     ///< the module at stage attention, for another attempt
  std::vector<std::string> schedule; ///< overrides of this attempt
  tile::ScheduleAttr chosen;         ///< of this attempt
  llvm::json::Object manifest;
  std::string failedPass, kernelText;
  Stage stage = Stage::Source;
};

std::optional<CompileRequest> tegula::fallbackRequest(const CompileRequest &request, const CompileResult &result) {
  bool isFixed = request.startFrom > Stage::Attention ||
                 llvm::any_of(request.schedule, [](StringRef field) { return field.split('=').first.trim() == "form"; });
  if (result.form == "direct" || isFixed)
    return std::nullopt;
  CompileRequest fallback = request;
  fallback.schedule = {"form=direct"}; // the fields of the other form do not apply to this one
  fallback.dumpDir.clear();            // the dumps are those of the preferred kernel
  return fallback;
}

std::optional<CompileRequest> tegula::packedRequest(const CompileRequest &request, const CompileResult &result) {
  llvm::Expected<llvm::json::Value> manifest = llvm::json::parse(result.manifest);
  if (!manifest) {
    llvm::consumeError(manifest.takeError());
    return std::nullopt;
  }
  if (request.startFrom > Stage::Attention || !manifest->getAsObject() || !manifest->getAsObject()->get("packing"))
    return std::nullopt;
  CompileRequest packed = request;
  packed.schedule.push_back("pack_heads=true");
  packed.dumpDir.clear(); // the dumps are those of the preferred kernel
  return packed;
}

std::optional<CompileRequest> tegula::claimsRequest(const CompileRequest &request) {
  if (request.startFrom > Stage::Attention)
    return std::nullopt;
  CompileRequest claims = request;
  claims.claims = true;
  claims.schedule.clear(); // the fields are those of the item's kernel
  claims.dumpDir.clear();
  claims.remarks = claims.verifyProtocol = false;
  return claims;
}

Compiler::Compiler() {
  DialectRegistry registry;
  registry.insert<tile::TileDialect, warp::WarpDialect, arith::ArithDialect, math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  registerPtxTranslations(registry);
  registerLoweringInterfaces(registry);
  registerCpuDialects(registry);
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
}

Compiler::~Compiler() = default;

CompileResult Compiler::compile(const CompileRequest &request) {
  CompileResult result;
  Run(*context, request, result).go(request.stopAfter);
  return result;
}

std::unique_ptr<CpuKernel> Compiler::compileForCpu(const CompileRequest &request, CompileResult &result) {
  Run run(*context, request, result);
  if (!run.go(Stage::Cpu))
    return nullptr;
  return run.makeCpuKernel();
}

std::optional<VisitsProgram> Compiler::compileVisits(const CompileRequest &request, CompileResult &result) {
  return Run(*context, request, result).goVisits();
}

std::unique_ptr<lang::Item> Compiler::analyze(const CompileRequest &request, CompileResult &result) {
  return Run(*context, request, result).resolve();
}
