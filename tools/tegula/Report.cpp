//===- Report.cpp - what `tegula run` prints ------------------------------===//
//
// JSON has no number for infinity or NaN: such a value is null.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/Report.h"
#include "tools/tegula/Fill.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tegula;
using namespace tegula::tool;
namespace json = llvm::json;

double tegula::tool::countFlops(const Problem &problem) {
  const lang::Item &item = *problem.item;
  auto rows = problem.dim("B") * problem.dim("H") * problem.dim("M");
  int64_t keys = problem.dim("N");
  double perPair = 2.0 * static_cast<double>(item.headDim() + item.valueDim());
  double all = static_cast<double>(rows) * static_cast<double>(keys);
  if (item.masks.empty() || all == 0)
    return perPair * all;
  // A spread of rows that costs about 2^24 evaluations of the mask.
  int64_t count =
      std::min(rows, std::max<int64_t>(256, (int64_t(1) << 24) /
                                                std::max<int64_t>(keys, 1)));
  double visible = 0;
  int64_t heads = problem.dim("H"), queries = problem.dim("M");
  int64_t ratio = heads / problem.dim("G");
  for (int64_t n = 0; n < count; ++n) {
    int64_t begin = static_cast<int64_t>(double(rows) * n / count);
    int64_t end = static_cast<int64_t>(double(rows) * (n + 1) / count);
    int64_t number =
        begin + static_cast<int64_t>(randomBits(1, n) %
                                     std::max<int64_t>(end - begin, 1));
    int64_t h = number / queries % heads;
    Row row{number / queries / heads, h, h / ratio, number % queries};
    RowEvaluator<double> evaluator(problem, row, keys);
    std::vector<char> keep(keys, true);
    for (const lang::Expr *mask : item.masks) {
      Column<double> column = evaluator.evaluate(*mask);
      for (int64_t j = 0; j < keys; ++j)
        keep[j] = keep[j] && column.integer(j);
    }
    visible += static_cast<double>(std::count(keep.begin(), keep.end(), 1));
  }
  return perPair * visible / static_cast<double>(count) *
         static_cast<double>(rows);
}

namespace {
/// Median, least and largest of the launches.
struct Times {
  double median = 0, least = 0, largest = 0;
  explicit Times(std::vector<double> times) {
    if (times.empty())
      return;
    std::sort(times.begin(), times.end());
    least = times.front();
    largest = times.back();
    size_t half = times.size() / 2;
    median =
        times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
  }
};
} // namespace

/// NaN where nothing is known.
static double teraflops(const RunReport &report, const Times &times) {
  if (!report.flops)
    return std::numeric_limits<double>::quiet_NaN();
  return times.median > 0 ? *report.flops / times.median * 1e-9 : 0;
}

/// "form=pipelined block_m=128 ..." of the schedule's JSON text.
static std::string scheduleText(llvm::StringRef text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return text.str();
  }
  std::string result;
  if (const json::Object *fields = value->getAsObject())
    for (const auto &[name, field] : *fields) {
      std::string shown = field.getAsString()
                              ? field.getAsString()->str()
                              : llvm::formatv("{0}", field).str();
      std::string pair = llvm::StringRef(name).str() + "=" + shown;
      result = llvm::StringRef(name) == "form"
                   ? pair + (result.empty() ? "" : " ") + result
                   : result + (result.empty() ? "" : " ") + pair;
    }
  return result;
}

static void printOutput(const OutputReport &output, llvm::raw_ostream &os) {
  os << llvm::format("  %-8s", output.name.c_str());
  if (!output.check) {
    os << (output.nan ? llvm::formatv("{0} NaN", output.nan).str()
                      : std::string("no NaN"))
       << ", not checked\n";
    return;
  }
  const OutputCheck &check = *output.check;
  os << llvm::format(
      "%-11.2e %-11.2e %-11.2e %-6lld %s\n", check.maxAbs, check.limit,
      check.relL2, static_cast<long long>(output.nan), check.ok ? "yes" : "NO");
  if (!check.ok && !check.firstWrong.empty())
    os << "           " << check.firstWrong << '\n';
}

