//===- BenchPeers.h - the peers that are known by name ----------*- C++ -*-===//
//
// What the command line needs of them; bench/peers.py launches them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tegula::tool {

struct Peer {
  llvm::StringRef name;
  /// A file that marks the folder which --peer names; empty where Python
  /// finds the peer by itself.
  llvm::StringRef file;
  /// How to get it.
  llvm::StringRef hint;

  /// Whether `folder` has the file, or its compressed form.
  bool isIn(llvm::StringRef folder) const;
};

const Peer *findPeer(llvm::StringRef name);
std::vector<std::string> peerNames();
/// "flash3=PATH", "lab=PATH".
std::vector<std::string> peersWithPath();

} // namespace tegula::tool
