//===- Options.cpp - the command line -------------------------------------===//
//
// The options as LLVM command line objects, one subcommand each, and their
// translation into the plain structs of Options.h.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Options.h"
#include "tools/tegula/BenchGrid.h"
#include "tools/tegula/BenchPeers.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/HelpText.h"

#include "passes/Stages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tegula;
using namespace tegula::tool;
using llvm::StringRef;
using llvm::Twine;
namespace cl = llvm::cl;

namespace {
cl::OptionCategory category("Options");

/// The options of one subcommand. Objects of the cl library register
/// themselves, so they are made when the command line is parsed and not before:
/// other programs that link the tool's library keep their own command line.
struct CommonFlags {
  explicit CommonFlags(cl::SubCommand &command)
      : file(cl::Positional, cl::desc("FILE.tg"), cl::sub(command),
             cl::cat(category)),
        item("item", cl::desc("The item to take, where the file has several"),
             cl::value_desc("NAME"), cl::sub(command), cl::cat(category)),
        defines("D", cl::desc("Set a static: -D D=64 -D T=f16"),
                cl::value_desc("NAME=VALUE"), cl::Prefix, cl::sub(command),
                cl::cat(category)),
        arch("arch", cl::desc("GPU architecture (default: sm_90a)"),
             cl::value_desc("ARCH"), cl::sub(command), cl::cat(category)),
        schedule(
            "schedule",
            cl::desc("Fix fields of the schedule: form=direct, block_m=64"),
            cl::value_desc("FIELD=VALUE,..."), cl::CommaSeparated,
            cl::sub(command), cl::cat(category)),
        debug("debug",
              cl::desc("Check table indices and declarations at run "
                       "time (not supported yet)"),
              cl::sub(command), cl::cat(category)),
        time("time", cl::desc("Print the time of each stage to stderr"),
             cl::sub(command), cl::cat(category)) {}

  llvm::Error read(CommonOptions &options) const;

  cl::opt<std::string> file, item;
  cl::list<std::string> defines;
  cl::opt<std::string> arch;
  cl::list<std::string> schedule;
  cl::opt<bool> debug, time;
};

struct CompileFlags : CommonFlags {
  explicit CompileFlags(cl::SubCommand &command)
      : CommonFlags(command),
        emit("emit",
             cl::desc("What to write: a stage (attention, tile, warp, nvvm, "
                      "ptx, cubin, cpu) or manifest; several give a folder"),
             cl::value_desc("STAGE"), cl::CommaSeparated, cl::sub(command),
             cl::cat(category)),
        stopAfter("stop-after", cl::desc("End after this stage and write it"),
                  cl::value_desc("STAGE"), cl::sub(command), cl::cat(category)),
        startFrom(
            "start-from",
            cl::desc("FILE is the text of this stage, as --emit wrote it"),
            cl::value_desc("STAGE"), cl::sub(command), cl::cat(category)),
        dumpDir("dump-dir", cl::desc("Write the text after each stage here"),
                cl::value_desc("DIR"), cl::sub(command), cl::cat(category)),
        output("o",
               cl::desc("The file to write, or for several files a folder "
                        "(default: standard output); a folder gets all that a "
                        "C program needs of a cubin"),
               cl::value_desc("PATH"), cl::sub(command), cl::cat(category)) {}

  llvm::Expected<CompileOptions> read() const;

