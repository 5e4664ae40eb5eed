#include "cli/report_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/cli.h"
#include "cli/progress_line.h"
#include "cli/report_options.h"
#include "core/base/file.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/fold/functions.h"
#include "core/fold/measures.h"
#include "core/gauge/gauge_directory.h"
#include "core/report/draw/drawn_graph.h"
#include "core/report/value_text.h"

namespace heapgauge::cli {

Result<Loaded> Load(const ReportOptions& options, FrameCache* cache, Recording* opened) {
  ProgressSink* progress = options.quiet ? nullptr : BeginProgress();
  ReadOptions read;
  read.gauge.peak = options.peak;
  read.gauge.inherited = options.inherited;
  read.gauge.kind = options.kind;
  HG_ASSIGN(read.question, QuestionOf(options));
  read.progress = progress;
  std::vector<std::string> notes;
  read.name_stacks = [&](Profile* profile) {
    notes = NameLocations(options.symbols, profile, progress).notes;
  };
  Loaded loaded;
  if (progress != nullptr && !options.sources.empty()) {
    progress->Report("reading " + options.sources.front(), 0, 0, "");
  }
  if (opened != nullptr) {
    loaded.sources = {opened->spec()};
    HG_ASSIGN(loaded.profile, opened->ReadProfile(read));
  } else {
    OpenOptions open;
    open.pick = options.pick;
    HG_ASSIGN(loaded.profile, ReadMerged(options.sources, open, read, &loaded.sources));
  }
  if (cache != nullptr) cache->Fill(&loaded.profile);
  loaded.notes = NameLocations(options.symbols, &loaded.profile, progress).notes;
  if (loaded.notes.empty()) loaded.notes = std::move(notes);
  if (cache != nullptr) loaded.notes = cache->Learn(loaded.profile, loaded.notes);
  loaded.notes.insert(loaded.notes.begin(), loaded.profile.notes.begin(),
                      loaded.profile.notes.end());
  if (progress != nullptr) progress->Report("adding up", 0, 0, "");
  return loaded;
}

Error About(const std::vector<std::string>& sources, Error error) {
  std::string names = sources.empty() ? "" : sources.front();
  if (sources.size() > 1) names += " and " + std::to_string(sources.size() - 1) + " more";
  error.message = names + ": " + error.message;
  return error;
}

void TellNotes(const std::vector<std::string>& notes) {
  if (notes.empty()) return;
  EndProgress();
  for (const std::string& note : notes) TellUser("note: {}\n", Printable(note));
}

Terminal Target(const ReportOptions& options) {
  if (options.output.empty() || options.output == "-") {
    return DescribeTerminal(options.beside ? STDERR_FILENO : STDOUT_FILENO, options.colour);
  }
  Terminal file;
  file.look.colour = options.colour == "always";
  file.look.utf8 = DescribeTerminal(STDOUT_FILENO).look.utf8;
  return file;
}

Status MayReplace(const std::string& output) {
  struct stat st {};
  const bool is_file = stat(output.c_str(), &st) == 0 && S_ISREG(st.st_mode);
  if (!is_file || (FormatAt(output) != ProfileFormat::kTrace && !ReadOwner(output))) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "-o: '" + Printable(output) +
                  "' is a recording, which a report would destroy; name another file, or remove it "
                  "first");
}

int Deliver(const ReportOptions& options, const StyledText& text) {
  return Deliver(options, Render(text, Target(options).look));
}

