// Vectors of any length to parts that a register holds: an element each, or as many as share 32 bits.
//
// Instruction selection would halve long vectors until they fit, with nodes of its graph for each half and for each element that is put in or taken
// out: on fragments of 64 elements that takes most of the time of a compilation. One walk that knows the parts of each value takes almost none.
#include "codegen/SplitVectors.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Pass.h"

using namespace llvm;

namespace {
/// How the elements of a vector are spread over parts.
struct Layout {
  explicit Layout(const Value *vector) : Layout(cast<FixedVectorType>(vector->getType())) {}
  explicit Layout(FixedVectorType *type) : element(type->getElementType()), size(type->getNumElements()) {
    unsigned bits = element->getScalarSizeInBits();
    stride = bits == 8 || bits == 16 ? std::min(32 / bits, size) : 1;
  }
  unsigned numParts() const { return divideCeil(size, stride); }
  unsigned partSize(unsigned part) const { return std::min(stride, size - part * stride); }
  Type *partType(unsigned part) const { return partSize(part) == 1 ? element : FixedVectorType::get(element, partSize(part)); }

  Type *element;
  unsigned size, stride;
};

class VectorSplitter {
public:
  explicit VectorSplitter(Function &function) : function(function), builder(function.getContext()) {}
  void run();

private:
  using Parts = SmallVector<Value *, 0>;

  bool split(Instruction &instruction);
  bool splitExtraction(ExtractElementInst &extraction);
  bool splitInsertion(InsertElementInst &insertion);
  bool splitShuffle(ShuffleVectorInst &shuffle);
  bool splitBitCast(BitCastInst &cast);
  bool splitPhi(PHINode &phi);
  void completePhi(PHINode &phi);
  bool splitElementwise(Instruction &instruction);

  const Parts &partsOf(Value *vector);
  Value *join(ArrayRef<Value *> elements);
  Value *elements(Value *vector, unsigned first, unsigned count);
  Value *whole(Value *vector);
  bool replace(Instruction &instruction, Parts parts);

  Function &function;
  IRBuilder<> builder;
  DenseMap<Value *, Parts> known;
  SmallSetVector<Instruction *, 0> replaced; ///< used by one another only
};
} // namespace

static bool isVector(const Value *value) { return isa<FixedVectorType>(value->getType()); }

/// Whether element i of the result is what the instruction makes of elements i of the vectors that it takes.
static bool isElementwise(const Instruction &instruction) {
  if (isa<UnaryOperator, BinaryOperator, CmpInst, SelectInst, FreezeInst>(instruction))
    return true;
  if (isa<CastInst>(instruction))
    return !isa<BitCastInst>(instruction);
  auto *call = dyn_cast<IntrinsicInst>(&instruction);
  return call && isTriviallyVectorizable(call->getIntrinsicID()) &&
         all_of(call->args(), [&](const Use &argument) { return argument->getType() == call->getType(); });
}

/// A value that was not replaced is taken apart where it is defined; a constant has parts of its own.
const VectorSplitter::Parts &VectorSplitter::partsOf(Value *vector) {
  auto [entry, isNew] = known.try_emplace(vector);
  if (!isNew)
    return entry->second;
  IRBuilder<>::InsertPointGuard guard(builder);
  auto *instruction = dyn_cast<Instruction>(vector);
  builder.SetInsertPoint(instruction ? *instruction->getInsertionPointAfterDef() : function.getEntryBlock().getFirstInsertionPt());
  Layout layout(vector);
  for (unsigned part = 0; part != layout.numParts(); ++part) {
    unsigned first = part * layout.stride, size = layout.partSize(part);
    entry->second.push_back(size == 1 ? builder.CreateExtractElement(vector, first)
                                      : builder.CreateShuffleVector(vector, createSequentialMask(first, size, /*NumUndefs=*/0)));
  }
  return entry->second;
}

/// A vector of these elements.
Value *VectorSplitter::join(ArrayRef<Value *> elements) {
  Value *vector = PoisonValue::get(FixedVectorType::get(elements.front()->getType(), elements.size()));
  for (auto [number, element] : enumerate(elements))
    vector = builder.CreateInsertElement(vector, element, number);
  return vector;
}

