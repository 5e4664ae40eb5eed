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
#include "core/trace/answer/trace_question.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint::api {

struct Filter {
  std::string source;          // id; "" the one that the path names, or the first
  trace::QuestionWords words;  // moment, range, value and blocks of a trace
  bool peak = false;
  std::string type;  // sample type; "" the profile's own
  // Requests with the same word are about one snapshot of a process that runs; "" about this
  // moment.
  std::string hold;
  // Of the profile that the words above make:
  std::string focus;
  std::string ignore;
  std::string sort;  // live, allocated, count, age; "" what the profile is about
  std::string granularity = "functions";  // lines, files, modules, addresses
  std::string names = "short";            // whole

  // What of it decides about the profile, as text: equal texts are equal profiles.
  std::string ProfileKey() const;
  // What decides about rows and figures of it.
  std::string RowsKey() const;
};

// The names of all parameters that a filter has.
std::span<const std::string_view> FilterParameters();

// Reads the filter of a request. Fails if a word is not known, given twice, or not among `also`,
// which belong to the resource itself.
Result<Filter> ParseFilter(const Headers& parameters, std::span<const std::string_view> also);

}  // namespace heapgauge::endpoint::api
