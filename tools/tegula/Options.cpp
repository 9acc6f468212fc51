//===- Options.cpp - the command line -------------------------------------===//
//
// The options as LLVM command line objects, one subcommand each, and their
// translation into the plain structs of Options.h.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Options.h"
#include "tools/tegula/BenchFlags.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/HelpText.h"

#include "passes/Stages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace tegula;
using namespace tegula::tool;
using llvm::StringRef;
using llvm::Twine;
namespace cl = llvm::cl;

namespace {
struct CompileFlags : CommonFlags {
  explicit CompileFlags(cl::SubCommand &command)
      : CommonFlags(command),
        emit("emit",
             cl::desc("What to write: a stage (attention, tile, warp, nvvm, "
                      "ptx, cubin, cpu) or manifest; several give a folder"),
             cl::value_desc("STAGE"), cl::CommaSeparated, cl::sub(command),
             cl::cat(optionCategory)),
        stopAfter("stop-after", cl::desc("End after this stage and write it"),
                  cl::value_desc("STAGE"), cl::sub(command),
                  cl::cat(optionCategory)),
        startFrom(
            "start-from",
            cl::desc("FILE is the text of this stage, as --emit wrote it"),
            cl::value_desc("STAGE"), cl::sub(command), cl::cat(optionCategory)),
        dumpDir("dump-dir", cl::desc("Write the text after each stage here"),
                cl::value_desc("DIR"), cl::sub(command),
                cl::cat(optionCategory)),
        verifyProtocol(
            "verify-protocol",
            cl::desc("Check every order of the roles of the kernel for waits "
                     "that never end and slots used at the wrong time; done "
                     "always where --start-from=warp"),
            cl::sub(command), cl::cat(optionCategory)),
        output("o",
               cl::desc("The file to write, or for several files a folder "
                        "(default: standard output); a folder gets all that a "
                        "C program needs of a cubin"),
               cl::value_desc("PATH"), cl::sub(command),
               cl::cat(optionCategory)) {}

  llvm::Expected<CompileOptions> read() const;

  cl::list<std::string> emit;
  cl::opt<std::string> stopAfter, startFrom, dumpDir;
  cl::opt<bool> verifyProtocol;
  cl::opt<std::string> output;
};

/// What fixes the numbers of a problem.
struct ProblemFlags {
  explicit ProblemFlags(cl::SubCommand &command)
      : size("size", cl::desc("Lengths: B=1,H=8,G=2,M=300,N=300"),
             cl::value_desc("DIM=LENGTH,..."), cl::CommaSeparated,
             cl::sub(command), cl::cat(optionCategory)),
        arguments("arg",
                  cl::desc("A scalar's value, one value for all of a tensor, "
                           "or a tensor from a file"),
                  cl::value_desc("NAME=VALUE|NAME=@file.npy"), cl::sub(command),
                  cl::cat(optionCategory)),
        seed("seed", cl::desc("Seed of tensors that --arg does not give"),
             cl::value_desc("K"), cl::sub(command), cl::cat(optionCategory)) {}

  template <typename Options> llvm::Error read(Options &options) const {
    if (llvm::Error error = readSizes(size, options.sizes))
      return error;
    if (llvm::Error error = addPairs("--arg", arguments, options.arguments))
      return error;
    if (seed.getNumOccurrences() &&
        StringRef(seed).getAsInteger(0, options.seed))
      return usageError(
          "expected an integer of 0 or more for --seed, but got '" + seed +
          "'");
    return llvm::Error::success();
  }

  cl::list<std::string> size, arguments;
  cl::opt<std::string>
      seed; // read here, as the library prints its own complaints
};

struct RunFlags : CommonFlags, ProblemFlags {
  explicit RunFlags(cl::SubCommand &command)
      : CommonFlags(command), ProblemFlags(command),
        layout("layout",
               cl::desc("How q, k, v, o lie in memory: bhsd (default) or bshd"),
               cl::value_desc("LAYOUT"), cl::init("bhsd"), cl::sub(command),
               cl::cat(optionCategory)),
        outputs("out", cl::desc("Write an output to a file"),
                cl::value_desc("NAME=@file.npy"), cl::sub(command),
                cl::cat(optionCategory)),
        target("target",
               cl::desc("cpu or cuda (default: cuda where there is a GPU)"),
               cl::value_desc("TARGET"), cl::sub(command),
               cl::cat(optionCategory)),
        check("check",
              cl::desc("Compare with dense attention in float64; a result "
                       "outside of the tolerance ends in exit code 3"),
              cl::sub(command), cl::cat(optionCategory)),
        json("json", cl::desc("Print the report as one JSON object"),
             cl::sub(command), cl::cat(optionCategory)),
        grad("grad", cl::desc("Gradients (not supported yet)"),
             cl::sub(command), cl::cat(optionCategory)),
        logitOffset(
            "logit-offset",
            cl::desc("Add X to every score: `o` stays, `lse` moves by X"),
            cl::value_desc("X"), cl::sub(command), cl::cat(optionCategory)),
        replace("replace",
                cl::desc("Run the text of a later stage, as compile wrote it "
                         "and you edited it; FILE.tg still says what is right"),
                cl::value_desc("STAGE=PATH"), cl::sub(command),
                cl::cat(optionCategory)),
        runs("runs", cl::desc("Timed launches (default: 1 to 20, by length)"),
             cl::value_desc("COUNT"), cl::sub(command),
             cl::cat(optionCategory)) {}

