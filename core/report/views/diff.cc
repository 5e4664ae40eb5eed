#include "core/report/views/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/report/csv.h"
#include "core/report/labels.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/value_text.h"
#include "core/report/views/top.h"

namespace heapgauge {

std::string Sparkline(const std::vector<double>& values, size_t width, bool utf8) {
  static constexpr const char* kHeights[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                             "\u2585", "\u2586", "\u2587", "\u2588"};
  static constexpr const char* kAscii[] = {"_", "_", ".", ".", "-", "-", "^", "^"};
  double most = 0;
  for (const double value : values) most = std::max(most, value);
  const size_t columns = std::min(width, values.size());
  std::string line;
  for (size_t i = 0; i < columns; ++i) {
    // The last value of those that share a column: the end of the line is what is there now.
    const double value = values[(i + 1) * values.size() / columns - 1];
    const double share = most > 0 && value > 0 ? value / most : 0;
    const auto height = static_cast<size_t>(std::lround(share * 7));
    line += utf8 ? kHeights[height] : kAscii[height];
  }
  return line;
}

namespace {

// "+15.0 to +26.1 MB": the unit once if both ends share it.
std::string ChangeRange(const Interval& range, const std::string& unit) {
  std::string low = FormatChange(range.low, unit);
  const std::string high = FormatChange(range.high, unit);
  const size_t a = low.find(' ');
  const size_t b = high.find(' ');
  if (a != std::string::npos && b != std::string::npos && low.substr(a) == high.substr(b)) {
    low.resize(a);
  }
  return low + " to " + high;
}

Style StyleOf(double change) {
  return change > 0 ? Style::kGrowth : change < 0 ? Style::kShrink : Style::kDim;
}

class DiffTable {
 public:
  DiffTable(const DiffSources& sources, const Comparison& made, const DiffOptions& options)
      : sources_(sources), made_(made), options_(options), unit_(made.after.measures.unit) {
    for (const ChangeRow& row : made.rows) {
      if (row.figures.kind == ChangeKind::kSame) continue;
      if (options.only_sure && !row.figures.beyond_chance) continue;
      ++candidates_;
      if (shown_.size() < options.rows) shown_.push_back(&row);
    }
  }

  StyledText Draw() {
    Header();
    text_.Add("\n");
    if (shown_.empty()) {
      text_.Add(options_.only_sure ? "No change is beyond chance.\n" : "Nothing changed.\n");
      return std::move(text_);
    }
    Table();
    if (candidates_ > shown_.size()) {
      text_.Add(fmt::format("{} {} (-n {} shows all)\n", options_.layout.ellipsis(),
                            MoreText(candidates_ - shown_.size(), granularity()), candidates_),
                Style::kDim);
    }
    const bool any_chance = std::any_of(shown_.begin(), shown_.end(), [](const ChangeRow* row) {
      return !row->figures.beyond_chance;
    });
    if (any_chance) {
      text_.Add("~ chance explains it: two samplings of one heap differ by as much\n", Style::kDim);
    }
    return std::move(text_);
  }

 private:
  heapgauge::Granularity granularity() const { return made_.after.entities.granularity(); }

  StyledText& Label(const char* label) { return text_.AddRight(label, 11, Style::kLabel); }

  std::string FigureName() const {
    return made_.by_allocated ? "allocated" : made_.after.measures.name;
  }

