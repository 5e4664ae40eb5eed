// GET api/v1/source: files of source code with what they hold, and the lines of one of them. The
// figures are those of `heapgauge list`.
//
// Only files are read that functions of the profile name, and only where the host allows it; never
// more than kMostLines of one, and nothing that is no text. A profile that somebody else made may
// name any file, and what is shown here can be seen by others: so it must be called as source files
// are, too.

#include <algorithm>
#include <map>
#include <optional>

#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/report/draw/drawn_graph.h"
#include "core/report/report_json.h"
#include "core/source/source_files.h"
#include "core/symbolize/debuginfod.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report_list.h"
#include "endpoint/api/api.h"
#include "endpoint/api/graph.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr std::string_view kSourceParameters[] = {"file", "of", "files"};
constexpr int64_t kMostLines = 30'000;
constexpr size_t kMostText = 4 << 20;
constexpr size_t kLongestLine = 2000;

// What all lines of the profile weigh.
struct AllLines {
  pprof::ListedFunctions functions;
  pprof::ValueFormat format{1, "", ""};
  int64_t total = 0;
  int64_t total_weight = 0;
};

Result<std::shared_ptr<const AllLines>> LinesOf(const Filter& filter, const SourceLookup& lookup,
                                                Subject* subject) {
  return subject->Kept<AllLines>(
      "lines " + KeyOf(filter, kRowFields | kNamesField), [&]() -> Result<AllLines> {
        const Profile& profile = *subject->profile();
        AllLines all;
        HG_ASSIGN(const SortKey sort, ChooseSort(filter.sort, profile));
        const size_t type = TypeOf(profile, sort);
        if (type >= profile.sample_types.size()) return all;
        pprof::ReportRequest request = GraphRequest(filter, pprof::ReportKind::kList);
        request.config.source_path = lookup.search_path;
        request.config.trim_path = lookup.trim_path;
        HG_ASSIGN(const pprof::ReportInput input,
                  PrepareGraph(CopyOfValues(profile), std::move(request), type, filter.names));
        HG_ASSIGN(const Regex any, Regex::Compile(""));
        all.functions = ListFunctions(input, any);
        all.format = pprof::FormatOf(input);
        all.total = input.total;
        all.total_weight = input.total_weight;
        return all;
      });
}

// A path as lines are listed under it.
std::string ListedName(const std::string& path, const SourceLookup& lookup) {
  return CleanPath(TrimSourcePath(path, lookup.trim_path, lookup.search_path));
}

// Source code has blanks of some kinds, and no other bytes that stand for no letter.
bool IsText(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= ' ' && byte != 0x7f) || c == '\t' || c == '\v' || c == '\f' || c == '\r';
  });
}

// Functions of one file.
using FunctionsOfFile = std::map<std::string, const pprof::ListedFile*>;

FunctionsOfFile InFile(const AllLines& all, const std::string& file) {
  FunctionsOfFile found;
  for (const auto& [name, files] : all.functions) {
    const auto in = files.find(file);
    if (in != files.end()) found.emplace(name, &in->second);
  }
  return found;
}

// The file in which the functions that match hold the most, with all they call.
std::string FileOf(const AllLines& all, const Regex& of) {
  std::string best;
  int64_t most = -1;
  for (const auto& [name, files] : all.functions) {
    if (!of.Matches(name)) continue;
    for (const auto& [file, listed] : files) {
      if (listed.sum.cum <= most) continue;
      most = listed.sum.cum;
      best = file;
    }
  }
  return best;
}

class Reader {
 public:
  Reader(const SourceLookup& lookup, const RecordingFacts& recording) : lookup_(lookup) {
    if (lookup.use_debuginfod) debuginfod_ = Debuginfod::FromEnvironment();
    SourceOptions options;
    options.search_path = lookup.search_path;
    options.trim_path = lookup.trim_path;
    if (recording.state == RecordingState::kLive) options.pid = recording.pid;
    options.debuginfod = debuginfod_.get();
    files_.emplace(std::move(options));
  }

  struct Text {
    std::vector<std::string> lines;
    bool cut = false;
    std::string problem;  // "" none
    std::vector<std::string> searched;
  };

  // REQUIRES: the profile names the file.
  Text Read(const std::string& file, const std::string& build_id) {
    Text text;
    if (!lookup_.allowed) {
      text.problem = "this host reads no files; heapgauge ui does";
      return text;
    }
    if (!IsSourceName(file)) {
      text.problem = "it is not called as source files are, and no other file is shown here";
      return text;
    }
    size_t size = 0;
    for (int64_t number = 1;; ++number) {
      const auto line = files_->Line(file, number, build_id);
      if (!line) break;
      if (!IsText(*line)) {
        text.lines.clear();
        text.problem = "it is no text";
        return text;
      }
      size += line->size();
      if (number > kMostLines || size > kMostText) {
        text.cut = true;
        break;
      }
      text.lines.emplace_back(line->substr(0, kLongestLine));
    }
    if (text.lines.empty()) {
      text.problem = files_->ErrorOf(file);
      if (text.problem.empty()) text.problem = "it is empty";
      text.searched = files_->SearchedFor(file);
    }
    return text;
  }

