// What a pipelined schedule is expected to take, to rank the schedules that fit.
#pragma once

#include "passes/attention/ChooseSchedule.h"

namespace tegula {

/// Cycles of one SM for one round: each consumer warpgroup works on one block of keys.
struct ScheduleCost {
  double matrix;       ///< the tensor cores' time, of all warpgroups
  double exponentials; ///< that of the special-function units, or of the instructions around them where it is longer
  double chain;        ///< one warpgroup's way through a block, which nothing shortens: both products, then the exponentials
  double copies;       ///< of keys and values into shared memory
  double round;        ///< what these make of it together

  /// What bounds the round.
  llvm::StringRef bound() const;
};

ScheduleCost scheduleCost(tile::ScheduleAttr schedule, const AttentionShape &shape);

/// Expected TFLOP/s on the target for self-attention of `length` queries and keys, 16384 tokens and 2048 / head dim heads in all.
double expectedTflops(tile::ScheduleAttr schedule, const AttentionShape &shape, const Target &target, int64_t length);

} // namespace tegula
