// Cycles of a block, then of a tile with its ends, then of a problem.
//
// The rates are the machine's; the four constants below them were fitted to the timings in bench/results/schedule-model.json (an H200; head dims 32 to 256, both masks, 1024 to 16384 keys, two to
// four warpgroups, blocks of 48 to 128 keys): the mean error is 4 %, and of the schedules timed for a shape the one chosen is within 5.2 % of the best, most often the best.
#include "passes/attention/ScheduleCost.h"

#include <algorithm>
#include <cmath>

using namespace tegula;
using namespace tegula::tile;

namespace {

// Hopper, a cycle of one SM: multiply-adds of 16-bit tensor cores, exponentials, bytes of shared memory.
constexpr double multiplyAdds = 2048, exponentialsPerCycle = 16, sharedBytesPerCycle = 128;
constexpr double clockHz = 1.7e9; ///< under load; the same for all schedules

constexpr double latency = 450;  ///< of the waits in a warpgroup's chain
constexpr double overlap = 2.25; ///< exponent of the norm that adds the times of units that run beside each other
constexpr double edge = 2000;    ///< cycles of a tile's ends beside one chain, and edgePerColumn for each column of its output
constexpr double edgePerColumn = 16;

/// Cycles of one warpgroup's products for a block: its operands come from shared memory, which bounds short blocks.
double productCycles(double keys, const AttentionShape &shape) {
  double steps = paddedHeadDim(shape.headDim) / 16.0, valueColumns = (shape.valueDim + 7) / 8 * 8;
  double scores = std::max(warpgroupRows * 16 * keys / multiplyAdds, (32 * keys + 2048) / sharedBytesPerCycle) * steps;
  return scores + warpgroupRows * valueColumns * keys / multiplyAdds;
}

/// Cycles for a row to arrive, of 64 columns 3.2; an upper bound of what was measured for narrower panels.
double copyCycles(int64_t dim) {
  return 3.2 * ((dim + 63) / 64);
}

} // namespace

llvm::StringRef ScheduleCost::bound() const {
  if (round == chain)
    return "the latency of one warpgroup";
  if (round == copies)
    return "the copies of keys and values";
  return matrix >= exponentials ? "the tensor cores" : "the exponentials";
}

ScheduleCost tegula::scheduleCost(ScheduleAttr schedule, const AttentionShape &shape) {
  double keys = schedule.getBlockN(), consumers = schedule.getConsumers();
  double products = productCycles(keys, shape);
  // A thread's instructions: scale, exponential, sum and half a conversion an element, a running max, and the score's own; and those of a block.
  double perElement = (schedule.getSoftmax() == SoftmaxForm::Fixed ? 3.5 : 4.5) + (shape.computesScores ? 2 : 0);
  double softmax = std::max(warpgroupRows * keys / exponentialsPerCycle, perElement * keys / 2 + 70);
  ScheduleCost cost;
  cost.matrix = consumers * products;
  cost.exponentials = consumers * softmax;
  cost.chain = products + softmax + latency;
  cost.copies = keys * (copyCycles(shape.headDim) + copyCycles(shape.valueDim));
  double together = std::pow(std::pow(cost.matrix, overlap) + std::pow(cost.exponentials, overlap), 1 / overlap);
  cost.round = std::max({together, cost.chain, cost.copies});
  return cost;
}

double tegula::expectedTflops(ScheduleAttr schedule, const AttentionShape &shape, const Target &target, int64_t length) {
  constexpr double tokens = 16384, columns = 2048;
  ScheduleCost cost = scheduleCost(schedule, shape);
  double heads = columns / shape.headDim * tokens / length, blocks = 0, tiles = 0;
  for (int64_t row = 0; row < length; row += schedule.getBlockM(), ++tiles)
    blocks += std::ceil((shape.growsWithRows ? std::min(row + schedule.getBlockM(), length) : length) / static_cast<double>(schedule.getBlockN()));
  double ends = cost.chain + edge + edgePerColumn * shape.valueDim;
  double seconds = (blocks * cost.round + tiles * ends) * heads / target.multiprocessors / clockHz;
  double flops = 2.0 * (shape.headDim + shape.valueDim) * length * length * heads * (shape.growsWithRows ? 0.5 : 1);
  return flops / seconds / 1e12;
}
