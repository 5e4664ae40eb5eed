#include <fmt/format.h>

#include "core/base/regex.h"
#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/listed_lines.h"
#include "core/voices/pprof/report_sources.h"
#include "core/voices/pprof/report_writers.h"
#include "core/voices/pprof/text_buffer.h"

namespace heapgauge::pprof {
namespace {

int64_t FlatOf(const LineSum& sum) { return MeanOf(sum.flat, sum.flat_div); }
int64_t CumOf(const LineSum& sum) { return MeanOf(sum.cum, sum.cum_div); }

}  // namespace

Status WriteList(const ReportInput& input, TextSink* out) {
  HG_ASSIGN(const Regex regex, Regex::Compile(input.request.pattern));
  const ListedFunctions functions = ListFunctions(input, regex);
  if (functions.empty()) {
    return Fail(ErrorCode::kNotFound, "no matches found for regexp: " + input.request.pattern);
  }

  const ValueFormat format = FormatOf(input);
  const auto value_or_dot = [&](int64_t value) { return value == 0 ? "." : format(value); };
  ReportSources sources(input);
  TextBuffer buffer(out);
  std::string& text = buffer.text();
  text += "Total: " + format(input.total) + "\n";
  for (const auto& [name, files] : functions) {
    if (files.empty()) text += fmt::format("No source information for {}\n", name);
    for (const auto& [path, file] : files) {
      const auto lines = ListLines(path, file.build_id, file.weights, &sources.files());
      text += fmt::format("ROUTINE ======================== {} in {}\n", name, path);
      text += fmt::format("{:>10} {:>10} (flat, cum) {} of Total\n", format(FlatOf(file.sum)),
                          format(CumOf(file.sum)), Percentage(file.sum.cum, input.total_weight));
      const std::string& error = sources.files().ErrorOf(path);
      if (!error.empty()) text += " Error: " + error + "\n";
      for (const ListedLine& line : lines) {
        text += fmt::format("{:>10} {:>10} {:>6}:", value_or_dot(FlatOf(line.sum)),
                            value_or_dot(CumOf(line.sum)), line.number);
        text += line.text;
        text += '\n';
        HG_TRY(buffer.FlushIfFull());
      }
    }
    HG_TRY(buffer.FlushIfFull());
  }
  return buffer.Flush();
}

}  // namespace heapgauge::pprof
