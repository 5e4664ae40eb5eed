#include "core/report/views/peek.h"
#include "core/base/json.h"

#include <fmt/format.h>
#include <algorithm>

#include "core/base/text.h"
#include "core/fold/neighbours.h"
#include "core/fold/statistics.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/value_text.h"
#include "core/report/views/top.h"

namespace heapgauge {
namespace {

struct PeekData {
  FunctionReport report;
  std::vector<Peeked> functions;  // the heaviest first
  size_t matching = 0;
};

Result<PeekData> Collect(const Profile& profile, const PeekOptions& options) {
  FunctionOptions functions;
  functions.filter = options.filter;
  functions.granularity = options.granularity;
  functions.sort = options.sort;
  functions.cumulative = true;
  HG_TRY(CheckPattern(options.pattern));
  PeekData data;
  const Groundwork groundwork(profile);
  HG_ASSIGN(data.report, AggregateFunctions(groundwork, functions));
  NeighbourOptions neighbours;
  neighbours.pattern = options.pattern;
  neighbours.filter = options.filter;
  neighbours.sort = options.sort;
  neighbours.most = options.rows;
  HG_ASSIGN(Neighbours found, FindNeighbours(groundwork, data.report, neighbours));
  if (found.functions.empty()) {
    return Fail(ErrorCode::kNotFound,
                "no function of the profile matches '" + Printable(options.pattern) + "'");
  }
  data.functions = std::move(found.functions);
  data.matching = found.matching;
  return data;
}

class PeekTable {
 public:
  PeekTable(const Profile& profile, const PeekData& data, const PeekOptions& options)
      : profile_(profile), data_(data), options_(options) {
    std::vector<EntityId> shown;
    for (const Peeked& peeked : data.functions) {
      shown.push_back(data.report.rows[peeked.row].entity);
      for (const auto* side : {&peeked.callers, &peeked.callees}) {
        for (const Neighbour& neighbour : *side) shown.push_back(neighbour.entity);
      }
    }
    labels_ =
        Labels(profile, data.report.entities, std::move(shown), options.names, options.layout);
    by_allocated_ = options.sort == SortKey::kAllocated && data.report.measures.has_allocated();
    by_count_ = options.sort == SortKey::kCount && data.report.measures.has_objects();
    has_sureness_ =
        !by_count_ && (Of(data.report.total).variance > 0 || data.report.measures.has_samples);
  }

  StyledText Draw() {
    const std::string title = by_allocated_ ? "allocated"
                              : by_count_   ? "objects"
                                            : data_.report.measures.name;
    text_.AddLeft(title, 11, Style::kHeading);
    if (has_sureness_) text_.AddLeft("\u00b1", 7, Style::kHeading);
    text_.AddLeft("share", 8, Style::kHeading);
    text_.Add("  ").Add("callers, function, callees", Style::kHeading).Add("\n");
    for (const Peeked& peeked : data_.functions) {
      text_.Add("\n");
      const FunctionRow& row = data_.report.rows[peeked.row];
      const double whole = Of(row.cum).value;
      Side(peeked.callers, whole, "(nobody: stacks begin here)");
      Figures(row.cum, Of(data_.report.total).value, Style::kNumber);
      text_.Add(FitLabel(labels_[row.entity], PlaceOf(profile_, options_.granularity, row.frame),
                         options_.granularity, Room(2), options_.layout));
      text_.Add("\n");
      Side(peeked.callees, whole, "(itself)");
    }
    if (data_.matching > data_.functions.size()) {
      text_.Add(fmt::format("\n{} {} that match (-n {} shows all)\n", options_.layout.ellipsis(),
                            MoreText(data_.matching - data_.functions.size(),
                                     data_.report.entities.granularity()),
                            data_.matching),
                Style::kDim);
    }
    return std::move(text_);
  }

 private:
  // What functions are sorted by.
  Estimate Of(const HeapFigures& f) const {
    if (!by_count_) return by_allocated_ ? f.allocated_bytes : f.live_bytes;
    Estimate count;
    count.value = count.floor = f.live_objects;
    return count;
  }
  std::string Text(double value) const {
    if (by_count_) return FormatMainCount(value, data_.report.measures);
    return by_allocated_ ? FormatBytes(value) : FormatMain(value, data_.report.measures);
  }
  size_t Room(size_t indent) const {
    const size_t used = 19 + (has_sureness_ ? 7 : 0) + indent;
    return std::max<size_t>(options_.layout.width, used + 12) - used;
  }

