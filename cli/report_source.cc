#include "cli/report_source.h"

#include <CLI/CLI.hpp>

#include "cli/source.h"
#include "core/base/file.h"
#include "core/formats/gauge/gauge_reader.h"
#include "core/symbolize/symbolizer.h"

namespace heapgauge::cli {

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

}  // namespace heapgauge::cli
