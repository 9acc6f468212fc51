// The templates of InlinePtx.h.
#include "passes/lower/InlinePtx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tegula;

SmallVector<Value> ptx::emit(OpBuilder &b, Location loc, StringRef text, StringRef constraints, ValueRange operands, TypeRange results) {
  MLIRContext *context = b.getContext();
  Type type = results.empty() ? Type(LLVM::LLVMVoidType::get(context))
              : results.size() == 1 ? results.front() : Type(LLVM::LLVMStructType::getLiteral(context, llvm::to_vector(results)));
  auto op = LLVM::InlineAsmOp::create(b, loc, results.empty() ? TypeRange() : TypeRange{type}, operands, text, constraints,
                                      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT), /*operand_attrs=*/ArrayAttr());
  SmallVector<Value> values;
  if (results.size() == 1)
    values.push_back(op.getResult(0));
  else
    for (size_t i = 0; i < results.size(); ++i)
      values.push_back(LLVM::ExtractValueOp::create(b, loc, op.getResult(0), i));
  return values;
}

void ptx::mbarrierInit(OpBuilder &b, Location loc, Value address, Value arrivals) {
  emit(b, loc, "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}", {address, arrivals}, {});
}

void ptx::mbarrierWait(OpBuilder &b, Location loc, Value address, Value parity) {
  emit(b, loc,
       "{\n.reg .pred p;\nW_${:uid}:\nmbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n@!p bra W_${:uid};\n}",
       "r,r,~{memory}", {address, parity}, {});
}

void ptx::mbarrierArriveIf(OpBuilder &b, Location loc, Value address, Value condition) {
  emit(b, loc, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}", {address, condition}, {});
}

void ptx::mbarrierArriveExpect(OpBuilder &b, Location loc, Value address, Value bytes) {
  emit(b, loc, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}", {address, bytes}, {});
}

void ptx::tensorCopy(OpBuilder &b, Location loc, Value destination, Value map, Value barrier, ValueRange coordinates) {
  std::string text = llvm::formatv("cp.async.bulk.tensor.{0}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {{",
                                   coordinates.size());
  std::string constraints = "r,l,r";
  for (size_t i = 0; i < coordinates.size(); ++i) {
    text += (i ? ", $" : "$") + std::to_string(3 + i);
    constraints += ",r";
  }
  text += "}], [$2];";
  SmallVector<Value> operands{destination, map, barrier};
  operands.append(coordinates.begin(), coordinates.end());
  emit(b, loc, text, constraints + ",~{memory}", operands, {});
}

void ptx::barrierSync(OpBuilder &b, Location loc, Value barrier, Value threads) {
  emit(b, loc, "bar.sync $0, $1;", "r,r,~{memory}", {barrier, threads}, {});
}

Value ptx::barrierAny(OpBuilder &b, Location loc, Value barrier, Value flag, Value threads) {
  return emit(b, loc, "{\n.reg .pred p;\nbar.red.or.pred p, $1, $3, $2;\nselp.b32 $0, 1, 0, p;\n}", "=r,r,b,r,~{memory}", {barrier, flag, threads}, {b.getI32Type()})[0];
}

Value ptx::compareAndSwap(OpBuilder &b, Location loc, Value address, Value expected, Value desired) {
  Type type = expected.getType();
  bool isShort = type.isInteger(16);
  return emit(b, loc, isShort ? "atom.global.cas.b16 $0, [$1], $2, $3;" : "atom.global.cas.b32 $0, [$1], $2, $3;", isShort ? "=h,l,h,h,~{memory}" : "=r,l,r,r,~{memory}",
              {address, expected, desired}, {type})[0];
}

