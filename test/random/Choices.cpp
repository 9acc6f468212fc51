//===- Choices.cpp - random decisions that can be replayed ----------------===//
//
// Shrinking: runs of decisions are removed or set to 0, long ones first, then
// single ones are halved.
//
//===----------------------------------------------------------------------===//
#include "Choices.h"
#include "tools/tegula/Fill.h"

#include <algorithm>

using namespace tegula;
using namespace tegula::generated;

unsigned Choices::below(unsigned count) {
  if (isFresh)
    made.push_back(static_cast<uint32_t>(tool::randomBits(seed, asked) >> 32) %
                   count);
  uint32_t answer = asked < made.size() ? made[asked] % count : 0;
  ++asked;
  return answer;
}

Choices::Record Choices::record() const {
  Record answers = made;
  answers.resize(std::min(asked, made.size()));
  return answers;
}

Choices::Record tegula::generated::shrink(
    Choices::Record record, unsigned budget,
    llvm::function_ref<bool(const Choices::Record &)> fails) {
  auto attempt = [&](const Choices::Record &smaller) {
    if (budget == 0 || smaller == record)
      return false;
    --budget;
    if (!fails(smaller))
      return false;
    record = smaller;
    return true;
  };
  for (size_t run = std::max<size_t>(record.size() / 2, 1); run > 0; run /= 2)
    for (size_t at = 0; at < record.size();) {
      size_t end = std::min(at + run, record.size());
      Choices::Record removed = record, zeroed = record;
      removed.erase(removed.begin() + at, removed.begin() + end);
      std::fill(zeroed.begin() + at, zeroed.begin() + end, 0);
      if (!attempt(removed) && !attempt(zeroed))
        at = end;
      else if (budget == 0)
        return record;
      else if (record.size() > at && record[at] == 0)
        at = end; // zeroed
    }
  for (size_t at = 0; at < record.size(); ++at)
    for (bool smaller = true; smaller && record[at] > 0;) {
      Choices::Record halved = record;
      halved[at] /= 2;
      smaller = attempt(halved);
    }
  return record;
}
