//===- BenchResults.cpp - what `tegula bench` prints and writes -----------===//
//
// The table, the JSON with the facts that make its numbers mean something, and
// the files.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/BenchResults.h"
#include "tools/tegula/BenchPeers.h"
#include "tools/tegula/Failure.h"
#include "tools/tegula/Program.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cstdio>
#include <ctime>
#include <map>

using namespace tegula;
using namespace tegula::tool;
using llvm::formatv;
using llvm::StringRef;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Known peers in the order of their table, then others by name.
static void sortPeers(std::vector<std::string> &names) {
  std::vector<std::string> known = peerNames();
  llvm::sort(names, [&](const std::string &a, const std::string &b) {
    auto place = [&](const std::string &name) {
      return llvm::find(known, name) - known.begin();
    };
    return std::pair(place(a), a) < std::pair(place(b), b);
  });
  names.erase(llvm::unique(names), names.end());
}

static std::vector<std::string> namesIn(const json::Object *peers) {
  std::vector<std::string> names;
  if (peers)
    for (const auto &[name, value] : *peers)
      names.push_back(StringRef(name).str());
  return names;
}

std::vector<std::string> tegula::tool::peersOf(const json::Object &results) {
  std::vector<std::string> names;
  if (const json::Array *rows = results.getArray("rows"))
    for (const json::Value &row : *rows)
      llvm::append_range(names, namesIn(row.getAsObject()->getObject("peers")));
  sortPeers(names);
  return names;
}

static void printHeader(llvm::ArrayRef<std::string> peers,
                        llvm::raw_ostream &os) {
  os << "kernel            d      s  TFLOP/s  tensor";
  for (const std::string &peer : peers)
    os << formatv("  {0,14}", peer);
  os << '\n';
}

/// "445.2 x1.31": the peer's speed, and how much faster ours is.
static std::string peerText(const json::Object *peer) {
  if (!peer)
    return "-";
  std::optional<double> speed = peer->getNumber("tflops");
  std::optional<double> ratio = peer->getNumber("ratio");
  if (speed && ratio)
    return formatv("{0:f1} x{1:f3}", *speed, *ratio);
  return speed ? formatv("{0:f1}", *speed).str() : "refused";
}

static void printRow(const json::Object &row, llvm::ArrayRef<std::string> peers,
                     llvm::raw_ostream &os) {
  auto number = [](std::optional<double> value, const char *unit,
                   double scale) {
    return value ? formatv("{0:f1}{1}", *value * scale, unit).str() : "-";
  };
  os << formatv(
      "{0,-14} {1,4} {2,6} {3,8}  {4,6}", row.getString("kernel").value_or("?"),
      row.getInteger("d").value_or(0), row.getInteger("s").value_or(0),
      row.get("wrong") ? "WRONG" : number(row.getNumber("tflops"), "", 1),
      number(row.getNumber("tensor_pipe"), "%", 100));
  const json::Object *values = row.getObject("peers");
  for (const std::string &peer : peers)
    os << formatv("  {0,14}",
                  peerText(values ? values->getObject(peer) : nullptr));
  os << '\n';
}

void tegula::tool::printTable(const json::Object &results,
                              llvm::raw_ostream &os) {
  std::vector<std::string> peers = peersOf(results);
  os << formatv("{0}, {1}, driver {2}, {3}\n",
                results.getString("grid").value_or("?"),
                results.getString("machine").value_or("?"),
                results.getString("driver").value_or("?"),
                results.getString("date").value_or("?"));
  printHeader(peers, os);
  for (const json::Value &row : *results.getArray("rows"))
    printRow(*row.getAsObject(), peers, os);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

llvm::Error tegula::tool::writeText(StringRef path, StringRef text) {
  StringRef folder = llvm::sys::path::parent_path(path);
  if (!folder.empty())
    if (std::error_code error = llvm::sys::fs::create_directories(folder))
      return userError(folder +
                       ": cannot be made a folder: " + error.message());
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    os << text;
    os.flush();
    error = os.error();
    os.clear_error();
  }
  return error ? userError(path + ": cannot be written: " + error.message())
               : llvm::Error::success();
}

llvm::Expected<json::Object> tegula::tool::readResults(StringRef path) {
  auto text = readText(path);
  if (!text)
    return text.takeError();
  llvm::Expected<json::Value> value = json::parse(*text);
  if (!value)
    return userError(path + ": " + llvm::toString(value.takeError()));
  json::Object *results = value->getAsObject();
  const json::Array *rows = results ? results->getArray("rows") : nullptr;
  if (!rows)
    return userError(path + ": expected an object with `rows`, as bench "
                            "writes it");
  for (const json::Value &row : *rows)
    if (const json::Object *fields = row.getAsObject();
        !fields || !fields->getString("kernel") || !fields->getInteger("d") ||
        !fields->getInteger("s"))
      return userError(path + ": expected `kernel`, `d` and `s` in every row");
  return std::move(*results);
}