Value ptx::advance(OpBuilder &b, Location loc, Value pointer, int64_t bytes) {
  return LLVM::GEPOp::create(b, loc, pointer.getType(), b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value ptx::loadShared(OpBuilder &b, Location loc, Value address) { return emit(b, loc, "ld.shared.b32 $0, [$1];", "=r,r,~{memory}", {address}, {b.getI32Type()})[0]; }

void ptx::storeShared(OpBuilder &b, Location loc, Value address, Value value) { emit(b, loc, "st.shared.b32 [$0], $1;", "r,r,~{memory}", {address, value}, {}); }

void ptx::barrierArrive(OpBuilder &b, Location loc, Value barrier, Value threads) {
  emit(b, loc, "bar.arrive $0, $1;", "r,r,~{memory}", {barrier, threads}, {});
}

/// "{$first, ..., $last}".
static std::string registerList(int64_t first, int64_t count) {
  std::string list = "{";
  for (int64_t i = 0; i < count; ++i)
    list += (i ? ", $" : "$") + std::to_string(first + i);
  return list + "}";
}

/// "=f,...,0,1,...": `values` as results tied to the first operands.
static std::string tiedConstraints(ValueRange values) {
  std::string results, operands;
  for (auto [i, value] : llvm::enumerate(values)) {
    results += (i ? ",=" : "=") + std::string(value.getType().isF32() ? "f" : "r");
    operands += "," + std::to_string(i);
  }
  return results + operands;
}

SmallVector<Value> ptx::warpgroupProduct(OpBuilder &b, Location loc, const WarpgroupProduct &shape, ValueRange accumulator, ValueRange a,
                                         bool aInShared, Value bDescriptor, Value half) {
  int64_t count = accumulator.size(), firstA = 2 * count, atB = firstA + a.size();
  std::string registers = registerList(0, count), constraints = tiedConstraints(accumulator);
  for (size_t i = 0; i < a.size(); ++i)
    constraints += aInShared ? ",l" : ",r";
  std::string text = "{\n.reg .b64 a, b;\n.reg .pred p;\n";
  auto products = [&](int64_t steps) {
    text += "wgmma.fence.sync.aligned;\n";
    for (int64_t k = 0; k < steps; ++k) {
      text += llvm::formatv("add.s64 b, ${0}, {1};\nsetp.ne.b32 p, {2}, 0;\n", atB, shape.bStep(k), k > 0 || shape.accumulate ? 1 : 0);
      if (aInShared)
        text += llvm::formatv("add.s64 a, ${0}, {1};\n", firstA, shape.aStep(k));
      text += llvm::formatv("wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1} {2}, {3}, b, p, 1, 1{4}, {5};\n", shape.n, shape.type, registers,
                            aInShared ? "a" : registerList(firstA + 4 * k, 4), aInShared ? ", 0" : "", shape.transposeB ? 1 : 0);
    }
    text += "wgmma.commit_group.sync.aligned;\n";
  };
  SmallVector<Value> operands(accumulator);
  operands.append(a.begin(), a.end());
  operands.push_back(bDescriptor);
  constraints += ",l";
  if (half) {
    text += llvm::formatv("@${0} bra.uni HALF;\n", atB + 1);
    products(shape.steps);
    text += "bra.uni DONE;\nHALF:\n";
    products(shape.steps / 2);
    text += "DONE:\n";
    operands.push_back(half);
    constraints += ",b";
  } else {
    products(shape.steps);
  }
  return emit(b, loc, text + "}", constraints + ",~{memory}", operands, accumulator.getTypes());
}

SmallVector<Value> ptx::waitProducts(OpBuilder &b, Location loc, int64_t inFlight, ValueRange registers) {
  return emit(b, loc, llvm::formatv("wgmma.wait_group.sync.aligned {0};", inFlight).str(), tiedConstraints(registers) + ",~{memory}", registers,
              registers.getTypes());
}

SmallVector<Value> ptx::warpProduct16(OpBuilder &b, Location loc, StringRef type, ValueRange accumulator, ValueRange a, ValueRange bRegisters) {
  std::string text = llvm::formatv("mma.sync.aligned.m16n8k16.row.col.f32.{0}.{0}.f32 {1}, {2}, {3}, {1};", type, registerList(0, 4),
                                   registerList(8, 4), registerList(12, 2));
  SmallVector<Value> operands(accumulator);
  operands.append(a.begin(), a.end());
  operands.append(bRegisters.begin(), bRegisters.end());
  return emit(b, loc, text, tiedConstraints(accumulator) + ",r,r,r,r,r,r", operands, accumulator.getTypes());
}

SmallVector<Value> ptx::warpProductTf32(OpBuilder &b, Location loc, ValueRange accumulator, ValueRange a, ValueRange bRegisters) {
  std::string text = llvm::formatv("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {0}, {1}, {2}, {0};", registerList(0, 4),
                                   registerList(8, 4), registerList(12, 2));
  SmallVector<Value> operands(accumulator);
  operands.append(a.begin(), a.end());
  operands.append(bRegisters.begin(), bRegisters.end());
  return emit(b, loc, text, tiedConstraints(accumulator) + ",r,r,r,r,r,r", operands, accumulator.getTypes());
}

Value ptx::toTf32(OpBuilder &b, Location loc, Value value) {
  return emit(b, loc, "cvt.rna.tf32.f32 $0, $1;", "=r,f", {value}, {b.getI32Type()})[0];
}

Value ptx::opaque(OpBuilder &b, Location loc, Value pointer) { return emit(b, loc, "mov.b64 $0, $1;", "=l,l", {pointer}, {pointer.getType()})[0]; }

/// "v4.b32", and the number of words, of an access of so many bytes.
static std::pair<std::string, int64_t> accessWords(int64_t bytes) {
  int64_t words = std::max<int64_t>(1, bytes / 4);
  std::string vector = words == 1 ? "" : llvm::formatv("v{0}.", words).str();
  return {vector + (bytes == 1 ? "u8" : bytes == 2 ? "b16" : "b32"), words};
}

SmallVector<Value> ptx::loadGlobalIf(OpBuilder &b, Location loc, Value address, int64_t bytes, Value condition) {
  auto [access, words] = accessWords(bytes);
  bool narrow = bytes < 4;
  std::string text, constraints, target = words == 1 ? "$0" : registerList(0, words);
  for (int64_t i = 0; i < words; ++i) {
    constraints += narrow ? "=h," : "=r,";
    if (condition)
      text += llvm::formatv("mov.{0} ${1}, 0;\n", narrow ? "b16" : "b32", i);
  }
  text += condition ? llvm::formatv("@${0} ", words + 1).str() : "";
  text += llvm::formatv("ld.global.{0} {1}, [${2}];", access, target, words);
  SmallVector<Value> operands{address};
  if (condition)
    operands.push_back(condition);
  SmallVector<Type> results(words, narrow ? b.getI16Type() : b.getI32Type());
  return emit(b, loc, text, constraints + (condition ? "l,b,~{memory}" : "l,~{memory}"), operands, results);
}

void ptx::copyGlobalIf(OpBuilder &b, Location loc, Value to, Value from, int64_t bytes, Value condition) {
  std::string text = llvm::formatv("cp.async.{0}.shared.global [$0], [$1], {1}{2};", bytes == 16 ? "cg" : "ca", bytes, condition ? ", $2" : "");
  SmallVector<Value> operands{to, from};
  if (condition) {
    auto number = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value)); };
    Value all = number(bytes), none = number(0);
    operands.push_back(arith::SelectOp::create(b, loc, condition, all, none));
  }
  emit(b, loc, text, condition ? "r,l,r,~{memory}" : "r,l,~{memory}", operands, {});
}

