//===- Fill.cpp - tensors filled from a seed ------------------------------===//
//
// A counter-based generator: element number n of a tensor is a hash of the
// stream and n. Only exact arithmetic turns bits into values.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Fill.h"

#include <algorithm>

using namespace tegula;
using namespace tegula::tool;

/// The mixing function of SplitMix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, 2014).
static uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

uint64_t tegula::tool::randomBits(uint64_t key, uint64_t counter) {
  return mix(key + (counter + 1) * 0x9E3779B97F4A7C15u);
}

uint64_t tegula::tool::streamKey(uint64_t seed, llvm::StringRef name) {
  uint64_t hash = 0xCBF29CE484222325u; // FNV-1a
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001B3u;
  return mix(hash ^ mix(seed + 0x9E3779B97F4A7C15u));
}

/// Four 16-bit uniform numbers summed, then scaled to deviation 1.
static double nearlyNormal(uint64_t bits) {
  int64_t sum = 0;
  for (int part = 0; part < 4; ++part)
    sum += static_cast<int64_t>(bits >> (16 * part) & 0xFFFF);
  constexpr double rootOfThree = 1.7320508075688772;
  return (static_cast<double>(2 * sum - 4 * 0xFFFF) / (2 * 65536.0)) *
         rootOfThree;
}

static double drawReal(uint64_t bits, const FillRule &rule) {
  if (!rule.hasRange)
    return nearlyNormal(bits);
  double unit = static_cast<double>(bits >> 11) * 0x1p-53;
  return rule.low + unit * (rule.high - rule.low);
}

static int64_t drawInteger(uint64_t bits, const FillRule &rule) {
  auto low = static_cast<int64_t>(rule.low);
  auto high = static_cast<int64_t>(rule.high);
  if (high <= low)
    return low;
  auto span = static_cast<unsigned __int128>(high - low);
  return low + static_cast<int64_t>((span * bits) >> 64);
}

template <typename T, typename Draw, typename Put>
static void fillRows(Tensor &tensor, bool sorted, Draw draw, Put put) {
  if (!sorted || tensor.shape().empty()) {
    tensor.forEach(
        [&](int64_t linear, int64_t offset) { put(offset, draw(linear)); });
    return;
  }
  int64_t length = tensor.shape().back();
  std::vector<T> row(length);
  int64_t place = 0;
  tensor.forEach([&](int64_t linear, int64_t offset) {
    if (place == 0) {
      for (int64_t n = 0; n < length; ++n)
        row[n] = draw(linear + n);
      std::sort(row.begin(), row.end());
    }
    put(offset, row[place]);
    place = (place + 1) % length;
  });
}

void tegula::tool::fillTensor(Tensor &tensor, llvm::StringRef name,
                              const FillRule &rule) {
  uint64_t key = streamKey(rule.seed, name);
  if (rt::isFloat(tensor.type()))
    return fillRows<double>(
        tensor, rule.sorted,
        [&](int64_t n) { return drawReal(randomBits(key, n), rule); },
        [&](int64_t offset, double value) { tensor.setReal(offset, value); });
  FillRule bounds = rule;
  if (!rule.hasRange) {
    bounds.low = 0;
    bounds.high = 2;
  }
  fillRows<int64_t>(
      tensor, rule.sorted,
      [&](int64_t n) { return drawInteger(randomBits(key, n), bounds); },
      [&](int64_t offset, int64_t value) { tensor.setInteger(offset, value); });
}