/// What `command` prints, without the end of its last line; empty where it
/// fails.
static std::string outputOf(const std::string &command) {
  std::string text;
  if (FILE *pipe = popen((command + " 2>/dev/null").c_str(), "r")) {
    char part[256];
    while (size_t size = fread(part, 1, sizeof part, pipe))
      text.append(part, size);
    pclose(pipe);
  }
  return StringRef(text).rtrim().str();
}

/// What the archive for GPU machines says, or the working tree that `bench` is
/// in.
static json::Value commitOf(StringRef root) {
  if (auto file = llvm::MemoryBuffer::getFile(root + "/commit"))
    return (*file)->getBuffer().trim().str();
  llvm::SmallString<128> bench;
  if (llvm::sys::fs::real_path(root + "/bench", bench))
    return nullptr;
  std::string commit = outputOf("git -C '" + bench.str().str() +
                                "' describe --always --dirty --exclude '*'");
  return commit.empty() ? json::Value(nullptr) : json::Value(commit);
}

static std::string today() {
  std::time_t now = std::time(nullptr);
  char text[16];
  return {text,
          std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now))};
}

/// Writes `value` with its keys sorted and each number in the fewest digits
/// that give it back.
static void write(json::OStream &out, const json::Value &value) {
  if (const json::Object *object = value.getAsObject()) {
    std::map<StringRef, const json::Value *> fields;
    for (const auto &[name, field] : *object)
      fields[StringRef(name)] = &field;
    out.object([&] {
      for (const auto &[name, field] : fields) {
        out.attributeBegin(name);
        write(out, *field);
        out.attributeEnd();
      }
    });
  } else if (const json::Array *array = value.getAsArray()) {
    out.array([&] {
      for (const json::Value &element : *array)
        write(out, element);
    });
  } else if (value.kind() == json::Value::Number && !value.getAsInteger()) {
    char text[32];
    auto end = std::to_chars(text, std::end(text), *value.getAsNumber()).ptr;
    out.rawValue(StringRef(text, end - text));
  } else {
    out.value(value);
  }
}

static std::string textOf(const json::Object &results) {
  std::string text;
  llvm::raw_string_ostream os(text);
  json::OStream out(os, /*IndentSize=*/1);
  write(out, json::Object(results));
  os << '\n';
  return text;
}

BenchRecorder::BenchRecorder(const BenchOptions &options, StringRef grid,
                             StringRef root) {
  bool isFile = StringRef(options.output).ends_with(".json");
  jsonPath = options.json;
  plotPath = options.plot;
  if (!options.output.empty()) {
    llvm::SmallString<128> path(options.output);
    if (!isFile)
      llvm::sys::path::append(path, grid + ".json");
    jsonPath = path.str();
    llvm::sys::path::replace_extension(path, "svg");
    plotPath = path.str();
  }
  std::string facts = outputOf("nvidia-smi --id=0 --format=csv,noheader "
                               "--query-gpu=driver_version,clocks.max.sm");
  auto [driver, clock] = StringRef(facts).split(", ");
  results["grid"] = grid;
  results["date"] = today();
  results["commit"] = commitOf(root);
  results["command"] = options.commandLine;
  results["rounds"] = options.rounds;
  results["schedule"] = json::Array(options.schedule);
  results["driver"] =
      driver.empty() ? json::Value(nullptr) : json::Value(driver.str());
  results["clocks"] = clock.empty()
                          ? json::Value(nullptr)
                          : json::Value(("max SM " + clock +
                                         ", not locked; L2 not flushed between "
                                         "launches")
                                            .str());
  results["rows"] = json::Array();
}

void BenchRecorder::describe(const json::Object &facts) {
  described = true;
  for (const auto &[name, value] : facts)
    results[StringRef(name)] = value;
  columns = namesIn(facts.getObject("peers"));
  sortPeers(columns);
  llvm::outs() << results.getString("grid").value_or("?") << " on "
               << results.getString("machine").value_or("?") << '\n';
  printHeader(columns, llvm::outs());
  llvm::outs().flush();
}

llvm::Error BenchRecorder::add(json::Object row) {
  wrong |= row.get("wrong") != nullptr;
  printRow(row, columns, llvm::outs());
  if (std::optional<StringRef> text = row.getString("wrong"))
    llvm::outs() << "    ours is wrong: " << *text << '\n';
  llvm::outs().flush();
  if (const json::Object *peers = row.getObject("peers"))
    for (const std::string &name : columns)
      if (const json::Object *peer = peers->getObject(name))
        if (std::optional<StringRef> text = peer->getString("refused"))
          llvm::errs() << "remark: " << name << ": " << *text << '\n';
  results.getArray("rows")->push_back(std::move(row));
  if (!jsonPath.empty())
    if (llvm::Error error = writeText(jsonPath, textOf(results)))
      return error;
  if (!plotPath.empty())
    return writeText(plotPath, drawPlot(results));
  return llvm::Error::success();
}
