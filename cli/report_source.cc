#include "cli/report_source.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/pprof/sources.h"
#include "cli/progress_line.h"
#include "cli/symbol_options.h"
#include "core/base/descriptor_sink.h"
#include "core/base/file.h"
#include "core/base/file_sink.h"

namespace heapgauge::cli {

Result<Loaded> Load(const ReportOptions& options, FrameCache* cache) {
  ProgressSink* progress = options.quiet ? nullptr : BeginProgress();
  ReadingOptions reading;
  reading.pick = options.pick;
  GaugeReadOptions& read = reading.read.gauge;
  read.peak = options.peak;
  read.inherited = options.inherited == "only"   ? Inherited::kOnly
                   : options.inherited == "none" ? Inherited::kExclude
                                                 : Inherited::kInclude;
  if (options.kind == "mmap") read.kind = ProfileKind::kMmap;
  Loaded loaded;
  if (progress != nullptr && !options.sources.empty()) {
    progress->Report("reading " + options.sources.front(), 0, 0, "");
  }
  HG_ASSIGN(loaded.profile, ReadMerged(options.sources, reading));
  if (cache != nullptr) cache->Fill(&loaded.profile);
  loaded.notes = NameLocations(options.symbols, &loaded.profile, progress).notes;
  if (cache != nullptr) loaded.notes = cache->Learn(loaded.profile, loaded.notes);
  loaded.notes.insert(loaded.notes.begin(), loaded.profile.notes.begin(),
                      loaded.profile.notes.end());
  if (progress != nullptr) progress->Report("adding up", 0, 0, "");
  return loaded;
}

SortKey KeyOf(const std::string& name) {
  if (name == "allocated") return SortKey::kAllocated;
  if (name == "count") return SortKey::kCount;
  if (name == "age") return SortKey::kAge;
  return SortKey::kLive;
}

Names NamesOf(const std::string& name) { return name == "whole" ? Names::kWhole : Names::kShort; }

Terminal Target(const ReportOptions& options) {
  if (options.output.empty() || options.output == "-") {
    return DescribeTerminal(STDOUT_FILENO, options.colour);
  }
  Terminal file;
  file.look.colour = options.colour == "always";
  file.look.utf8 = DescribeTerminal(STDOUT_FILENO).look.utf8;
  return file;
}

int Deliver(const ReportOptions& options, const StyledText& text) {
  return Deliver(options, Render(text, Target(options).look));
}

int Deliver(const ReportOptions& options, const std::string& data) {
  EndProgress();
  if (options.output.empty() || options.output == "-") return PrintOut(data);
  const Status status = WriteWholeFile(options.output, data);
  return status ? kDone : FailWith(status.error());
}

int DeliverBy(const ReportOptions& options, const std::function<Status(TextSink*)>& write) {
  EndProgress();
  if (options.output.empty() || options.output == "-") {
    DescriptorSink sink(STDOUT_FILENO, "standard output");
    const Status written = write(&sink);
    const Status finished = sink.Finish();
    if (!written && !sink.closed()) return FailWith(written.error());
    return finished ? kDone : FailWith(finished.error());
  }
  auto sink = FileSink::Create(options.output);
  if (!sink) return FailWith(sink.error());
  if (const Status written = write(sink->get()); !written) return FailWith(written.error());
  const Status finished = (*sink)->Finish();
  return finished ? kDone : FailWith(finished.error());
}

CLI::App* AddReport(CLI::App* app, Action* action, const char* name, const char* summary,
                    int (*run)(const ReportOptions&), const char* footer,
                    std::shared_ptr<ReportOptions> options, const char* pattern,
                    const char* pattern_help) {
  CLI::App* sub = app->add_subcommand(name, summary);
  sub->footer(footer);
  if (pattern != nullptr) sub->add_option(pattern, options->pattern, pattern_help)->required();
  sub->add_option("SOURCE", options->sources,
                  "profile of any format, PID, directory with one gauge file, or URL; several are "
                  "added up")
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
  sub->add_option("--type", options->type,
                  "sample type to show, by name or number; the profile's own by default");
  sub->add_option("--color", options->colour, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  sub->add_option("-o,--output", options->output, "write to this file");
  AddSymbolOptions(sub, &options->symbols);
  sub->callback([=] { *action = [=] { return run(*options); }; });
  return sub;
}

void AddSort(CLI::App* sub, ReportOptions* options) {
  sub->add_option("--sort", options->sort, "by live, allocated, count (of objects) or age")
      ->check(CLI::IsMember({"live", "allocated", "count", "age"}));
}

void AddGranularity(CLI::App* sub, ReportOptions* options) {
  static constexpr std::pair<const char*, const char*> kFlags[] = {
      {"functions", "by function"},
      {"lines", "by source line"},
      {"files", "by source file"},
      {"modules", "by executable and library"},
      {"addresses", "by address in the program"},
  };
  std::vector<CLI::Option*> flags;
  for (const auto& [name, help] : kFlags) {
    const std::string value = name;
    CLI::Option* flag = sub->add_flag_callback(
        "--" + value, [=] { options->granularity = value; }, help);
    for (CLI::Option* other : flags) flag->excludes(other);
    flags.push_back(flag);
  }
  sub->add_option("--names", options->names,
                  "short (templates and parameters folded unless they tell functions apart) or "
                  "whole")
      ->check(CLI::IsMember({"short", "whole"}));
}

void AddTable(CLI::App* sub, ReportOptions* options) {
  AddSort(sub, options);
  sub->add_option("-n,--rows", options->rows, "rows to show")->check(CLI::NonNegativeNumber);
  sub->add_flag("--json", options->json, "as JSON, with all figures");
}

}  // namespace heapgauge::cli
