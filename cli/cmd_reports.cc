// top, traces, collapsed, proto: reports on one profile. They share input, filters and peak.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "cli/cli.h"
#include "cli/report_options.h"
#include "cli/source.h"
#include "core/analysis/allocation_frames.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/formats/collapsed/collapsed_writer.h"
#include "core/formats/gauge/gauge_reader.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/report/recording_text.h"
#include "core/report/top.h"
#include "core/report/traces.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge::cli {
namespace {

struct Loaded {
  Profile profile;
  std::vector<std::string> notes;
};

Result<Loaded> Load(const ReportOptions& options) {
  HG_ASSIGN(const std::string path, ResolveSource(options.source, options.pick));
  GaugeReadOptions read;
  read.peak = options.peak;
  read.inherited = options.inherited == "only"   ? Inherited::kOnly
                   : options.inherited == "none" ? Inherited::kExclude
                                                 : Inherited::kInclude;
  if (options.kind == "mmap") read.kind = ProfileKind::kMmap;
  Loaded loaded;
  HG_ASSIGN(loaded.profile, ReadGaugeFile(path, read));
  SymbolizeOptions symbolize;
  const Recording& recording = loaded.profile.recording;
  if (recording.state == RecordingState::kLive || recording.state == RecordingState::kSnapshot) {
    symbolize.pid = recording.pid;
  }
  loaded.notes = loaded.profile.notes;
  for (const std::string& note : Symbolize(symbolize, &loaded.profile).notes) {
    loaded.notes.push_back(note);
  }
  return loaded;
}

SortKey KeyOf(const std::string& name) {
  if (name == "allocated") return SortKey::kAllocated;
  if (name == "count") return SortKey::kCount;
  if (name == "age") return SortKey::kAge;
  return SortKey::kLive;
}

int Deliver(const ReportOptions& options, const std::string& data) {
  if (options.output.empty() || options.output == "-") return PrintOut(data);
  const Status status = WriteWholeFile(options.output, data);
  return status ? kDone : FailWith(status.error());
}

int Traces(const ReportOptions& options) {
  const auto loaded = Load(options);
  if (!loaded) return FailWith(loaded.error());
  TracesOptions traces;
  if (options.rows >= 0) traces.rows = static_cast<size_t>(options.rows);
  traces.width = TerminalWidth();
  traces.sort = KeyOf(options.sort);
  traces.filter = {options.focus, options.ignore};
  const auto text = options.json ? TracesJson(loaded->profile, traces)
                                 : TracesText(loaded->profile, loaded->notes, traces);
  return text ? Deliver(options, *text) : FailWith(text.error());
}

int Collapsed(const ReportOptions& options) {
  const auto loaded = Load(options);
  if (!loaded) return FailWith(loaded.error());
  const auto selected = SelectRows(loaded->profile, {options.focus, options.ignore});
  if (!selected) return FailWith(selected.error());
  const size_t type = options.sort == "allocated" ? kAllocSpace
                      : options.sort == "count"   ? kInuseObjects
                                                  : kInuseSpace;
  return Deliver(options, WriteCollapsed(loaded->profile, type, *selected));
}

int Proto(const ReportOptions& options) {
  if (options.output.empty() && isatty(STDOUT_FILENO) == 1) {
    return FailWith("a pprof profile is binary; write it to a file with -o heap.pb.gz");
  }
  auto loaded = Load(options);
  if (!loaded) return FailWith(loaded.error());
  const auto selected = SelectRows(loaded->profile, {options.focus, options.ignore});
  if (!selected) return FailWith(selected.error());
  Profile& profile = loaded->profile;
  profile.comments.push_back(std::string("written by heapgauge ") + Version());
  profile.comments.push_back("live " + LiveText(profile.Total(kInuseSpace), profile.recording));
  for (const std::string& note : loaded->notes) profile.comments.push_back(note);
  const auto bytes = WritePprof(profile, {AllocationFunctionRegex(), *selected});
  return bytes ? Deliver(options, *bytes) : FailWith(bytes.error());
}

CLI::App* AddReport(CLI::App* app, Action* action, const char* name, const char* summary,
                    int (*run)(const ReportOptions&), const char* footer,
                    std::shared_ptr<ReportOptions> options) {
  CLI::App* sub = app->add_subcommand(name, summary);
  sub->footer(footer);
  sub->add_option("SOURCE", options->source, "gauge file, PID, or directory with one gauge file")
      ->required();
  sub->add_option("--pick", options->pick, "which file of a directory: newest or oldest")
      ->check(CLI::IsMember({"newest", "oldest"}));
  sub->add_option("--focus", options->focus, "only stacks with a function that matches (RE2)");
  sub->add_option("--ignore", options->ignore, "no stacks with a function that matches (RE2)");
  sub->add_flag("--peak", options->peak, "the largest heap so far in place of this moment");
  sub->add_option("--inherited", options->inherited,
                  "blocks that a forked process has from its parent: all, only, none")
      ->check(CLI::IsMember({"all", "only", "none"}));
  sub->add_option("--kind", options->kind,
                  "heap, or mmap: what the program mapped itself (run --mmap)")
      ->check(CLI::IsMember({"heap", "mmap"}));
  sub->add_option("-o,--output", options->output, "write to this file");
  sub->callback([=] { *action = [=] { return run(*options); }; });
  return sub;
}

void AddSort(CLI::App* sub, ReportOptions* options) {
  sub->add_option("--sort", options->sort, "by live, allocated, count (of objects) or age")
      ->check(CLI::IsMember({"live", "allocated", "count", "age"}));
}

void AddTable(CLI::App* sub, ReportOptions* options) {
  AddSort(sub, options);
  sub->add_option("-n,--rows", options->rows, "rows to show")->check(CLI::NonNegativeNumber);
  sub->add_flag("--json", options->json, "as JSON, with all figures");
}

}  // namespace

