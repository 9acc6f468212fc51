// All combinations of choices, in the order of counting.
#include "passes/verify/Choices.h"

#include "llvm/ADT/STLExtras.h"

using namespace tegula;

int64_t Choices::choose(llvm::StringRef key, llvm::ArrayRef<int64_t> options) {
  for (const Choice &choice : llvm::ArrayRef(taken).take_front(asked))
    if (choice.key == key)
      return choice.options[choice.index];
  if (asked == taken.size())
    taken.push_back({key.str(), llvm::SmallVector<int64_t>(options), 0});
  const Choice &choice = taken[asked++];
  return choice.options[choice.index];
}

bool Choices::next() {
  asked = 0;
  while (!taken.empty() && taken.back().index + 1 == taken.back().options.size())
    taken.pop_back();
  if (taken.empty())
    return false;
  ++taken.back().index;
  return true;
}

std::string Choices::describe() const {
  std::string text;
  for (const Choice &choice : taken)
    if (choice.options.size() > 1)
      text += (text.empty() ? "" : ", ") + choice.key + " = " + std::to_string(choice.options[choice.index]);
  return text;
}
