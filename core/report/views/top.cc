#include "core/report/views/top.h"

#include <fmt/format.h>

#include "core/base/shell_word.h"
#include "core/base/text.h"
#include "core/report/recording_text.h"
#include "core/report/value_text.h"

namespace heapgauge {

StyledText SelectedText(const FunctionReport& report) {
  StyledText text;
  if (report.selected.samples == report.total.samples &&
      report.selected.live_samples == report.total.live_samples) {
    return text;
  }
  text.AddRight("selected", 11, Style::kLabel);
  text.Add(FormatMain(report.selected.live_bytes.value, report.measures), Style::kNumber);
  text.Add(
      fmt::format(" {}, {} of the total; shares are of the total\n", report.measures.name,
                  FormatShare(report.selected.live_bytes.value, report.total.live_bytes.value)));
  return text;
}

std::string MoreText(size_t count, Granularity granularity) {
  std::string what = GranularityName(granularity);
  if (count == 1) {
    what.resize(what.size() - (granularity == Granularity::kAddresses ? 2 : 1));
  }
  return FormatCount(static_cast<double>(count)) + " more " + what;
}

StyledText TopText(const Profile& profile, const FunctionReport& report,
                   const std::vector<std::string>& notes, const TopOptions& options) {
  StyledText text = RecordingText(profile, report.total, notes, options.layout);
  text.Add(SelectedText(report));
  text.Add("\n");
  if (report.rows.empty()) {
    if (report.total.samples != 0 && !profile.recording.exact) {
      return text.Add("The filter leaves nothing.\n");
    }
    if (!IsRecorded(profile.recording)) return text.Add("No samples.\n");
    if (profile.recording.exact) return text.Add(NothingText(profile.recording));
    if (profile.recording.traced) {
      return text.Add(fmt::format(
          "Its figures are in its trace, which can be read while it grows: heapgauge top "
          "{} where run --trace was started, or the FILE of its -o.\n",
          ShellWord(fmt::format("{}.{}.hgt", BaseName(profile.recording.program),
                                profile.recording.pid))));
    }
    if (profile.recording.lost_samples() != 0) {
      return text.Add(fmt::format("All samples were lost: heapgauge doctor {} tells why.\n",
                                  profile.recording.pid));
    }
    return text.Add(IsOver(profile.recording.state)
                        ? "No samples: the program allocated less than about one interval.\n"
                        : "No samples yet: the program has allocated less than about one "
                          "interval.\n");
  }
  text.Add(TopTable(profile, report, 0, options));
  if (options.rows < report.rows.size()) {
    text.Add(fmt::format("{} {} (-n {} shows all)\n", options.layout.ellipsis(),
                         MoreText(report.rows.size() - options.rows, report.entities.granularity()),
                         report.rows.size()),
             Style::kDim);
  }
  return text;
}

}  // namespace heapgauge