int Top(const ReportOptions& options) {
  auto loaded = Load(options);
  if (!loaded) return FailWith(loaded.error());
  if (loaded->profile.recording.state == RecordingState::kLive && !options.json) {
    if (const auto path = ResolveSource(options.source, options.pick)) {
      loaded->profile.recording.memory = MemoryLineOf(*path);
    }
  }
  FunctionOptions functions;
  functions.filter = {options.focus, options.ignore};
  functions.sort = KeyOf(options.sort);
  functions.cumulative = options.cumulative;
  const auto report = AggregateFunctions(loaded->profile, functions);
  if (!report) return FailWith(report.error());
  TopOptions top;
  if (options.rows >= 0) top.rows = static_cast<size_t>(options.rows);
  top.width = TerminalWidth();
  top.cumulative = options.cumulative;
  top.sort = functions.sort;
  return Deliver(options, options.json ? TopJson(loaded->profile, *report, loaded->notes, top)
                                       : TopText(loaded->profile, *report, loaded->notes, top));
}

void AddReports(CLI::App* app, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* top = AddReport(app, action, "top", "functions that hold the most memory", Top, R"(
Each row is a function that allocates, with what is live of it, the range that holds the true value
with 95 % probability, objects, everything it ever allocated, the mean age of its live bytes, and
the line that holds most.

Examples:
  heapgauge top 4242
  heapgauge top --sort age -n 40 server.4242.hg     what has been there for longest
  heapgauge top --cum --focus 'Cache::' 4242        by caller, only stacks through Cache
  heapgauge top --peak 4242                         what it was when it was largest)",
                            options);
  AddTable(top, options.get());
  top->add_flag("--cum", options->cumulative, "figures of a function include what it calls");

  options = std::make_shared<ReportOptions>();
  CLI::App* traces =
      AddReport(app, action, "traces", "whole stacks, the heaviest first", Traces, R"(
Examples:
  heapgauge traces -n 3 4242
  heapgauge traces --focus ParseRequest 4242)",
                options);
  AddTable(traces, options.get());

  options = std::make_shared<ReportOptions>();
  CLI::App* collapsed = AddReport(app, action, "collapsed",
                                  "stacks for flame graph tools: a;b;c bytes", Collapsed, R"(
Values are live bytes; --sort allocated writes allocated bytes, --sort count live objects.

Example:
  heapgauge collapsed 4242 | flamegraph.pl > heap.svg)",
                                  options);
  AddSort(collapsed, options.get());

  options = std::make_shared<ReportOptions>();
  AddReport(app, action, "proto", "a profile for pprof (gzip profile.proto)", Proto, R"(
Sample types: alloc_objects, alloc_space, inuse_objects, inuse_space (the default).

Example:
  heapgauge proto -o heap.pb.gz 4242 && go tool pprof -top heap.pb.gz)",
            options);
}

}  // namespace heapgauge::cli
