#include "core/report/views/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>

#include "core/base/encode.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/report/csv.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/value_text.h"

namespace heapgauge {

StyledText SelectedText(const FunctionReport& report) {
  StyledText text;
  if (report.selected.samples == report.total.samples &&
      report.selected.live_samples == report.total.live_samples) {
    return text;
  }
  text.AddRight("selected", 11, Style::kLabel);
  text.Add(FormatMain(report.selected.live_bytes.value, report.measures), Style::kNumber);
  text.Add(
      fmt::format(" {}, {} of the total; shares are of the total\n", report.measures.name,
                  FormatShare(report.selected.live_bytes.value, report.total.live_bytes.value)));
  return text;
}

std::string MoreText(size_t count, Granularity granularity) {
  std::string what = GranularityName(granularity);
  if (count == 1) {
    what.resize(what.size() - (granularity == Granularity::kAddresses ? 2 : 1));
  }
  return FormatCount(static_cast<double>(count)) + " more " + what;
}

StyledText TopText(const Profile& profile, const FunctionReport& report,
                   const std::vector<std::string>& notes, const TopOptions& options) {
  StyledText text = RecordingText(profile, report.total, notes, options.layout);
  text.Add(SelectedText(report));
  text.Add("\n");
  if (report.rows.empty()) {
    if (report.total.samples != 0 && !profile.recording.exact) {
      return text.Add("The filter leaves nothing.\n");
    }
    if (!IsRecorded(profile.recording)) return text.Add("No samples.\n");
    if (profile.recording.exact) return text.Add(NothingText(profile.recording));
    if (profile.recording.traced) {
      return text.Add(fmt::format(
          "Its figures are in its trace, which can be read while it grows: heapgauge top "
          "{} where run --trace was started, or the FILE of its -o.\n",
          ShellWord(fmt::format("{}.{}.hgt", BaseName(profile.recording.program),
                                profile.recording.pid))));
    }
    if (profile.recording.lost_samples() != 0) {
      return text.Add(fmt::format("All samples were lost: heapgauge doctor {} tells why.\n",
                                  profile.recording.pid));
    }
    return text.Add(IsOver(profile.recording.state)
                        ? "No samples: the program allocated less than about one interval.\n"
                        : "No samples yet: the program has allocated less than about one "
                          "interval.\n");
  }
  text.Add(TopTable(profile, report, 0, options));
  if (options.rows < report.rows.size()) {
    text.Add(fmt::format("{} {} (-n {} shows all)\n", options.layout.ellipsis(),
                         MoreText(report.rows.size() - options.rows, report.entities.granularity()),
                         report.rows.size()),
             Style::kDim);
  }
  return text;
}

namespace {

enum class Column {
  kLive,
  kPlusMinus,
  kRange,
  kShare,
  kBar,
  kObjects,
  kAllocated,
  kAllocatedPlusMinus,
  kAge,
  kChange,
  kGrowth,
};

// As they are shown. Shares stand behind the figure that they are shares of.
constexpr Column kOrder[] = {
    Column::kLive, Column::kPlusMinus, Column::kRange,     Column::kShare,
    Column::kBar,  Column::kObjects,   Column::kAllocated, Column::kAllocatedPlusMinus,
    Column::kAge,  Column::kChange,    Column::kGrowth};
constexpr Column kOrderByAllocated[] = {Column::kAllocated, Column::kAllocatedPlusMinus,
                                        Column::kShare,     Column::kBar,
                                        Column::kLive,      Column::kPlusMinus,
                                        Column::kRange,     Column::kObjects,
                                        Column::kAge,       Column::kChange,
                                        Column::kGrowth};

struct ColumnText {
  const char* heading;
  size_t width;  // with the gap before it
};

ColumnText TextOf(Column column) {
  switch (column) {
    case Column::kLive:
      return {"live", 9};
    case Column::kPlusMinus:
    case Column::kAllocatedPlusMinus:
      return {"\u00b1", 7};
    case Column::kRange:
      return {"95 % range", 15};
    case Column::kShare:
      return {"share", 7};
    case Column::kBar:
      return {"", 11};
    case Column::kObjects:
      return {"objects", 10};
    case Column::kAllocated:
      return {"allocated", 10};
    case Column::kAge:
      return {"age", 7};
    case Column::kChange:
      return {"change", 10};
    case Column::kGrowth:
      return {"growth", 10};
  }
  return {"", 0};
}

// Which columns fit, in the order they are shown.
std::vector<Column> Choose(const TopOptions& options, const FunctionReport& report, bool recorded,
                           bool changes) {
  const Measures& measures = report.measures;
  // A column that would be empty in every row is not there.
  const auto exists = [&](Column column) {
    switch (column) {
      case Column::kObjects:
        return measures.has_objects();
      case Column::kAllocated:
        return measures.has_allocated();
      case Column::kAllocatedPlusMinus:
        return measures.has_allocated() &&
               (measures.has_samples || report.total.allocated_bytes.variance > 0);
      case Column::kPlusMinus:
      case Column::kRange:
        return measures.has_samples || report.total.live_bytes.variance > 0;
      case Column::kAge:
        return recorded;
      default:
        return true;
    }
  };
  constexpr size_t kNameRoom = 42;
  std::vector<Column> wanted;  // the most needed first
  if (changes) wanted = {Column::kGrowth, Column::kChange};
  if (options.sort == SortKey::kAllocated) {
    wanted.insert(wanted.begin(), {Column::kAllocated, Column::kAllocatedPlusMinus});
  }
  if (options.sort == SortKey::kCount) wanted.insert(wanted.begin(), Column::kObjects);
  wanted.insert(wanted.end(), {Column::kPlusMinus, Column::kAge, Column::kRange, Column::kObjects,
                               Column::kAllocated, Column::kAllocatedPlusMinus, Column::kBar});
  std::vector<Column> chosen{Column::kLive, Column::kShare};
  const auto has = [&](Column column) {
    return std::find(chosen.begin(), chosen.end(), column) != chosen.end();
  };
  size_t used = TextOf(Column::kLive).width + TextOf(Column::kShare).width + 2;
  for (const Column column : wanted) {
    if (has(column) || !exists(column)) continue;
    if (column == Column::kAllocatedPlusMinus && !has(Column::kAllocated)) continue;
    size_t width = TextOf(column).width;
    const bool replaces = column == Column::kRange && has(Column::kPlusMinus);
    if (replaces) width -= TextOf(Column::kPlusMinus).width;
    // A figure that the table is sorted by is worth a shorter name.
    const bool sorted = (options.sort == SortKey::kAllocated && column == Column::kAllocated) ||
                        (options.sort == SortKey::kCount && column == Column::kObjects);
    const size_t name_room = sorted                   ? kNameRoom / 2
                             : column == Column::kBar ? kNameRoom + 20
                                                      : kNameRoom;
    if (used + width + name_room > options.layout.width) continue;
    if (replaces) chosen.erase(std::find(chosen.begin(), chosen.end(), Column::kPlusMinus));
    chosen.push_back(column);
    used += width;
  }
  std::vector<Column> ordered;
  const bool by_allocated = options.sort == SortKey::kAllocated && has(Column::kAllocated);
  std::copy_if(by_allocated ? std::begin(kOrderByAllocated) : std::begin(kOrder),
               by_allocated ? std::end(kOrderByAllocated) : std::end(kOrder),
               std::back_inserter(ordered), has);
  return ordered;
}

std::string Bar(double share, size_t width, bool utf8) {
  const double columns = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  if (!utf8) return std::string(static_cast<size_t>(std::lround(columns)), '#');
  static constexpr const char* kEighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                             "\u258c", "\u258b", "\u258a", "\u2589"};
  const auto eighths = static_cast<size_t>(std::lround(columns * 8));
  std::string bar;
  for (size_t i = 0; i < eighths / 8; ++i) bar += "\u2588";
  return bar + kEighths[eighths % 8];
}

void AddChange(double change, size_t width, StyledText* line) {
  // Less than a byte is rounding.
  if (std::fabs(change) < 1) {
    line->AddLeft("-", width, Style::kDim);
  } else {
    line->AddLeft((change > 0 ? "+" : "-") + FormatBytes(std::fabs(change)), width,
                  change > 0 ? Style::kGrowth : Style::kShrink);
  }
}

// What stands in the last column of each row. Names that differ may be equal once they are cut;
// then the place gives its room to the name, and if that is not enough they are numbered.
std::vector<StyledText> NameColumn(const Profile& profile, const FunctionReport& report,
                                   size_t first, size_t end, size_t room,
                                   const TopOptions& options) {
  const Granularity granularity = report.entities.granularity();
  std::vector<EntityId> shown;
  for (size_t i = first; i < end; ++i) shown.push_back(report.rows[i].entity);
  const Labels labels(profile, report.entities, shown, options.names, options.layout);
  std::vector<StyledText> texts(shown.size());
  std::vector<bool> clashes(shown.size(), true);
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::unordered_map<std::string, size_t> seen;
    for (size_t i = 0; i < shown.size(); ++i) {
      if (clashes[i]) {
        // By line the place is part of what the row means.
        const bool has_place = attempt == 0 || granularity == Granularity::kLines;
        const std::string place =
            has_place ? PlaceOf(profile, granularity, report.rows[first + i].frame) : "";
        const std::string number = attempt == 2 ? " #" + std::to_string(i + 1) : "";
        texts[i] = FitLabel(labels[shown[i]], place, granularity,
                            room - std::min(room / 2, number.size()), options.layout);
        texts[i].Add(number);
      }
      ++seen[texts[i].text()];
    }
    for (size_t i = 0; i < shown.size(); ++i) clashes[i] = seen[texts[i].text()] > 1;
  }
  return texts;
}

}  // namespace

