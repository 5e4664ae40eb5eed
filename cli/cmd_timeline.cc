// timeline: the heap over time, as a graph, as massif's snapshots, as points for scripts.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/progress_line.h"
#include "cli/report_source.h"
#include "core/base/text.h"
#include "core/formats/massif/massif_file.h"
#include "core/formats/massif/massif_reader.h"
#include "core/formats/massif/massif_tree.h"
#include "core/formats/massif/trace_massif.h"
#include "core/recording/recording.h"
#include "core/report/draw/timeline_graph.h"
#include "core/report/views/ms_print.h"
#include "core/report/views/timeline.h"
#include "core/trace/answer/trace_moment.h"
#include "core/trace/answer/trace_timeline.h"

namespace heapgauge::cli {
namespace {

struct TimelineCommand {
  ReportOptions report;  // which blocks count, where it goes, how names are found
  std::string source;
  std::string from;
  std::string to;
  std::string unit;  // "": time, or what the file counts
  bool massif = false;
  uint64_t bands = 0;
  uint64_t lanes = 0;
  uint64_t points = 1000;
  uint64_t columns = 0;  // 0: as the output suggests
  uint64_t rows = 0;
  double threshold = 1;
  uint64_t depth = 30;
  uint64_t most_snapshots = 100;
};

// One of these, by what the source is.
struct TimeSource {
  Recording recording;
  std::shared_ptr<const trace::TraceFile> trace;
  std::unique_ptr<MassifFile> massif;
  std::unique_ptr<Profile> profile;
};

Result<TimeSource> Open(const TimelineCommand& command) {
  OpenOptions open;
  open.pick = command.report.pick;
  HG_ASSIGN(Recording recording, Recording::Open(command.source, open));
  TimeSource source{std::move(recording), nullptr, nullptr, nullptr};
  if (source.recording.is_trace()) {
    HG_ASSIGN(source.trace, source.recording.Trace());
  } else if (source.recording.is_massif()) {
    HG_ASSIGN(MassifFile file, source.recording.Massif());
    source.massif = std::make_unique<MassifFile>(std::move(file));
  } else {
    HG_ASSIGN(Profile profile, source.recording.ReadProfile());
    source.profile = std::make_unique<Profile>(std::move(profile));
  }
  return source;
}

TimeAxis AxisOf(const TimelineCommand& command) {
  if (command.unit == "bytes") return TimeAxis::kBytes;
  if (command.unit == "allocations") return TimeAxis::kEvents;
  return TimeAxis::kTime;
}

struct Range {
  uint64_t from = 0;
  uint64_t to = trace::kNever;
};

// Two times since the beginning.
Result<Range> RangeOf(const TimelineCommand& command) {
  Range range;
  if (!command.from.empty()) {
    HG_ASSIGN(range.from, trace::ParseDuration(command.from));
  }
  if (!command.to.empty()) {
    HG_ASSIGN(range.to, trace::ParseDuration(command.to));
  }
  if (range.from > range.to) {
    return Fail(ErrorCode::kInvalidArgument,
                "--from " + Printable(command.from) + " is behind --to " + Printable(command.to));
  }
  return range;
}

// What massif counts is in its file, and cannot be made into something else.
Status CheckUnit(const TimelineCommand& command, const MassifFile& file) {
  const char* counts = "instructions";
  bool same = command.unit.empty();
  if (file.unit == MassifUnit::kMilliseconds) {
    counts = "time";
    same = same || AxisOf(command) == TimeAxis::kTime;
  } else if (file.unit == MassifUnit::kBytes) {
    counts = "bytes";
    same = same || AxisOf(command) == TimeAxis::kBytes;
  }
  if (same) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: its axis counts {}; leave out --unit {}", Printable(command.source),
                          counts, command.unit));
}

// Massif's axis may count something else than time.
Result<Range> RangeOf(const TimelineCommand& command, const MassifFile& file) {
  if (file.unit == MassifUnit::kMilliseconds) return RangeOf(command);
  Range range;
  if (!command.from.empty()) {
    HG_ASSIGN(range.from, SizeOption("--from", command.from));
  }
  if (!command.to.empty()) {
    HG_ASSIGN(range.to, SizeOption("--to", command.to));
  }
  return range;
}

