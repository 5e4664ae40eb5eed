// The call graph as SVG, drawn here: the same nodes, edges, sizes and colours as pprof's graph has,
// laid out by core/report/draw/layered.h. For hosts that must not start a process for Graphviz, and
// where there is none.
//
// Pure; takes milliseconds. To be made draggable by WithPanAndZoom().
#pragma once

#include <string>

#include "core/voices/pprof/report.h"

namespace heapgauge {

// `input` is prepared for dot.
std::string PlainGraphSvg(const pprof::ReportInput& input);

}  // namespace heapgauge
