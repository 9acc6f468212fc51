//===- ExplainPicture.cpp - an explanation as a picture -------------------===//
//
// SVG as text, in four parts: the map of one head's tiles, what the mask says,
// how work grows with the length, and the pipeline with its rings.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/ExplainNumbers.h"
#include "tools/tegula/Explanation.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace tegula;
using namespace tegula::tool;
using llvm::formatv;
using llvm::StringRef;

namespace {
/// What becomes of a tile, by what the kernel does and what there is to do.
enum TileFate : unsigned {
  Skipped,
  Computed,
  Tested,
  TestedInVain,  ///< every pair of it is visible
  VisitedInVain, ///< none is
  Fates
};
} // namespace

struct FateStyle {
  const char *colour, *words;
};
/// Of Okabe and Ito's colours, which the colour-blind can tell apart.
static constexpr FateStyle fates[Fates] = {
    {"#EEEEEE", "skipped: no row of it sees a key of it"},
    {"#0072B2", "computed without a test: every pair is visible"},
    {"#E69F00", "computed, each score tested: some pairs are hidden"},
    {"#56B4E9", "tested, though every pair is visible"},
    {"#D55E00", "visited, though no pair is visible"},
};

static TileFate fateOf(TileClass proved, std::optional<TileClass> exact) {
  if (proved == TileClass::dead)
    return Skipped;
  if (proved == TileClass::full)
    return Computed;
  if (exact == TileClass::full)
    return TestedInVain;
  return exact == TileClass::dead ? VisitedInVain : Tested;
}

/// What stands between tags.
static std::string escaped(StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(text, os);
  return result;
}

/// Lines of at most `width` characters, broken at spaces.
static std::vector<std::string> wrapped(StringRef text, size_t width) {
  std::vector<std::string> lines(1);
  for (StringRef word : llvm::split(text, ' ')) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word.str();
  }
  return lines;
}

namespace {
class Picture {
public:
  Picture(const Explanation &e, llvm::raw_ostream &os) : e(e), os(os) {}
  void draw();

private:
  static constexpr int width = 1000, margin = 40, mapSize = 420, top = 74,
                       panel = 540, pipelineTop = 570, height = 820;

  void text(double x, double y, const llvm::Twine &words, StringRef style = "");
  void box(double x, double y, double w, double h, StringRef style);
  void arrow(double x1, double y1, double x2, double y2);
  void drawMap();
  void drawCell(int64_t row, int64_t from, int64_t to, TileFate fate,
                double cellWidth, double cellHeight);
  TileFate fateOfCell(int64_t row, int64_t column, int64_t scale) const;
  double drawLegend(double y);
  double drawMask(double y);
  void drawGrowth(double y);
  void drawPipelined(double y);
  void drawDirect(double y);
  void drawShared(double y);

  const Explanation &e;
  llvm::raw_ostream &os;
};
} // namespace

void Picture::text(double x, double y, const llvm::Twine &words,
                   StringRef style) {
  os << formatv("<text x='{0:f1}' y='{1:f1}' {2}>{3}</text>\n", x, y, style,
                escaped(words.str()));
}

void Picture::box(double x, double y, double w, double h, StringRef style) {
  os << formatv("<rect x='{0:f2}' y='{1:f2}' width='{2:f2}' height='{3:f2}' "
                "{4}/>\n",
                x, y, w, h, style);
}

void Picture::arrow(double x1, double y1, double x2, double y2) {
  os << formatv("<line x1='{0:f1}' y1='{1:f1}' x2='{2:f1}' y2='{3:f1}' "
                "stroke='#444' stroke-width='1.5' marker-end='url(#tip)'/>\n",
                x1, y1, x2, y2);
}

static constexpr StringRef heading = "font-weight='bold' font-size='13'",
                           small = "fill='#555'",
                           centred = "text-anchor='middle'",
                           code = "font-family='monospace'",
                           plainBox = "fill='#F7F7F7' stroke='#444' rx='4'";