  cl::list<std::string> emit;
  cl::opt<std::string> stopAfter, startFrom, dumpDir, output;
};

struct RunFlags : CommonFlags {
  explicit RunFlags(cl::SubCommand &command)
      : CommonFlags(command),
        size("size", cl::desc("Lengths: B=1,H=8,G=2,M=300,N=300"),
             cl::value_desc("DIM=LENGTH,..."), cl::CommaSeparated,
             cl::sub(command), cl::cat(category)),
        layout("layout",
               cl::desc("How q, k, v, o lie in memory: bhsd (default) or bshd"),
               cl::value_desc("LAYOUT"), cl::init("bhsd"), cl::sub(command),
               cl::cat(category)),
        arguments("arg",
                  cl::desc("A scalar's value, one value for all of a tensor, "
                           "or a tensor from a file"),
                  cl::value_desc("NAME=VALUE|NAME=@file.npy"), cl::sub(command),
                  cl::cat(category)),
        outputs("out", cl::desc("Write an output to a file"),
                cl::value_desc("NAME=@file.npy"), cl::sub(command),
                cl::cat(category)),
        target("target",
               cl::desc("cpu or cuda (default: cuda where there is a GPU)"),
               cl::value_desc("TARGET"), cl::sub(command), cl::cat(category)),
        check("check",
              cl::desc("Compare with dense attention in float64; a result "
                       "outside of the tolerance ends in exit code 3"),
              cl::sub(command), cl::cat(category)),
        json("json", cl::desc("Print the report as one JSON object"),
             cl::sub(command), cl::cat(category)),
        grad("grad", cl::desc("Gradients (not supported yet)"),
             cl::sub(command), cl::cat(category)),
        seed("seed", cl::desc("Seed of tensors that --arg does not give"),
             cl::value_desc("K"), cl::sub(command), cl::cat(category)),
        logitOffset(
            "logit-offset",
            cl::desc("Add X to every score: `o` stays, `lse` moves by X"),
            cl::value_desc("X"), cl::sub(command), cl::cat(category)),
        replace("replace",
                cl::desc("Run the text of a later stage, as compile wrote it "
                         "and you edited it; FILE.tg still says what is right"),
                cl::value_desc("STAGE=PATH"), cl::sub(command),
                cl::cat(category)),
        runs("runs", cl::desc("Timed launches (default: 1 to 20, by length)"),
             cl::value_desc("COUNT"), cl::sub(command), cl::cat(category)) {}

  llvm::Expected<RunOptions> read() const;

  cl::list<std::string> size;
  cl::opt<std::string> layout;
  cl::list<std::string> arguments, outputs;
  cl::opt<std::string> target;
  cl::opt<bool> check, json, grad;
  // Numbers are read here, as the library prints its own complaints.
  cl::opt<std::string> seed, logitOffset, replace, runs;
};

struct BenchFlags {
  explicit BenchFlags(cl::SubCommand &command)
      : files(cl::Positional, cl::desc("[FILE.tg ...]"), cl::sub(command),
              cl::cat(category)),
        item("item", cl::desc("The item of FILE.tg to time"),
             cl::value_desc("NAME"), cl::sub(command), cl::cat(category)),
        defines("D", cl::desc("Set a static of FILE.tg: -D D=64"),
                cl::value_desc("NAME=VALUE"), cl::Prefix, cl::sub(command),
                cl::cat(category)),
        size("size", cl::desc("Lengths for FILE.tg: B=1,H=8,G=8,M=4096,N=4096"),
             cl::value_desc("DIM=LENGTH,..."), cl::CommaSeparated,
             cl::sub(command), cl::cat(category)),
        arguments("arg", cl::desc("A parameter of FILE.tg, as for run"),
                  cl::value_desc("NAME=VALUE|NAME=@file.npy"), cl::sub(command),
                  cl::cat(category)),
        grids("grid",
              cl::desc("What to time without a FILE.tg: hopper-forward, "
                       "hopper-variants (default: both)"),
              cl::value_desc("NAME,..."), cl::CommaSeparated, cl::sub(command),
              cl::cat(category)),
        peers("peers",
              cl::desc("Only these peers; none: ours alone (default: all that "
                       "are present)"),
              cl::value_desc("NAME,..."), cl::CommaSeparated, cl::sub(command),
              cl::cat(category)),
        peerPaths("peer",
                  cl::desc("Where a peer is: flash3=PATH, lab=DIR, or "
                           "NAME=FILE.py for one of your own"),
                  cl::value_desc("NAME=PATH"), cl::sub(command),
                  cl::cat(category)),
        rounds("rounds", cl::desc("Rounds of blocks (default: 5)"),
               cl::value_desc("COUNT"), cl::sub(command), cl::cat(category)),
        seqs("seqs", cl::desc("Only these lengths of a grid: 1024,4096"),
             cl::value_desc("S,..."), cl::CommaSeparated, cl::sub(command),
             cl::cat(category)),
        dims("dims", cl::desc("Only these head dims of a grid: 64,128"),
             cl::value_desc("D,..."), cl::CommaSeparated, cl::sub(command),
             cl::cat(category)),
        masks("masks",
              cl::desc("Only these masks or kernels of a grid: full,softcap"),
              cl::value_desc("NAME,..."), cl::CommaSeparated, cl::sub(command),
              cl::cat(category)),
        schedule("schedule",
                 cl::desc("Fix fields of our schedule, for experiments; the "
                          "results say so"),
                 cl::value_desc("FIELD=VALUE,..."), cl::CommaSeparated,
                 cl::sub(command), cl::cat(category)),
        list("list", cl::desc("Print what would be timed, and stop"),
             cl::sub(command), cl::cat(category)),
        json("json", cl::desc("Write the results as JSON"),
             cl::value_desc("PATH"), cl::sub(command), cl::cat(category)),
        plot("plot", cl::desc("Draw the results as SVG"),
             cl::value_desc("PATH"), cl::sub(command), cl::cat(category)),
        output(
            "o",
            cl::desc("Both: FILE.json and FILE.svg, or in a folder GRID.json "
                     "and GRID.svg"),
            cl::value_desc("DIR|FILE.json"), cl::sub(command),
            cl::cat(category)),
        from("from",
             cl::desc("Time nothing: print and draw the results in a file"),
             cl::value_desc("FILE.json"), cl::sub(command), cl::cat(category)),
        python(
            "python",
            cl::desc("The Python with PyTorch that holds the peers (default: "
                     "python3); none: ours alone"),
            cl::value_desc("PATH"), cl::init("python3"), cl::sub(command),
            cl::cat(category)) {}

