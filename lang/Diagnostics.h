//===- Diagnostics.h - messages about a user's text -------------*- C++ -*-===//
//
// Collects what the front end has to say and renders it, the same for every
// caller (command line, C++ API, C API):
//
//   docs.tg:3:18: error: `doc[j]` reads key positions (0..N) but ...
//     mask doc[i] == doc[j] && i >= j
//                    ^~~~~~
//   docs.tg:2:9: note: declared here; ...
//
//===----------------------------------------------------------------------===//
#ifndef TEGULA_LANG_DIAGNOSTICS_H
#define TEGULA_LANG_DIAGNOSTICS_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"
#include <deque>
#include <string>
#include <vector>

namespace tegula::lang {

enum class Severity { Error, Warning, Remark };

/// One message at a range of text (which is invalid for a message about the
/// command line or about a program made by the builder).
struct Diagnostic {
  struct Note {
    llvm::SMRange range;
    std::string text;
  };
  /// Replacing `range` by `text` mends the program.
  struct Fix {
    llvm::SMRange range;
    std::string text;
  };

  Severity severity;
  llvm::SMRange range;
  std::string text;
  std::vector<Note> notes;
  std::vector<Fix> fixes;

  Diagnostic &note(llvm::SMRange where, const llvm::Twine &message);
  Diagnostic &fix(llvm::SMRange where, const llvm::Twine &replacement);
};

/// The messages of one run, in order of report; rendered in order of text.
class Diagnostics {
public:
  explicit Diagnostics(llvm::SourceMgr &sources) : sources(sources) {}

  /// Adds an error; beyond `maxErrors` it is counted but not kept, and one that
  /// was given at the same place (in a function's body, say) is neither. The
  /// reference stays valid for the life of this object.
  Diagnostic &error(llvm::SMRange range, const llvm::Twine &text);
  Diagnostic &warning(llvm::SMRange range, const llvm::Twine &text);
  Diagnostic &remark(llvm::SMRange range, const llvm::Twine &text);
  /// Adds a note to every message from number `first` on.
  void noteSince(size_t first, llvm::SMRange range, const llvm::Twine &text);

  bool hasErrors() const { return errors != 0; }
  unsigned errorCount() const { return errors; }
  const std::deque<Diagnostic> &all() const { return list; }
  llvm::SourceMgr &sourceMgr() const { return sources; }

  void print(llvm::raw_ostream &os) const;
  std::string str() const;

  /// `file:line:column` of a place, or "" where it has none.
  std::string place(llvm::SMLoc loc) const;

  static constexpr unsigned maxErrors = 20;

private:
  Diagnostic &add(Severity severity, llvm::SMRange range,
                  const llvm::Twine &text);
  void printOne(llvm::raw_ostream &os, const Diagnostic &diagnostic) const;

  llvm::SourceMgr &sources;
  std::deque<Diagnostic> list;
  Diagnostic dropped;
  unsigned errors = 0, warnings = 0;
};

/// `; did you mean X?` for the candidate nearest to `name`, else "". Writes the
/// candidate to `found` if given.
std::string didYouMean(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> candidates,
                       llvm::StringRef *found = nullptr);

} // namespace tegula::lang

#endif
