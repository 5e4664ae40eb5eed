// The lines above a report (which program, which value, when, how much of it is shown), and the
// buffer that reports collect their text in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/measure.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::pprof {

// Collects small pieces of a report before they go to its sink, and a few ways in which Go's fmt
// writes that C++'s does not: widths are counted in characters, whatever their width on a screen.
//
// Owned by one thread.
class TextBuffer {
 public:
  explicit TextBuffer(TextSink* sink) : sink_(sink) { text_.reserve(kSize + 4096); }

  std::string& text() { return text_; }
  // Hands on what there is, once there is enough of it.
  Status FlushIfFull() { return text_.size() < kSize ? Status() : Flush(); }
  Status Flush() {
    HG_TRY(sink_->Write(text_));
    text_.clear();
    return {};
  }

 private:
  static constexpr size_t kSize = 64 << 10;
  TextSink* sink_;
  std::string text_;
};

// How many characters of UTF-8 there are.
inline size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

// The first `count` of them.
inline std::string FirstCharacters(std::string_view text, size_t count) {
  size_t end = 0;
  while (end < text.size() && CountCharacters(text.substr(0, end + 1)) <= count) ++end;
  return std::string(text.substr(0, end));
}

// Appends `text` with as many spaces before it as make it `width` characters long.
inline void AppendRight(std::string_view text, size_t width, std::string* out) {
  const size_t length = CountCharacters(text);
  if (length < width) out->append(width - length, ' ');
  *out += text;
}

// How the report writes its values, before a unit was selected for all of them.
ValueFormat FormatOf(const ReportInput& input);

// The name of the value that is shown: "inuse_space", "mean_delay".
std::string SampleTypeName(const ReportInput& input);

// "Jan 2, 2006 at 3:04pm (MST)", in the zone of this machine.
std::string TimeText(int64_t time_ns);

// About the profile: "File: server", "Type: inuse_space", ...
std::vector<std::string> ProfileLabels(const ReportInput& input, const ValueFormat& format);

// The same, and how much of the profile the graph shows. `full` is for pictures: always with all
// lines, and with those that only make sense there.
std::vector<std::string> ReportLabels(const ReportInput& input, const ValueFormat& format,
                                      const Trimmed& trimmed, bool full);

// One line each.
std::string JoinLines(const std::vector<std::string>& lines);

}  // namespace heapgauge::pprof