  void Header() {
    const RecordingFacts& first = sources_.profiles.front()->recording;
    const RecordingFacts& last = sources_.profiles.back()->recording;
    if (made_.same_process) {
      text_.Add(last.name(), Style::kTitle);
      text_.Add(first.exact && last.exact
                    ? fmt::format("  pid {}  {}", last.pid, MomentsOf(first, last))
                    : fmt::format("  pid {}  from {} to {}", last.pid,
                                  FormatDuration(first.duration_ns),
                                  FormatDuration(last.duration_ns)));
    } else {
      text_.Add(Printable(sources_.names.front()), Style::kTitle);
      text_.Add(options_.layout.utf8 ? " \u2192 " : " -> ", Style::kDim);
      text_.Add(Printable(sources_.names.back()), Style::kTitle);
    }
    if (sources_.profiles.size() > 2) {
      text_.Add(fmt::format("  {} profiles", sources_.profiles.size()));
    }
    text_.Add("\n");
    const bool title_tells_moments = made_.same_process && first.exact && last.exact;
    if (!title_tells_moments) Selection("time", first.moment, last.moment);
    Selection("filter", first.filter, last.filter);
    const Change& total = made_.total;
    Label(FigureName().size() < 11 ? FigureName().c_str() : "total");
    text_.Add(FormatValue(total.before.value, unit_));
    text_.Add(options_.layout.utf8 ? " \u2192 " : " -> ", Style::kDim);
    text_.Add(FormatValue(total.after.value, unit_)).Add(", ");
    text_.Add(FormatChange(total.change, unit_), StyleOf(total.change));
    if (made_.has_ranges)
      text_.Add(" (95 %: " + ChangeRange(total.range, unit_) + ")", Style::kDim);
    Rate(first, last);
    text_.Add("\n");
    if (made_.has_objects) {
      const auto count = [](double n) { return (n < 0 ? "-" : "") + FormatCount(std::fabs(n)); };
      Label("objects").Add(count(total.objects_before));
      text_.Add(options_.layout.utf8 ? " \u2192 " : " -> ", Style::kDim);
      text_.Add(count(total.objects_after)).Add(", ");
      const double change = total.objects_change();
      text_.Add(FormatChange(change, "count"), StyleOf(change)).Add("\n");
    }
    if (made_.by_block) {
      Label("turnover")
          .Add(fmt::format("{} came and stayed, {} went", FormatValue(total.came.value, unit_),
                           FormatValue(total.went.value, unit_)));
      text_.Add("\n");
    }
    if (made_.series.size() > 2) {
      Label("trend").Add(Sparkline(made_.series, 40, options_.layout.utf8), Style::kBar).Add("\n");
    }
    Label("changes").Add(Counts()).Add("\n");
    constexpr size_t kMaxNotes = 4;
    for (size_t i = 0; i < sources_.notes.size() && i < kMaxNotes; ++i) {
      text_.Add("note: ", Style::kWarning).Add(sources_.notes[i]).Add("\n");
    }
    if (made_.same_process && last.duration_ns < first.duration_ns) {
      text_.Add("note: ", Style::kWarning).Add("the first profile is the newer one\n");
    }
  }

  static std::string MomentsOf(const RecordingFacts& first, const RecordingFacts& last) {
    return first.moment == last.moment ? "both " + last.moment
                                       : first.moment + " and " + last.moment;
  }

  // Of traces: what the figures of both sides are about.
  void Selection(const char* label, const std::string& before, const std::string& after) {
    if (before.empty() && after.empty()) return;
    Label(label).Add(before.empty() ? "-" : before);
    if (before != after) {
      text_.Add(options_.layout.utf8 ? " \u2192 " : " -> ", Style::kDim);
      text_.Add(after.empty() ? "-" : after);
    }
    text_.Add("\n");
  }

  // How fast the process grew.
  void Rate(const RecordingFacts& first, const RecordingFacts& last) {
    if (!made_.same_process || last.duration_ns <= first.duration_ns || unit_ != "bytes") return;
    const auto between = static_cast<double>(last.duration_ns - first.duration_ns);
    const bool is_short = between < 600e9;
    text_.Add(
        fmt::format(" in {}, {} {}", FormatDuration(last.duration_ns - first.duration_ns),
                    FormatChange(made_.total.change / between * (is_short ? 60e9 : 3600e9), unit_),
                    is_short ? "a minute" : "an hour"));
  }

  std::string Counts() const {
    size_t kinds[5] = {};
    size_t sure = 0;
    for (const ChangeRow& row : made_.rows) {
      ++kinds[static_cast<size_t>(row.figures.kind)];
      if (row.figures.beyond_chance) ++sure;
    }
    std::string text;
    for (const ChangeKind kind :
         {ChangeKind::kNew, ChangeKind::kGone, ChangeKind::kGrown, ChangeKind::kShrunk}) {
      const size_t count = kinds[static_cast<size_t>(kind)];
      if (count == 0) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                          FormatCount(static_cast<double>(count)), ChangeKindName(kind));
    }
    if (text.empty()) return "none";
    if (made_.has_ranges) {
      text += fmt::format("; {} beyond chance", FormatCount(static_cast<double>(sure)));
    }
    return text;
  }