StyledText TopTable(const Profile& profile, const FunctionReport& report, size_t first,
                    const TopOptions& options, const std::vector<RowChange>* changes) {
  const Granularity granularity = report.entities.granularity();
  const std::vector<Column> columns =
      Choose(options, report, IsRecorded(profile.recording) && !profile.recording.exact,
             changes != nullptr);
  const std::string& unit = report.measures.unit;
  const size_t main_width =
      std::max(TextOf(Column::kLive).width, DisplayWidth(report.measures.name) + 1);
  size_t left = 2;
  StyledText text;
  for (const Column column : columns) {
    const auto [heading, width] = TextOf(column);
    const bool is_main = column == Column::kLive;
    left += is_main ? main_width : width;
    text.AddLeft(is_main ? report.measures.name.c_str() : heading, is_main ? main_width : width,
                 Style::kHeading);
  }
  std::string what = GranularityName(granularity);
  what.pop_back();
  if (granularity == Granularity::kAddresses) what = "address";
  text.Add("  ").Add(what, Style::kHeading);
  if (options.cumulative) text.Add(" and what it calls", Style::kDim);
  text.Add("\n");

  const size_t end = std::min(first + options.rows, report.rows.size());
  const uint64_t now = profile.recording.duration_ns;
  const size_t room = std::max<size_t>(options.layout.width, left + 12) - left;
  const std::vector<StyledText> names = NameColumn(profile, report, first, end, room, options);
  for (size_t i = first; i < end; ++i) {
    const FunctionRow& row = report.rows[i];
    const HeapFigures& f = options.cumulative ? row.cum : row.flat;
    const bool by_allocated =
        options.sort == SortKey::kAllocated && report.measures.has_allocated();
    const bool by_count = options.sort == SortKey::kCount && report.measures.has_objects();
    // Shares are of what the table is sorted by.
    const auto shared = [&](const HeapFigures& figures) {
      if (by_count) return figures.live_objects;
      return by_allocated ? figures.allocated_bytes.value : figures.live_bytes.value;
    };
    const double part = shared(f);
    const double whole = shared(report.total);
    const bool has_main = f.has_live();
    for (const Column column : columns) {
      const size_t width = TextOf(column).width;
      switch (column) {
        case Column::kLive:
          text.AddLeft(has_main ? FormatMain(f.live_bytes.value, report.measures) : "-", main_width,
                       by_allocated ? Style::kPlain : Style::kNumber);
          break;
        case Column::kPlusMinus: {
          const Interval live = Interval95(f.live_bytes);
          text.AddLeft(FormatPlusMinus(f.live_bytes.value, live.low, live.high), width,
                       Style::kDim);
          break;
        }
        case Column::kRange: {
          const Interval live = Interval95(f.live_bytes);
          text.AddLeft(has_main ? FormatValueRange(live.low, live.high, unit) : "", width,
                       Style::kDim);
          break;
        }
        case Column::kShare:
          text.AddLeft(part != 0 ? FormatShare(part, whole) : "-", width);
          break;
        case Column::kBar:
          text.Add(" ").AddRight(Bar(whole > 0 ? part / whole : 0, width - 1, options.layout.utf8),
                                 width - 1, Style::kBar);
          break;
        case Column::kObjects:
          text.AddLeft(has_main ? FormatMainCount(f.live_objects, report.measures) : "-", width);
          break;
        case Column::kAllocated:
          text.AddLeft(FormatBytes(f.allocated_bytes.value), width,
                       by_allocated ? Style::kNumber : Style::kPlain);
          break;
        case Column::kAllocatedPlusMinus: {
          const Interval allocated = Interval95(f.allocated_bytes);
          text.AddLeft(FormatPlusMinus(f.allocated_bytes.value, allocated.low, allocated.high),
                       width, Style::kDim);
          break;
        }
        case Column::kAge:
          text.AddLeft(f.aged_bytes > 0 ? FormatDuration(f.MeanAge(now)) : "-", width);
          break;
        case Column::kChange:
          AddChange((*changes)[i].since_last, width, &text);
          break;
        case Column::kGrowth:
          AddChange((*changes)[i].since_start, width, &text);
          break;
      }
    }
    text.Add("  ").Add(names[i - first]);
    text.Add("\n");
  }
  return text;
}

