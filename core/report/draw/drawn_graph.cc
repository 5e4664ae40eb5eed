#include "core/report/draw/drawn_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/fold/frames.h"
#include "core/fold/measures.h"
#include "core/report/draw/layered.h"
#include "core/voices/pprof/frame_filter.h"
#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report_dot.h"

namespace heapgauge {
namespace {

// Functions get the names that reports show. Those that differ still do: labels see to it.
void NameAsInReports(Names names, Profile* profile) {
  const std::vector<std::string> frame_names = FrameNames(*profile, Granularity::kFunctions, names);
  for (size_t i = 0; i < profile->frames.size(); ++i) {
    profile->functions[profile->frames[i].function].name = frame_names[i];
  }
}

// Sizes of blocks, which text profiles and Go's have on every row, would be more boxes in a graph
// than there are functions.
void DropSizes(Profile* profile) {
  for (RowId row = 0; row < profile->rows.size(); ++row) {
    const std::span<const Label> labels = profile->LabelsOf(row);
    const bool sizes = std::all_of(labels.begin(), labels.end(), [&](const Label& label) {
      return label.is_number() && profile->strings[label.key] == "bytes";
    });
    if (sizes) profile->rows[row].labels = kNone;
  }
}

}  // namespace

Result<pprof::ReportInput> PrepareGraph(Profile profile, pprof::ReportRequest request, size_t type,
                                        Names names) {
  if (type >= profile.sample_types.size()) {
    return Fail(ErrorCode::kCorrupt, "the profile has no sample types");
  }
  PutProgramFirst(&profile);  // in pprof's words it comes first
  request.config.sample_index = std::to_string(type);
  // Programs read it, which have no use for rounded megabytes.
  if (request.kind == pprof::ReportKind::kCallgrind) {
    request.config.unit = profile.sample_types[type].unit;
  }
  if (request.kind != pprof::ReportKind::kRaw) {
    const bool own_list = !profile.drop_frames.empty();
    if (!own_list && MeasuresOf(profile).is_memory) {
      profile.drop_frames = AllocationFunctionRegex();
    }
    HG_TRY(pprof::RemoveUninteresting(&profile));
    NameAsInReports(names, &profile);
    DropSizes(&profile);
  }
  return pprof::Prepare(std::move(profile), request);
}

pprof::Shape ShapeOf(Granularity granularity) {
  return granularity == Granularity::kLines       ? pprof::Shape::kLines
         : granularity == Granularity::kFiles     ? pprof::Shape::kFiles
         : granularity == Granularity::kAddresses ? pprof::Shape::kAddresses
                                                  : pprof::Shape::kFunctions;
}

namespace {

constexpr double kCharacter = 0.62;  // the same, and a little more than most fonts need
constexpr size_t kWrap = 30;         // columns
constexpr size_t kLongest = 60;      // of a part of a name

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

class Drawer {
 public:
  Drawer(const pprof::ReportInput& input, const pprof::Trimmed& trimmed,
         const pprof::ValueFormat& format)
      : input_(input), trimmed_(trimmed), graph_(trimmed.graph), format_(format) {}

  DrawnGraph Draw(bool legend) {
    top_ = DrawnGraph::kMargin;
    if (legend) PlaceLegend();
    MakeBoxes();
    MakeArrows();
    LayOutInLayers(&layout_);
    for (size_t i = 0; i < drawn_.boxes.size(); ++i) {
      DrawnGraph::Box& box = drawn_.boxes[i];
      const LayeredBox& at = layout_.boxes[i];
      box.x = DrawnGraph::kMargin + at.x - at.width / 2;
      box.y = top_ + at.y - at.height / 2;
      box.width = at.width;
      box.height = at.height;
    }
    for (size_t i = 0; i < drawn_.arrows.size(); ++i) PlaceArrow(i);
    drawn_.width = std::max(layout_.width, drawn_.legend_width) + 2 * DrawnGraph::kMargin;
    drawn_.height = top_ + layout_.height + DrawnGraph::kMargin;
    drawn_.left_out = static_cast<size_t>(std::max(0, trimmed_.original_count)) -
                      std::min<size_t>(static_cast<size_t>(std::max(0, trimmed_.original_count)),
                                       drawn_.boxes.size());
    return std::move(drawn_);
  }