void ptx::waitCopies(OpBuilder &b, Location loc) { emit(b, loc, "cp.async.wait_all;", "~{memory}", {}, {}); }

void ptx::storeGlobalIf(OpBuilder &b, Location loc, Value address, int64_t bytes, ValueRange values, Value condition) {
  auto [access, words] = accessWords(bytes);
  std::string constraints = "l", source = words == 1 ? "$1" : registerList(1, words);
  for (int64_t i = 0; i < words; ++i)
    constraints += bytes < 4 ? ",h" : ",r";
  std::string text = condition ? llvm::formatv("@${0} ", words + 1).str() : "";
  text += llvm::formatv("st.global.{0} [$0], {1};", access, source);
  SmallVector<Value> operands{address};
  operands.append(values.begin(), values.end());
  if (condition)
    operands.push_back(condition);
  emit(b, loc, text, constraints + (condition ? ",b,~{memory}" : ",~{memory}"), operands, {});
}

void ptx::addGlobalIf(OpBuilder &b, Location loc, Value address, Value value, Value condition) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  std::string kind = type.isF16() ? "noftz.f16" : type.isBF16() ? "noftz.bf16" : llvm::formatv("{0}{1}", isa<FloatType>(type) ? "f" : "u", width).str();
  std::string constraint = width == 16 ? "h" : isa<FloatType>(type) ? (width == 32 ? "f" : "d") : (width == 32 ? "r" : "l");
  std::string text = (condition ? "@$2 " : "") + ("red.global.add." + kind + " [$0], $1;");
  SmallVector<Value> operands{address, value};
  if (condition)
    operands.push_back(condition);
  emit(b, loc, text, "l," + constraint + (condition ? ",b" : "") + ",~{memory}", operands, {});
}

SmallVector<Value> ptx::loadMatrices(OpBuilder &b, Location loc, Value address, int64_t count, bool transposed) {
  std::string text = llvm::formatv("ldmatrix.sync.aligned.m8n8.x{0}{1}.shared.b16 {2}, [${0}];", count, transposed ? ".trans" : "", registerList(0, count));
  std::string constraints;
  for (int64_t i = 0; i < count; ++i)
    constraints += "=r,";
  return emit(b, loc, text, constraints + "r,~{memory}", {address}, SmallVector<Type>(count, b.getI32Type()));
}
