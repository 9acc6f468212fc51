//===- Flags.cpp - the command line as LLVM sees it -----------------------===//
//
// What several subcommands take, and how its texts are read.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Flags.h"
#include "tools/tegula/Failure.h"

using namespace tegula;
using namespace tegula::tool;
using llvm::StringRef;
using llvm::Twine;
namespace cl = llvm::cl;

cl::OptionCategory tegula::tool::optionCategory("Options");

llvm::Error tegula::tool::addPair(StringRef option, StringRef text,
                                  Pairs &pairs) {
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

llvm::Error tegula::tool::addPairs(StringRef option,
                                   const cl::list<std::string> &texts,
                                   Pairs &pairs) {
  for (const std::string &text : texts)
    if (llvm::Error error = addPair(option, text, pairs))
      return error;
  return llvm::Error::success();
}

llvm::Error
tegula::tool::readSizes(const cl::list<std::string> &texts,
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

CommonFlags::CommonFlags(cl::SubCommand &command)
    : file(cl::Positional, cl::desc("FILE.tg"), cl::sub(command),
           cl::cat(optionCategory)),
      item("item", cl::desc("The item to take, where the file has several"),
           cl::value_desc("NAME"), cl::sub(command), cl::cat(optionCategory)),
      defines("D", cl::desc("Set a static: -D D=64 -D T=f16"),
              cl::value_desc("NAME=VALUE"), cl::Prefix, cl::sub(command),
              cl::cat(optionCategory)),
      arch("arch", cl::desc("GPU architecture (default: sm_90a)"),
           cl::value_desc("ARCH"), cl::sub(command), cl::cat(optionCategory)),
      schedule("schedule",
               cl::desc("Fix fields of the schedule: form=direct, block_m=64"),
               cl::value_desc("FIELD=VALUE,..."), cl::CommaSeparated,
               cl::sub(command), cl::cat(optionCategory)),
      debug("debug",
            cl::desc("Check at each launch what the source claims: `sorted`, "
                     "`in`, indices inside of tables"),
            cl::sub(command), cl::cat(optionCategory)),
      approximateTanh("approximate-tanh",
                      cl::desc("On a GPU, tanh by its instruction: a relative "
                               "error of 2^-11"),
                      cl::sub(command), cl::cat(optionCategory)),
      time("time", cl::desc("Print the time of each stage to stderr"),
           cl::sub(command), cl::cat(optionCategory)),
      remarks("remarks",
              cl::desc("Say what was chosen for the schedule, and why"),
              cl::sub(command), cl::cat(optionCategory)) {}

llvm::Error CommonFlags::read(CommonOptions &options) const {
  if (file.empty())
    return usageError("expected a file: FILE.tg, or '-' for standard input");
  options.debug = debug;
  options.approximateTanh = approximateTanh;
  options.file = file;
  options.item = item;
  if (arch.getNumOccurrences())
    options.arch = arch;
  options.time = time;
  options.remarks = remarks;
  if (llvm::Error error = addPairs("-D", defines, options.defines))
    return error;
  Pairs fields;
  if (llvm::Error error = addPairs("--schedule", schedule, fields))
    return error;
  options.schedule.assign(schedule.begin(), schedule.end());
  return llvm::Error::success();
}