namespace {

// The text without what a terminal takes for a command; lines stay.
std::string PrintableLines(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines += Printable(text.substr(0, end));
    if (end < text.size()) lines += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// CSV keeps what names and values have in them, which is not for terminals.
bool MustBeCleaned(const ReportOptions& options) {
  return options.csv && Target(options).is_terminal;
}

// Takes whole lines.
class CleaningSink final : public TextSink {
 public:
  explicit CleaningSink(TextSink* to) : to_(to) {}
  Status Write(std::string_view text) override { return to_->Write(PrintableLines(text)); }

 private:
  TextSink* to_;
};

}  // namespace

int Deliver(const ReportOptions& options, const std::string& data) {
  if (MustBeCleaned(options)) {
    return DeliverBy(options, [&](TextSink* sink) { return sink->Write(data); });
  }
  EndProgress();
  if (options.output.empty() || options.output == "-") {
    if (!options.beside) return PrintOut(data);
    DescriptorSink sink(STDERR_FILENO, "standard error");
    static_cast<void>(sink.Write(data));
    static_cast<void>(sink.Finish());
    return kDone;
  }
  Status status = MayReplace(options.output);
  if (status) status = WriteWholeFile(options.output, data);
  return status ? kDone : FailWith(status.error());
}

int DeliverBy(const ReportOptions& options, const std::function<Status(TextSink*)>& write) {
  EndProgress();
  if (options.output.empty() || options.output == "-") {
    DescriptorSink sink(options.beside ? STDERR_FILENO : STDOUT_FILENO,
                        options.beside ? "standard error" : "standard output");
    CleaningSink cleaning(&sink);
    const Status written =
        write(MustBeCleaned(options) ? static_cast<TextSink*>(&cleaning) : &sink);
    const Status finished = sink.Finish();
    if (options.beside) return kDone;
    if (!written && !sink.closed()) return FailWith(written.error());
    return finished ? kDone : FailWith(finished.error());
  }
  if (const Status may = MayReplace(options.output); !may) return FailWith(may.error());
  auto sink = FileSink::Create(options.output);
  if (!sink) return FailWith(sink.error());
  if (const Status written = write(sink->get()); !written) return FailWith(written.error());
  const Status finished = (*sink)->Finish();
  return finished ? kDone : FailWith(finished.error());
}

namespace {

// Words that choose the figure have to agree: none of them is passed over in silence.
Status CheckFigure(const ReportOptions& options) {
  if (!options.type.empty() && (!options.value.empty() || options.blocks)) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string("--type and ") + (options.value.empty() ? "--blocks" : "--value") +
                    " both choose what is counted: leave out one of them");
  }
  const SortKey sort = options.sort.value_or(SortKey::kCount);
  if (options.blocks && sort != SortKey::kCount) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string("--blocks counts blocks, --sort ") + SortName(sort) +
                    " does not sort by them: leave out one of them" +
                    (sort == SortKey::kAllocated ? ", or ask for --value allocated --blocks" : ""));
  }
  return {};
}

// The words of a choice that the command takes are the first ones.
Option AddField(Command sub, View* view, const ViewField& field, const char* help,
                size_t words = SIZE_MAX) {
  const std::string name = "--" + std::string(field.name);
  if (const auto* flag = std::get_if<ViewField::Flag>(&field.value)) {
    return sub.Flag(name, &(view->**flag), help);
  }
  if (const auto* list = std::get_if<ViewField::Texts>(&field.value)) {
    return sub.Add(name, &(view->**list), help).OneEachTime().NotEmpty();
  }
  if (const auto* text = std::get_if<ViewField::Text>(&field.value)) {
    const Option option = sub.Add(name, &(view->**text), help);
    return (field.part & kTraceFields) != 0 ? option.NotEmpty() : option;
  }
  const auto all = std::get<ViewField::Choice>(field.value).words;
  const auto taken = all.first(std::min(words, all.size()));
  return sub
      .Add(
          name, [view, &field](const std::string& word) { field.Set(word, view); }, help)
      .OneOf({taken.begin(), taken.end()});
}

}  // namespace

void AddViewOption(Command sub, View* view, std::string_view field, const char* help,
                   size_t words) {
  for (const ViewField& one : ViewFields()) {
    if (one.name == field) AddField(sub, view, one, help, words);
  }
}

void AddViewOptions(Command sub, View* view, uint32_t parts) {
  std::optional<Option> freed;
  for (const ViewField& field : ViewFields()) {
    if ((field.part & parts) == 0) continue;
    const Option option = AddField(sub, view, field, field.help);
    if ((field.part & kTraceFields) != 0) option.InGroup("Options for traces (run --trace)");
    if (field.name == "freed") freed = option;
    if (field.name == "not-freed") option.Excludes(*freed);
  }
}

void DescribeReport(Command sub, Action* action, int (*run)(const ReportOptions&),
                    const char* footer, std::shared_ptr<ReportOptions> options, const char* pattern,
                    const char* pattern_help, const char* several) {
  sub.Footer(footer);
  if (pattern != nullptr) sub.Add(pattern, &options->pattern, pattern_help).Required();
  sub.Add("SOURCE", &options->sources,
          std::string("profile of any format, PID, directory with one gauge file, or URL; ") +
              several)
      .Required();
  sub.Add("--pick", &options->pick, "which file of a directory: newest or oldest")
      .OneOf({"newest", "oldest"});
  AddViewOptions(sub, options.get(), kStackFields | kPeakField | kGaugeFields | kTypeField);
  sub.Add("--color", &options->colour, "auto, always or never").OneOf({"auto", "always", "never"});
  sub.Add("-o,--output", &options->output, "write to this file").NotEmpty();
  AddSymbolOptions(sub, &options->symbols);
  AddViewOptions(sub, options.get(), kTraceFields);
  sub.OnChosen([=] {
    *action = [=] {
      if (const Status figure = CheckFigure(*options); !figure) return FailWith(figure.error());
      // Objects beside other figures are those that are live.
      if (options->value == "allocated" && options->sort == SortKey::kCount) {
        options->blocks = true;
        options->sort.reset();
      }
      return run(*options);
    };
  });
}

