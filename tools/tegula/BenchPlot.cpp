//===- BenchPlot.cpp - results as a picture -------------------------------===//
//
// SVG as text: panels of grouped bars, all with the same scale.
//
//===----------------------------------------------------------------------===//
#include "tools/tegula/BenchPeers.h"
#include "tools/tegula/BenchResults.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace tegula;
using namespace tegula::tool;
using llvm::formatv;
using llvm::StringRef;
namespace json = llvm::json;

namespace {
struct Bar {
  size_t series; ///< 0 is ours, then the peers
  double tflops;
};

/// The bars of one row.
struct Group {
  std::string label;
  std::vector<Bar> bars;
};

struct Panel {
  std::string title;
  std::vector<Group> groups;
};
} // namespace

/// Okabe and Ito's colours, which the colour-blind can tell apart.
static constexpr const char *colours[] = {"#D55E00", "#0072B2", "#56B4E9",
                                          "#009E73", "#E69F00", "#CC79A7",
                                          "#666666", "#F0E442"};

/// Ours first, then known peers in the order of their table, so that one has
/// the same colour in every picture; others share those.
static const char *colourOf(StringRef name) {
  std::vector<std::string> known = peerNames();
  known.insert(known.begin(), "tegula");
  size_t place = llvm::find(known, name) - known.begin();
  return colours[place % std::size(colours)];
}

static constexpr int barWidth = 11, groupGap = 12, plotHeight = 150;
static constexpr int left = 46, top = 62, titleHeight = 22, labelHeight = 20;

static std::vector<Panel> makePanels(const json::Object &results,
                                     llvm::ArrayRef<std::string> peers) {
  const json::Array &rows = *results.getArray("rows");
  auto field = [](const json::Value &row, StringRef name) {
    return row.getAsObject()->getInteger(name).value_or(0);
  };
  bool oneLength = llvm::all_of(rows, [&](const json::Value &row) {
    return field(row, "s") == field(rows.front(), "s");
  });
  std::vector<Panel> panels;
  for (const json::Value &value : rows) {
    const json::Object &row = *value.getAsObject();
    std::string kernel = row.getString("kernel")->str();
    std::string d = formatv("D = {0}", field(value, "d"));
    std::string title =
        oneLength ? formatv("{0}, S = {1}", d, field(value, "s")).str()
                  : kernel + ", " + d;
    auto panel = llvm::find_if(
        panels, [&](const Panel &other) { return other.title == title; });
    if (panel == panels.end())
      panel = panels.insert(panel, {title, {}});
    Group group{oneLength ? kernel : std::to_string(field(value, "s")), {}};
    auto add = [&](size_t series, const json::Object *object) {
      if (object)
        if (std::optional<double> speed = object->getNumber("tflops"))
          group.bars.push_back({series, *speed});
    };
    add(0, &row);
    if (const json::Object *values = row.getObject("peers"))
      for (const auto &[number, peer] : llvm::enumerate(peers))
        add(number + 1, values->getObject(peer));
    panel->groups.push_back(std::move(group));
  }
  return panels;
}

/// What stands between tags.
static std::string escaped(StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(text, os);
  return result;
}

namespace {
class Svg {
public:
  Svg(const json::Object &results, std::vector<std::string> peers)
      : results(results), peers(std::move(peers)),
        panels(makePanels(results, this->peers)) {}
  std::string draw();

private:
  /// Distance of the lines behind the bars.
  static constexpr double step = 100;

  /// As wide as its bars or its label.
  double groupWidth() const {
    return std::max(barWidth * (peers.size() + 1.0), labelWidth) + groupGap;
  }
  double panelWidth() const;
  StringRef nameOf(size_t series) const {
    return series ? StringRef(peers[series - 1]) : "tegula";
  }
  double y(double tflops) const { return plotHeight * (1 - tflops / largest); }
  void text(double x, double y, StringRef anchor, const llvm::Twine &words);
  void drawLegend();
  void drawPanel(const Panel &panel);

  const json::Object &results;
  const std::vector<std::string> peers;
  const std::vector<Panel> panels;
  double largest = step, labelWidth = 0;
  std::string svg;
  llvm::raw_string_ostream os{svg};
};
} // namespace

