//===- Target.h - Target records ---------------------------------*- C++
//-*-===//
//
// In: the name of a GPU architecture. Out: what schedules and code generation
// must know of it, as data. A pass picks a record first and then reads fields;
// nothing compares architecture names in the middle of a pipeline.
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_CODEGEN_TARGET_H
#define TEGULA_CODEGEN_TARGET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <string>

namespace tegula {

/// Which instruction a matrix shape belongs to.
enum class MatrixUnit {
  WarpMma,      ///< `mma.sync`: one warp, all operands in registers
  WarpgroupMma, ///< `wgmma.mma_async`: four warps, B in shared memory
};

/// One matrix instruction shape, m x n x k, for operands of `elementBits` bits.
/// `nStep` to `n` in steps of `nStep` are the legal widths where nStep is not
/// 0; otherwise only `n` is.
struct MatrixShape {
  MatrixUnit unit;
  unsigned m, n, k;
  unsigned nStep;
  unsigned elementBits;
};

/// What one GPU architecture offers. Sizes are in bytes, registers are 32 bits
/// wide.
struct Target {
  llvm::StringRef name;       ///< as given to LLVM and ptxas, `sm_90a`
  unsigned computeCapability; ///< 90
  unsigned ptxVersion;        ///< lowest PTX version that knows the architecture, 80
                              ///< for 8.0
  unsigned multiprocessors;   ///< of the largest part sold
  unsigned sharedPerBlock;    ///< with the opt-in of the launch
  unsigned sharedPerSm;
  unsigned registersPerSm;
  unsigned registersPerThread; ///< most that an instruction can name
  unsigned registerGranule;    ///< `setmaxnreg` and the register allocation work
                               ///< in steps of it
  unsigned threadsPerBlock;
  unsigned threadsPerSm;
  unsigned namedBarriers;
  bool hasTma; ///< bulk tensor copies that report to an mbarrier
  bool hasWarpgroupMma;
  bool hasSetMaxRegisters;
  llvm::ArrayRef<MatrixShape> matrixShapes;
  llvm::StringRef device; ///< the part with the fastest memory, whose rates
                          ///< these are, a second
  double halfFlops;       ///< dense matrix products of 16-bit operands
  double singleFlops;     ///< f32 outside of the matrix units
  double memoryBandwidth;

  /// Registers that the warpgroups of a CTA hold when an SM runs it alone: as
  /// many for each thread, in granules. `setmaxnreg` moves them from one
  /// warpgroup to another; who asks for more than are left waits for ever.
  int64_t registersAtLaunch(int64_t warpgroups) const {
    int64_t threads = 128 * warpgroups;
    int64_t each = std::min(registersPerSm / threads, int64_t(registersPerThread));
    return each / registerGranule * registerGranule * threads;
  }
};

/// The record called `name`, or null; then `message` says which names are
/// known.
const Target *lookupTarget(llvm::StringRef name, std::string &message);

/// The names of all records, in order.
llvm::ArrayRef<llvm::StringRef> targetNames();

/// The record that is used where nothing else is asked for, sm_90a.
const Target &defaultTarget();

/// The lowest PTX version (80 for 8.0) that `asmText`, the text of one inline
/// assembly statement, needs; 0 where nothing in it is newer than every
/// target's own version.
unsigned ptxVersionNeeded(llvm::StringRef asmText);

} // namespace tegula

#endif // TEGULA_CODEGEN_TARGET_H