void AddGranularity(Command sub, View* view) {
  static constexpr const char* kHelp[kGranularities] = {
      "by function", "by source line", "by source file", "by executable and library",
      "by address in the program"};
  std::vector<Option> flags;
  for (size_t i = 0; i < kGranularities; ++i) {
    const auto granularity = static_cast<Granularity>(i);
    Option flag = sub.Flag(
        std::string("--") + GranularityName(granularity), [=] { view->granularity = granularity; },
        kHelp[i]);
    for (Option other : flags) flag.Excludes(other);
    flags.push_back(flag);
  }
  AddViewOptions(sub, view, kNamesField);
}

void AddSourcePaths(Command sub, std::string* source_path, std::string* trim_path) {
  sub.Add(
      "--source-path", source_path,
      "directories with sources, separated by colons: /build/app/src/x.c is found as DIR/src/x.c");
  sub.Add("--trim-path", trim_path,
          "what the machine that built the program has in front of paths, separated by colons");
}

Option AddTable(Command sub, ReportOptions* options) {
  AddViewOptions(sub, options, kSortField);
  sub.Add("-n,--rows", &options->rows, "rows to show, 0 for all").NonNegative();
  return sub.Flag("--json", &options->json, "as JSON, with all figures");
}

namespace {

Status ChooseFigures(const ReportOptions& options, Sorted* sorted) {
  Profile& profile = sorted->loaded.profile;
  if (!options.type.empty()) HG_TRY(ChooseType(options.type, &profile));
  EstimateFromPeriod(&profile);
  HG_ASSIGN(sorted->sort, ChooseSort(options.sort, profile));
  return {};
}

}  // namespace

Result<Sorted> LoadSorted(const ReportOptions& options, FrameCache* cache, Recording* opened) {
  Sorted sorted;
  HG_ASSIGN(sorted.loaded, Load(options, cache, opened));
  if (const Status chosen = ChooseFigures(options, &sorted); !chosen) {
    return tl::unexpected<Error>(About(sorted.loaded.sources, chosen.error()));
  }
  return sorted;
}

Result<Selected> LoadSelected(const ReportOptions& options, Recording* opened) {
  Selected selected;
  HG_ASSIGN(static_cast<Sorted&>(selected), LoadSorted(options, nullptr, opened));
  selected.granularity = options.granularity;
  HG_ASSIGN(selected.rows,
            SelectRows(selected.profile(), {options.focus, options.ignore}, selected.granularity));
  return selected;
}

void TellShrunk(const Profile& profile, const std::vector<bool>& rows, size_t type) {
  if (type >= profile.sample_types.size()) return;
  double shrunk = 0;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (rows[row]) shrunk += std::min(0.0, profile.estimate(row, type).value);
  }
  if (shrunk == 0) return;
  EndProgress();
  TellUser("heapgauge: stacks that shrank are left out: {}\n",
           FormatChange(shrunk, profile.sample_types[type].unit));
}

void AddCsv(Command sub, Option json, ReportOptions* options) {
  sub.Flag("--csv", &options->csv, "as CSV, for spreadsheets and scripts").Excludes(json);
}

Result<pprof::ReportInput> PrepareReport(const ReportOptions& options, pprof::ReportKind kind) {
  if (options.granularity == Granularity::kModules) {
    return Fail(ErrorCode::kInvalidArgument,
                "this report has no form by module; tree --modules has one");
  }
  HG_ASSIGN(Sorted sorted, LoadSorted(options));
  Profile profile = std::move(sorted.loaded.profile);
  if (profile.sample_types.empty()) {
    return Fail(ErrorCode::kCorrupt, "the profile has no sample types");
  }
  TellNotes(profile.notes);
  pprof::ReportRequest request;
  request.kind = kind;
  request.pattern = options.pattern;
  pprof::Config& config = request.config;
  config.focus = options.focus;
  config.ignore = options.ignore;
  config.sort_by_cum = options.cumulative;
  config.source_path = options.source_path;
  config.trim_path = options.trim_path;
  config.granularity = ShapeOf(options.granularity);
  if (options.rows >= 0) config.node_count = options.rows;
  const size_t type = TypeOf(profile, sorted.sort);
  return PrepareGraph(std::move(profile), std::move(request), type, options.names);
}

void AddGraphOptions(Command sub, ReportOptions* options) {
  AddViewOptions(sub, options, kSortField);
  AddGranularity(sub, options);
  sub.Add("-n,--nodes", &options->rows, "functions to show; 80 by default").NonNegative();
}

}  // namespace heapgauge::cli