  void Table() {
    const size_t width = options_.layout.width;
    const size_t steps = made_.series.size();
    const bool has_trend = steps > 2 && width >= 90;
    const size_t trend = has_trend ? std::min<size_t>(steps, width >= 140 ? 20 : 10) : 0;
    const bool has_objects = made_.has_objects && width >= 110;
    const bool has_range = made_.has_ranges && width >= 130;
    const bool has_before = width >= 72;
    const bool has_kind = width >= 88;
    size_t left = 3;  // the mark of chance
    const auto heading = [&](const std::string& name, size_t columns) {
      text_.AddLeft(name, columns, Style::kHeading);
      left += columns;
    };
    heading("change", 11);
    if (has_range) heading("95 % range", 20);
    if (has_before) heading("before", 10);
    heading("after", 10);
    if (has_objects) heading("objects", 11);
    if (has_trend) heading("trend", std::max<size_t>(trend, 5) + 2);
    if (has_kind) heading("", 8);
    text_.Add("   ");
    std::string what = GranularityName(granularity());
    what.resize(what.size() - (granularity() == Granularity::kAddresses ? 2 : 1));
    text_.Add(what, Style::kHeading);
    if (options_.cumulative) text_.Add(" and what it calls", Style::kDim);
    text_.Add("\n");

    const size_t room = std::max<size_t>(width, left + 14) - left;
    const Labels before = LabelsOf(true);
    const Labels after = LabelsOf(false);
    for (const ChangeRow* row : shown_) {
      const Change& c = row->figures;
      const bool sure = c.beyond_chance;
      text_.AddLeft(FormatChange(c.change, unit_), 11, sure ? StyleOf(c.change) : Style::kDim);
      if (has_range) text_.AddLeft(ChangeRange(c.range, unit_), 20, Style::kDim);
      const auto value = [&](const Estimate& e, bool any) {
        return any ? FormatValue(e.value, unit_) : "-";
      };
      const Style plain = sure ? Style::kPlain : Style::kDim;
      if (has_before) text_.AddLeft(value(c.before, c.has_before()), 10, plain);
      text_.AddLeft(value(c.after, c.has_after()), 10, sure ? Style::kNumber : Style::kDim);
      if (has_objects) {
        text_.AddLeft(FormatChange(c.objects_change(), "count"), 11, plain);
      }
      if (has_trend) {
        text_.AddLeft(Sparkline(row->series, trend, options_.layout.utf8),
                      std::max<size_t>(trend, 5) + 2, Style::kBar);
      }
      if (has_kind) text_.Add("  ").AddRight(ChangeKindName(c.kind), 6, plain);
      text_.Add(sure ? "   " : " ~ ", Style::kDim);
      Name(*row, row->in_after != kNone ? after : before, room);
      text_.Add("\n");
    }
  }

  Labels LabelsOf(bool gone) const {
    const FunctionReport& report = gone ? made_.before : made_.after;
    std::vector<EntityId> entities;
    for (const ChangeRow* row : shown_) {
      if (gone == (row->in_after == kNone)) {
        entities.push_back(report.rows[gone ? row->in_before : row->in_after].entity);
      }
    }
    return Labels(gone ? *sources_.profiles.front() : *sources_.profiles.back(), report.entities,
                  std::move(entities), options_.names, options_.layout);
  }

  void Name(const ChangeRow& row, const Labels& labels, size_t room) {
    const bool gone = row.in_after == kNone;
    const FunctionReport& report = gone ? made_.before : made_.after;
    const FunctionRow& function = report.rows[gone ? row.in_before : row.in_after];
    const Profile& profile = gone ? *sources_.profiles.front() : *sources_.profiles.back();
    text_.Add(FitLabel(labels[function.entity],
                       PlaceOf(profile, report.entities.granularity(), function.frame),
                       report.entities.granularity(), room, options_.layout));
  }

  const DiffSources& sources_;
  const Comparison& made_;
  const DiffOptions& options_;
  const std::string& unit_;
  std::vector<const ChangeRow*> shown_;
  size_t candidates_ = 0;
  StyledText text_;
};

}  // namespace

std::vector<std::string> NotesOfSources(const std::vector<std::string>& names,
                                        const std::vector<std::vector<std::string>>& notes) {
  std::vector<std::string> all;
  for (size_t i = 0; i < notes.size(); ++i) {
    for (const std::string& note : notes[i]) {
      const bool of_all =
          std::all_of(notes.begin(), notes.end(), [&](const std::vector<std::string>& own) {
            return std::find(own.begin(), own.end(), note) != own.end();
          });
      std::string text = of_all ? note : Printable(names[i]) + ": " + note;
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
    }
  }
  return all;
}

StyledText DiffText(const DiffSources& sources, const Comparison& comparison,
                    const DiffOptions& options) {
  return DiffTable(sources, comparison, options).Draw();
}

