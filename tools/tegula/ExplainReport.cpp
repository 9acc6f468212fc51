//===- ExplainReport.cpp - an explanation as text and as JSON -------------===//
//
// The text is for a terminal of 100 columns. JSON has null where nothing is
// known.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/ExplainNumbers.h"
#include "tools/tegula/Explanation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tegula;
using namespace tegula::tool;
using llvm::formatv;
using llvm::StringRef;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Numbers for people
//===----------------------------------------------------------------------===//

std::string tegula::tool::shortNumber(double value, StringRef unit) {
  const char *prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  unsigned power = 0;
  while (value >= 999.5 && power + 1 < std::size(prefixes)) {
    value /= 1000;
    ++power;
  }
  bool isWhole = power == 0 && value == static_cast<double>(int64_t(value));
  std::string text = isWhole || value >= 99.95 ? formatv("{0:f0}", value).str()
                     : value >= 9.995          ? formatv("{0:f1}", value).str()
                                               : formatv("{0:f2}", value).str();
  std::string suffix = std::string(prefixes[power]) + unit.str();
  return suffix.empty() ? text : text + " " + suffix;
}

std::string tegula::tool::bytesText(double bytes) {
  return shortNumber(bytes, "B");
}

std::string tegula::tool::timeText(double milliseconds) {
  return milliseconds >= 999.5    ? shortNumber(milliseconds / 1e3, "s")
         : milliseconds >= 0.9995 ? shortNumber(milliseconds, "ms")
                                  : shortNumber(milliseconds * 1e3, "us");
}

std::string tegula::tool::shareText(int64_t part, int64_t whole) {
  return whole == 0 ? "-"
                    : formatv("{0:f1} %", 100.0 * static_cast<double>(part) /
                                              static_cast<double>(whole))
                          .str();
}

std::vector<SharedBuffer> tegula::tool::sharedBuffers(const Explanation &e) {
  std::vector<SharedBuffer> buffers;
  if (const json::Array *list = e.manifest.getArray("shared"))
    for (const json::Value &each : *list) {
      const json::Object &buffer = *each.getAsObject();
      buffers.push_back({buffer.getString("buffer").value_or("").str(),
                         buffer.getInteger("slots").value_or(0),
                         buffer.getInteger("bytes").value_or(0)});
    }
  return buffers;
}

std::vector<RoleFacts> tegula::tool::roles(const Explanation &e) {
  int64_t threads = e.manifest.getInteger("threads").value_or(0);
  std::optional<int64_t> launch = e.manifest.getInteger("registers");
  if (e.form() != "pipelined")
    return {{"all", 1, threads, launch}};
  int64_t consumers = e.schedule().getInteger("consumers").value_or(0);
  auto registersOf = [&](StringRef field) -> std::optional<int64_t> {
    int64_t set = e.schedule().getInteger(field).value_or(0);
    return set ? std::optional<int64_t>(set) : launch;
  };
  int64_t each = threads / (consumers + 1);
  return {{"producer", 1, each, registersOf("producer_registers")},
          {"consumer", consumers, each, registersOf("consumer_registers")}};
}