  llvm::Expected<BenchOptions> read() const;

  cl::list<std::string> files;
  cl::opt<std::string> item;
  cl::list<std::string> defines, size, arguments, grids, peers, peerPaths;
  cl::opt<std::string> rounds;
  cl::list<std::string> seqs, dims, masks, schedule;
  cl::opt<bool> list;
  cl::opt<std::string> json, plot, output, from, python;

private:
  llvm::Error readFiles(BenchOptions &options) const;
  llvm::Error readPeers(BenchOptions &options) const;
  llvm::Error readOutputs(BenchOptions &options) const;
};
} // namespace

//===----------------------------------------------------------------------===//
// From flags to structs
//===----------------------------------------------------------------------===//

/// Splits NAME=VALUE.
static llvm::Error addPair(StringRef option, StringRef text, Pairs &pairs) {
  auto [name, value] = text.split('=');
  if (name.empty() || !text.contains('='))
    return usageError("expected " + option + " NAME=VALUE, but got '" + text +
                      "'");
  for (const auto &pair : pairs)
    if (pair.first == name)
      return usageError(Twine(option) + " gives '" + name + "' twice: '" +
                        pair.second + "' and '" + value + "'");
  pairs.emplace_back(name, value);
  return llvm::Error::success();
}

static llvm::Error addPairs(StringRef option,
                            const cl::list<std::string> &texts, Pairs &pairs) {
  for (const std::string &text : texts)
    if (llvm::Error error = addPair(option, text, pairs))
      return error;
  return llvm::Error::success();
}

llvm::Error CommonFlags::read(CommonOptions &options) const {
  if (file.empty())
    return usageError("expected a file: FILE.tg, or '-' for standard input");
  if (debug)
    return usageError("--debug is not supported yet");
  options.file = file;
  options.item = item;
  if (arch.getNumOccurrences())
    options.arch = arch;
  options.time = time;
  if (llvm::Error error = addPairs("-D", defines, options.defines))
    return error;
  Pairs fields;
  if (llvm::Error error = addPairs("--schedule", schedule, fields))
    return error;
  options.schedule.assign(schedule.begin(), schedule.end());
  return llvm::Error::success();
}

/// The words that --emit knows beyond the stages.
static bool isArtefact(StringRef name) { return name == "manifest"; }

static llvm::Error checkStage(StringRef option, StringRef name) {
  if (name.empty() || stageByName(name))
    return llvm::Error::success();
  if (name == "kernel" || name == "launch")
    return usageError(Twine(option) + "=" + name + " is not supported yet");
  return usageError("expected a stage (" + stageNames() +
                    (option == "--emit" ? ", or manifest" : "") + ") for " +
                    option + ", but got '" + name + "'");
}