Result<trace::TraceFile::Stacks> NamedStacks(const TimelineCommand& command,
                                             const trace::TraceFile& trace,
                                             std::vector<std::string>* notes) {
  HG_ASSIGN(const auto stacks, trace.ReadStacks());
  trace::TraceFile::Stacks named = *stacks;
  *notes = NameLocations(command.report.symbols, &named.profile, BeginProgress()).notes;
  return named;
}

Result<trace::Selection> SelectionOf(const TimelineCommand& command,
                                     const trace::TraceFile& trace) {
  trace::Selection selection;
  HG_ASSIGN(trace::Question question, BlocksOf(command.report));
  if (command.report.kind == ProfileKind::kMmap) question.filter.mappings = true;
  HG_ASSIGN(selection.filter, FilterOf(question, trace));
  selection.rows = {command.report.focus, command.report.ignore};
  return selection;
}

// An option that chooses blocks: "--min-size 1M"; "" all blocks count. Options with words go first.
std::string OptionThatChooses(const View& view) {
  for (size_t type = 0; type < std::variant_size_v<decltype(ViewField::value)>; ++type) {
    for (const ViewField& field : ViewFields()) {
      const std::vector<std::string> given = field.Given(view);
      if (field.value.index() != type || given.empty()) continue;
      const bool is_flag = std::holds_alternative<ViewField::Flag>(field.value);
      return "--" + std::string(field.name) + (is_flag ? "" : " " + Printable(given.front()));
    }
  }
  return "";
}

Result<Timeline> MakeTimeline(const TimelineCommand& command, const TimeSource& source,
                              size_t steps) {
  if (source.massif != nullptr) {
    HG_ASSIGN(const Range range, RangeOf(command, *source.massif));
    return TimelineOfMassif(*source.massif, range.from, range.to);
  }
  if (source.profile != nullptr) {
    HG_ASSIGN(const Range range, RangeOf(command));
    auto made = TimelineOfProfile(*source.profile, AxisOf(command), range.from, range.to);
    if (!made) return tl::unexpected<Error>(About({command.source}, made.error()));
    return made;
  }
  trace::TimelineRequest request;
  request.axis = AxisOf(command);
  request.steps = steps;
  request.bands = command.bands;
  request.lanes = command.lanes;
  HG_ASSIGN(const trace::Selection selection, SelectionOf(command, *source.trace));
  HG_ASSIGN(request.range,
            trace::ParseRange(*source.trace, command.from, command.to, selection.filter.mappings));
  trace::TraceFile::Stacks stacks;
  if (request.bands > 0 || selection.any()) {
    std::vector<std::string> notes;
    HG_ASSIGN(stacks, NamedStacks(command, *source.trace, &notes));
  }
  HG_ASSIGN(request.counts, trace::SelectBlocks(*source.trace, stacks, selection, BeginProgress()));
  HG_ASSIGN(trace::TraceTimeline made,
            trace::ReadTraceTimeline(*source.trace, request, BeginProgress()));
  made.timeline.recording.filter = selection.any() ? selection.Text() : "";
  for (std::string& note : trace::NotesOn(selection.filter, *source.trace)) {
    made.timeline.notes.push_back(std::move(note));
  }
  NameBands(stacks, &made);
  return std::move(made.timeline);
}

Result<MassifFile> MakeMassif(const TimelineCommand& command, TimeSource* source) {
  if (source->trace == nullptr && !(command.from.empty() && command.to.empty())) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "massif's snapshots of a range can be made of a trace alone (run --trace): leave out "
        "--from and --to, or --massif");
  }
  if (source->massif != nullptr) return std::move(*source->massif);
  const MassifUnit unit = command.unit == "bytes" ? MassifUnit::kBytes : MassifUnit::kMilliseconds;
  if (command.unit == "allocations") {
    return Fail(ErrorCode::kInvalidArgument,
                "massif's files count time in milliseconds or bytes; use --unit ms or bytes");
  }
  const MassifTreeOptions tree{command.threshold, command.depth};
  if (source->trace != nullptr) {
    std::vector<std::string> notes;
    HG_ASSIGN(const auto stacks, NamedStacks(command, *source->trace, &notes));
    trace::MassifRequest request;
    request.unit = unit;
    HG_ASSIGN(request.range, trace::ParseRange(*source->trace, command.from, command.to));
    request.most_snapshots = command.most_snapshots;
    request.tree = tree;
    return trace::TraceMassif(*source->trace, stacks, request, BeginProgress());
  }
  Profile& now = *source->profile;
  NameLocations(command.report.symbols, &now, BeginProgress());
  std::unique_ptr<Profile> peak;
  if (now.recording.has_peak) {
    ReadOptions at_peak;
    at_peak.gauge.peak = true;
    auto read = source->recording.ReadProfile(at_peak);
    if (read && read->recording.is_peak) {
      NameLocations(command.report.symbols, &*read, BeginProgress());
      peak = std::make_unique<Profile>(std::move(*read));
    }
  }
  auto made = MassifOfProfile(now, peak.get(), unit, command.most_snapshots, tree);
  if (!made) return tl::unexpected<Error>(About({command.source}, made.error()));
  return made;
}

