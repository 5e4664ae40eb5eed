// diff: what changed from one profile to another.

#include "cli/report_source.h"
#include "core/report/views/diff.h"

namespace heapgauge::cli {
namespace {

int Diff(const ReportOptions& options) {
  if (options.sources.size() < 2) {
    return FailWith("diff compares at least two profiles: heapgauge diff OLD NEW");
  }
  std::vector<Profile> profiles;
  std::vector<std::vector<std::string>> notes;
  DiffSources sources;
  SortKey sort = SortKey::kLive;
  for (const std::string& source : options.sources) {
    ReportOptions one = options;
    one.sources = {source};
    auto loaded = LoadSorted(one);
    if (!loaded) return FailWith(loaded.error());
    // Profiles that show different figures by default have what is live in common.
    const bool agrees = sources.names.empty() || sort == loaded->sort;
    sort = agrees ? loaded->sort : SortKey::kLive;
    profiles.push_back(std::move(loaded->loaded.profile));
    sources.names.push_back(loaded->loaded.sources.front());
    notes.push_back(std::move(loaded->loaded.notes));
  }
  if (sort == SortKey::kAge) {
    return FailWith("diff compares figures, and an age is none: --sort live, allocated or count");
  }
  sources.notes = NotesOfSources(sources.names, notes);
  for (const Profile& profile : profiles) sources.profiles.push_back(&profile);
  FunctionOptions functions;
  functions.filter = {options.focus, options.ignore};
  functions.granularity = options.granularity;
  functions.sort = sort;
  functions.cumulative = options.cumulative;
  const auto comparison = Compare(sources.profiles, functions);
  if (!comparison) return FailWith(comparison.error());
  DiffOptions diff;
  diff.rows = options.RowsOr(diff.rows);
  diff.layout = Target(options).layout();
  diff.names = options.names;
  diff.only_sure = options.only_sure;
  diff.cumulative = options.cumulative;
  if (options.json) return Deliver(options, DiffJson(sources, *comparison, diff));
  if (options.csv) TellNotes(sources.notes);
  if (options.csv) return Deliver(options, DiffCsv(sources, *comparison));
  return Deliver(options, DiffText(sources, *comparison, diff));
}

void DescribeDiff(Command diff, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(diff, action, Diff, R"(
Rows are functions that are new, gone, grown or shrunk, the largest change first, with both sides. A
change that chance explains, because both profiles are samples, is dim and marked with ~. Two dumps
of one process are compared block by block, which finds small leaks: only what came and went counts.
With more than two profiles, a trend shows each of them; the change is from the first to the last.

Examples:
  heapgauge diff server.4242.0001.hg server.4242.0007.hg     what grew between two dumps
  heapgauge diff server.4242.*.hg                            the trend over all of them
  heapgauge diff --sure --cum --focus 'Cache::' old.hg 4242  against the running process
  heapgauge diff server.hgt@5s server.hgt@8s                 two moments of a trace
  heapgauge diff --sort count old.hg new.hg                  by blocks in place of bytes
  heapgauge diff --sort allocated --csv old.pb.gz new.pb.gz  for a spreadsheet)",
                 options, nullptr, "", "the first is compared with the last");
  const Option json = AddTable(diff, options.get());
  AddGranularity(diff, options.get());
  AddCsv(diff, json, options.get());
  diff.Flag("--cum", &options->cumulative, "figures of a function include what it calls");
  diff.Flag("--sure", &options->only_sure, "only changes that are beyond chance");
}

}  // namespace

const CommandEntry kDiffCommand = {"diff", "what changed between two profiles or more",
                                   DescribeDiff};

}  // namespace heapgauge::cli