std::string TopJson(const Profile& profile, const FunctionReport& report,
                    const std::vector<std::string>& notes, const TopOptions& options) {
  const RecordingFacts& recording = profile.recording;
  HeapFigures total = report.total;
  total.live_bytes = OrNothingSampled(total.live_bytes, recording);
  Json json = {{"recording", RecordingJson(recording)},
               {"profile", ProfileJson(profile, report.measures)},
               {"total", FiguresJson(total, report.measures, recording)},
               {"selected", FiguresJson(report.selected, report.measures, recording)},
               {"notes", notes},
               {"granularity", GranularityName(report.entities.granularity())},
               {"function_count", report.rows.size()}};
  if (!IsRecorded(recording)) json.Remove("recording");  // of other tools
  const size_t count = std::min(options.rows, report.rows.size());
  std::vector<EntityId> shown;
  for (size_t i = 0; i < count; ++i) shown.push_back(report.rows[i].entity);
  const Labels labels(profile, report.entities, shown, options.names, options.layout);
  Json rows = Json::Array();
  for (size_t i = 0; i < count; ++i) {
    const FunctionRow& row = report.rows[i];
    Json entry = EntityJson(profile, report.entities, row.entity);
    entry["label"] = labels[row.entity];
    if (row.frame != kNone && !report.entities.joins_calls()) {
      entry["line"] = profile.frames[row.frame].line;
    }
    entry["flat"] = FiguresJson(row.flat, report.measures, recording);
    entry["cum"] = FiguresJson(row.cum, report.measures, recording);
    rows.Add(std::move(entry));
  }
  json["functions"] = std::move(rows);
  return json.Text();
}

std::string TopCsv(const Profile& profile, const FunctionReport& report,
                   const TopOptions& options) {
  Csv csv;
  AddFigureHeadings(report.measures, "", &csv);
  AddFigureHeadings(report.measures, "cum_", &csv);
  AddEntityHeadings(&csv);
  csv.EndRow();
  for (size_t i = 0; i < std::min(options.rows, report.rows.size()); ++i) {
    const FunctionRow& row = report.rows[i];
    AddFigures(row.flat, report.measures, &csv);
    AddFigures(row.cum, report.measures, &csv);
    AddEntity(profile, report.entities, row.entity, row.frame, &csv);
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace heapgauge
