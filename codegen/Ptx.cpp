//===- Ptx.cpp - MLIR of the nvvm stage to PTX ----------------------------===//
//
// Check, translate to LLVM IR, mark inline assembly convergent (MLIR cannot say
// it; without, LLVM may copy a barrier into both arms of a branch), run the
// NVPTX code generator. LLVM's diagnostics and its fatal errors become MLIR
// diagnostics at the kernel.
//
//===----------------------------------------------------------------------===//
#include "codegen/Ptx.h"
#include "codegen/FatalErrorGuard.h"
#include "codegen/Selectable.h"
#include "codegen/SplitVectors.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/PassInfo.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;

namespace tegula {

namespace {

/// Forwards what LLVM reports to the MLIR context, at one location.
class ForwardDiagnostics final : public llvm::DiagnosticHandler {
public:
  ForwardDiagnostics(Location location, bool &failed)
      : location(location), failed(failed) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    switch (info.getSeverity()) {
    case llvm::DS_Error:
      failed = true;
      emitError(location) << "code generation: " << text;
      break;
    case llvm::DS_Warning:
      emitWarning(location) << "code generation: " << text;
      break;
    case llvm::DS_Remark:
    case llvm::DS_Note:
      break;
    }
    return true;
  }

private:
  Location location;
  bool &failed;
};

/// The backend's passes, without those that cost much and change nothing in the
/// machine code, since ptxas chooses addresses again. Vectors are split after the
/// passes on IR, which have less to look at before.
class KernelPasses final : public llvm::legacy::PassManager {
public:
  void add(llvm::Pass *pass) override {
    llvm::StringRef name;
    if (const llvm::PassInfo *info =
            llvm::PassRegistry::getPassRegistry()->getPassInfo(
                pass->getPassID()))
      name = info->getPassArgument();
    loopsAreReduced |= name == "loop-reduce";
    if (name == "slsr" || name == "canon-freeze" || name == "load-store-vectorizer" ||
        (name == "early-cse" && !loopsAreReduced)) {
      delete pass;
      return;
    }
    PassManager::add(pass);
    if (name == "codegenprepare")
      PassManager::add(createSplitVectorsPass());
  }

private:
  bool loopsAreReduced = false;
};

/// All that LLVM owns during one code generation; leaked as a whole after a
/// fatal error.
struct LlvmState {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  KernelPasses passes;
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream{text};
};

} // namespace

void registerPtxTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

static void initializeNvptx() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

/// Whether the function is launched before another one of the module.
static bool isPrepass(LLVM::LLVMFuncOp function) {
  auto facts = function->getAttrOfType<DictionaryAttr>("tegula.manifest");
  return facts && facts.get("prepass");
}

/// The kernel's function: the first with `nvvm.kernel` that is no pre-pass.
static LLVM::LLVMFuncOp findKernel(ModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr("nvvm.kernel") && !function.isExternal() &&
        !isPrepass(function))
      return function;
  return {};
}

/// Marks each inline assembly call convergent, and returns the PTX version that
/// the texts need.
static unsigned markConvergent(llvm::Module &module) {
  unsigned version = 0;
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instruction : block) {
        auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (!call || !call->isInlineAsm())
          continue;
        call->setConvergent();
        call->setDoesNotThrow();
        auto *text = llvm::cast<llvm::InlineAsm>(call->getCalledOperand());
        version = std::max(version, ptxVersionNeeded(text->getAsmString()));
      }
  return version;
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const Target &target, unsigned ptxVersion, std::string &message) {
  initializeNvptx();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!backend)
    return nullptr;
  llvm::TargetOptions options;
  // Contraction is the passes' choice, by fast-math flags; results then do not
  // depend on the backend.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(backend->createTargetMachine(
      triple, target.name, "+ptx" + std::to_string(ptxVersion), options,
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

/// Runs the code generator; on failure `message` says why, or is empty where a
/// diagnostic was already given.
static bool generate(LlvmState &state, std::string &message) {
  if (state.machine->addPassesToEmitFile(state.passes, state.stream, nullptr,
                                         llvm::CodeGenFileType::AssemblyFile)) {
    message = "the NVPTX backend cannot write assembly";
    return false;
  }
  state.passes.run(*state.module);
  return true;
}

FailureOr<PtxCode> emitPtx(ModuleOp module, const PtxOptions &options) {
  LLVM::LLVMFuncOp kernel = findKernel(module);
  if (!kernel)
    return emitError(module.getLoc())
               << "expected a function with 'nvvm.kernel' in the module",
           failure();
  if (failed(verifySelectable(module)))
    return failure();
  // ptxas 13.0 ends in a segmentation fault on some pairs of functions, by their
  // names, where the large one comes first.
  for (auto function : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>()))
    if (isPrepass(function))
      function->moveBefore(kernel);

  DialectRegistry registry;
  registerPtxTranslations(registry);
  module.getContext()->appendDialectRegistry(registry);

  bool failedInLlvm = false;
  auto state = std::make_unique<LlvmState>();
  state->context.setDiagnosticHandler(
      std::make_unique<ForwardDiagnostics>(kernel.getLoc(), failedInLlvm));
  std::string message;
  bool done = false;
  unsigned version = options.target->ptxVersion;
  bool alive = runGuarded(
      [&] {
        state->module = translateModuleToLLVMIR(module, state->context,
                                                kernel.getSymName());
        if (!state->module)
          return;
        version = std::max(version, markConvergent(*state->module));
        state->machine = createMachine(*options.target, version, message);
        if (!state->machine)
          return;
        state->module->setTargetTriple(state->machine->getTargetTriple());
        state->module->setDataLayout(state->machine->createDataLayout());
        if (options.llvmIr) {
          llvm::raw_string_ostream stream(*options.llvmIr);
          state->module->print(stream, nullptr);
        }
        done = generate(*state, message);
      },
      message);
  if (!alive) {
    (void)state.release();
    return emitError(kernel.getLoc()) << "code generation: " << message,
           failure();
  }
  if (!done || failedInLlvm) {
    if (!message.empty())
      emitError(kernel.getLoc()) << "code generation: " << message;
    return failure();
  }
  return PtxCode{std::string(state->text), kernel.getSymName().str(), version};
}

} // namespace tegula