  void Figures(const HeapFigures& f, double whole, Style style) {
    const Estimate e = Of(f);
    text_.AddLeft(Text(e.value), 11, style);
    if (has_sureness_) {
      const Interval range = Interval95(e);
      text_.AddLeft(FormatPlusMinus(e.value, range.low, range.high), 7, Style::kDim);
    }
    text_.AddLeft(FormatShare(e.value, whole), 8);
    text_.Add("  ");
  }

  void Side(const std::vector<Neighbour>& side, double whole, const char* none) {
    constexpr size_t kMost = 12;
    size_t shown = 0;
    for (const Neighbour& neighbour : side) {
      const HeapFigures& f = neighbour.figures;
      if (by_allocated_ ? !f.has_allocated() : !f.has_live()) continue;
      if (++shown > kMost) continue;
      Figures(f, whole, Style::kPlain);
      text_.Add(options_.layout.utf8 ? "\u2502   " : "|   ", Style::kDim);
      const std::string& name = neighbour.entity == kNone ? none : labels_[neighbour.entity];
      text_.Add(TrimTo(name, Room(4)), neighbour.entity == kNone ? Style::kDim : Style::kPlain);
      text_.Add("\n");
    }
    if (shown > kMost) {
      text_.Add(std::string(has_sureness_ ? 28 : 21, ' '));
      text_.Add(fmt::format("{}   {} more\n", options_.layout.utf8 ? "\u2502" : "|", shown - kMost),
                Style::kDim);
    }
  }

  StyledText Trimmed(const std::string& name, size_t room) const {
    return FitLabel(name, "", options_.granularity, room, options_.layout);
  }
  std::string TrimTo(const std::string& name, size_t room) const {
    return Trimmed(name, room).text();
  }

  const Profile& profile_;
  const PeekData& data_;
  const PeekOptions& options_;
  Labels labels_;
  bool by_allocated_ = false;
  bool by_count_ = false;
  bool has_sureness_ = false;
  StyledText text_;
};

}  // namespace

Result<StyledText> PeekText(const Profile& profile, const std::vector<std::string>& notes,
                            const PeekOptions& options) {
  HG_ASSIGN(const PeekData data, Collect(profile, options));
  StyledText text = RecordingText(profile, data.report.total, notes, options.layout);
  text.Add(SelectedText(data.report)).Add("\n");
  return text.Add(PeekTable(profile, data, options).Draw());
}

Result<std::string> PeekJson(const Profile& profile, const PeekOptions& options) {
  HG_ASSIGN(const PeekData data, Collect(profile, options));
  const Measures& measures = data.report.measures;
  const auto side = [&](const std::vector<Neighbour>& list) {
    Json json = Json::Array();
    for (const Neighbour& neighbour : list) {
      Json entry = neighbour.entity == kNone
                       ? Json{{"function", nullptr}}
                       : EntityJson(profile, data.report.entities, neighbour.entity);
      entry["figures"] = FiguresJson(neighbour.figures, measures, profile.recording);
      json.Add(std::move(entry));
    }
    return json;
  };
  Json functions = Json::Array();
  for (const Peeked& peeked : data.functions) {
    const FunctionRow& row = data.report.rows[peeked.row];
    Json entry = EntityJson(profile, data.report.entities, row.entity);
    entry["flat"] = FiguresJson(row.flat, measures, profile.recording);
    entry["cum"] = FiguresJson(row.cum, measures, profile.recording);
    entry["callers"] = side(peeked.callers);
    entry["callees"] = side(peeked.callees);
    functions.Add(std::move(entry));
  }
  const Json json = {{"profile", ProfileJson(profile, measures)},
                     {"granularity", GranularityName(options.granularity)},
                     {"total", FiguresJson(data.report.total, measures, profile.recording)},
                     {"matching", data.matching},
                     {"functions", std::move(functions)}};
  return json.Text();
}

}  // namespace heapgauge
