// The opening lines of a report on a trace: which program, how much was recorded, what is missing.
//
// Pure functions.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/report/styled_text.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge {

// "server  pid 4242  ended after 12s  ./server --port 80", then `notes`, which are those of
// the trace and further ones. The filter, as people gave it, is a line of its own; "" none.
StyledText TraceHeading(const trace::TraceFile& trace, const std::string& filter,
                        const std::vector<std::string>& notes, const Layout& layout);

// A line of the heading: a label and its text.
StyledText HeadingLine(const char* label, const std::string& text);

Json TraceJson(const trace::TraceFile& trace, const std::string& filter,
               const std::vector<std::string>& notes);

// "850ns", "1.25s".
std::string FormatLifetime(double nanoseconds);

}  // namespace heapgauge
