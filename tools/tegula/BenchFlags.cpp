//===- BenchFlags.cpp - the options of tegula bench -----------------------===//
//
// An option that would have no effect beside the others is refused.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/BenchFlags.h"
#include "tools/tegula/BenchGrid.h"
#include "tools/tegula/BenchPeers.h"
#include "tools/tegula/Failure.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace tegula;
using namespace tegula::tool;
using llvm::StringRef;
using llvm::Twine;
namespace cl = llvm::cl;

BenchFlags::BenchFlags(cl::SubCommand &command)
    : files(cl::Positional, cl::desc("[FILE.tg ...]"), cl::sub(command),
            cl::cat(optionCategory)),
      item("item", cl::desc("The item of FILE.tg to time"),
           cl::value_desc("NAME"), cl::sub(command), cl::cat(optionCategory)),
      defines("D", cl::desc("Set a static of FILE.tg: -D D=64"),
              cl::value_desc("NAME=VALUE"), cl::Prefix, cl::sub(command),
              cl::cat(optionCategory)),
      size("size", cl::desc("Lengths for FILE.tg: B=1,H=8,G=8,M=4096,N=4096"),
           cl::value_desc("DIM=LENGTH,..."), cl::CommaSeparated,
           cl::sub(command), cl::cat(optionCategory)),
      arguments("arg", cl::desc("A parameter of FILE.tg, as for run"),
                cl::value_desc("NAME=VALUE|NAME=@file.npy"), cl::sub(command),
                cl::cat(optionCategory)),
      grids("grid",
            cl::desc("What to time without a FILE.tg: hopper-forward, "
                     "hopper-variants (default: both)"),
            cl::value_desc("NAME,..."), cl::CommaSeparated, cl::sub(command),
            cl::cat(optionCategory)),
      peers("peers",
            cl::desc("Only these peers; none: ours alone (default: all that "
                     "are present)"),
            cl::value_desc("NAME,..."), cl::CommaSeparated, cl::sub(command),
            cl::cat(optionCategory)),
      peerPaths("peer",
                cl::desc("Where a peer is: flash3=PATH, lab=DIR, or "
                         "NAME=FILE.py for one of your own"),
                cl::value_desc("NAME=PATH"), cl::sub(command),
                cl::cat(optionCategory)),
      rounds("rounds", cl::desc("Rounds of blocks (default: 5)"),
             cl::value_desc("COUNT"), cl::sub(command),
             cl::cat(optionCategory)),
      seqs("seqs", cl::desc("Only these lengths of a grid: 1024,4096"),
           cl::value_desc("S,..."), cl::CommaSeparated, cl::sub(command),
           cl::cat(optionCategory)),
      dims("dims", cl::desc("Only these head dims of a grid: 64,128"),
           cl::value_desc("D,..."), cl::CommaSeparated, cl::sub(command),
           cl::cat(optionCategory)),
      masks("masks",
            cl::desc("Only these masks or kernels of a grid: full,softcap"),
            cl::value_desc("NAME,..."), cl::CommaSeparated, cl::sub(command),
            cl::cat(optionCategory)),
      schedule("schedule",
               cl::desc("Fix fields of our schedule, for experiments; the "
                        "results say so"),
               cl::value_desc("FIELD=VALUE,..."), cl::CommaSeparated,
               cl::sub(command), cl::cat(optionCategory)),
      list("list", cl::desc("Print what would be timed, and stop"),
           cl::sub(command), cl::cat(optionCategory)),
      json("json", cl::desc("Write the results as JSON"),
           cl::value_desc("PATH"), cl::sub(command), cl::cat(optionCategory)),
      plot("plot", cl::desc("Draw the results as SVG"), cl::value_desc("PATH"),
           cl::sub(command), cl::cat(optionCategory)),
      output("o",
             cl::desc("Both: FILE.json and FILE.svg, or in a folder GRID.json "
                      "and GRID.svg"),
             cl::value_desc("DIR|FILE.json"), cl::sub(command),
             cl::cat(optionCategory)),
      from("from",
           cl::desc("Time nothing: print and draw the results in a file"),
           cl::value_desc("FILE.json"), cl::sub(command),
           cl::cat(optionCategory)),
      python("python",
             cl::desc("The Python with PyTorch that holds the peers (default: "
                      "python3); none: ours alone"),
             cl::value_desc("PATH"), cl::init("python3"), cl::sub(command),
             cl::cat(optionCategory)) {}