llvm::Expected<CompileOptions> CompileFlags::read() const {
  CompileOptions options;
  if (llvm::Error error = CommonFlags::read(options))
    return error;
  options.emit.assign(emit.begin(), emit.end());
  options.stopAfter = stopAfter;
  options.startFrom = startFrom;
  options.dumpDir = dumpDir;
  options.output = output;
  for (const std::string &name : options.emit)
    if (!isArtefact(name))
      if (llvm::Error error = checkStage("--emit", name))
        return error;
  if (llvm::Error error = checkStage("--stop-after", stopAfter))
    return error;
  if (llvm::Error error = checkStage("--start-from", startFrom))
    return error;
  if (!options.startFrom.empty() && options.startFrom != "source") {
    const char *source = nullptr;
    if (!options.item.empty())
      source = "--item";
    else if (!options.defines.empty())
      source = "-D";
    if (source)
      return usageError(Twine(source) +
                        " belongs to source text, but the file is the text of "
                        "stage " +
                        options.startFrom);
  }
  return options;
}

/// "8", "1k" is not accepted: lengths are plain numbers.
static llvm::Error
readSizes(const cl::list<std::string> &texts,
          std::vector<std::pair<std::string, int64_t>> &sizes) {
  Pairs pairs;
  if (llvm::Error error = addPairs("--size", texts, pairs))
    return error;
  for (const auto &[name, text] : pairs) {
    int64_t value;
    if (StringRef(text).getAsInteger(10, value) || value < 0)
      return usageError("expected a length of 0 or more for --size " + name +
                        "=, but got '" + text + "'");
    sizes.emplace_back(name, value);
  }
  return llvm::Error::success();
}

llvm::Expected<RunOptions> RunFlags::read() const {
  RunOptions options;
  if (llvm::Error error = CommonFlags::read(options))
    return error;
  if (grad)
    return usageError("--grad is not supported yet: there is no backward pass");
  if (llvm::Error error = readSizes(size, options.sizes))
    return error;
  if (layout != "bhsd" && layout != "bshd")
    return usageError("expected --layout bhsd or bshd, but got '" + layout +
                      "'");
  options.layout = layout == "bhsd" ? Layout::bhsd : Layout::bshd;
  if (llvm::Error error = addPairs("--arg", arguments, options.arguments))
    return error;
  if (llvm::Error error = addPairs("--out", outputs, options.outputs))
    return error;
  for (auto &[name, path] : options.outputs) {
    path = StringRef(path).ltrim('@').str();
    if (path.empty())
      return usageError("expected --out " + name +
                        "=@file.npy, but the path is empty");
  }
  if (target == "cpu")
    options.target = RunTarget::cpu;
  else if (target == "cuda")
    options.target = RunTarget::cuda;
  else if (target.getNumOccurrences())
    return usageError("expected --target cpu or cuda, but got '" + target +
                      "'");
  if (options.target == RunTarget::cpu && options.arch)
    return usageError("--arch names a GPU architecture, but --target is cpu");
  if (logitOffset.getNumOccurrences() &&
      (StringRef(logitOffset).getAsDouble(options.logitOffset) ||
       !std::isfinite(options.logitOffset)))
    return usageError("expected a finite number for --logit-offset, but got '" +
                      logitOffset + "'");
  if (!replace.empty()) {
    Pairs pairs;
    if (llvm::Error error = addPair("--replace", replace, pairs))
      return error;
    options.replace = pairs.front();
    if (llvm::Error error = checkStage("--replace", options.replace.first))
      return error;
    if (options.logitOffset != 0)
      return usageError("--logit-offset changes the source, but --replace "
                        "starts after it");
    if (!options.schedule.empty() && options.replace.first != "attention")
      return usageError("--schedule is applied to stage attention, but "
                        "--replace starts after it");
  }
  options.check = check;
  options.json = json;
  if (seed.getNumOccurrences() && StringRef(seed).getAsInteger(0, options.seed))
    return usageError("expected an integer of 0 or more for --seed, but got '" +
                      seed + "'");
  if (runs.getNumOccurrences() &&
      (StringRef(runs).getAsInteger(10, options.runs) || options.runs < 1))
    return usageError("expected a count of 1 or more for --runs, but got '" +
                      runs + "'");
  return options;
}

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

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static constexpr StringRef commands[] = {"compile", "run", "bench"};

/// "there are 'compile', 'run' and 'bench'".
static constexpr char thereAre[] = "there are 'compile', 'run' and 'bench'";

/// Commands that --help shows and that are refused.
static constexpr std::pair<StringRef, StringRef> laterCommands[] = {
    {"explain",
     "Say what a mask skips and what was proved (not available yet)"},
    {"tune", "Search for a faster schedule (not available yet)"},
};

