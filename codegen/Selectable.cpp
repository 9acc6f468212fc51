//===- Selectable.cpp - What the NVPTX backend can select -----------------===//
//
// A list of what is known to select on sm_90a, found by trying each intrinsic;
// what is not on it is refused. Operations of the nvvm dialect are let through:
// where the PTX version or the target lacks one, LLVM's own complaint is caught
// by the caller.
//
//===----------------------------------------------------------------------===//
#include "codegen/Selectable.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Intrinsics.h"

using namespace mlir;

namespace tegula {

/// Intrinsics by LLVM name without `llvm.` and without overload suffixes.
static bool isSelectableIntrinsic(StringRef name) {
  static const llvm::StringSet<> known = {
      // float, any of f16, bf16, f32, f64
      "copysign", "fabs", "ceil", "floor", "trunc", "rint", "nearbyint",
      "round", "roundeven", "sqrt", "fma", "fmuladd", "minnum", "maxnum",
      "minimum", "maximum", "ldexp", "is.fpclass",
      // float, but for f64
      "exp2",
      // integer
      "abs", "bitreverse", "bswap", "ctlz", "cttz", "ctpop", "fshl", "fshr",
      "smax", "smin", "umax", "umin", "scmp", "ucmp", "sadd.with.overflow",
      "uadd.with.overflow", "ssub.with.overflow", "usub.with.overflow",
      "smul.with.overflow", "umul.with.overflow", "sadd.sat", "uadd.sat",
      "ssub.sat", "usub.sat", "sshl.sat", "ushl.sat",
      // memory, hints, vectors
      "memcpy", "memmove", "memset", "memcpy.inline", "memset.inline",
      "lifetime.start", "lifetime.end", "invariant.start", "invariant.end",
      "assume", "expect", "expect.with.probability", "ssa.copy", "is.constant",
      "ptrmask", "experimental.noalias.scope.decl", "trap", "debugtrap",
      "dbg.declare", "dbg.value", "dbg.label", "stepvector", "vector.insert",
      "vector.extract", "vector.interleave2", "vector.deinterleave2",
      "vector.reduce.add", "vector.reduce.and", "vector.reduce.mul",
      "vector.reduce.or", "vector.reduce.xor", "vector.reduce.smax",
      "vector.reduce.smin", "vector.reduce.umax", "vector.reduce.umin",
      "vector.reduce.fmax", "vector.reduce.fmin", "vector.reduce.fmaximum",
      "vector.reduce.fminimum", "vector.reduce.fadd", "vector.reduce.fmul",
      "masked.load", "masked.store", "masked.gather", "masked.scatter"};
  return known.contains(name);
}

static bool isSelectableType(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return !vector.isScalable() && isSelectableType(vector.getElementType());
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    return isSelectableType(array.getElementType());
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type))
    return llvm::all_of(structure.getBody(), isSelectableType);
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() <= 128;
  if (isa<FloatType>(type))
    return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
  return isa<LLVM::LLVMPointerType, LLVM::LLVMVoidType, LLVM::LLVMFunctionType,
             LLVM::LLVMLabelType, LLVM::LLVMMetadataType, LLVM::LLVMTokenType,
             NoneType>(type);
}

namespace {
class Checker {
public:
  void check(Operation *op);
  bool ok = true;

private:
  InFlightDiagnostic error(Operation *op) {
    ok = false;
    return mlir::emitError(op->getLoc());
  }
  void checkIntrinsic(Operation *op, StringRef name);
  void checkCall(LLVM::CallOp call);
  void checkTypes(Operation *op);
  llvm::DenseMap<Type, bool> selectable;
};
} // namespace

void Checker::checkIntrinsic(Operation *op, StringRef name) {
  if (!isSelectableIntrinsic(name)) {
    error(op) << "'llvm." << name
              << "' has no instruction in PTX; expected it to be legalised "
                 "before code generation";
    return;
  }
  auto isDouble = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  if (name == "exp2" && llvm::any_of(op->getResultTypes(), isDouble))
    error(op) << "'llvm.exp2' has no instruction in PTX for f64";
}

/// `llvm.minnum.v4f32` to `minnum`: suffixes that name overloaded types follow
/// the intrinsic's own name.
static StringRef baseName(StringRef name) {
  llvm::Intrinsic::ID id = llvm::Intrinsic::lookupIntrinsicID(name);
  if (id == llvm::Intrinsic::not_intrinsic)
    return {};
  StringRef base = llvm::Intrinsic::getBaseName(id);
  base.consume_front("llvm.");
  return base;
}

void Checker::checkCall(LLVM::CallOp call) {
  std::optional<StringRef> callee = call.getCallee();
  if (!callee) {
    error(call)
        << "expected a call of a known function, but got an indirect call";
    return;
  }
  auto function = SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
      call, StringAttr::get(call.getContext(), *callee));
  if (function && !function.isExternal())
    return;
  if (callee->starts_with("llvm.")) {
    StringRef base = baseName(*callee);
    if (!base.starts_with("nvvm."))
      checkIntrinsic(call, base.empty() ? callee->drop_front(5) : base);
    return;
  }
  // What the driver answers itself.
  if (*callee == "vprintf" || *callee == "__assertfail")
    return;
  error(call)
      << "call of '" << *callee
      << "', which has no body; there is no library to link a kernel with";
}

void Checker::checkTypes(Operation *op) {
  auto checkType = [&](Type type) {
    auto [entry, inserted] = selectable.try_emplace(type, false);
    if (inserted)
      entry->second = isSelectableType(type);
    if (!entry->second)
      error(op) << "type " << type << " has no form in PTX";
    return entry->second;
  };
  for (Type type : op->getResultTypes())
    if (!checkType(type))
      return;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (!checkType(argument.getType()))
          return;
}

void Checker::check(Operation *op) {
  StringRef name = op->getName().getStringRef();
  StringRef dialect = op->getName().getDialectNamespace();
  if (isa<ModuleOp>(op))
    return;
  if (dialect != "llvm" && dialect != "nvvm") {
    error(op) << "expected only llvm and nvvm operations before code "
                 "generation, but got '"
              << name << "'";
    return;
  }
  checkTypes(op);
  if (name.consume_front("llvm.intr."))
    return checkIntrinsic(op, name);
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    return checkCall(call);
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op)) {
    StringRef intrinsic = call.getIntrin();
    StringRef base = baseName(intrinsic);
    if (base.empty())
      error(op) << "'" << intrinsic << "' is not an intrinsic of LLVM";
    else if (!base.starts_with("nvvm."))
      checkIntrinsic(op, base);
    return;
  }
  if (isa<LLVM::InvokeOp, LLVM::LandingpadOp, LLVM::ResumeOp, LLVM::VaArgOp,
          LLVM::IndirectBrOp, LLVM::BlockAddressOp>(op))
    error(op) << "'" << op->getName().getStringRef() << "' has no form in PTX";
}

LogicalResult verifySelectable(ModuleOp module) {
  Checker checker;
  module.walk([&](Operation *op) { checker.check(op); });
  return success(checker.ok);
}

} // namespace tegula