void tegula::tool::printText(const RunReport &report, llvm::raw_ostream &os) {
  Times times(report.execution.milliseconds);
  os << report.item << " on " << report.execution.device << '\n';
  os << "  problem  " << report.problemText << '\n';
  os << "  schedule " << scheduleText(report.execution.schedule) << '\n';
  if (!report.execution.reason.empty())
    os << "           as " << report.execution.reason << '\n';
  os << llvm::format("  time     %.4g ms (%.4g to %.4g, %zu runs)",
                     times.median, times.least, times.largest,
                     report.execution.milliseconds.size());
  if (report.flops)
    os << llvm::format(", %.4g TFLOP/s", teraflops(report, times));
  os << '\n';
  bool checked = llvm::any_of(
      report.outputs, [](const OutputReport &o) { return bool(o.check); });
  if (checked)
    os << "  output  max_abs     limit       rel_l2      nan    ok\n";
  for (const OutputReport &output : report.outputs)
    printOutput(output, os);
  if (checked && report.checkedRows < report.totalRows)
    os << "  checked  " << report.checkedRows << " of " << report.totalRows
       << " rows\n";
  if (report.execution.redoneRows)
    os << "  redone   " << report.execution.redoneRows
       << " rows, whose first result failed its check\n";
  if (const auto &visits = report.execution.visits)
    os << "  visits   " << visits->partial << " blocks of keys with the mask, "
       << visits->full << " without\n";
  for (const std::string &name : report.overrun)
    os << "  overrun  memory beside `" << name << "` was written\n";
}

/// Writes a number, or null where JSON has none.
static void number(json::OStream &out, llvm::StringRef key, double value) {
  if (std::isfinite(value))
    out.attribute(key, value);
  else
    out.attribute(key, nullptr);
}

void tegula::tool::printJson(const RunReport &report, llvm::raw_ostream &os) {
  Times times(report.execution.milliseconds);
  json::OStream out(os, 2);
  out.object([&] {
    out.attribute("ok", report.ok);
    out.attribute("item", report.item);
    out.attribute("target", report.target);
    out.attribute("device", report.execution.device);
    out.attributeObject("sizes", [&] {
      for (const auto &[name, value] : report.sizes)
        out.attribute(name, value);
    });
    llvm::Expected<json::Value> schedule =
        json::parse(report.execution.schedule);
    if (schedule)
      out.attribute("schedule", *schedule);
    else
      llvm::consumeError(schedule.takeError());
    if (!report.execution.reason.empty())
      out.attribute("schedule_reason", report.execution.reason);
    out.attribute("redone_rows", report.execution.redoneRows);
    if (const auto &visits = report.execution.visits)
      out.attributeObject("visits", [&] {
        out.attribute("partial", visits->partial);
        out.attribute("full", visits->full);
      });
    out.attributeObject("outputs", [&] {
      for (const OutputReport &output : report.outputs)
        out.attributeObject(output.name, [&] {
          if (const auto &check = output.check) {
            number(out, "max_abs", check->maxAbs);
            number(out, "rel_l2", check->relL2);
            number(out, "limit", check->limit);
            number(out, "rel_l2_limit", check->relL2Limit);
            number(out, "worst", check->worst);
          } else {
            for (const char *key : {"max_abs", "rel_l2", "limit"})
              out.attribute(key, nullptr);
          }
          out.attribute("nan", output.nan);
          if (!output.check)
            out.attribute("ok", nullptr);
          else
            out.attribute("ok", output.check->ok);
          if (output.check && !output.check->firstWrong.empty())
            out.attribute("first_wrong", output.check->firstWrong);
        });
    });
    if (report.totalRows) {
      out.attribute("checked_rows", report.checkedRows);
      out.attribute("rows", report.totalRows);
    }
    if (!report.overrun.empty())
      out.attributeArray("overrun", [&] {
        for (const std::string &name : report.overrun)
          out.value(name);
      });
    out.attributeObject("time_ms", [&] {
      out.attribute("median", times.median);
      out.attribute("min", times.least);
      out.attribute("max", times.largest);
      out.attribute("runs",
                    static_cast<int64_t>(report.execution.milliseconds.size()));
    });
    number(out, "tflops", teraflops(report, times));
    number(out, "flops", report.flops.value_or(teraflops(report, times)));
    out.attribute("bytes", report.bytes);
  });
  os << '\n';
}
