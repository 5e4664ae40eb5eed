// What a saved report knows: the questions that the page asks without a filter, the most important
// ones first, so that a report that must stay small has these.
//
// Pure, but for what it asks the sources.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/message.h"

namespace heapgauge::endpoint {

struct ReportQuestion {
  std::string resource;  // "flame"
  Headers parameters;    // that the page asks with
  Headers how_much;      // beside them: how large the answer may be; what is not known is left out
};

// Fails if a source cannot be read.
Result<std::vector<ReportQuestion>> ReportQuestions(api::Sources* sources);

}  // namespace heapgauge::endpoint
