#include "core/report/plain_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/base/html.h"
#include "core/base/text.h"
#include "core/layout/layered.h"
#include "core/pprof/dot_style.h"
#include "core/pprof/graph.h"
#include "core/pprof/legend.h"

namespace heapgauge {
namespace {

constexpr double kMargin = 16;
constexpr double kPadX = 8;
constexpr double kPadY = 5;
constexpr double kLine = 1.2;        // of the font's size
constexpr double kCharacter = 0.62;  // the same, and a little more than most fonts need
constexpr double kEdgeFont = 10;
constexpr double kLegendFont = 12;
constexpr size_t kWrap = 30;     // columns
constexpr size_t kLongest = 60;  // of a part of a name

// The name in lines, broken behind "::".
std::vector<std::string> WrappedName(const std::string& name) {
  std::vector<std::string> lines(1);
  std::string_view rest = name;
  while (!rest.empty()) {
    const size_t colons = rest.find("::");
    const std::string_view part =
        rest.substr(0, colons == std::string_view::npos ? rest.size() : colons + 2);
    rest.remove_prefix(part.size());
    if (!lines.back().empty() && DisplayWidth(lines.back()) + DisplayWidth(part) > kWrap) {
      lines.emplace_back();
    }
    lines.back() += CutTo(std::string(part), kLongest);
  }
  return lines;
}

double WidthOf(const std::vector<std::string>& lines, double font) {
  size_t columns = 0;
  for (const std::string& line : lines) columns = std::max(columns, DisplayWidth(line));
  return static_cast<double>(columns) * kCharacter * font;
}

class Drawing {
 public:
  Drawing(const pprof::ReportInput& input, const pprof::Trimmed& trimmed,
          const pprof::ValueFormat& format)
      : input_(input), trimmed_(trimmed), graph_(trimmed.graph), format_(format) {}

  std::string Draw() {
    const std::vector<std::string> legend = Legend();
    MakeBoxes();
    MakeArrows();
    LayOutInLayers(&layout_);
    legend_height_ = kLegendFont * kLine * static_cast<double>(legend.size()) + 2 * kPadY;
    const double legend_width = WidthOf(legend, kLegendFont) + 2 * kPadX;
    top_ = kMargin + legend_height_ + kMargin;
    const double width = std::max(layout_.width, legend_width) + 2 * kMargin;
    const double height = top_ + layout_.height + kMargin;
    out_ = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n"
        "<rect x=\"-50000\" y=\"-50000\" width=\"100000\" height=\"100000\" fill=\"#fff\"/>\n"
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
        "markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
        "<path d=\"M0,0 L8,4 L0,8 z\" fill=\"#555\"/></marker></defs>\n",
        width, height);
    Rect(kMargin, kMargin, legend_width, legend_height_, "#999", "#f8f8f8", 1);
    for (size_t i = 0; i < legend.size(); ++i) {
      Text(kMargin + kPadX, kMargin + kPadY + kLegendFont * (1 + kLine * static_cast<double>(i)),
           kLegendFont, "start", legend[i]);
    }
    for (size_t i = 0; i < layout_.arrows.size(); ++i) DrawArrow(i);
    for (size_t i = 0; i < boxes_.size(); ++i) DrawBox(i);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  struct Box {
    pprof::GraphId node = 0;
    double font = 9;
    std::vector<std::string> lines;
  };

  std::vector<std::string> Legend() const {
    std::vector<std::string> lines;
    for (std::string_view label : pprof::ReportLabels(input_, format_, trimmed_, /*full=*/true)) {
      for (size_t end = 0; end != std::string_view::npos;) {  // some are two lines
        end = label.find('\n');
        lines.emplace_back(label.substr(0, end));
        if (end != std::string_view::npos) label.remove_prefix(end + 1);
      }
    }
    return lines;
  }

  double Share(int64_t value) const {
    const auto all = static_cast<double>(Abs64(input_.total_weight));
    return all > 0 ? static_cast<double>(value) / all : 0;
  }

  void MakeBoxes() {
    number_.assign(graph_.nodes.size(), kNone);
    double max_flat = 0;
    for (const pprof::GraphId id : graph_.order) {
      max_flat = std::max(max_flat, std::fabs(static_cast<double>(graph_.nodes[id].flat_value())));
    }
    for (const pprof::GraphId id : graph_.order) {
      const pprof::GraphNode& node = graph_.nodes[id];
      Box box;
      box.node = id;
      const double flat = std::fabs(static_cast<double>(node.flat_value()));
      if (max_flat > 0) box.font += std::ceil(11 * std::sqrt(flat / max_flat));
      box.lines = WrappedName(graph_.name(id));
      const auto percent = [&](int64_t value) {
        return pprof::TrimmedPercentage(value, input_.total_weight);
      };
      if (node.flat_value() != 0) {
        box.lines.push_back(fmt::format("{} ({})", format_(node.flat_value()), percent(node.flat)));
      }
      if (node.cum_value() != node.flat_value()) {
        box.lines.push_back(fmt::format("{}of {} ({})", node.flat_value() == 0 ? "0 " : "",
                                        format_(node.cum_value()), percent(node.cum)));
      }
      LayeredBox place;
      place.width = WidthOf(box.lines, box.font) + 2 * kPadX;
      place.height = box.font * kLine * static_cast<double>(box.lines.size()) + 2 * kPadY;
      number_[id] = static_cast<uint32_t>(boxes_.size());
      layout_.boxes.push_back(place);
      boxes_.push_back(std::move(box));
    }
  }

