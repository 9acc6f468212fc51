// Inline PTX where NVVM has no op, or one of the wrong shape: one table of templates, each a function that emits one llvm.inline_asm.
//
// Shared-memory addresses are i32, descriptors i64 (PTX ISA, "matrix descriptor"), 16-bit operand registers i32 pairs, accumulators f32.
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace tegula::ptx {

/// Emits PTX text; `$0 ...` are results, then operands. Returns the results, one value each.
llvm::SmallVector<mlir::Value> emit(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef text, llvm::StringRef constraints,
                                    mlir::ValueRange operands, mlir::TypeRange results);

void mbarrierInit(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address, mlir::Value arrivals);
/// Spins until the phase of `parity` has completed.
void mbarrierWait(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address, mlir::Value parity);
void mbarrierArriveIf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address, mlir::Value condition);
void mbarrierArriveExpect(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address, mlir::Value bytes);
/// Bulk tensor copy of the box at `coordinates` (innermost first) to shared memory; reports its bytes to `barrier`.
void tensorCopy(mlir::OpBuilder &b, mlir::Location loc, mlir::Value destination, mlir::Value map, mlir::Value barrier,
                mlir::ValueRange coordinates);
void barrierSync(mlir::OpBuilder &b, mlir::Location loc, mlir::Value barrier, mlir::Value threads);
/// Whether `flag` holds in any of the `threads` threads that come to the barrier.
mlir::Value barrierAny(mlir::OpBuilder &b, mlir::Location loc, mlir::Value barrier, mlir::Value flag, mlir::Value threads);
void barrierArrive(mlir::OpBuilder &b, mlir::Location loc, mlir::Value barrier, mlir::Value threads);

/// One product of a warpgroup: all k-steps between a fence and a commit, in one asm so that nothing comes between them.
struct WarpgroupProduct {
  int64_t n, steps;              ///< columns of the result; k-steps of 16
  llvm::StringRef type;          ///< "f16" or "bf16"
  bool accumulate;               ///< else the first step writes
  bool transposeB;               ///< B is stored with n fastest
  llvm::function_ref<int64_t(int64_t)> aStep, bStep; ///< descriptor increments of a k-step, in 16-byte units
};
/// With `half` (i1), only the first half of the k-steps where it holds; no other product may run then.
/// `accumulator`: n / 2 f32. `a`: 4 i32 a k-step, or one descriptor where `aInShared`. `b`: a descriptor.
llvm::SmallVector<mlir::Value> warpgroupProduct(mlir::OpBuilder &b, mlir::Location loc, const WarpgroupProduct &shape,
                                                mlir::ValueRange accumulator, mlir::ValueRange a, bool aInShared, mlir::Value bDescriptor, mlir::Value half);
/// Waits until at most `inFlight` products run. Takes and returns the registers that the products write or read, so that no read moves above it.
llvm::SmallVector<mlir::Value> waitProducts(mlir::OpBuilder &b, mlir::Location loc, int64_t inFlight, mlir::ValueRange registers);
/// `mma.sync.m16n8k16`: 4 f32 accumulators, 4 and 2 operand registers.
llvm::SmallVector<mlir::Value> warpProduct16(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef type, mlir::ValueRange accumulator,
                                             mlir::ValueRange a, mlir::ValueRange bRegisters);
/// `mma.sync.m16n8k8` on tf32: 4 f32 accumulators, 4 and 2 operand registers (i32 bits of f32).
llvm::SmallVector<mlir::Value> warpProductTf32(mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange accumulator, mlir::ValueRange a,
                                               mlir::ValueRange bRegisters);
/// Rounds f32 to tf32, as i32 bits.
mlir::Value toTf32(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);

/// Replaces 16 or 32 bits of global memory by `desired` where they are `expected`; returns what they were.
mlir::Value compareAndSwap(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address, mlir::Value expected, mlir::Value desired);
/// `pointer + bytes`.
mlir::Value advance(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer, int64_t bytes);
/// Reads or writes an i32 of shared memory.
mlir::Value loadShared(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address);
void storeShared(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address, mlir::Value value);

/// A copy of a pointer to global memory whose origin LLVM does not see.
mlir::Value opaque(mlir::OpBuilder &b, mlir::Location loc, mlir::Value pointer);
/// Reads 1, 2, 4, 8 or 16 bytes of global memory where `condition` (null: always), else 0; one i16 for 1 (zero-extended) and 2 bytes, else i32 words.
llvm::SmallVector<mlir::Value> loadGlobalIf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address, int64_t bytes, mlir::Value condition);
/// Starts a copy of 4, 8 or 16 bytes of global memory to shared memory (an i32 address); zeros where `condition` (null: always) does not hold.
void copyGlobalIf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value to, mlir::Value from, int64_t bytes, mlir::Value condition);
/// Waits for the thread's copies.
void waitCopies(mlir::OpBuilder &b, mlir::Location loc);
/// Writes the words that `loadGlobalIf` reads.
void storeGlobalIf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address, int64_t bytes, mlir::ValueRange words, mlir::Value condition);
/// Adds to global memory atomically; `value` is i32, i64, f16, bf16, f32 or f64.
void addGlobalIf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address, mlir::Value value, mlir::Value condition);
/// `ldmatrix`: `count` (2 or 4) 8x8 matrices of 16-bit elements, whose rows the lanes' addresses name; one i32 each.
llvm::SmallVector<mlir::Value> loadMatrices(mlir::OpBuilder &b, mlir::Location loc, mlir::Value address, int64_t count, bool transposed);

} // namespace tegula::ptx