/// Consecutive elements: a scalar, or a vector of several.
Value *VectorSplitter::elements(Value *vector, unsigned first, unsigned count) {
  Layout layout(vector);
  unsigned part = first / layout.stride, offset = first % layout.stride;
  Value *value = partsOf(vector)[part];
  if (offset == 0 && count == layout.partSize(part))
    return value;
  if (count == 1)
    return builder.CreateExtractElement(value, offset);
  return join(map_to_vector(seq(first, first + count), [&](unsigned i) { return elements(vector, i, 1); }));
}

/// For an instruction that takes vectors only.
Value *VectorSplitter::whole(Value *vector) {
  auto *instruction = dyn_cast<Instruction>(vector);
  if (!instruction || !replaced.contains(instruction))
    return vector;
  Value *part = partsOf(vector).front();
  return part->getType() == vector->getType() ? part
                                              : join(map_to_vector(seq(Layout(vector).size), [&](unsigned i) { return elements(vector, i, 1); }));
}

bool VectorSplitter::replace(Instruction &instruction, Parts parts) {
  known[&instruction] = std::move(parts);
  return replaced.insert(&instruction);
}

bool VectorSplitter::splitExtraction(ExtractElementInst &extraction) {
  auto *index = dyn_cast<ConstantInt>(extraction.getIndexOperand());
  if (!index || index->getValue().uge(Layout(extraction.getVectorOperand()).size))
    return false;
  extraction.replaceAllUsesWith(elements(extraction.getVectorOperand(), index->getZExtValue(), 1));
  return replaced.insert(&extraction);
}

bool VectorSplitter::splitInsertion(InsertElementInst &insertion) {
  Layout layout(&insertion);
  auto *index = dyn_cast<ConstantInt>(insertion.getOperand(2));
  if (!index || index->getValue().uge(layout.size))
    return false;
  Parts parts = partsOf(insertion.getOperand(0));
  Value *&part = parts[index->getZExtValue() / layout.stride];
  Value *element = insertion.getOperand(1);
  part = isVector(part) ? builder.CreateInsertElement(part, element, index->getZExtValue() % layout.stride) : element;
  return replace(insertion, std::move(parts));
}

bool VectorSplitter::splitShuffle(ShuffleVectorInst &shuffle) {
  int sourceSize = Layout(shuffle.getOperand(0)).size;
  auto pick = [&](int first, unsigned count) {
    return first < sourceSize ? elements(shuffle.getOperand(0), first, count) : elements(shuffle.getOperand(1), first - sourceSize, count);
  };
  Layout layout(&shuffle);
  Parts parts;
  for (unsigned part = 0; part != layout.numParts(); ++part) {
    ArrayRef<int> mask = shuffle.getShuffleMask().slice(part * layout.stride, layout.partSize(part));
    auto isNext = [&](auto numbered) { return numbered.value() == mask.front() + static_cast<int>(numbered.index()); };
    bool isRun = mask.front() >= 0 && all_of(enumerate(mask), isNext) && mask.front() / sourceSize == mask.back() / sourceSize;
    auto pickOne = [&](int number) { return number < 0 ? PoisonValue::get(layout.element) : pick(number, 1); };
    parts.push_back(isRun ? pick(mask.front(), mask.size()) : mask.size() == 1 ? pickOne(mask.front()) : join(map_to_vector(mask, pickOne)));
  }
  return replace(shuffle, std::move(parts));
}

/// Where the parts of both types are equally long.
bool VectorSplitter::splitBitCast(BitCastInst &cast) {
  Value *source = cast.getOperand(0);
  if (!isVector(source) || !isVector(&cast))
    return false;
  Layout from(source), to(&cast);
  unsigned fromBits = from.stride * from.element->getScalarSizeInBits(), toBits = to.stride * to.element->getScalarSizeInBits();
  if (fromBits != toBits)
    return false;
  Parts parts;
  for (auto [number, part] : enumerate(partsOf(source)))
    parts.push_back(builder.CreateBitCast(part, to.partType(number)));
  return replace(cast, std::move(parts));
}