// "x.massif", "massif.out.4242": the file itself is wanted, not what ms_print says of it.
bool IsMassifName(const std::string& path) {
  return path.ends_with(".massif") || BaseName(path).starts_with("massif.out");
}

int PrintMassif(const TimelineCommand& command, TimeSource* source) {
  if (source->trace != nullptr) TellNotes(source->trace->notes());
  if (source->profile != nullptr) TellNotes(source->profile->notes);
  const auto file = MakeMassif(command, source);
  if (!file) return FailWith(file.error());
  if (IsMassifName(command.report.output)) {
    return DeliverBy(command.report, [&](TextSink* sink) { return WriteMassif(*file, sink); });
  }
  MsPrintOptions options;
  if (command.columns > 0) {
    options.width = command.columns;
    options.arguments += "--x=" + std::to_string(command.columns) + " ";
  }
  if (command.rows > 0) {
    options.height = command.rows;
    options.arguments += "--y=" + std::to_string(command.rows) + " ";
  }
  options.threshold = command.threshold;
  if (command.threshold != 1)
    options.arguments += fmt::format("--threshold={} ", command.threshold);
  options.arguments += command.source;
  return DeliverBy(command.report,
                   [&](TextSink* sink) { return WriteMsPrint(*file, options, sink); });
}

int RunTimeline(const TimelineCommand& command) {
  auto source = Open(command);
  if (!source) return FailWith(source.error());
  if (source->massif != nullptr) {
    if (const Status unit = CheckUnit(command, *source->massif); !unit) {
      return FailWith(unit.error());
    }
  }
  const std::string choice = OptionThatChooses(command.report);
  if (command.massif || IsMassifName(command.report.output)) {
    if (command.report.json || command.report.csv) {
      return FailWith("-o: a file of that name is one of massif's; JSON and CSV need another");
    }
    if (!choice.empty()) {
      return FailWith(choice +
                      ": massif's snapshots are about all blocks of the heap; leave it out, or use "
                      "the graph, --json or --csv");
    }
    return PrintMassif(command, &*source);
  }
  if (command.bands > 0 && source->trace == nullptr) {
    return FailWith("--top needs a trace (run --trace): " + Printable(command.source) +
                    " does not know what single stacks had over time");
  }
  if (command.lanes > 0 && (source->trace == nullptr || AxisOf(command) != TimeAxis::kTime)) {
    return FailWith(source->trace == nullptr
                        ? "--threads needs a trace (run --trace): " + Printable(command.source) +
                              " does not know what single threads did"
                        : std::string("--threads needs --unit time"));
  }
  if (!choice.empty() && (source->trace == nullptr || AxisOf(command) != TimeAxis::kTime)) {
    return FailWith(source->trace == nullptr
                        ? "only a trace (run --trace) knows single blocks over time, " +
                              Printable(command.source) + " does not"
                        : std::string("options that choose blocks need --unit time"));
  }
  const Terminal target = Target(command.report);
  TimelineOptions options;
  options.layout = target.layout();
  options.columns = command.columns;
  // What is beside the graph takes some lines.
  if (target.is_terminal) options.rows = std::clamp<size_t>(target.height, 20, 40) - 12;
  if (command.rows > 0) options.rows = command.rows;
  const bool for_scripts = command.report.json || command.report.csv;
  const auto timeline =
      MakeTimeline(command, *source, for_scripts ? command.points : TimelineColumns(options));
  if (!timeline) return FailWith(timeline.error());
  if (command.report.json) return Deliver(command.report, TimelineJson(*timeline));
  if (command.report.csv) TellNotes(timeline->notes);
  if (command.report.csv) return Deliver(command.report, TimelineCsv(*timeline));
  return Deliver(command.report, TimelineText(*timeline, options));
}