/// One sentence of the library's first complaint: without the program's name,
/// with the suggestion if it has one.
static std::string tidy(StringRef messages, StringRef program,
                        const std::string &help) {
  llvm::SmallVector<StringRef> lines;
  messages.split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::string result, suggestion;
  for (StringRef line : lines) {
    line.consume_front(program);
    line.consume_front(": ");
    line = line.trim();
    if (line.consume_front("Did you mean "))
      suggestion = "; did you mean " + line.rtrim('?').str() + "?";
    else if (result.empty())
      result = line.split("  Try: ").first.rtrim("!.").str();
  }
  if (!result.empty())
    result[0] = llvm::toLower(result[0]);
  return result + (suggestion.empty() ? "; " : suggestion + " ") + "see " +
         help;
}

/// A word that is no command, with the nearest one.
static llvm::Error unknownCommand(StringRef word) {
  std::string nearest;
  unsigned distance = 4;
  auto consider = [&](StringRef name) {
    if (unsigned own = word.edit_distance(name, true, distance);
        own < distance) {
      nearest = name;
      distance = own;
    }
  };
  for (StringRef name : commands)
    consider(name);
  for (const auto &[name, text] : laterCommands)
    consider(name);
  return usageError(
      "unknown command '" + word + "'; " +
      (nearest.empty() ? thereAre : "did you mean '" + nearest + "'?") +
      (nearest.empty() ? "; " : " ") + "see tegula --help");
}

llvm::Expected<CommandLine> tegula::tool::parseCommandLine(int argc,
                                                           char **argv) {
  StringRef command = argc > 1 ? argv[1] : "";
  for (const auto &[name, text] : laterCommands)
    if (command == name && argc > 2 && StringRef(argv[2]) != "--help" &&
        StringRef(argv[2]) != "-h")
      return usageError("'" + name + "' is not available yet; " + thereAre);
  bool isCommand = llvm::is_contained(commands, command) ||
                   llvm::any_of(laterCommands, [&](const auto &later) {
                     return later.first == command;
                   });
  if (!command.empty() && !command.starts_with("-") && !isCommand)
    return unknownCommand(command);

  // The library keeps pointers to these until the process ends.
  auto &compileCommand = *new cl::SubCommand("compile", help::compileSummary);
  auto &runCommand = *new cl::SubCommand("run", help::runSummary);
  auto &benchCommand = *new cl::SubCommand("bench", help::benchSummary);
  std::vector<cl::SubCommand *> later;
  for (const auto &[name, text] : laterCommands)
    later.push_back(new cl::SubCommand(name, text));
  auto &compileFlags = *new CompileFlags(compileCommand);
  auto &runFlags = *new RunFlags(runCommand);
  auto &benchFlags = *new BenchFlags(benchCommand);
  new cl::extrahelp(command == "compile" ? help::compileExamples
                    : command == "run"   ? help::runExamples
                    : command == "bench" ? help::benchExamples
                                         : help::overview);
  cl::HideUnrelatedOptions(category, compileCommand);
  cl::HideUnrelatedOptions(category, runCommand);
  cl::HideUnrelatedOptions(category, benchCommand);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "tegula 0.1.0, LLVM " LLVM_VERSION_STRING "\n";
  });

  std::string messages;
  llvm::raw_string_ostream stream(messages);
  if (!cl::ParseCommandLineOptions(argc, argv, help::title, &stream))
    return usageError(tidy(messages, llvm::sys::path::filename(argv[0]),
                           llvm::is_contained(commands, command)
                               ? "tegula " + command.str() + " --help"
                               : "tegula --help"));

  CommandLine result;
  if (compileCommand) {
    auto options = compileFlags.read();
    if (!options)
      return options.takeError();
    result.compile = std::move(*options);
    return result;
  }
  if (runCommand) {
    auto options = runFlags.read();
    if (!options)
      return options.takeError();
    result.run = std::move(*options);
    return result;
  }
  if (benchCommand) {
    auto options = benchFlags.read();
    if (!options)
      return options.takeError();
    result.bench = std::move(*options);
    result.bench->commandLine = "tegula";
    for (StringRef word : llvm::ArrayRef(argv, argc).drop_front())
      result.bench->commandLine += " " + word.str();
    return result;
  }
  for (cl::SubCommand *subcommand : later)
    if (*subcommand)
      return usageError("'" + subcommand->getName() +
                        "' is not available yet; " + thereAre);
  return usageError(
      "expected a command: compile, run or bench; see tegula --help");
}