/// FILE.tg and what belongs to it, or grids and their filters.
llvm::Error BenchFlags::readFiles(BenchOptions &options) const {
  options.files.assign(files.begin(), files.end());
  options.item = item;
  if (llvm::Error error = addPairs("-D", defines, options.defines))
    return error;
  if (llvm::Error error = addPairs("--arg", arguments, options.arguments))
    return error;
  if (llvm::Error error = readSizes(size, options.sizes))
    return error;
  Pairs fields;
  if (llvm::Error error = addPairs("--schedule", schedule, fields))
    return error;
  options.schedule.assign(schedule.begin(), schedule.end());
  const std::pair<StringRef, bool> ofFiles[] = {{"--item", !item.empty()},
                                                {"-D", !defines.empty()},
                                                {"--size", !size.empty()},
                                                {"--arg", !arguments.empty()}};
  const std::pair<StringRef, bool> ofGrids[] = {
      {"--grid", !grids.empty()},     {"--peers", !peers.empty()},
      {"--peer", !peerPaths.empty()}, {"--seqs", !seqs.empty()},
      {"--dims", !dims.empty()},      {"--masks", !masks.empty()}};
  if (files.empty()) {
    for (const auto &[name, given] : ofFiles)
      if (given)
        return usageError(name + " belongs to a FILE.tg, but none is given");
  } else {
    for (const auto &[name, given] : ofGrids)
      if (given)
        return usageError(name + " belongs to a grid, but '" + files.front() +
                          "' is timed alone");
  }
  options.grids.assign(grids.begin(), grids.end());
  if (grids.empty())
    for (StringRef name : gridNames())
      options.grids.push_back(name.str());
  for (const std::string &name : options.grids)
    if (!llvm::is_contained(gridNames(), name))
      return usageError("expected a grid (" + llvm::join(gridNames(), ", ") +
                        ") for --grid, but got '" + name + "'");
  for (auto [name, texts, values] : {std::tuple("--seqs", &seqs, &options.seqs),
                                     {"--dims", &dims, &options.dims}})
    for (const std::string &text : *texts)
      if (StringRef(text).getAsInteger(10, values->emplace_back()))
        return usageError(Twine("expected numbers for ") + name +
                          ", but got '" + text + "'");
  options.masks.assign(masks.begin(), masks.end());
  return llvm::Error::success();
}

llvm::Error BenchFlags::readPeers(BenchOptions &options) const {
  if (llvm::Error error = addPairs("--peer", peerPaths, options.peerPaths))
    return error;
  for (const auto &[name, path] : options.peerPaths) {
    bool isOwn = StringRef(path).ends_with(".py");
    const Peer *peer = findPeer(name);
    if (!isOwn && (!peer || peer->file.empty()))
      return usageError("--peer " + name + ": expected " +
                        llvm::join(peersWithPath(), " or ") +
                        ", or a FILE.py that brings '" + name + "'");
    if (!llvm::sys::fs::exists(path))
      return userError("--peer " + name + "=" + path + ": there is no such " +
                       "file or folder");
    if (!isOwn && llvm::sys::fs::is_directory(path) && !peer->isIn(path))
      return userError("--peer " + name + "=" + path + ": expected " +
                       peer->file.str() + " in this folder; " +
                       peer->hint.str());
  }
  auto hasPath = [&](StringRef name) {
    return llvm::any_of(options.peerPaths,
                        [&](const auto &pair) { return pair.first == name; });
  };
  for (const std::string &name : peers) {
    const Peer *peer = findPeer(name);
    if (!peer && !hasPath(name) && name != "none")
      return usageError("expected peers (" + llvm::join(peerNames(), ", ") +
                        ") for --peers, but got '" + name + "'");
    if (peer && !peer->file.empty() && !hasPath(name))
      return usageError("--peers " + name + " needs --peer " + name +
                        "=PATH: " + peer->hint.str());
    options.peers.push_back(name);
  }
  if (peers.size() > 1 && llvm::is_contained(peers, "none"))
    return usageError("--peers names peers beside 'none'");
  return llvm::Error::success();
}

llvm::Error BenchFlags::readOutputs(BenchOptions &options) const {
  options.json = json;
  options.plot = plot;
  options.output = output;
  options.from = from;
  if (!output.empty() && (!json.empty() || !plot.empty()))
    return usageError("-o names the JSON and the plot, but --json or --plot "
                      "does, too");
  bool isFile = StringRef(output).ends_with(".json");
  if (!from.empty()) {
    if (!files.empty() || !grids.empty())
      return usageError("--from times nothing, but a FILE.tg or --grid is "
                        "given");
    if (!json.empty() || !output.empty())
      return usageError("--from writes a plot only; name it with --plot");
    return llvm::Error::success();
  }
  if (options.files.empty() && options.grids.size() > 1 &&
      (isFile || !json.empty() || !plot.empty()))
    return usageError("there are several grids; give a folder with -o, or one "
                      "--grid");
  return llvm::Error::success();
}

llvm::Expected<BenchOptions> BenchFlags::read() const {
  BenchOptions options;
  if (llvm::Error error = readFiles(options))
    return error;
  if (llvm::Error error = readPeers(options))
    return error;
  if (llvm::Error error = readOutputs(options))
    return error;
  if (rounds.getNumOccurrences() &&
      (StringRef(rounds).getAsInteger(10, options.rounds) ||
       options.rounds < 1))
    return usageError("expected a count of 1 or more for --rounds, but got '" +
                      rounds + "'");
  options.list = list;
  options.python = python;
  return options;
}