void DescribeTimeline(Command sub, Action* action) {
  auto command = std::make_shared<TimelineCommand>();
  ReportOptions* report = &command->report;
  sub.Footer(R"(
Bars are what was live; the shaded part was live for a part of the column only. Of a trace the figures are
exact, of a gauge file they are what was noted about once a second.

--massif prints what ms_print prints. -o NAME.massif (or massif.out*) writes a file for ms_print and
massif-visualizer. docs/timeline.md tells more.

Examples:
  heapgauge timeline server.hgt                      a trace
  heapgauge timeline --top 5 server.hgt              and the stacks behind the peak
  heapgauge timeline --from 10s --to 12s server.hgt  a closer look
  heapgauge timeline --focus Cache:: server.hgt      what stacks through a function had
  heapgauge timeline 4242                            a running program
  heapgauge timeline --massif massif.out.4242        in place of ms_print
  heapgauge timeline -o server.massif server.hgt     for massif-visualizer)");
  sub.Add("SOURCE", &command->source, "trace, gauge file, PID, massif.out, or what heaptrack wrote")
      .Required();
  sub.Add("--pick", &report->pick, "which file of a directory: newest or oldest")
      .OneOf({"newest", "oldest"});
  sub.Add("--from", &command->from, "begin here: 1.5s, 40%, peak-1s").NotEmpty();
  sub.Add("--to", &command->to, "end here").NotEmpty();
  sub.Add("--unit", &command->unit,
          "what the axis counts: time (also ns, ms), bytes allocated and freed so far, or "
          "allocations and frees so far; a file of massif's has one of its own")
      .OneOf({"time", "ns", "ms", "bytes", "allocations"});
  AddViewOption(sub, report, "focus", "only stacks with a function that matches (RE2)");
  AddViewOption(sub, report, "ignore", "without stacks that have such a function");
  AddViewOption(sub, report, "kind", "of a trace: heap; mmap: what the program mapped itself", 2);
  AddViewOptions(sub, report, kBlockFields);
  sub.Add("--top", &command->bands, "so many stacks, largest at the peak, each over time")
      .Between(0, 1000);
  sub.Add("--threads", &command->lanes, "so many threads, the busiest, each over time")
      .Between(0, 1000);
  const Option json = sub.Flag("--json", &report->json, "points and totals as JSON");
  const Option csv = sub.Flag("--csv", &report->csv, "points as CSV").Excludes(json);
  sub.Add("--points", &command->points, "of a trace, for --json and --csv (1000)")
      .Between(1, 10'000'000);
  sub.Flag("--massif", &command->massif, "what ms_print prints").Excludes(json).Excludes(csv);
  sub.Add("--x", &command->columns, "columns of the graph").Between(4, 1000);
  sub.Add("--y", &command->rows, "rows of the graph").Between(4, 1000);
  sub.Add("--threshold", &command->threshold,
          "percent of a snapshot below which --massif and -o fold (1)")
      .Between(0, 100);
  sub.Add("--depth", &command->depth, "frames in massif's trees (30)").Between(1, 200);
  sub.Add("--max-snapshots", &command->most_snapshots, "of --massif and -o (100)")
      .Between(10, 1000);
  sub.Add("--color", &report->colour, "auto, always or never").OneOf({"auto", "always", "never"});
  sub.Add("-o,--output", &report->output, "write to this file").NotEmpty();
  AddSymbolOptions(sub, &report->symbols);
  sub.OnChosen([=] {
    *action = [=] {
      auto meant = MeantWhole(command->source, "", "choose by --from and --to");
      if (!meant) return FailWith(meant.error());
      command->source = *std::move(meant);
      return RunTimeline(*command);
    };
  });
}

}  // namespace

const CommandEntry kTimelineCommand = {
    "timeline", "the heap over time: a graph, or what ms_print shows", DescribeTimeline};

}  // namespace heapgauge::cli
