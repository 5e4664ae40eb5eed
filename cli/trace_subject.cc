#include "cli/trace_subject.h"

#include "cli/progress_line.h"
#include "cli/report_options.h"
#include "cli/report_source.h"

namespace heapgauge::cli {
namespace {

// --function and --not-function as --focus and --ignore, which a sampled profile knows too. What
// else only a trace can answer makes Load fail.
ReportOptions ForSamples(const ReportOptions& options) {
  ReportOptions changed = options;
  changed.focus = std::exchange(changed.function, "");
  changed.ignore = std::exchange(changed.not_function, "");
  return changed;
}

bool ChoosesPart(const ReportOptions& options) {
  return !KeyOf(options, kProfileFields | kStackFields).empty();
}

Result<OpenedTrace> OpenTrace(const Recording& recording, const ReportOptions& options) {
  ProgressSink* progress = options.quiet ? nullptr : BeginProgress();
  OpenedTrace opened;
  HG_ASSIGN(opened.file, recording.Trace());
  HG_ASSIGN(const auto stacks, opened.file->ReadStacks());
  opened.stacks = *stacks;
  NameLocations(options.symbols, &opened.stacks.profile, progress);
  return opened;
}

Result<SelectedTrace> OpenSelectedTrace(const Recording& recording, const ReportOptions& options,
                                        ProgressSink* progress) {
  if (progress != nullptr) progress->Report("opening " + recording.path(), 0, 0, "");
  SelectedTrace opened;
  HG_ASSIGN(opened.trace, recording.Trace());
  HG_ASSIGN(trace::Question question, QuestionOf(options));
  if (options.kind == ProfileKind::kMmap) question.filter.mappings = true;
  HG_ASSIGN(opened.filter, BlocksBornWithin(question, *opened.trace));
  HG_ASSIGN(const auto stacks, opened.trace->ReadStacks());
  opened.stacks = *stacks;
  // What the figures are about: frames that only allocate are left out.
  opened.stacks.profile.sample_types = HeapSampleTypes();
  opened.notes = NameLocations(options.symbols, &opened.stacks.profile, progress).notes;
  opened.notes.insert(opened.notes.begin(), opened.trace->notes().begin(),
                      opened.trace->notes().end());
  for (std::string& note : trace::NotesOn(opened.filter, *opened.trace)) {
    opened.notes.push_back(std::move(note));
  }
  if (opened.filter != trace::BlockFilter()) {
    HG_ASSIGN(opened.matcher, trace::Matcher::Compile(opened.filter, *opened.trace, opened.stacks));
  }
  return opened;
}

}  // namespace

void AddBlockReportOptions(Command sub, ReportOptions* options) {
  sub.Add("--pick", &options->pick, "which file of a directory: newest or oldest")
      .OneOf({"newest", "oldest"});
  AddViewOption(sub, options, "kind", "heap; mmap: what the program mapped itself (run --mmap)", 2);
  AddViewOption(sub, options, "names", "short or whole");
  sub.Add("--color", &options->colour, "auto, always or never").OneOf({"auto", "always", "never"});
  sub.Add("-o,--output", &options->output, "write to this file").NotEmpty();
  sub.Flag("-q,--quiet", &options->quiet, "no progress line");
  AddSymbolOptions(sub, &options->symbols);
  AddViewOptions(sub, options, kRangeFields | kBlockFields);
}

std::optional<Recording> OpenWhole(const ReportOptions& options) {
  if (ChoosesPart(options) || options.sources.size() != 1) return std::nullopt;
  OpenOptions open;
  open.pick = options.pick;
  auto opened = Recording::Open(options.sources.front(), open);
  if (!opened) return std::nullopt;
  return *std::move(opened);
}

int DeliverTrace(const Recording& recording, const ReportOptions& options,
                 const std::function<Status(const OpenedTrace&, ProgressSink*, TextSink*)>& write) {
  const auto trace = OpenTrace(recording, options);
  if (!trace) return FailWith(trace.error());
  TellNotes(trace->file->notes());
  const int code = DeliverBy(options, [&](TextSink* sink) -> Status {
    const auto packed = [&](TextSink* out) { return write(*trace, BeginProgress(), out); };
    return WritePacked(options.output, packed, sink);
  });
  EndProgress();
  return code;
}

int ReportBlocks(const std::string& source, const ReportOptions& options,
                 const std::function<int(SelectedTrace, ProgressSink*)>& of_trace,
                 const std::function<int(Recording*)>& of_samples) {
  auto meant = MeantWhole(source, options.pick, "choose by --from and --to");
  if (!meant) return FailWith(meant.error());
  OpenOptions open;
  open.pick = options.pick;
  auto recording = Recording::Open(*meant, open);
  if (!recording) return FailWith(recording.error());
  if (!recording->is_trace()) return of_samples(&*recording);
  ProgressSink* const progress = options.quiet ? nullptr : BeginProgress();
  auto opened = OpenSelectedTrace(*recording, options, progress);
  if (!opened) return FailWith(opened.error());
  return of_trace(*std::move(opened), progress);
}

int ReportSamples(
    Recording* recording, const ReportOptions& asked, Granularity granularity,
    const std::function<int(const SampledSubject&, const LiveSamplesOptions&)>& make) {
  const ReportOptions options = ForSamples(asked);
  auto loaded = Load(options, nullptr, recording);
  if (!loaded) return FailWith(loaded.error());
  const auto samples =
      CountLiveSamples(loaded->profile, {options.focus, options.ignore}, granularity);
  if (!samples) return FailWith(recording->spec() + ": " + samples.error().message);
  SampledSubject subject{loaded->profile, *samples, {}, loaded->notes};
  for (const HeapFigures& row : FiguresOfRows(loaded->profile)) subject.total.Add(row);
  LiveSamplesOptions text;
  text.layout = Target(options).layout();
  text.names = options.names;
  text.rows = options.RowsOr(text.rows);
  return make(subject, text);
}

}  // namespace heapgauge::cli