 private:
  void PlaceLegend() {
    for (std::string_view label : pprof::ReportLabels(input_, format_, trimmed_, /*full=*/true)) {
      for (size_t end = 0; end != std::string_view::npos;) {  // some are two lines
        end = label.find('\n');
        drawn_.legend.emplace_back(label.substr(0, end));
        if (end != std::string_view::npos) label.remove_prefix(end + 1);
      }
    }
    drawn_.legend_height =
        DrawnGraph::kLegendFont * DrawnGraph::kLine * static_cast<double>(drawn_.legend.size()) +
        2 * DrawnGraph::kPadY;
    drawn_.legend_width = WidthOf(drawn_.legend, DrawnGraph::kLegendFont) + 2 * DrawnGraph::kPadX;
    top_ = DrawnGraph::kMargin + drawn_.legend_height + DrawnGraph::kMargin;
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
      DrawnGraph::Box box;
      box.name = graph_.name(id);
      box.flat = node.flat_value();
      box.cum = node.cum_value();
      box.flat_text = format_(box.flat);
      box.cum_text = format_(box.cum);
      box.share = Share(node.cum);
      const double flat = std::fabs(static_cast<double>(node.flat_value()));
      if (max_flat > 0) box.font += std::ceil(11 * std::sqrt(flat / max_flat));
      box.lines = WrappedName(box.name);
      const auto percent = [&](int64_t value) {
        return pprof::TrimmedPercentage(value, input_.total_weight);
      };
      if (box.flat != 0) {
        box.lines.push_back(fmt::format("{} ({})", box.flat_text, percent(node.flat)));
      }
      if (box.cum != box.flat) {
        box.lines.push_back(fmt::format("{}of {} ({})", box.flat == 0 ? "0 " : "", box.cum_text,
                                        percent(node.cum)));
      }
      LayeredBox place;
      place.width = WidthOf(box.lines, box.font) + 2 * DrawnGraph::kPadX;
      place.height = box.font * DrawnGraph::kLine * static_cast<double>(box.lines.size()) +
                     2 * DrawnGraph::kPadY;
      number_[id] = static_cast<uint32_t>(drawn_.boxes.size());
      layout_.boxes.push_back(place);
      drawn_.boxes.push_back(std::move(box));
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
      LayeredArrow place;
      place.from = number_[edge.src];
      place.to = number_[edge.dest];
      DrawnGraph::Arrow arrow;
      arrow.from = place.from;
      arrow.to = place.to;
      arrow.value = edge.weight_value();
      arrow.text = format_(arrow.value);
      arrow.share = Share(edge.weight);
      arrow.residual = edge.residual;
      place.weight = 0.05 + std::min(1.0, std::fabs(arrow.share));
      layout_.arrows.push_back(std::move(place));
      drawn_.arrows.push_back(std::move(arrow));
    }
  }

  void PlaceArrow(size_t i) {
    DrawnGraph::Arrow& arrow = drawn_.arrows[i];
    std::vector<LayeredPoint> path = layout_.arrows[i].path;
    for (LayeredPoint& point : path) point = {DrawnGraph::kMargin + point.x, top_ + point.y};
    if (path.empty()) {  // a call of itself: an ear at the right side
      const LayeredBox& box = layout_.boxes[arrow.from];
      const double x = DrawnGraph::kMargin + box.x + box.width / 2;
      const double y = top_ + box.y;
      arrow.curve = fmt::format("M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x,
                                y - 6, x + 20, y - 14, x + 20, y + 14, x, y + 6);
      arrow.label_x = x + 18;
      arrow.label_y = y;
      return;
    }
    arrow.curve = fmt::format("M{:.1f},{:.1f}", path[0].x, path[0].y);
    for (size_t k = 1; k < path.size(); ++k) {
      const double middle = (path[k - 1].y + path[k].y) / 2;
      arrow.curve += fmt::format(" C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", path[k - 1].x,
                                 middle, path[k].x, middle, path[k].x, path[k].y);
    }
    // Near what is called, where arrows from one box have parted.
    const LayeredPoint& end = path.back();
    const LayeredPoint& before = path[path.size() - 2];
    arrow.label_x = before.x + 0.6 * (end.x - before.x) + 4;
    arrow.label_y = before.y + 0.58 * (end.y - before.y);
  }

