// The web UI as one file that needs no server: its script and style sheet, and the answers that it
// would have asked for. What `heapgauge report` writes.
//
// The same sources give the same bytes. Names in the answers are packed; what is not is escaped.
// The policy of the page lets its own script run, known by its hash, and nothing else; no address
// can be asked.
//
// Threads: none of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/message.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint {

// A question that the page asks without a filter; a saved report knows the answer.
struct ReportQuestion {
  std::string resource;  // "flame"
  Headers parameters;    // that the page asks with
  Headers how_much;      // beside them: how large the answer may be; what is not known is left out
};

// The most important ones first, so that a report that must stay small has these. Pure, but for
// what it requests from the sources. Fails if a source cannot be read.
Result<std::vector<ReportQuestion>> ReportQuestions(api::Sources* sources);

// For sources that are a report's alone.
std::shared_ptr<Processes> NoProcesses();

struct ReportPageOptions {
  std::string title;                     // of the page
  std::string command;                   // that shows what is not in it: "heapgauge ui x.hgt"
  size_t most_bytes = size_t{10} << 20;  // of answers, as they are in the file
  // Told after each answer; may be empty.
  std::function<void(size_t done, size_t all)> progress;
};

struct ReportPage {
  std::string html;
  size_t answers = 0;
  size_t left_out = 0;  // answers that had no room
  // Answers that there are none to, because a file is damaged: "timeline of x.hgt: ...".
  std::vector<std::string> failed;
};

// Fails if this program has no web UI, or a source cannot be read.
Result<ReportPage> MakeReportPage(std::shared_ptr<api::Sources> sources,
                                  const ReportPageOptions& options);

}  // namespace heapgauge::endpoint
