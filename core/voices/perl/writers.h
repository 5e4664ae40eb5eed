// The reports, each from stacks that are filtered already.
//
// They write what the tools write on standard output to `out`, and what they tell on standard error
// to `err`.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/voices/perl/entries.h"
#include "core/voices/perl/stacks.h"

namespace heapgauge::perl {

struct ReportInput {
  SessionState* state = nullptr;
  Options options;
  Stacks stacks;
  double total = 0;  // of the profile before anything was left out

  std::string Figure(double value) const { return Unparse(value, state->kind, options); }
  const char* units() const { return UnitsOf(state->kind, options); }
};

Status WriteText(const ReportInput& input, TextSink* out);
// google-pprof --stacks: what stands before the table.
Status WriteStacks(const ReportInput& input, TextSink* out);
Status WriteCollapsed(const ReportInput& input, TextSink* out);
Status WriteCallgrind(const ReportInput& input, TextSink* out);
Status WriteRaw(const ReportInput& input, TextSink* out);
Status WriteDot(const ReportInput& input, TextSink* out, TextSink* err);
Status WriteListing(const ReportInput& input, TextSink* out, TextSink* err);
Status WriteDisassembly(const ReportInput& input, TextSink* out, TextSink* err);

}  // namespace heapgauge::perl