  void MakeArrows() {
    std::vector<pprof::EdgeId> edges;
    for (const pprof::GraphId id : graph_.order) {
      const auto& out = graph_.nodes[id].out;
      edges.insert(edges.end(), out.begin(), out.end());
    }
    for (const pprof::EdgeId id : graph_.Sorted(edges)) {
      const pprof::GraphEdge& edge = graph_.edges[id];
      if (number_[edge.src] == kNone || number_[edge.dest] == kNone) continue;
      LayeredArrow arrow;
      arrow.from = number_[edge.src];
      arrow.to = number_[edge.dest];
      arrow.weight = 0.05 + std::min(1.0, std::fabs(Share(edge.weight)));
      layout_.arrows.push_back(std::move(arrow));
      edges_.push_back(id);
    }
  }

  void Rect(double x, double y, double width, double height, std::string_view stroke,
            std::string_view fill, double pen) {
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" "
        "stroke=\"{}\" stroke-width=\"{:.1f}\" fill=\"{}\"/>\n",
        x, y, width, height, stroke, pen, fill);
  }

  void Text(double x, double y, double font, std::string_view anchor, std::string_view text) {
    out_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n", x, y,
        font, anchor, HtmlText(text));
  }

  void DrawBox(size_t i) {
    const Box& box = boxes_[i];
    const LayeredBox& at = layout_.boxes[i];
    const double share = Share(graph_.nodes[box.node].cum);
    out_ +=
        fmt::format("<g class=\"node\"><title>{} ({})</title>\n", HtmlText(graph_.name(box.node)),
                    HtmlText(format_(graph_.nodes[box.node].cum_value())));
    Rect(kMargin + at.x - at.width / 2, top_ + at.y - at.height / 2, at.width, at.height,
         pprof::DotColor(share, false), pprof::DotColor(share, true), 1);
    double y = top_ + at.y - at.height / 2 + kPadY - 0.25 * box.font;
    for (const std::string& line : box.lines) {
      y += box.font * kLine;
      Text(kMargin + at.x, y, box.font, "middle", line);
    }
    out_ += "</g>\n";
  }

  void DrawArrow(size_t i) {
    const LayeredArrow& arrow = layout_.arrows[i];
    const pprof::GraphEdge& edge = graph_.edges[edges_[i]];
    const std::string text = format_(edge.weight_value());
    const double share = Share(edge.weight);
    std::vector<LayeredPoint> path = arrow.path;
    for (LayeredPoint& point : path) point = {kMargin + point.x, top_ + point.y};
    std::string curve;
    LayeredPoint label;
    if (path.empty()) {  // a call of itself: an ear at the right side
      const LayeredBox& box = layout_.boxes[arrow.from];
      const double x = kMargin + box.x + box.width / 2;
      const double y = top_ + box.y;
      curve = fmt::format("M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x, y - 6,
                          x + 20, y - 14, x + 20, y + 14, x, y + 6);
      label = {x + 18, y};
    } else {
      curve = fmt::format("M{:.1f},{:.1f}", path[0].x, path[0].y);
      for (size_t k = 1; k < path.size(); ++k) {
        const double middle = (path[k - 1].y + path[k].y) / 2;
        curve += fmt::format(" C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", path[k - 1].x, middle,
                             path[k].x, middle, path[k].x, path[k].y);
      }
      // Near what is called, where arrows from one box have parted.
      const LayeredPoint& end = path.back();
      const LayeredPoint& before = path[path.size() - 2];
      label = {before.x + 0.6 * (end.x - before.x) + 4, before.y + 0.58 * (end.y - before.y)};
    }
    out_ += fmt::format(
        "<g class=\"edge\"><title>{} {} {} ({})</title>\n"
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\"{} "
        "marker-end=\"url(#tip)\"/>\n",
        HtmlText(graph_.name(edge.src)), edge.residual ? "..." : "-&gt;",
        HtmlText(graph_.name(edge.dest)), HtmlText(text), curve, pprof::DotColor(share, false),
        1 + 4 * std::min(1.0, std::fabs(share)), edge.residual ? " stroke-dasharray=\"3,3\"" : "");
    Text(label.x, label.y, kEdgeFont, "start", text);
    out_ += "</g>\n";
  }

  const pprof::ReportInput& input_;
  const pprof::Trimmed& trimmed_;
  const pprof::Graph& graph_;
  const pprof::ValueFormat& format_;
  std::vector<uint32_t> number_;  // of its box, by node
  std::vector<Box> boxes_;
  std::vector<pprof::EdgeId> edges_;  // by arrow
  LayeredGraph layout_;
  double legend_height_ = 0;
  double top_ = 0;
  std::string out_;
};

}  // namespace

std::string PlainGraphSvg(const pprof::ReportInput& input) {
  const pprof::NodeTable table(input.profile, pprof::NodeOptionsOf(input.config()));
  pprof::GraphWants wants;
  wants.visual = true;
  wants.call_tree = input.config().call_tree;
  const pprof::Trimmed trimmed = pprof::TrimmedGraph(input, table, wants);
  pprof::ValueFormat format = pprof::FormatOf(input);
  pprof::SelectOutputUnit(input, trimmed.graph, &format);
  return Drawing(input, trimmed, format).Draw();
}

}  // namespace heapgauge
