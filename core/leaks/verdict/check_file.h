// What a file alone tells about leaks: blocks that were never freed, their ages, and which of them
// grow. The memory of the program is not in it, so nothing can be said about what is reachable
// (Look::kNone, no verdicts).
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/leaks/scan/check.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::leaks {

// A gauge file (also of a program that runs), a dump, or an exact trace. Other formats know sums
// only and are refused. Names are not looked for.
Result<Check> CheckFile(const std::string& path);

// The same for a trace that is open already; `stacks` are its own, with or without names.
Result<Check> CheckTrace(const trace::TraceFile& file, const trace::TraceFile::Stacks& stacks);

// The sums of a check whose blocks are a trace's.
void SetTracedTotals(Check* check);

// Fills in what is known of the program from the profile of the blocks: who it is, when, and its
// sums since it began, of a sampled one estimates.
void SetFacts(Check* check);

}  // namespace heapgauge::leaks
