//===- BenchPeers.cpp - the peers that are known by name ------------------===//
//
// One table.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/BenchPeers.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tegula::tool;
using llvm::StringRef;

static constexpr Peer peers[] = {
    {"cudnn", "", ""},
    {"flash2", "", ""},
    {"flex", "", ""},
    {"flash3", "fa3.so",
     "the library of FlashAttention-3's operators for PyTorch"},
    {"flash4", "", ""},
    {"flashinfer", "", ""},
    {"lab", "index.json", "the folder with its cubins"},
};

bool Peer::isIn(StringRef folder) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, file);
  return llvm::sys::fs::exists(path) || llvm::sys::fs::exists(path + ".xz");
}

const Peer *tegula::tool::findPeer(StringRef name) {
  for (const Peer &peer : peers)
    if (peer.name == name)
      return &peer;
  return nullptr;
}

std::vector<std::string> tegula::tool::peerNames() {
  std::vector<std::string> names;
  for (const Peer &peer : peers)
    names.push_back(peer.name.str());
  return names;
}

std::vector<std::string> tegula::tool::peersWithPath() {
  std::vector<std::string> names;
  for (const Peer &peer : peers)
    if (!peer.file.empty())
      names.push_back(peer.name.str() + "=PATH");
  return names;
}