/// The parts get their operands at the end: those of a loop's latch come later.
bool VectorSplitter::splitPhi(PHINode &phi) {
  Layout layout(&phi);
  Parts parts;
  for (unsigned part = 0; part != layout.numParts(); ++part)
    parts.push_back(builder.CreatePHI(layout.partType(part), phi.getNumIncomingValues()));
  return replace(phi, std::move(parts));
}

void VectorSplitter::completePhi(PHINode &phi) {
  for (auto [block, value] : zip(phi.blocks(), phi.incoming_values())) {
    const Parts &incoming = partsOf(value);
    for (auto [part, from] : zip_equal(known[&phi], incoming))
      cast<PHINode>(part)->addIncoming(from, block);
  }
}

/// Puts a condition that nothing else has used yet, and those that it is made of, right before its user: there are few registers for conditions.
static void sinkCondition(Value *value, Instruction &user) {
  if (!value->getType()->isIntegerTy(1) || !value->hasOneUse() || !isa<CmpInst, BinaryOperator>(value))
    return;
  auto *condition = cast<Instruction>(value);
  if (condition->getParent() != user.getParent())
    return;
  condition->moveBefore(user.getIterator());
  for (Value *operand : condition->operands())
    sinkCondition(operand, *condition);
}

bool VectorSplitter::splitElementwise(Instruction &instruction) {
  Layout layout(&instruction);
  Parts parts;
  for (unsigned part = 0; part != layout.numParts(); ++part) {
    Instruction *copy = instruction.clone();
    copy->mutateType(layout.partType(part));
    for (Use &operand : copy->operands())
      if (isVector(operand))
        operand = elements(operand, part * layout.stride, layout.partSize(part));
    if (auto *call = dyn_cast<IntrinsicInst>(copy))
      call->setCalledFunction(Intrinsic::getOrInsertDeclaration(function.getParent(), call->getIntrinsicID(), copy->getType()));
    parts.push_back(builder.Insert(copy));
    for (Value *operand : copy->operands())
      sinkCondition(operand, *copy);
  }
  return replace(instruction, std::move(parts));
}

bool VectorSplitter::split(Instruction &instruction) {
  if (auto *extraction = dyn_cast<ExtractElementInst>(&instruction))
    return splitExtraction(*extraction);
  if (!isVector(&instruction))
    return false;
  if (auto *insertion = dyn_cast<InsertElementInst>(&instruction))
    return splitInsertion(*insertion);
  if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&instruction))
    return splitShuffle(*shuffle);
  if (auto *cast = dyn_cast<BitCastInst>(&instruction))
    return splitBitCast(*cast);
  if (auto *phi = dyn_cast<PHINode>(&instruction))
    return splitPhi(*phi);
  return isElementwise(instruction) && splitElementwise(instruction);
}

void VectorSplitter::run() {
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    for (Instruction &instruction : make_early_inc_range(*block)) {
      builder.SetInsertPoint(&instruction);
      if (split(instruction))
        continue;
      for (Use &operand : instruction.operands())
        if (isVector(operand))
          operand = whole(operand);
    }
  for (Instruction *instruction : replaced)
    if (auto *phi = dyn_cast<PHINode>(instruction))
      completePhi(*phi);
  for (Instruction *instruction : replaced)
    instruction->replaceAllUsesWith(PoisonValue::get(instruction->getType())); // unreachable blocks may use it too
  for (Instruction *instruction : replaced)
    instruction->eraseFromParent();
}

namespace {
struct SplitVectors final : FunctionPass {
  static char ID;
  SplitVectors() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Split vectors"; }
  void getAnalysisUsage(AnalysisUsage &usage) const override { usage.setPreservesCFG(); }
  bool runOnFunction(Function &function) override {
    VectorSplitter(function).run();
    return true;
  }
};
} // namespace

char SplitVectors::ID;

FunctionPass *tegula::createSplitVectorsPass() { return new SplitVectors; }
