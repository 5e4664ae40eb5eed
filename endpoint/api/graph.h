// What a filter means for the reports that are made of pprof's call graph: the graph itself, and
// lines of source.
//
// A pure function.
#pragma once

#include "core/report/draw/drawn_graph.h"
#include "core/voices/pprof/report.h"
#include "endpoint/api/filter.h"

namespace heapgauge::endpoint::api {

inline pprof::ReportRequest GraphRequest(const Filter& filter, pprof::ReportKind kind) {
  pprof::ReportRequest request;
  request.kind = kind;
  request.config.focus = filter.focus;
  request.config.ignore = filter.ignore;
  // It has no form by module; functions say more than nothing.
  request.config.granularity = ShapeOf(filter.granularity);
  return request;
}

}  // namespace heapgauge::endpoint::api
