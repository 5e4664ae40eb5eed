// speedscope: a profile for speedscope's viewer.

#include "cli/report_source.h"
#include "core/formats/speedscope/speedscope_writer.h"

namespace heapgauge::cli {
namespace {

int Speedscope(const ReportOptions& options) {
  const auto loaded = LoadSelected(options);
  if (!loaded) return FailWith(loaded.error());
  const Profile& profile = loaded->profile();
  TellNotes(profile.notes);
  SpeedscopeOptions speedscope;
  speedscope.selected = loaded->rows;
  speedscope.frame_names = FrameNames(profile, loaded->granularity, options.names);
  speedscope.shown = TypeOf(profile, loaded->sort);
  TellShrunk(profile, loaded->rows, speedscope.shown);
  speedscope.exporter = std::string("heapgauge ") + Version();
  return DeliverBy(options,
                   [&](TextSink* sink) { return WriteSpeedscope(profile, speedscope, sink); });
}

void DescribeSpeedscope(Command speedscope, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(speedscope, action, Speedscope,
                 R"(
Example:
  heapgauge speedscope -o heap.speedscope.json 4242)",
                 options);
  AddViewOptions(speedscope, options.get(), kSortField);
  AddGranularity(speedscope, options.get());
}

}  // namespace

const CommandEntry kSpeedscopeCommand = {
    "speedscope", "a profile for speedscope (JSON), all sample types", DescribeSpeedscope};

}  // namespace heapgauge::cli