  llvm::Expected<RunOptions> read() const;

  cl::opt<std::string> layout;
  cl::list<std::string> outputs;
  cl::opt<std::string> target;
  cl::opt<bool> check, json, grad;
  cl::opt<std::string> logitOffset, replace, runs;
};

struct ExplainFlags : CommonFlags, ProblemFlags {
  explicit ExplainFlags(cl::SubCommand &command)
      : CommonFlags(command), ProblemFlags(command),
        json("json", cl::desc("Print one JSON object"), cl::sub(command),
             cl::cat(optionCategory)),
        html("html", cl::desc("Write a page with the picture and the text"),
             cl::value_desc("PATH"), cl::sub(command), cl::cat(optionCategory)),
        svg("svg",
            cl::desc("Write the picture: the map of tiles, the pipeline"),
            cl::value_desc("PATH"), cl::sub(command), cl::cat(optionCategory)) {
  }

  llvm::Expected<ExplainOptions> read() const;

  cl::opt<bool> json;
  cl::opt<std::string> html, svg;
};

} // namespace

//===----------------------------------------------------------------------===//
// From flags to structs
//===----------------------------------------------------------------------===//

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

/// Only the first stages say what the source claims.
static llvm::Error checkClaims(bool debug, StringRef option, StringRef stage) {
  if (!debug || stage.empty() || stage == "source" || stage == "attention")
    return llvm::Error::success();
  return usageError("--debug checks what the source says, but " + option +
                    " starts at stage " + stage);
}

llvm::Expected<CompileOptions> CompileFlags::read() const {
  CompileOptions options;
  if (llvm::Error error = CommonFlags::read(options))
    return error;
  options.emit.assign(emit.begin(), emit.end());
  options.stopAfter = stopAfter;
  options.startFrom = startFrom;
  options.dumpDir = dumpDir;
  options.verifyProtocol = verifyProtocol;
  options.output = output;
  for (const std::string &name : options.emit)
    if (!isArtefact(name))
      if (llvm::Error error = checkStage("--emit", name))
        return error;
  if (llvm::Error error = checkStage("--stop-after", stopAfter))
    return error;
  if (llvm::Error error = checkStage("--start-from", startFrom))
    return error;
  if (llvm::Error error = checkClaims(options.debug, "--start-from", startFrom))
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

llvm::Expected<RunOptions> RunFlags::read() const {
  RunOptions options;
  if (llvm::Error error = CommonFlags::read(options))
    return error;
  if (grad)
    return usageError("--grad is not supported yet: there is no backward pass");
  if (llvm::Error error = ProblemFlags::read(options))
    return error;
  if (layout != "bhsd" && layout != "bshd")
    return usageError("expected --layout bhsd or bshd, but got '" + layout +
                      "'");
  options.layout = layout == "bhsd" ? Layout::bhsd : Layout::bshd;
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
    if (llvm::Error error =
            checkClaims(options.debug, "--replace", options.replace.first))
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
  if (runs.getNumOccurrences() &&
      (StringRef(runs).getAsInteger(10, options.runs) || options.runs < 1))
    return usageError("expected a count of 1 or more for --runs, but got '" +
                      runs + "'");
  return options;
}

llvm::Expected<ExplainOptions> ExplainFlags::read() const {
  ExplainOptions options;
  if (llvm::Error error = CommonFlags::read(options))
    return error;
  if (llvm::Error error = ProblemFlags::read(options))
    return error;
  if (options.debug)
    return usageError("--debug checks a launch, but explain has none");
  if (json + !html.empty() + !svg.empty() > 1)
    return usageError("expected one of --json, --html and --svg");
  options.json = json;
  options.html = html;
  options.svg = svg;
  return options;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

static constexpr StringRef commands[] = {"compile", "run", "explain", "bench"};

static constexpr char thereAre[] =
    "there are 'compile', 'run', 'explain' and 'bench'";

/// Commands that --help shows and that are refused.
static constexpr std::pair<StringRef, StringRef> laterCommands[] = {
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
  auto &explainCommand = *new cl::SubCommand("explain", help::explainSummary);
  auto &benchCommand = *new cl::SubCommand("bench", help::benchSummary);
  std::vector<cl::SubCommand *> later;
  for (const auto &[name, text] : laterCommands)
    later.push_back(new cl::SubCommand(name, text));
  auto &compileFlags = *new CompileFlags(compileCommand);
  auto &runFlags = *new RunFlags(runCommand);
  auto &explainFlags = *new ExplainFlags(explainCommand);
  auto &benchFlags = *new BenchFlags(benchCommand);
  new cl::extrahelp(command == "compile"   ? help::compileExamples
                    : command == "run"     ? help::runExamples
                    : command == "explain" ? help::explainExamples
                    : command == "bench"   ? help::benchExamples
                                           : help::overview);
  cl::HideUnrelatedOptions(optionCategory, compileCommand);
  cl::HideUnrelatedOptions(optionCategory, runCommand);
  cl::HideUnrelatedOptions(optionCategory, explainCommand);
  cl::HideUnrelatedOptions(optionCategory, benchCommand);
  cl::HideUnrelatedOptions(optionCategory);
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
  if (explainCommand) {
    auto options = explainFlags.read();
    if (!options)
      return options.takeError();
    result.explain = std::move(*options);
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
      "expected a command: compile, run, explain or bench; see tegula --help");
}
