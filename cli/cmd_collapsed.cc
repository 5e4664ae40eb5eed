// collapsed: stacks for flame graph tools.

#include "cli/report_source.h"
#include "core/formats/collapsed/collapsed.h"

namespace heapgauge::cli {
namespace {

int Collapsed(const ReportOptions& options) {
  const auto loaded = LoadSelected(options);
  if (!loaded) return FailWith(loaded.error());
  const Profile& profile = loaded->profile();
  if (profile.sample_types.empty()) return FailWith("the profile has no sample types");
  TellNotes(profile.notes);
  const Granularity granularity = loaded->granularity;
  const auto names = FrameNames(profile, granularity, options.names);
  const bool join = granularity == Granularity::kFiles || granularity == Granularity::kModules;
  const size_t type = TypeOf(profile, loaded->sort);
  TellShrunk(profile, loaded->rows, type);
  return DeliverBy(options, [&](TextSink* sink) {
    return WriteCollapsed(profile, type, loaded->rows, names, join, sink);
  });
}

void DescribeCollapsed(Command collapsed, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(collapsed, action, Collapsed, R"(
Values are live bytes, or the profile's default type; --type chooses another, and --sort allocated
and --sort count mean allocated bytes and live objects. Short
names depend on what else is in the profile; --names whole is better for comparing two.

Example:
  heapgauge collapsed 4242 | flamegraph.pl > heap.svg)",
                 options);
  AddViewOptions(collapsed, options.get(), kSortField);
  AddGranularity(collapsed, options.get());
}

}  // namespace

const CommandEntry kCollapsedCommand = {"collapsed", "stacks for flame graph tools: a;b;c bytes",
                                        DescribeCollapsed};

}  // namespace heapgauge::cli
