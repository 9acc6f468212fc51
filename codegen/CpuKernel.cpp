//===- CpuKernel.cpp - A kernel as machine code of this host --------------===//
//
// In: a module in the llvm dialect. LLVM IR at O2 for this host's features, then ORC. One entry function takes an array of pointers to
// values, so that a call needs no code for its signature.
//
//===----------------------------------------------------------------------===//
#include "codegen/CpuKernel.h"

#include "codegen/CpuReports.h"
#include "codegen/Manifest.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

namespace tegula {

static constexpr llvm::StringLiteral entryName = "tegula.entry";

struct CpuKernel::Impl {
  rt::Manifest manifest;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*entry)(void **values) = nullptr;
};

CpuKernel::CpuKernel(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
CpuKernel::~CpuKernel() = default;

const rt::Signature &CpuKernel::signature() const { return *impl->manifest.signature; }
const std::string &CpuKernel::schedule() const { return impl->manifest.schedule; }
rt::Arguments CpuKernel::arguments() const { return rt::Arguments(impl->manifest.signature); }

//===-- Compiling ---------------------------------------------------------===//

/// Adds `void tegula.entry(void **values)`, which calls `kernel` with `*values[i]` as its i-th argument.
static void addEntry(llvm::Module &module, llvm::Function &kernel) {
  llvm::LLVMContext &context = module.getContext();
  auto *pointer = llvm::PointerType::getUnqual(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer}, /*isVarArg=*/false);
  auto *entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, entryName, module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", entry));
  llvm::SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &parameter : kernel.args()) {
    llvm::Value *slot = b.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0), parameter.getArgNo());
    arguments.push_back(b.CreateLoad(parameter.getType(), b.CreateLoad(pointer, slot)));
  }
  b.CreateCall(&kernel, arguments);
  b.CreateRetVoid();
}

/// Lets no function but the entry be seen, under names that no C library has: code generation calls exp2f and the like by name.
static void hideFunctions(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration() || function.getName() == entryName)
      continue;
    function.setName("tegula." + function.getName());
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

static void runOptimizer(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  // Unrolling and straight-line vectors double the time to compile and gain nothing on loops over tiles.
  tuning.SLPVectorization = tuning.LoopUnrolling = tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

/// The function that takes memref descriptors by pointer.
static std::string interfaceName(LLVM::LLVMFuncOp kernel) { return ("_mlir_ciface_" + kernel.getName()).str(); }

static rt::Status jitError(llvm::Error error) { return rt::unavailable("no code for this host: " + llvm::toString(std::move(error))); }

static rt::Result<rt::Manifest> readManifest(LLVM::LLVMFuncOp kernel) {
  std::optional<llvm::json::Value> json = toJson(kernel->getAttr("tegula.manifest"));
  if (!json)
    return rt::internalError("the manifest of `" + kernel.getName().str() + "` has no JSON form");
  std::string text;
  llvm::raw_string_ostream(text) << *json;
  return rt::Manifest::parse(text);
}

rt::Result<std::unique_ptr<CpuKernel>> CpuKernel::create(ModuleOp module, bool optimize) {
  // The C interface has the attributes of what it wraps.
  LLVM::LLVMFuncOp kernel;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr("tegula.manifest") && module.lookupSymbol(interfaceName(function)))
      kernel = function;
  if (!kernel)
    return rt::internalError("expected a function with a manifest in the llvm dialect; the pipeline to `cpu` has not run");
  auto impl = std::make_unique<Impl>();
  rt::Result<rt::Manifest> manifest = readManifest(kernel);
  if (!manifest.ok())
    return manifest.status();
  impl->manifest = std::move(*manifest);

  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, *context);
  if (!code)
    return rt::internalError("`" + kernel.getName().str() + "` has no translation to LLVM IR");

  static const bool initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialized;
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return jitError(host.takeError());
  host->setCodeGenOptLevel(optimize ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None);
  auto machine = host->createTargetMachine();
  if (!machine)
    return jitError(machine.takeError());
  code->setDataLayout((*machine)->createDataLayout());
  code->setTargetTriple((*machine)->getTargetTriple());
  addEntry(*code, *code->getFunction(interfaceName(kernel)));
  hideFunctions(*code);
  if (optimize)
    runOptimizer(*code, **machine);

  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*host)).create();
  if (!jit)
    return jitError(jit.takeError());
  if (llvm::Error error = CpuReports::define(**jit))
    return jitError(std::move(error));
  if (llvm::Error error = (*jit)->addIRModule(llvm::orc::ThreadSafeModule(std::move(code), std::move(context))))
    return jitError(std::move(error));
  auto entry = (*jit)->lookup(entryName);
  if (!entry)
    return jitError(entry.takeError());
  impl->entry = entry->toPtr<void (*)(void **)>();
  impl->jit = std::move(*jit);
  return std::unique_ptr<CpuKernel>(new CpuKernel(std::move(impl)));
}

//===-- Running -----------------------------------------------------------===//

namespace {

/// A memref as compiled code sees it: two pointers, an offset, then the sizes and the strides.
struct MemRefDescriptor {
  void *allocated, *aligned;
  int64_t offset;
  int64_t sizesAndStrides[2 * rt::maxRank];
};

/// The memory of one argument.
union Slot {
  void *pointer;
  int64_t integer;
  float single;
  double real;
};

} // namespace

/// An output that the caller does not want has no elements, so nothing is stored.
static MemRefDescriptor describe(const rt::TensorView &view, int rank) {
  MemRefDescriptor result = {view.data, view.data, 0, {}};
  for (int axis = 0; axis != view.rank; ++axis) {
    result.sizesAndStrides[axis] = view.data ? view.sizes[axis] : 0;
    result.sizesAndStrides[rank + axis] = view.strides[axis];
  }
  return result;
}

static Slot scalarSlot(const rt::Value &value, rt::ElementType type) {
  Slot slot = {};
  if (type == rt::ElementType::f32)
    slot.single = static_cast<float>(value.asReal());
  else if (type == rt::ElementType::f64)
    slot.real = value.asReal();
  else
    slot.integer = value.integer;
  return slot;
}

rt::Status CpuKernel::run(const rt::Arguments &arguments) const {
  rt::Binding binding;
  TEGULA_RETURN_IF_FAILED(rt::bindArguments(arguments, binding));
  const rt::Signature &sig = signature();
  llvm::SmallVector<MemRefDescriptor, 16> tensors;
  llvm::SmallVector<Slot, 32> slots;
  llvm::SmallVector<void *, 32> values;
  tensors.reserve(sig.tensors.size());
  slots.reserve(impl->manifest.arguments.size());
  for (const rt::KernelArgument &argument : impl->manifest.arguments) {
    if (argument.kind == rt::KernelArgument::Kind::pointer) {
      tensors.push_back(describe(arguments.tensor(argument.tensor), sig.tensors[argument.tensor].rank()));
      slots.push_back({.pointer = &tensors.back()});
    } else {
      slots.push_back(scalarSlot(binding.slots[argument.slot], argument.type));
    }
    values.push_back(&slots.back());
  }
  CpuReports reports;
  impl->entry(values.data());
  if (!reports.failure().empty())
    return rt::Status(rt::StatusCode::assertionFailed, reports.failure());
  return rt::Status();
}

} // namespace tegula
