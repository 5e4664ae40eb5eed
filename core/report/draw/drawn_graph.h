// The call graph as a picture: its input, a place for everything, and the SVG that is drawn here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/report/labels.h"
#include "core/voices/pprof/report.h"

namespace heapgauge {

// A profile made ready for reports that are drawn from pprof's call graph, but are ours: pictures,
// callgrind, raw, list. Which frames are left out and what functions are called is as in all other
// native reports.
//
// Pure.
//
// `request` says the kind, and has options of pprof's; `type` is the sample type that is shown.
// Takes the profile apart.
Result<pprof::ReportInput> PrepareGraph(Profile profile, pprof::ReportRequest request, size_t type,
                                        Names names);

// As the graph has it; by function instead of by module.
pprof::Shape ShapeOf(Granularity granularity);

// The call graph with a place for everything: boxes with the lines of text in them, and arrows as
// curves. The nodes, edges, sizes and texts are those of pprof's graph; where they stand is
// core/report/draw/layered.h's work. A picture in a file and one on a page are two ways to draw it.
//
// Pure; takes milliseconds. Plain data afterwards.
struct DrawnGraph {
  // What the places below count on.
  static constexpr double kMargin = 16;  // around it all
  static constexpr double kPadX = 8;     // between a frame and its text
  static constexpr double kPadY = 5;
  static constexpr double kLine = 1.2;  // from line to line, of the font's size
  static constexpr double kLegendFont = 12;

  struct Box {
    std::string name;
    int64_t flat = 0;
    int64_t cum = 0;
    std::string flat_text;  // as the report writes it
    std::string cum_text;
    double share = 0;  // of all, what it holds with all it calls; of a change it may be negative
    double font = 9;
    std::vector<std::string> lines;
    double x = 0;  // of the left upper corner
    double y = 0;
    double width = 0;
    double height = 0;
  };
  struct Arrow {
    uint32_t from = 0;  // in `boxes`
    uint32_t to = 0;
    int64_t value = 0;
    std::string text;
    double share = 0;
    bool residual = false;  // functions between the two are not shown
    std::string curve;      // a path in SVG's words
    double label_x = 0;     // where the text begins
    double label_y = 0;
  };

  std::vector<std::string> legend;
  double legend_width = 0;
  double legend_height = 0;
  std::vector<Box> boxes;  // the weightiest first
  std::vector<Arrow> arrows;
  double width = 0;
  double height = 0;
  size_t left_out = 0;  // nodes that are too small, or too many
};

// `input` is prepared for dot. `legend`: there is one in the upper left corner.
DrawnGraph DrawGraph(const pprof::ReportInput& input, bool legend);

// How wide an arrow is drawn.
double PenOf(const DrawnGraph::Arrow& arrow);

// The call graph as SVG, drawn here: the same nodes, edges, sizes and colours as pprof's graph has,
// laid out by core/report/draw/layered.h. For hosts that must not start a process for Graphviz, and
// where there is none.
//
// Pure; takes milliseconds. To be made draggable by WithPanAndZoom().
//
// `input` is prepared for dot.
std::string PlainGraphSvg(const pprof::ReportInput& input);

}  // namespace heapgauge
