// Long vectors of LLVM IR as values that a register holds.
#pragma once

namespace llvm {
class FunctionPass;
} // namespace llvm

namespace tegula {

/// Vectors become parts: an element each, or as many as share 32 bits. What has no form in parts, such as a load, keeps its vector, put together
/// before it or taken apart after it. Flags of floating-point operations are kept.
llvm::FunctionPass *createSplitVectorsPass();

} // namespace tegula
