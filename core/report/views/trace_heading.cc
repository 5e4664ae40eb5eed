#include "core/report/views/trace_heading.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/value_text.h"

namespace heapgauge {

std::string FormatLifetime(double nanoseconds) { return FormatValue(nanoseconds, "ns"); }

StyledText HeadingLine(const char* label, const std::string& text) {
  StyledText line;
  return line.AddRight(label, 11, Style::kLabel).Add(text).Add("\n");
}

StyledText TraceHeading(const trace::TraceFile& trace, const std::string& filter,
                        const std::vector<std::string>& notes, const Layout& layout) {
  const RecordingFacts& r = trace.facts().recording;
  const std::string name = Printable(r.name());
  StyledText text(name.empty() ? std::string(BaseName(trace.path())) : name, Style::kTitle);
  if (r.pid != 0) text += fmt::format("  pid {}", r.pid);
  const std::string state = StateText(r);
  if (!state.empty()) text += "  " + state;
  const size_t used = DisplayWidth(text.text()) + 2;
  const std::string command = Printable(r.command());
  if (!command.empty() && command != name && used + 16 <= layout.width) {
    text.Add("  ").Add(CutTo(command, layout.width - used), Style::kDim);
  }
  text += "\n";
  if (!filter.empty()) text += HeadingLine("filter", Printable(filter));
  for (const std::string& note : notes) {
    text.Add("note: ", Style::kWarning).Add(note).Add("\n");
  }
  return text;
}

Json TraceJson(const trace::TraceFile& trace, const std::string& filter,
               const std::vector<std::string>& notes) {
  const trace::Facts& facts = trace.facts();
  Json json = {{"recording", RecordingJson(facts.recording)},
               {"trace",
                {{"file", trace.path()},
                 {"file_bytes", trace.file_bytes()},
                 {"events", trace.events()},
                 {"blocks", trace.blocks()},
                 {"end_ns", trace.end_ns()},
                 {"complete", facts.complete},
                 {"lost_events", facts.lost_events},
                 {"unknown_frees", facts.unknown_frees},
                 {"missed_frees", facts.missed_frees},
                 {"culled_below_ns", facts.culled_below_ns},
                 {"culled_blocks", facts.culled_blocks},
                 {"culled_bytes", facts.culled_bytes}}},
               {"filter", filter}};
  json["notes"] = notes;
  return json;
}

}  // namespace heapgauge