//===----------------------------------------------------------------------===//
// The map
//===----------------------------------------------------------------------===//

/// The fate of most tiles of a cell.
TileFate Picture::fateOfCell(int64_t row, int64_t column, int64_t scale) const {
  int64_t counts[Fates] = {};
  int64_t rows = e.proved->grid.front();
  for (int64_t m = row * scale; m < std::min(rows, (row + 1) * scale); ++m)
    for (int64_t n = column * scale;
         n < std::min(e.blocks, (column + 1) * scale); ++n)
      ++counts[fateOf(e.proved->map->at(m, n),
                      e.exact ? std::optional(e.exact->at(m, n))
                              : std::nullopt)];
  return static_cast<TileFate>(
      std::max_element(std::begin(counts), std::end(counts)) - counts);
}

void Picture::drawCell(int64_t row, int64_t from, int64_t to, TileFate fate,
                       double cellWidth, double cellHeight) {
  box(margin + 20 + from * cellWidth, top + 20 + row * cellHeight,
      (to - from) * cellWidth, cellHeight,
      formatv("fill='{0}'", fates[fate].colour).str());
}

/// Of the first head and batch entry. Where there are many tiles, a cell stands
/// for several.
void Picture::drawMap() {
  constexpr int64_t mostCells = 140;
  text(margin, top - 8, "Tiles of scores", heading);
  if (!e.proved || !e.proved->map || e.proved->grid.empty() || e.blocks == 0)
    return text(margin, top + 14,
                e.visits ? "too many tiles to draw, or none"
                         : "not counted: " + e.notCounted);
  int64_t rows = e.proved->grid.front();
  int64_t scale = llvm::divideCeil(std::max(rows, e.blocks), mostCells);
  int64_t cellRows = llvm::divideCeil(rows, scale),
          cellColumns = llvm::divideCeil(e.blocks, scale);
  double keys = e.blocks * e.visits->keys, queries = rows * e.visits->rows;
  double unit = mapSize / std::max(keys, queries);
  double mapWidth = std::max(keys * unit, 8.0),
         mapHeight = std::max(queries * unit, 8.0);
  double cellWidth = mapWidth / cellColumns, cellHeight = mapHeight / cellRows;
  os << "<g shape-rendering='crispEdges'>\n";
  for (int64_t row = 0; row < cellRows; ++row)
    for (int64_t column = 0, end; column < cellColumns; column = end) {
      TileFate fate = fateOfCell(row, column, scale);
      for (end = column + 1; end < cellColumns; ++end)
        if (fateOfCell(row, end, scale) != fate)
          break;
      drawCell(row, column, end, fate, cellWidth, cellHeight);
    }
  // The grid, where its lines leave something between them.
  if (cellWidth >= 6 && cellHeight >= 6) {
    os << "<path stroke='white' stroke-width='1' d='";
    for (int64_t row = 1; row < cellRows; ++row)
      os << formatv("M{0:f1} {1:f1}h{2:f1}", margin + 20.0,
                    top + 20 + row * cellHeight, mapWidth);
    for (int64_t column = 1; column < cellColumns; ++column)
      os << formatv("M{0:f1} {1:f1}v{2:f1}", margin + 20 + column * cellWidth,
                    top + 20.0, mapHeight);
    os << "'/>\n";
  }
  box(margin + 20, top + 20, mapWidth, mapHeight, "fill='none' stroke='#444'");
  os << "</g>\n";
  text(margin + 20, top + 14,
       formatv("keys j, blocks of {0} →", e.visits->keys).str(), small);
  os << formatv("<text transform='translate({0},{1}) rotate(90)' {2}>queries "
                "i, blocks of {3} →</text>\n",
                margin + 6, top + 20, small, e.visits->rows);
  std::string note = "one head of one batch entry";
  if (scale > 1)
    note += formatv("; a cell stands for {0} x {0} tiles", scale).str();
  text(margin + 20, top + 36 + mapHeight, note, small);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

double Picture::drawLegend(double y) {
  if (!e.proved)
    return y;
  int64_t counts[Fates] = {};
  if (const auto &map = e.proved->map)
    for (size_t n = 0; n < map->classes.size(); ++n)
      ++counts[fateOf(map->classes[n], e.exact
                                           ? std::optional(e.exact->classes[n])
                                           : std::nullopt)];
  else {
    counts[Skipped] = e.proved->counts.dead;
    counts[Computed] = e.proved->counts.full;
    counts[Tested] = e.proved->counts.partial;
  }
  int64_t total = e.proved->counts.total();
  text(panel, y - 8,
       formatv("{0} tiles of {1} x {2} in all heads", total, e.visits->rows,
               e.visits->keys)
           .str(),
       heading);
  for (unsigned fate = 0; fate < Fates; ++fate) {
    if (counts[fate] == 0 && fate > Tested)
      continue;
    box(panel, y + 4, 12, 12,
        formatv("fill='{0}' stroke='#444' stroke-width='.5'",
                fates[fate].colour)
            .str());
    text(panel + 68, y + 14, shareText(counts[fate], total),
         "text-anchor='end'");
    text(panel + 76, y + 14, fates[fate].words);
    y += 19;
  }
  return y;
}

double Picture::drawMask(double y) {
  text(panel, y + 16, "Mask", heading);
  y += 34;
  if (!e.visits)
    return y;
  if (e.visits->mask.terms.empty()) {
    text(panel, y, "none: every key is seen");
    y += 15;
  }
  for (const MaskTerm &term : e.visits->mask.terms) {
    for (const std::string &line : wrapped(term.condition, 58)) {
      text(panel, y, line, code);
      y += 14;
    }
    for (const std::string &line : wrapped(term.consequence(), 68)) {
      text(panel + 14, y, line, small);
      y += 14;
    }
  }
  for (const Guard &guard : e.guards)
    for (const std::string &line :
         wrapped("guard " + std::string(guard.isKept ? "kept" : "dropped") +
                     " (" + guard.what + "): " + guard.reason,
                 70)) {
      text(panel, y, line);
      y += 14;
    }
  return y;
}

/// Both axes by powers of ten: a line that doubles with the length is half as
/// steep as one that squares.
void Picture::drawGrowth(double y) {
  std::vector<const LengthFacts *> points;
  for (const LengthFacts &at : e.lengths)
    if (at.reason.empty() && at.cost.scores > 0)
      points.push_back(&at);
  if (points.size() < 2)
    return;
  text(panel, y + 8, "Score elements touched, by length", heading);
  double chartTop = y + 20,
         chartHeight = std::max(90.0, pipelineTop - 50 - chartTop),
         chartWidth = 260; // the words behind it take the rest
  auto x = [&](double length) {
    return panel +
           chartWidth * std::log(length / points.front()->length) /
               std::log(double(points.back()->length) / points.front()->length);
  };
  double least = points.front()->cost.scores,
         most = points.back()->cost.unfusedTouches;
  auto yOf = [&](double value) {
    return chartTop +
           chartHeight * (1 - std::log(value / least) / std::log(most / least));
  };
  box(panel, chartTop, chartWidth, chartHeight, "fill='none' stroke='#bbb'");
  auto curve = [&](double Cost::*field, StringRef colour, StringRef words) {
    os << formatv("<polyline fill='none' stroke='{0}' stroke-width='2' "
                  "points='",
                  colour);
    for (const LengthFacts *at : points)
      os << formatv("{0:f1},{1:f1} ", x(at->length), yOf(at->cost.*field));
    os << "'/>\n";
    double last = points.back()->cost.*field;
    text(panel + chartWidth + 6, yOf(last) + 4, shortNumber(last) + " " + words,
         formatv("fill='{0}'", colour).str());
  };
  curve(&Cost::unfusedTouches, "#D55E00", "in memory, unfused");
  curve(&Cost::scores, "#0072B2", "on the chip, here");
  for (const LengthFacts *at : {points.front(), points.back()})
    text(x(at->length), chartTop + chartHeight + 13, shortNumber(at->length),
         centred);
}

//===----------------------------------------------------------------------===//
// The pipeline
//===----------------------------------------------------------------------===//

static std::string registersText(const RoleFacts &role) {
  return role.registers ? std::to_string(*role.registers) + " registers"
                        : "registers: ptxas knows";
}

void Picture::drawPipelined(double y) {
  std::vector<RoleFacts> all = roles(e);
  std::vector<SharedBuffer> rings;
  for (const SharedBuffer &buffer : sharedBuffers(e))
    if (buffer.slots > 1 && buffer.name != "barriers")
      rings.push_back(buffer);
  double rowHeight = 46, body = rowHeight * std::max<size_t>(rings.size(), 3);
  box(margin, y, 96, body, plainBox);
  text(margin + 48, y + body / 2 - 4, "global", centred);
  text(margin + 48, y + body / 2 + 12, "memory", centred);
  box(200, y, 130, body, "fill='#FFF3D6' stroke='#444' rx='4'");
  text(265, y + body / 2 - 14, "producer",
       "text-anchor='middle' font-weight='bold'");
  text(265, y + body / 2 + 2, std::to_string(all[0].threads) + " threads",
       centred);
  text(265, y + body / 2 + 18, registersText(all[0]), centred);
  arrow(margin + 98, y + body / 2, 196, y + body / 2);
  text(margin + 126, y + body / 2 - 8, "TMA", centred);
  for (auto [n, ring] : llvm::enumerate(rings)) {
    double at = y + rowHeight * static_cast<double>(n);
    arrow(332, at + 24, 372, at + 24);
    text(378, at + 8,
         formatv("{0}: {1} slots of {2}", ring.name, ring.slots,
                 bytesText(double(ring.bytes) / double(ring.slots)))
             .str(),
         small);
    double slotWidth = std::min(40.0, 230.0 / double(ring.slots));
    for (int64_t slot = 0; slot < ring.slots; ++slot)
      box(378 + slotWidth * double(slot), at + 13, slotWidth - 3, 22,
          "fill='#CFE8F5' stroke='#444' rx='2'");
    arrow(378 + slotWidth * double(ring.slots) + 4, at + 24, 626, at + 24);
  }
  int64_t consumers = all[1].count;
  double each = body / double(consumers);
  for (int64_t n = 0; n < consumers; ++n) {
    double at = y + each * double(n);
    box(630, at + 2, 210, each - 4, "fill='#DCEBDD' stroke='#444' rx='4'");
    int64_t rows = e.visits ? e.visits->rows / consumers : 64;
    text(735, at + each / 2 - 2,
         formatv("consumer {0}: rows {1} to {2}", n, n * rows,
                 (n + 1) * rows - 1)
             .str(),
         "text-anchor='middle' font-weight='bold'");
    if (each > 30)
      text(735, at + each / 2 + 13,
           std::to_string(all[1].threads) + " threads, " +
               registersText(all[1]),
           centred);
  }
  arrow(842, y + body / 2, 872, y + body / 2);
  box(876, y, 84, body, plainBox);
  text(918, y + body / 2 - 4, "results in", centred);
  text(918, y + body / 2 + 12, "memory", centred);
  text(margin, y + body + 18,
       "the producer runs ahead of the consumers by as many blocks as a ring "
       "has "
       "slots; matrix products read the slots where they lie",
       small);
}

void Picture::drawDirect(double y) {
  RoleFacts all = roles(e).front();
  double body = 110;
  box(margin, y, 120, body, plainBox);
  text(margin + 60, y + body / 2 + 4, "global memory", centred);
  arrow(margin + 122, y + body / 2, 296, y + body / 2);
  text(228, y + body / 2 - 8, "loads", centred);
  box(300, y, 340, body, "fill='#DCEBDD' stroke='#444' rx='4'");
  text(470, y + body / 2 - 10,
       std::to_string(all.threads) + " threads that all do the same",
       "text-anchor='middle' font-weight='bold'");
  text(470, y + body / 2 + 8, registersText(all), centred);
  text(470, y + body / 2 + 26, "tiles in registers, no rings", centred);
  arrow(642, y + body / 2, 776, y + body / 2);
  box(780, y, 180, body, plainBox);
  text(870, y + body / 2 + 4, "results in memory", centred);
}

/// A bar as long as what a CTA may have.
void Picture::drawShared(double y) {
  static constexpr const char *colours[] = {"#CFE8F5", "#9CCFE7", "#6FB7DB",
                                            "#DDDDDD", "#C9C9C9", "#B5B5B5"};
  double total = static_cast<double>(e.sharedLimit), x = margin;
  double barWidth = width - 2 * margin;
  text(margin, y - 6,
       formatv("shared memory: {0} of {1} bytes; {2} CTA an SM",
               e.manifest.getInteger("shared_bytes").value_or(0), e.sharedLimit,
               e.manifest.getInteger("ctas_per_sm").value_or(1))
           .str());
  box(margin, y, barWidth, 22, "fill='white' stroke='#444'");
  for (auto [n, buffer] : llvm::enumerate(sharedBuffers(e))) {
    double part = barWidth * static_cast<double>(buffer.bytes) / total;
    box(x, y, part, 22,
        formatv("fill='{0}' stroke='#444' stroke-width='.5'",
                colours[n % std::size(colours)])
            .str());
    std::string words = buffer.name + " " + bytesText(double(buffer.bytes));
    if (part > 6.5 * static_cast<double>(words.size()))
      text(x + part / 2, y + 15, words, centred);
    x += part;
  }
}

void Picture::draw() {
  os << formatv("<svg xmlns='http://www.w3.org/2000/svg' width='{0}' "
                "height='{1}' viewBox='0 0 {0} {1}' font-family='sans-serif' "
                "font-size='11.5'>\n",
                int(width), int(height));
  os << "<defs><marker id='tip' viewBox='0 0 8 8' refX='7' refY='4' "
        "markerWidth='7' markerHeight='7' orient='auto'><path d='M0 0L8 4L0 "
        "8z' "
        "fill='#444'/></marker></defs>\n";
  os << "<rect width='100%' height='100%' fill='white'/>\n";
  text(margin, 28, e.item, "font-weight='bold' font-size='18'");
  std::string facts = problemText(e) + ", " + e.arch;
  if (e.cost)
    facts += ": " + shortNumber(e.cost->flops, "FLOP") + ", " +
             bytesText(e.cost->fusedBytes) + " (unfused " +
             bytesText(e.cost->unfusedBytes) + "), at least " +
             timeText(e.cost->milliseconds) + " on " + e.device;
  text(margin, 46, facts, small);
  drawMap();
  drawGrowth(drawMask(drawLegend(top)) + 6);
  text(margin, pipelineTop - 12, "Pipeline of one CTA", heading);
  if (e.form() == "pipelined")
    drawPipelined(pipelineTop);
  else
    drawDirect(pipelineTop);
  drawShared(height - 44);
  os << "</svg>\n";
}

void tegula::tool::printSvg(const Explanation &e, llvm::raw_ostream &os) {
  Picture(e, os).draw();
}

void tegula::tool::printHtml(const Explanation &e, llvm::raw_ostream &os) {
  os << "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>"
     << escaped(e.item)
     << "</title>\n<style>body{margin:2em auto;max-width:1000px;"
        "font-family:sans-serif}svg{width:100%;height:auto}"
        "pre{overflow-x:auto}</style></head><body>\n";
  printSvg(e, os);
  std::string text;
  llvm::raw_string_ostream stream(text);
  printText(e, stream);
  os << "<pre>" << escaped(text) << "</pre>\n</body></html>\n";
}
