#include "cli/report_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/cli.h"
#include "cli/progress_line.h"
#include "cli/symbol_options.h"
#include "core/base/file.h"
#include "core/base/sinks.h"
#include "core/base/text.h"
#include "core/fold/measures.h"
#include "core/gauge/gauge_directory.h"
#include "core/report/draw/drawn_graph.h"
#include "core/report/value_text.h"

namespace heapgauge::cli {

Result<Loaded> Load(const ReportOptions& options, FrameCache* cache, Recording* opened) {
  ProgressSink* progress = options.quiet ? nullptr : BeginProgress();
  ReadOptions read;
  read.gauge.peak = options.peak;
  read.gauge.inherited = options.inherited == "only"   ? Inherited::kOnly
                         : options.inherited == "none" ? Inherited::kExclude
                                                       : Inherited::kInclude;
  HG_ASSIGN(read.question, QuestionOf(options.trace));
  read.progress = progress;
  std::vector<std::string> notes;
  read.name_stacks = [&](Profile* profile) {
    notes = NameLocations(options.symbols, profile, progress).notes;
  };
  if (options.kind == "mmap") read.gauge.kind = ProfileKind::kMmap;
  if (options.kind == "pool") read.gauge.kind = ProfileKind::kPool;
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

Names NamesOf(const std::string& name) { return name == "whole" ? Names::kWhole : Names::kShort; }

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
  const TraceOptions& trace = options.trace;
  if (!options.type.empty() && (!trace.value.empty() || trace.blocks)) {
    return Fail(ErrorCode::kInvalidArgument,
                std::string("--type and ") + (trace.value.empty() ? "--blocks" : "--value") +
                    " both choose what is counted: leave out one of them");
  }
  if (trace.blocks && !options.sort.empty() && options.sort != "count") {
    return Fail(ErrorCode::kInvalidArgument,
                "--blocks counts blocks, --sort " + options.sort +
                    " does not sort by them: leave out one of them" +
                    (options.sort == "allocated" ? ", or ask for --value allocated --blocks" : ""));
  }
  return {};
}

}  // namespace

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
  sub.Add("--focus", &options->focus, "only stacks with a function that matches (RE2)");
  sub.Add("--ignore", &options->ignore, "no stacks with a function that matches (RE2)");
  sub.Flag("--peak", &options->peak,
           "the largest heap so far in place of this moment, if the file knows it");
  sub.Add("--inherited", &options->inherited,
          "blocks that a forked process has from its parent, of a gauge file: all, only, none")
      .OneOf({"all", "only", "none"});
  sub.Add("--kind", &options->kind,
          "heap; mmap: what the program mapped itself (run --mmap); pool: blocks of pools that it "
          "reports")
      .OneOf({"heap", "mmap", "pool"});
  sub.Add("--type", &options->type,
          "sample type to show, by name or number; the profile's own by default");
  sub.Add("--color", &options->colour, "auto, always or never").OneOf({"auto", "always", "never"});
  sub.Add("-o,--output", &options->output, "write to this file").NotEmpty();
  AddSymbolOptions(sub, &options->symbols);
  AddTraceOptions(sub, &options->trace);
  sub.OnChosen([=] {
    *action = [=] {
      if (const Status figure = CheckFigure(*options); !figure) return FailWith(figure.error());
      // Objects beside other figures are those that are live.
      if (options->trace.value == "allocated" && options->sort == "count") {
        options->trace.blocks = true;
        options->sort.clear();
      }
      return run(*options);
    };
  });
}

void AddSort(Command sub, ReportOptions* options) {
  sub.Add("--sort", &options->sort,
          "by live, allocated, count (of objects) or, unless it is a trace, age")
      .OneOf({"live", "allocated", "count", "age"});
}

void AddGranularity(Command sub, ReportOptions* options) {
  static constexpr std::pair<const char*, const char*> kFlags[] = {
      {"functions", "by function"},
      {"lines", "by source line"},
      {"files", "by source file"},
      {"modules", "by executable and library"},
      {"addresses", "by address in the program"},
  };
  std::vector<Option> flags;
  for (const auto& [name, help] : kFlags) {
    const std::string value = name;
    Option flag = sub.Flag(
        "--" + value, [=] { options->granularity = value; }, help);
    for (Option other : flags) flag.Excludes(other);
    flags.push_back(flag);
  }
  sub.Add("--names", &options->names,
          "short (templates and parameters folded unless they tell functions apart) or "
          "whole")
      .OneOf({"short", "whole"});
}

void AddSourcePaths(Command sub, std::string* source_path, std::string* trim_path) {
  sub.Add(
      "--source-path", source_path,
      "directories with sources, separated by colons: /build/app/src/x.c is found as DIR/src/x.c");
  sub.Add("--trim-path", trim_path,
          "what the machine that built the program has in front of paths, separated by colons");
}

Option AddTable(Command sub, ReportOptions* options) {
  AddSort(sub, options);
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
  selected.granularity = GranularityOf(options.granularity);
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

namespace {

pprof::Shape ShapeOf(const std::string& granularity) {
  if (granularity == "lines") return pprof::Shape::kLines;
  if (granularity == "files") return pprof::Shape::kFiles;
  if (granularity == "addresses") return pprof::Shape::kAddresses;
  return pprof::Shape::kFunctions;
}

}  // namespace

Result<pprof::ReportInput> PrepareReport(const ReportOptions& options, pprof::ReportKind kind) {
  if (options.granularity == "modules") {
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
  return PrepareGraph(std::move(profile), std::move(request), type, NamesOf(options.names));
}

void AddGraphOptions(Command sub, ReportOptions* options) {
  AddSort(sub, options);
  AddGranularity(sub, options);
  sub.Add("-n,--nodes", &options->rows, "functions to show; 80 by default").NonNegative();
}

}  // namespace heapgauge::cli
