//===- Diagnostics.cpp - messages about a user's text ---------------------===//
//
// Rendering: header line, the source line, a caret line; notes are one line
// each. Long lines are cut to a window around the caret, control characters
// are replaced, so that any input can be shown.
//
//===----------------------------------------------------------------------===//
#include "lang/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace tegula::lang;
using llvm::SMLoc;
using llvm::SMRange;
using llvm::StringRef;

Diagnostic &Diagnostic::note(SMRange where, const llvm::Twine &message) {
  notes.push_back({where, message.str()});
  return *this;
}

Diagnostic &Diagnostic::fix(SMRange where, const llvm::Twine &replacement) {
  fixes.push_back({where, replacement.str()});
  return *this;
}

Diagnostic &Diagnostics::add(Severity severity, SMRange range,
                             const llvm::Twine &text) {
  // A message may quote the user's text, which may be of any length.
  constexpr size_t longest = 500;
  std::string message = text.str();
  if (message.size() > longest)
    message = message.substr(0, longest) + "...";
  Diagnostic diagnostic{severity, range, std::move(message), {}, {}};
  for (const Diagnostic &known : list)
    if (range.isValid() && known.range.Start == range.Start &&
        known.text == diagnostic.text)
      return dropped = std::move(diagnostic);
  unsigned &count = severity == Severity::Error ? errors : warnings;
  if (++count > maxErrors)
    return dropped = std::move(diagnostic);
  return list.emplace_back(std::move(diagnostic));
}

Diagnostic &Diagnostics::error(SMRange range, const llvm::Twine &text) {
  return add(Severity::Error, range, text);
}

Diagnostic &Diagnostics::warning(SMRange range, const llvm::Twine &text) {
  return add(Severity::Warning, range, text);
}

Diagnostic &Diagnostics::remark(SMRange range, const llvm::Twine &text) {
  return add(Severity::Remark, range, text);
}

void Diagnostics::noteSince(size_t first, SMRange range,
                            const llvm::Twine &text) {
  for (size_t n = first; n < list.size(); ++n)
    list[n].note(range, text);
}

std::string Diagnostics::place(SMLoc loc) const {
  if (!loc.isValid())
    return "";
  unsigned buffer = sources.FindBufferContainingLoc(loc);
  if (!buffer)
    return "";
  auto [line, column] = sources.getLineAndColumn(loc, buffer);
  return (sources.getMemoryBuffer(buffer)->getBufferIdentifier() + ":" +
          llvm::Twine(line) + ":" + llvm::Twine(column))
      .str();
}

/// Prints the line that holds `range.Start` and a caret line below it.
static void printExcerpt(llvm::raw_ostream &os, StringRef text, SMRange range) {
  constexpr size_t window = 160;
  size_t at = range.Start.getPointer() - text.data();
  size_t begin = text.rfind('\n', at);
  begin = begin == StringRef::npos ? 0 : begin + 1;
  size_t end = std::min(text.find('\n', at), text.size());
  size_t last = std::max<size_t>(range.End.getPointer() - text.data(), at + 1);
  last = std::min(last, std::max(end, at + 1));
  bool cutFront = at - begin > window / 2, cutBack = false;
  if (cutFront)
    begin = at - window / 2;
  if (end - begin > window) {
    end = begin + window;
    cutBack = true;
    last = std::min(last, std::max(end, at + 1));
  }
  StringRef line = text.slice(begin, end);
  os << (cutFront ? "..." : "");
  for (char c : line)
    os << (c == '\t' || static_cast<unsigned char>(c) >= 0x20 ? c
           : c == '\r'                                        ? ' '
                                                              : '?');
  os << (cutBack ? "..." : "") << '\n' << (cutFront ? "   " : "");
  auto isContinuation = [](char c) { return (c & 0xC0) == 0x80; };
  for (char c : text.slice(begin, at))
    if (!isContinuation(c))
      os << (c == '\t' ? '\t' : ' ');
  os << '^';
  for (char c : text.slice(at + 1, last))
    if (!isContinuation(c))
      os << '~';
  os << '\n';
}

void Diagnostics::printOne(llvm::raw_ostream &os, const Diagnostic &d) const {
  std::string where = place(d.range.Start);
  os << where << (where.empty() ? "" : ": ")
     << (d.severity == Severity::Error     ? "error: "
         : d.severity == Severity::Warning ? "warning: "
                                           : "remark: ")
     << d.text << '\n';
  if (!where.empty()) {
    unsigned buffer = sources.FindBufferContainingLoc(d.range.Start);
    printExcerpt(os, sources.getMemoryBuffer(buffer)->getBuffer(), d.range);
  }
  for (const Diagnostic::Note &note : d.notes) {
    std::string notePlace = place(note.range.Start);
    os << notePlace << (notePlace.empty() ? "" : ": ") << "note: " << note.text
       << '\n';
  }
}

void Diagnostics::print(llvm::raw_ostream &os) const {
  // In order of text; files in the order in which they were read.
  std::vector<std::tuple<unsigned, const char *, size_t>> order;
  for (size_t i = 0; i < list.size(); ++i) {
    SMLoc start = list[i].range.Start;
    order.emplace_back(start.isValid() ? sources.FindBufferContainingLoc(start)
                                       : 0,
                       start.getPointer(), i);
  }
  std::sort(order.begin(), order.end());
  for (auto [buffer, start, number] : order)
    printOne(os, list[number]);
  if (errors > maxErrors)
    os << "error: " << errors - maxErrors << " more errors are not shown\n";
}

std::string Diagnostics::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

std::string tegula::lang::didYouMean(StringRef name,
                                     llvm::ArrayRef<StringRef> candidates,
                                     StringRef *found) {
  unsigned limit = name.size() < 3 ? 1 : (name.size() + 2) / 3;
  StringRef best;
  for (StringRef candidate : candidates) {
    if (candidate == name)
      continue;
    unsigned distance = candidate.equals_insensitive(name)
                            ? 0
                            : name.edit_distance(candidate, true, limit);
    // A one-letter name is near to every other one: only its case may differ.
    if (name.size() == 1 && distance != 0)
      continue;
    if (distance < limit || (distance == limit && best.empty())) {
      best = candidate;
      limit = distance;
    }
  }
  if (best.empty())
    return "";
  if (found)
    *found = best;
  return ("; did you mean `" + best + "`?").str();
}
