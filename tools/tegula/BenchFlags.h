//===- BenchFlags.h - the options of tegula bench ---------------*- C++ -*-===//
//
// Either a FILE.tg with what `tegula run` takes, or grids and their filters.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/tegula/Flags.h"

namespace tegula::tool {

struct BenchFlags {
  explicit BenchFlags(llvm::cl::SubCommand &command);
  llvm::Expected<BenchOptions> read() const;

  llvm::cl::list<std::string> files;
  llvm::cl::opt<std::string> item;
  llvm::cl::list<std::string> defines, size, arguments, grids, peers, peerPaths;
  llvm::cl::opt<std::string> rounds;
  llvm::cl::list<std::string> seqs, dims, masks, schedule;
  llvm::cl::opt<bool> list;
  llvm::cl::opt<std::string> json, plot, output, from, python;

private:
  llvm::Error readFiles(BenchOptions &options) const;
  llvm::Error readPeers(BenchOptions &options) const;
  llvm::Error readOutputs(BenchOptions &options) const;
};

} // namespace tegula::tool