 private:
  const SourceLookup& lookup_;
  std::unique_ptr<Debuginfod> debuginfod_;
  std::optional<SourceFiles> files_;
};

int64_t FlatOf(const LineSum& sum) { return MeanOf(sum.flat, sum.flat_div); }
int64_t CumOf(const LineSum& sum) { return MeanOf(sum.cum, sum.cum_div); }

void AddSums(const LineSum& sum, const AllLines& all, Json* json) {
  (*json)["flat"] = FlatOf(sum);
  (*json)["cum"] = CumOf(sum);
  (*json)["flat_text"] = all.format(FlatOf(sum));
  (*json)["cum_text"] = all.format(CumOf(sum));
  (*json)["share"] = pprof::TrimmedPercentage(sum.cum, all.total_weight);
}

Json ChosenJson(const std::string& file, const FunctionsOfFile& functions, const AllLines& all,
                Reader* reader) {
  Json names = Json::Array();
  std::map<int64_t, LineSum> lines;
  std::string build_id;
  for (const auto& [name, listed] : functions) {
    int64_t first = listed->weights.front().line;
    for (const LineWeight& weight : listed->weights) {
      lines[weight.line].Add(weight);
      first = std::min(first, weight.start_line > 0 ? weight.start_line : weight.line);
    }
    if (build_id.empty()) build_id = listed->build_id;
    Json json = {{"function", name}, {"line", first}};
    AddSums(listed->sum, all, &json);
    names.Add(std::move(json));
  }
  Json costs = Json::Array();
  for (const auto& [line, sum] : lines) {
    Json json = {{"line", line}};
    AddSums(sum, all, &json);
    costs.Add(std::move(json));
  }
  const Reader::Text text = reader->Read(file, build_id);
  return {{"file", file},
          {"functions", std::move(names)},
          {"costs", std::move(costs)},
          {"found", text.problem.empty()},
          {"problem", text.problem},
          {"searched", text.searched},
          {"cut", text.cut},
          {"lines", text.lines}};
}

Result<std::string> AnswerSource(const Call& call, const Filter& filter) {
  const std::string wanted(call.Parameter("file").value_or(""));
  const std::string of(call.Parameter("of").value_or(""));
  HG_ASSIGN(const uint64_t most, NumberOf(call, "files", 0, 10'000, 300));
  HG_ASSIGN(const Regex regex, Regex::CompileTyped(of));
  HG_ASSIGN(const Looked looked, LookAt(call, filter));
  const SourceLookup& lookup = call.sources.lookup();
  HG_ASSIGN(const auto all, LinesOf(filter, lookup, looked.subject.get()));
  Filter by_file = filter;
  by_file.granularity = Granularity::kFiles;
  HG_ASSIGN(const auto table, looked.subject->TableOf(by_file, true));
  const FunctionReport& report = table->report;
  const Profile& profile = *looked.subject->profile();

  Json files = Json::Array();
  size_t known = 0;
  std::string first;
  for (const FunctionRow& row : report.rows) {
    if (row.entity == kNone) continue;
    const std::string& path = profile.functions[report.entities[row.entity].function].file;
    if (path.empty()) continue;
    const std::string file = ListedName(path, lookup);
    if (first.empty() && row.flat.live_bytes.value > 0) first = file;
    if (++known > most) continue;
    files.Add({{"file", file},
               {"flat", FiguresJson(row.flat, report.measures, profile.recording)},
               {"cum", FiguresJson(row.cum, report.measures, profile.recording)}});
  }
  std::string chosen = first;
  if (!wanted.empty()) {
    chosen = ListedName(wanted, lookup);
  } else if (!of.empty()) {
    chosen = FileOf(*all, regex);
  }
  Json json = {{"name", report.measures.name},
               {"unit", report.measures.unit},
               {"total", FiguresJson(report.total, report.measures, profile.recording)},
               {"total_text", all->format(all->total)},
               {"files", std::move(files)},
               {"file_count", known},
               {"may_read", lookup.allowed},
               {"search_path", lookup.search_path},
               {"chosen", nullptr}};
  // Whatever is asked for: only what functions of the profile name is looked for.
  const FunctionsOfFile functions = InFile(*all, chosen);
  if (!functions.empty()) {
    Reader reader(lookup, profile.recording);
    json["chosen"] = ChosenJson(chosen, functions, *all, &reader);
  }
  return json.Line();
}

}  // namespace

const Resource kSourceResource = {"api/v1/source", kSourceParameters, AnswerSource};

}  // namespace heapgauge::endpoint::api
