//===- Flags.h - the command line as LLVM sees it ---------------*- C++ -*-===//
//
// The options of one subcommand are the members of a struct that reads itself
// into the plain one of Options.h. Objects of the cl library register
// themselves, so they are made when the command line is parsed and not before.
// Private to the sources of Options.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Options.h"
#include "llvm/Support/CommandLine.h"

namespace tegula::tool {

/// What --help shows.
extern llvm::cl::OptionCategory optionCategory;

/// Adds NAME=VALUE, each name once. `option` is named in the error.
llvm::Error addPair(llvm::StringRef option, llvm::StringRef text, Pairs &pairs);
llvm::Error addPairs(llvm::StringRef option,
                     const llvm::cl::list<std::string> &texts, Pairs &pairs);

/// Reads --size. Lengths are plain numbers: "1k" is refused.
llvm::Error readSizes(const llvm::cl::list<std::string> &texts,
                      std::vector<std::pair<std::string, int64_t>> &sizes);

/// What both compile and run take.
struct CommonFlags {
  explicit CommonFlags(llvm::cl::SubCommand &command);
  llvm::Error read(CommonOptions &options) const;

  llvm::cl::opt<std::string> file, item;
  llvm::cl::list<std::string> defines;
  llvm::cl::opt<std::string> arch;
  llvm::cl::list<std::string> schedule;
  llvm::cl::opt<bool> debug, approximateTanh, time, remarks;
};

} // namespace tegula::tool