std::string tegula::tool::problemText(const Explanation &e) {
  std::string text;
  for (const auto &[name, value] : e.sizes)
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  return text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static llvm::raw_ostream &line(llvm::raw_ostream &os, StringRef head) {
  return os << "  " << llvm::left_justify(head, 10);
}

static void printMask(const Explanation &e, llvm::raw_ostream &os) {
  if (!e.visits)
    return;
  const std::vector<MaskTerm> &terms = e.visits->mask.terms;
  if (terms.empty())
    line(os, "mask") << "none: every key is seen\n";
  for (auto [n, term] : llvm::enumerate(terms)) {
    line(os, n ? "" : "mask") << term.condition << '\n';
    line(os, "") << "  " << term.consequence() << '\n';
  }
}

static void printTiles(const Explanation &e, llvm::raw_ostream &os) {
  if (!e.visits) {
    line(os, "tiles") << "not counted: " << e.notCounted << '\n';
    return;
  }
  const TileCounts &proved = e.proved->counts;
  line(os, "tiles") << formatv("{0} of {1} x {2}", proved.total(),
                               e.visits->rows, e.visits->keys)
                    << '\n';
  std::optional<TileCounts> exact;
  if (e.exact)
    exact = e.exact->counts();
  os << formatv("    {0,-9}{1,22}{2,22}\n", "", "needed", "kernel");
  auto row = [&](StringRef name, int64_t TileCounts::*kind, StringRef what) {
    std::string needed = exact ? std::to_string((*exact).*kind) : "?";
    os << formatv("    {0,-9}{1,12}  {2,-8}{3,12}  {4,-8}  {5}\n", name, needed,
                  exact ? shareText((*exact).*kind, exact->total()) : "",
                  proved.*kind, shareText(proved.*kind, proved.total()), what);
  };
  row("dead", &TileCounts::dead, "never visited");
  row("partial", &TileCounts::partial, "each score is tested");
  row("full", &TileCounts::full, "no test");
  if (!e.exact)
    line(os, "") << "needed: not counted, as " << e.notExact << '\n';
}

static void printKernel(const Explanation &e, llvm::raw_ostream &os) {
  for (const Guard &guard : e.guards)
    line(os, "guard") << guard.what << ": "
                      << (guard.isKept ? "kept" : "dropped") << ", as "
                      << guard.reason << '\n';
  std::vector<std::string> fields;
  for (const auto &[name, value] : e.schedule())
    fields.push_back(name.str() + "=" +
                     (value.getAsString() ? value.getAsString()->str()
                                          : formatv("{0}", value).str()));
  llvm::sort(fields, [](const std::string &a, const std::string &b) {
    bool isForm = StringRef(a).starts_with("form=");
    return isForm != StringRef(b).starts_with("form=") ? isForm : a < b;
  });
  line(os, "schedule") << llvm::join(fields, " ") << '\n';
  for (auto [n, role] : llvm::enumerate(roles(e)))
    line(os, n ? "" : "roles") << formatv(
        "{0}: {1}{2} threads, {3} registers each\n", role.name,
        role.count == 1 ? "" : std::to_string(role.count) + " x ", role.threads,
        role.registers ? std::to_string(*role.registers)
                       : "? (known to ptxas)");
  line(os, "shared") << e.manifest.getInteger("shared_bytes").value_or(0)
                     << " bytes";
  StringRef separator = ": ";
  for (const SharedBuffer &buffer : sharedBuffers(e)) {
    os << separator << buffer.name << ' ' << buffer.bytes;
    if (buffer.slots > 1)
      os << " (" << buffer.slots << " slots)";
    separator = ", ";
  }
  os << '\n';
  line(os, "CTAs") << e.manifest.getInteger("ctas_per_sm").value_or(1)
                   << " an SM\n";
}

static void printCost(const Explanation &e, llvm::raw_ostream &os) {
  if (!e.cost)
    return;
  const Cost &cost = *e.cost;
  line(os, "work") << shortNumber(cost.flops, "FLOP") << " in visited tiles\n";
  line(os, "memory") << bytesText(cost.fusedBytes) << "; unfused "
                     << bytesText(cost.unfusedBytes) << '\n';
  line(os, "roofline") << timeText(cost.milliseconds) << ", "
                       << (cost.isMemoryBound ? "memory" : "compute")
                       << " bound on " << e.device << '\n';
  os << "\n  by length, the rest as above: tiles visited; scores computed, "
        "which "
        "stay on the chip, beside the\n  elements of score matrices that an "
        "unfused implementation writes and reads; bytes moved by both\n";
  os << formatv("  {0,9}{1,14}{2,9}{3,11}{4,11}{5,11}{6,11}{7,11}\n", "M = N",
                "visited", "", "scores", "unfused", "bytes", "unfused",
                "roofline");
  for (const LengthFacts &at : e.lengths) {
    os << formatv("  {0,9}", at.length);
    if (!at.reason.empty()) {
      os << "  not counted: " << at.reason << '\n';
      continue;
    }
    int64_t visited = at.proved.total() - at.proved.dead;
    os << formatv(
        "{0,14}{1,9}{2,11}{3,11}{4,11}{5,11}{6,11}\n", visited,
        shareText(visited, at.proved.total()), shortNumber(at.cost.scores),
        shortNumber(at.cost.unfusedTouches), bytesText(at.cost.fusedBytes),
        bytesText(at.cost.unfusedBytes), timeText(at.cost.milliseconds));
  }
}

void tegula::tool::printText(const Explanation &e, llvm::raw_ostream &os) {
  os << e.item << " on " << e.arch << ", " << problemText(e) << '\n';
  printMask(e, os);
  printTiles(e, os);
  printKernel(e, os);
  printCost(e, os);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void countOrNull(json::OStream &out, StringRef key,
                        std::optional<int64_t> count) {
  if (count)
    out.attribute(key, *count);
  else
    out.attribute(key, nullptr);
}

static void printTiles(const Explanation &e, json::OStream &out) {
  std::optional<int64_t> dead, partial, full, provedDead, provedPartial,
      provedFull, total, rows, columns;
  if (e.visits) {
    rows = e.visits->rows;
    columns = e.visits->keys;
    const TileCounts &proved = e.proved->counts;
    total = proved.total();
    provedDead = proved.dead;
    provedPartial = proved.partial;
    provedFull = proved.full;
  }
  if (e.exact) {
    TileCounts exact = e.exact->counts();
    dead = exact.dead;
    partial = exact.partial;
    full = exact.full;
  }
  out.attributeObject("tiles", [&] {
    countOrNull(out, "rows", rows);
    countOrNull(out, "cols", columns);
    out.attribute("heads", e.headsPerTile);
    countOrNull(out, "total", total);
    countOrNull(out, "dead", dead);
    countOrNull(out, "full", full);
    countOrNull(out, "partial", partial);
    countOrNull(out, "proved_dead", provedDead);
    countOrNull(out, "proved_full", provedFull);
    countOrNull(out, "proved_partial", provedPartial);
    if (!e.visits)
      out.attribute("reason", e.notCounted);
    else if (!e.exact)
      out.attribute("reason", e.notExact);
  });
}

static void printMask(const Explanation &e, json::OStream &out) {
  out.attributeArray("mask", [&] {
    if (e.visits)
      for (const MaskTerm &term : e.visits->mask.terms)
        out.object([&] {
          out.attribute("condition", term.condition);
          out.attributeArray("bounds", [&] {
            for (const std::string &bound : term.bounds)
              out.value(bound);
          });
          out.attribute("looked_up", term.isLookedUp);
          if (!term.placedBy.empty())
            out.attribute("placed_by", term.placedBy);
          out.attribute("searched", term.isSearched);
        });
  });
}

static void printKernel(const Explanation &e, json::OStream &out) {
  out.attributeArray("guards", [&] {
    for (const Guard &guard : e.guards)
      out.object([&] {
        out.attribute("guard", guard.what);
        out.attribute("kept", guard.isKept);
        out.attribute("reason", guard.reason);
      });
  });
  out.attribute("schedule", json::Object(e.schedule()));
  out.attribute("shared_bytes",
                e.manifest.getInteger("shared_bytes").value_or(0));
  out.attributeArray("shared", [&] {
    for (const SharedBuffer &buffer : sharedBuffers(e))
      out.object([&] {
        out.attribute("buffer", buffer.name);
        out.attribute("slots", buffer.slots);
        out.attribute("bytes", buffer.bytes);
      });
  });
  out.attributeObject("registers", [&] {
    for (const RoleFacts &role : roles(e))
      countOrNull(out, role.name, role.registers);
  });
  out.attribute("threads", e.manifest.getInteger("threads").value_or(0));
  out.attribute("ctas_per_sm",
                e.manifest.getInteger("ctas_per_sm").value_or(1));
}

/// The keys of a problem's cost; null where nothing is known of it.
static void printCost(const Cost *cost, json::OStream &out) {
  auto number = [&](StringRef key, double Cost::*field) {
    if (cost)
      out.attribute(key, cost->*field);
    else
      out.attribute(key, nullptr);
  };
  number("flops", &Cost::flops);
  out.attributeObject("bytes", [&] {
    number("fused", &Cost::fusedBytes);
    number("unfused", &Cost::unfusedBytes);
  });
  out.attributeObject("scores", [&] {
    number("computed", &Cost::scores);
    number("unfused_touches", &Cost::unfusedTouches);
  });
  number("roofline_ms", &Cost::milliseconds);
}

void tegula::tool::printJson(const Explanation &e, llvm::raw_ostream &os) {
  json::OStream out(os, 2);
  out.object([&] {
    out.attribute("item", e.item);
    out.attribute("arch", e.arch);
    out.attribute("device", e.device);
    out.attributeObject("sizes", [&] {
      for (const auto &[name, value] : e.sizes)
        out.attribute(name, value);
    });
    printTiles(e, out);
    printMask(e, out);
    printKernel(e, out);
    printCost(e.cost ? &*e.cost : nullptr, out);
    out.attributeArray("lengths", [&] {
      for (const LengthFacts &at : e.lengths)
        out.object([&] {
          bool isCounted = at.reason.empty();
          out.attribute("length", at.length);
          if (!isCounted)
            out.attribute("reason", at.reason);
          countOrNull(out, "total",
                      isCounted ? std::optional(at.proved.total())
                                : std::nullopt);
          countOrNull(out, "proved_dead",
                      isCounted ? std::optional(at.proved.dead) : std::nullopt);
          countOrNull(out, "proved_full",
                      isCounted ? std::optional(at.proved.full) : std::nullopt);
          printCost(isCounted ? &at.cost : nullptr, out);
        });
    });
  });
  os << '\n';
}