double Svg::panelWidth() const {
  size_t groups = 1;
  for (const Panel &panel : panels)
    groups = std::max(groups, panel.groups.size());
  return groupWidth() * groups + groupGap;
}

void Svg::text(double x, double y, StringRef anchor, const llvm::Twine &words) {
  os << formatv("<text x='{0:f1}' y='{1:f1}' text-anchor='{2}'>{3}</text>\n", x,
                y, anchor, escaped(words.str()));
}

void Svg::drawLegend() {
  text(left, 20, "start",
       results.getString("grid").value_or("bench") + ", TFLOP/s, " +
           results.getString("machine").value_or("?") + ", " +
           results.getString("date").value_or("?"));
  double x = left;
  for (size_t series = 0; series <= peers.size(); ++series) {
    StringRef name = nameOf(series);
    os << formatv("<rect x='{0:f1}' y='30' width='10' height='10' "
                  "fill='{1}'/>\n",
                  x, colourOf(name));
    text(x + 14, 39, "start", name);
    x += 30 + 7.0 * static_cast<double>(name.size());
  }
}

void Svg::drawPanel(const Panel &panel) {
  text(0, -8, "start", panel.title);
  for (double line = 0; line <= largest; line += step) {
    os << formatv("<line x1='0' x2='{0:f1}' y1='{1:f1}' y2='{1:f1}' "
                  "stroke='#ddd'/>\n",
                  panelWidth(), y(line));
    text(-4, y(line) + 4, "end", llvm::Twine(static_cast<int>(line)));
  }
  double x = groupGap, bars = barWidth * (peers.size() + 1.0);
  for (const Group &group : panel.groups) {
    double first = x + (groupWidth() - groupGap - bars) / 2;
    for (const Bar &bar : group.bars) {
      os << formatv("<rect x='{0:f1}' y='{1:f1}' width='{2}' "
                    "height='{3:f1}' fill='{4}'>",
                    first + static_cast<double>(bar.series) * barWidth,
                    y(bar.tflops), barWidth - 1, plotHeight - y(bar.tflops),
                    colourOf(nameOf(bar.series)));
      os << formatv("<title>{0} {1}: {2:f1}</title></rect>\n",
                    escaped(nameOf(bar.series)), escaped(group.label),
                    bar.tflops);
    }
    text(x + (groupWidth() - groupGap) / 2, plotHeight + 14, "middle",
         group.label);
    x += groupWidth();
  }
}

std::string Svg::draw() {
  for (const Panel &panel : panels)
    for (const Group &group : panel.groups) {
      labelWidth = std::max(labelWidth, 6.0 * group.label.size());
      for (const Bar &bar : group.bars)
        largest = std::max(largest, std::ceil(bar.tflops / step) * step);
    }
  // Two columns where there are several panels: full beside causal.
  size_t columns = panels.size() > 1 ? 2 : 1;
  size_t lines = (panels.size() + columns - 1) / columns;
  double stepX = panelWidth() + left + 10;
  double stepY = plotHeight + titleHeight + labelHeight + 10;
  os << formatv("<svg xmlns='http://www.w3.org/2000/svg' width='{0:f0}' "
                "height='{1:f0}' font-family='sans-serif' font-size='11'>\n",
                left + stepX * columns, top + stepY * lines + 10);
  os << "<rect width='100%' height='100%' fill='white'/>\n";
  drawLegend();
  // Rows come kernel by kernel within a head dim: side by side are the panels
  // of one head dim.
  for (const auto &[number, panel] : llvm::enumerate(panels)) {
    os << formatv("<g transform='translate({0:f1},{1:f1})'>\n",
                  left + stepX * static_cast<double>(number % columns),
                  top + titleHeight +
                      stepY * static_cast<double>(number / columns));
    drawPanel(panel);
    os << "</g>\n";
  }
  os << "</svg>\n";
  return svg;
}

std::string tegula::tool::drawPlot(const json::Object &results) {
  return Svg(results, peersOf(results)).draw();
}