namespace {

Json ChangeJson(const Change& c, const Comparison& made) {
  Json json = {{"kind", ChangeKindName(c.kind)},
               {"before", EstimateJson(c.before)},
               {"after", EstimateJson(c.after)},
               {"change", {{"value", c.change}, {"low", c.range.low}, {"high", c.range.high}}},
               {"beyond_chance", c.beyond_chance}};
  if (made.has_objects) {
    json["objects_before"] = c.objects_before;
    json["objects_after"] = c.objects_after;
  }
  if (made.by_block) {
    json["came"] = EstimateJson(c.came);
    json["went"] = EstimateJson(c.went);
  }
  return json;
}

// The side of a row that still has it.
struct Side {
  const Profile& profile;
  const FunctionReport& report;
  const FunctionRow& row;
};

Side SideOf(const DiffSources& sources, const Comparison& made, const ChangeRow& row) {
  const bool gone = row.in_after == kNone;
  const FunctionReport& report = gone ? made.before : made.after;
  return {gone ? *sources.profiles.front() : *sources.profiles.back(), report,
          report.rows[gone ? row.in_before : row.in_after]};
}

// What the rows that are gone, or all others, are called.
Labels LabelsOf(const DiffSources& sources, const Comparison& made,
                const std::vector<const ChangeRow*>& shown, bool gone, const DiffOptions& options) {
  std::vector<EntityId> entities;
  for (const ChangeRow* row : shown) {
    if (gone != (row->in_after == kNone)) continue;
    entities.push_back(SideOf(sources, made, *row).row.entity);
  }
  return Labels(gone ? *sources.profiles.front() : *sources.profiles.back(),
                gone ? made.before.entities : made.after.entities, std::move(entities),
                options.names, options.layout);
}

}  // namespace

std::string DiffJson(const DiffSources& sources, const Comparison& made,
                     const DiffOptions& options) {
  Json profiles = Json::Array();
  for (size_t i = 0; i < sources.profiles.size(); ++i) {
    Json profile = {{"source", sources.names[i]}, {"figure", made.series[i]}};
    const RecordingFacts& r = sources.profiles[i]->recording;
    if (IsRecorded(r) || r.exact) profile["recording"] = RecordingJson(r);
    profiles.Add(std::move(profile));
  }
  std::vector<const ChangeRow*> shown;
  size_t count = 0;
  for (const ChangeRow& row : made.rows) {
    if (row.figures.kind == ChangeKind::kSame) continue;
    if (options.only_sure && !row.figures.beyond_chance) continue;
    if (++count <= options.rows) shown.push_back(&row);
  }
  const Labels gone = LabelsOf(sources, made, shown, true, options);
  const Labels there = LabelsOf(sources, made, shown, false, options);
  Json rows = Json::Array();
  for (const ChangeRow* row_shown : shown) {
    const ChangeRow& row = *row_shown;
    const Side side = SideOf(sources, made, row);
    Json entry = EntityJson(side.profile, side.report.entities, side.row.entity);
    entry["label"] = (row.in_after == kNone ? gone : there)[side.row.entity];
    entry["place"] =
        side.row.frame == kNone
            ? std::string()
            : PlaceOf(side.profile, side.report.entities.granularity(), side.row.frame);
    if (side.row.frame != kNone && !side.report.entities.joins_calls()) {
      entry["line"] = side.profile.frames[side.row.frame].line;
    }
    entry.Merge(ChangeJson(row.figures, made));
    entry["series"] = row.series;
    rows.Add(std::move(entry));
  }
  const Json json = {{"figure", made.by_allocated ? "alloc_space" : made.after.measures.type},
                     {"unit", made.after.measures.unit},
                     {"granularity", GranularityName(made.after.entities.granularity())},
                     {"same_process", made.same_process},
                     {"by_block", made.by_block},
                     {"profiles", std::move(profiles)},
                     {"notes", sources.notes},
                     {"total", ChangeJson(made.total, made)},
                     {"change_count", count},
                     {"changes", std::move(rows)}};
  return json.Text();
}

std::string DiffCsv(const DiffSources& sources, const Comparison& made) {
  Csv csv;
  csv.Text("kind").Text("before").Text("after").Text("change").Text("change_low");
  csv.Text("change_high").Text("beyond_chance");
  const bool objects = made.has_objects;
  if (objects) csv.Text("objects_before").Text("objects_after");
  if (made.by_block) csv.Text("came").Text("went");
  AddEntityHeadings(&csv);
  if (made.series.size() > 2) {
    for (size_t i = 0; i < made.series.size(); ++i) csv.Text("profile_" + std::to_string(i + 1));
  }
  csv.EndRow();
  for (const ChangeRow& row : made.rows) {
    const Change& c = row.figures;
    csv.Text(ChangeKindName(c.kind)).Number(c.before.value).Number(c.after.value).Number(c.change);
    csv.Number(c.range.low).Number(c.range.high).Text(c.beyond_chance ? "yes" : "no");
    if (objects) csv.Number(c.objects_before).Number(c.objects_after);
    if (made.by_block) csv.Number(c.came.value).Number(c.went.value);
    const Side side = SideOf(sources, made, row);
    AddEntity(side.profile, side.report.entities, side.row.entity, side.row.frame, &csv);
    if (made.series.size() > 2) {
      for (const double value : row.series) csv.Number(value);
    }
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace heapgauge