  const pprof::ReportInput& input_;
  const pprof::Trimmed& trimmed_;
  const pprof::Graph& graph_;
  const pprof::ValueFormat& format_;
  std::vector<uint32_t> number_;  // of its box, by node
  LayeredGraph layout_;
  DrawnGraph drawn_;
  double top_ = 0;
};

}  // namespace

DrawnGraph DrawGraph(const pprof::ReportInput& input, bool legend) {
  const pprof::NodeTable table(input.profile, pprof::NodeOptionsOf(input.config()));
  pprof::GraphWants wants;
  wants.visual = true;
  wants.call_tree = input.config().call_tree;
  const pprof::Trimmed trimmed = pprof::TrimmedGraph(input, table, wants);
  pprof::ValueFormat format = pprof::FormatOf(input);
  pprof::SelectOutputUnit(input, trimmed.graph, &format);
  return Drawer(input, trimmed, format).Draw(legend);
}

double PenOf(const DrawnGraph::Arrow& arrow) {
  return 1 + 4 * std::min(1.0, std::fabs(arrow.share));
}

namespace {

constexpr double kEdgeFont = 10;

class Drawing {
 public:
  explicit Drawing(const DrawnGraph& graph) : graph_(graph) {}

  std::string Draw() {
    out_ = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"DejaVu Sans, Verdana, sans-serif\">\n"
        "<rect x=\"-50000\" y=\"-50000\" width=\"100000\" height=\"100000\" fill=\"#fff\"/>\n"
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
        "markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
        "<path d=\"M0,0 L8,4 L0,8 z\" fill=\"#555\"/></marker></defs>\n",
        graph_.width, graph_.height);
    Rect(DrawnGraph::kMargin, DrawnGraph::kMargin, graph_.legend_width, graph_.legend_height,
         "#999", "#f8f8f8", 1);
    for (size_t i = 0; i < graph_.legend.size(); ++i) {
      Text(DrawnGraph::kMargin + DrawnGraph::kPadX,
           DrawnGraph::kMargin + DrawnGraph::kPadY +
               DrawnGraph::kLegendFont * (1 + DrawnGraph::kLine * static_cast<double>(i)),
           DrawnGraph::kLegendFont, "start", graph_.legend[i]);
    }
    for (const DrawnGraph::Arrow& arrow : graph_.arrows) DrawArrow(arrow);
    for (const DrawnGraph::Box& box : graph_.boxes) DrawBox(box);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
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

  void DrawBox(const DrawnGraph::Box& box) {
    out_ += fmt::format("<g class=\"node\"><title>{} ({})</title>\n", HtmlText(box.name),
                        HtmlText(box.cum_text));
    Rect(box.x, box.y, box.width, box.height, pprof::DotColor(box.share, false),
         pprof::DotColor(box.share, true), 1);
    double y = box.y + DrawnGraph::kPadY - 0.25 * box.font;
    for (const std::string& line : box.lines) {
      y += box.font * DrawnGraph::kLine;
      Text(box.x + box.width / 2, y, box.font, "middle", line);
    }
    out_ += "</g>\n";
  }

  void DrawArrow(const DrawnGraph::Arrow& arrow) {
    out_ += fmt::format(
        "<g class=\"edge\"><title>{} {} {} ({})</title>\n"
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1f}\"{} "
        "marker-end=\"url(#tip)\"/>\n",
        HtmlText(graph_.boxes[arrow.from].name), arrow.residual ? "..." : "-&gt;",
        HtmlText(graph_.boxes[arrow.to].name), HtmlText(arrow.text), arrow.curve,
        pprof::DotColor(arrow.share, false), PenOf(arrow),
        arrow.residual ? " stroke-dasharray=\"3,3\"" : "");
    Text(arrow.label_x, arrow.label_y, kEdgeFont, "start", arrow.text);
    out_ += "</g>\n";
  }

  const DrawnGraph& graph_;
  std::string out_;
};

}  // namespace

std::string PlainGraphSvg(const pprof::ReportInput& input) {
  const DrawnGraph graph = DrawGraph(input, /*legend=*/true);
  return Drawing(graph).Draw();
}

}  // namespace heapgauge
