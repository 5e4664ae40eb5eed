#include "core/report/draw/plain_graph.h"

#include <fmt/format.h>

#include <string_view>

#include "core/base/html.h"
#include "core/report/draw/drawn_graph.h"
#include "core/voices/pprof/dot_style.h"

namespace heapgauge {
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
