// Which part of a source a request is about, in the words of the command line: at, from, to, value,
// focus, ignore, thread, min-size... One list for all resources, so that a view can hand the filter
// of another on as it is, and a figure on a page is asked for as the command line asks for it.
//
// Plain data and pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/recording/view.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint::api {

struct Filter : View {
  std::string source;  // id; "" the one that the path names, or the first
  // Requests with the same word are about one snapshot of a process that runs; "" about this
  // moment.
  std::string hold;
};

// What requests call a field: as the command line, but for its --source, which is not the SOURCE.
// "": they do not have it.
std::string ParameterName(const ViewField& field);

// Reads the filter of a request. Fails if a word is not known, given twice, or not among `also`,
// which belong to the resource itself.
Result<Filter> ParseFilter(const Headers& parameters, std::span<const std::string_view> also);

}  // namespace heapgauge::endpoint::api
