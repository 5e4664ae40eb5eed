#include "core/report/views/watch_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/base/text.h"
#include "core/report/recording_text.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

// live, allocated, objects, age, growth, and again.
void NextSort(int step, WatchView* view) {
  constexpr int kKeys = 4;
  const int now = view->by_growth ? kKeys : static_cast<int>(view->sort);
  const int next = (now + step + kKeys + 1) % (kKeys + 1);
  view->by_growth = next == kKeys;
  view->sort = view->by_growth ? SortKey::kLive : static_cast<SortKey>(next);
  view->scroll = 0;
}

Granularity Next(Granularity granularity) {
  constexpr int kCount = 5;
  return static_cast<Granularity>((static_cast<int>(granularity) + 1) % kCount);
}

// The beginning of the character before `at`.
size_t Before(const std::string& line, size_t at) {
  if (at == 0) return 0;
  do {
    --at;
  } while (at > 0 && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80);
  return at;
}

size_t Behind(const std::string& line, size_t at) {
  return at < line.size() ? at + GlyphAt(line, at).bytes : at;
}

WatchAction Open(WatchView::Input input, const std::string& pattern, WatchView* view) {
  view->input = input;
  view->line = pattern;
  view->cursor = pattern.size();
  view->message.clear();
  return WatchAction::kDraw;
}

WatchAction Close(WatchView* view) {
  view->input = WatchView::Input::kNothing;
  view->line.clear();
  view->cursor = 0;
  view->message.clear();
  return WatchAction::kDraw;
}

WatchAction Accept(WatchView* view) {
  if (const Status status = CheckPattern(view->line); !status) {
    view->message = status.error().message;
    return WatchAction::kDraw;
  }
  std::string& pattern =
      view->input == WatchView::Input::kFocus ? view->filter.focus : view->filter.ignore;
  pattern = view->line;
  view->scroll = 0;
  Close(view);
  return WatchAction::kCompute;
}

WatchAction Edit(const Key& key, WatchView* view) {
  constexpr size_t kLongest = 500;
  std::string& line = view->line;
  view->message.clear();
  switch (key.kind) {
    case Key::kEnter:
      return Accept(view);
    case Key::kEscape:
    case Key::kInterrupt:
      return Close(view);
    case Key::kText:
      if (line.size() + key.text.size() > kLongest) return WatchAction::kNothing;
      line.insert(view->cursor, key.text);
      view->cursor += key.text.size();
      break;
    case Key::kBackspace: {
      const size_t from = Before(line, view->cursor);
      line.erase(from, view->cursor - from);
      view->cursor = from;
      break;
    }
    case Key::kDelete:
      line.erase(view->cursor, Behind(line, view->cursor) - view->cursor);
      break;
    case Key::kKillLine:
      line.clear();
      view->cursor = 0;
      break;
    case Key::kLeft:
      view->cursor = Before(line, view->cursor);
      break;
    case Key::kRight:
      view->cursor = Behind(line, view->cursor);
      break;
    case Key::kHome:
      view->cursor = 0;
      break;
    case Key::kEnd:
      view->cursor = line.size();
      break;
    default:
      return WatchAction::kNothing;
  }
  return WatchAction::kDraw;
}

WatchAction ScrollTo(size_t row, size_t rows, size_t page, WatchView* view) {
  view->scroll = std::min(row, rows > page ? rows - page : 0);
  return WatchAction::kDraw;
}

WatchAction Letter(const std::string& letter, WatchView* view) {
  const char c = letter.size() == 1 ? letter[0] : '\0';
  switch (c) {
    case 'q':
      return WatchAction::kQuit;
    case 's':
    case 'S':
      NextSort(c == 's' ? 1 : -1, view);
      return WatchAction::kCompute;
    case 'c':
      view->cumulative = !view->cumulative;
      return WatchAction::kCompute;
    case 'g':
      view->granularity = Next(view->granularity);
      view->scroll = 0;
      return WatchAction::kCompute;
    case 'n':
      view->names = view->names == Names::kShort ? Names::kWhole : Names::kShort;
      return WatchAction::kDraw;
    case 'f':
      return Open(WatchView::Input::kFocus, view->filter.focus, view);
    case 'i':
      return Open(WatchView::Input::kIgnore, view->filter.ignore, view);
    case ' ':
      view->frozen = !view->frozen;
      return view->frozen ? WatchAction::kDraw : WatchAction::kRefresh;
    case 'r':
      *view = {};
      return WatchAction::kCompute;
    case 'b':
      return WatchAction::kRestart;
    case '?':
    case 'h':
      view->help = true;
      return WatchAction::kDraw;
    default:
      return WatchAction::kNothing;
  }
}

}  // namespace

WatchAction HandleKey(const Key& key, size_t rows, size_t page, WatchView* view) {
  if (key.kind == Key::kSuspend) return WatchAction::kSuspend;
  if (key.kind == Key::kRedraw) return WatchAction::kDraw;
  if (view->input != WatchView::Input::kNothing) return Edit(key, view);
  if (key.kind == Key::kInterrupt) return WatchAction::kQuit;
  if (view->help) {
    view->help = false;
    return key.kind == Key::kText && key.text == "q" ? WatchAction::kQuit : WatchAction::kDraw;
  }
  switch (key.kind) {
    case Key::kText:
      return Letter(key.text, view);
    case Key::kUp:
      return ScrollTo(view->scroll - std::min<size_t>(view->scroll, 1), rows, page, view);
    case Key::kDown:
      return ScrollTo(view->scroll + 1, rows, page, view);
    case Key::kPageUp:
      return ScrollTo(view->scroll - std::min(view->scroll, page), rows, page, view);
    case Key::kPageDown:
      return ScrollTo(view->scroll + page, rows, page, view);
    case Key::kHome:
      return ScrollTo(0, rows, page, view);
    case Key::kEnd:
      return ScrollTo(rows, rows, page, view);
    default:
      return WatchAction::kNothing;
  }
}

namespace {

constexpr size_t kLinesAround = 5;  // title, live, view, heading of the table, keys

constexpr const char* kHelp[][2] = {
    {"s S", "sort by live, allocated, objects, age, growth; backwards"},
    {"f i", "focus on, ignore stacks with a function that matches; Enter takes it, Esc leaves it"},
    {"c", "figures of a function alone, or with what it calls"},
    {"g", "by function, line, file, module, address"},
    {"n", "names short, or whole"},
    {"space", "freeze, go on"},
    {"b", "growth counts from now on"},
    {"r", "the view as it was at first"},
    {"arrows, PgUp, PgDn, Home, End", "scroll"},
    {"q, Ctrl-C", "quit"},
};

const char* SortTitle(SortKey key) {
  switch (key) {
    case SortKey::kLive:
      break;
    case SortKey::kAllocated:
      return "allocated";
    case SortKey::kCount:
      return "objects";
    case SortKey::kAge:
      return "age";
  }
  return "live";
}

StyledText Title(const WatchData& data, const WatchView& view) {
  const RecordingFacts& r = data.now->recording;
  StyledText text(r.name(), Style::kTitle);
  text.Add(IsRecorded(r) ? fmt::format("  pid {}  ", r.pid) : "  ");
  text.Add(StateText(r), r.state == RecordingState::kLive ? Style::kPlain : Style::kWarning);
  text.Add(fmt::format("  every {}", FormatDuration(data.every_ms * 1'000'000)), Style::kDim);
  if (view.frozen) text.Add("  ").Add(" frozen ", Style::kSelected);
  if (!data.trouble.empty()) text.Add("  ").Add(data.trouble, Style::kWarning);
  return text;
}

bool IsByAllocated(const WatchView& view, const FunctionReport& report) {
  return view.sort == SortKey::kAllocated && !view.by_growth && report.measures.has_allocated();
}

// The figure that is watched.
const Estimate& FigureOf(const HeapFigures& f, bool by_allocated) {
  return by_allocated ? f.allocated_bytes : f.live_bytes;
}

StyledText Totals(const WatchData& data, const WatchView& view, const WatchTable& table) {
  const RecordingFacts& r = data.now->recording;
  StyledText text;
  const Measures& m = table.report.measures;
  const bool by_allocated = IsByAllocated(view, table.report);
  const Estimate& total = FigureOf(table.report.total, by_allocated);
  text.Add((by_allocated ? "allocated" : m.name) + " ", Style::kLabel);
  text.Add(by_allocated ? FormatBytes(total.value) : FormatMain(total.value, m), Style::kNumber);
  if (m.name == "live" && !by_allocated) {
    const std::string live = LiveText(total, r);
    text.Add(live.substr(std::min(live.size(), live.find(" ("))), Style::kDim);
  }
  const auto change = [&](double value, const char* since) {
    text.Add("  ");
    text.Add(FormatChange(value, by_allocated ? "bytes" : m.unit), value >= 1    ? Style::kGrowth
                                                                   : value <= -1 ? Style::kShrink
                                                                                 : Style::kDim);
    text.Add(since, Style::kDim);
  };
  change(table.total.since_last, " since the last look");
  const uint64_t watched =
      r.duration_ns - std::min(r.duration_ns, data.first->recording.duration_ns);
  change(table.total.since_start, (" in " + FormatDuration(watched)).c_str());
  if (r.lost_samples() != 0) {
    text.Add("  ").Add(FormatCount(static_cast<double>(r.lost_samples())) + " samples lost",
                       Style::kWarning);
  }
  return text;
}

StyledText Choices(const WatchData& data, const WatchView& view, const WatchTable& table,
                   size_t page) {
  StyledText text;
  const auto add = [&](const char* label, const std::string& value) {
    if (!text.empty()) text.Add("  ");
    text.Add(label, Style::kLabel).Add(" ").Add(value);
  };
  const RecordingFacts& r = data.now->recording;
  if (!r.moment.empty()) add("time", r.moment);
  if (!r.filter.empty()) add("filter", r.filter);
  add("sort", view.by_growth                ? "growth"
              : view.sort == SortKey::kLive ? table.report.measures.name
                                            : SortTitle(view.sort));
  std::string by = GranularityName(view.granularity);
  add("by", by);
  if (view.cumulative) add("with", "what they call");
  if (view.names == Names::kWhole) add("names", "whole");
  if (!view.filter.focus.empty()) add("focus", Printable(view.filter.focus));
  if (!view.filter.ignore.empty()) add("ignore", Printable(view.filter.ignore));
  const size_t rows = table.report.rows.size();
  if (rows > page) {
    const size_t first = std::min(view.scroll, rows - page);
    add("rows", fmt::format("{}-{} of {}", first + 1, std::min(first + page, rows), rows));
  }
  return text;
}

StyledText LastLine(const WatchView& view, const ScreenSize& size) {
  if (view.input == WatchView::Input::kNothing) {
    // As many as there is room for, whole ones: "space free" would be another key.
    std::string keys;
    for (const char* key : {"q quit", "? help", "space freeze", "s sort", "f focus", "i ignore",
                            "c callers", "n names", "g granularity"}) {
      const std::string with = keys.empty() ? key : keys + "  " + key;
      if (!keys.empty() && with.size() > size.columns) break;
      keys = with;
    }
    return StyledText(keys, Style::kDim);
  }
  StyledText text(view.input == WatchView::Input::kFocus ? "focus: " : "ignore: ", Style::kLabel);
  // The end that is being typed stays in sight.
  const std::string_view line = view.line;
  const size_t room = size.columns > 24 ? size.columns - 24 : 8;
  const std::string_view before = LastColumns(line.substr(0, view.cursor), room);
  const size_t glyph = view.cursor < line.size() ? GlyphAt(line, view.cursor).bytes : 0;
  text.Add(before);
  text.Add(glyph == 0 ? std::string_view(" ") : line.substr(view.cursor, glyph), Style::kSelected);
  text.Add(line.substr(view.cursor + glyph));
  if (!view.message.empty()) text.Add("  ").Add(view.message, Style::kWarning);
  return text;
}

// The figure that is watched by what tells an entity from all others.
std::unordered_map<std::string, double> FigureByIdentity(const Profile& profile,
                                                         const FunctionReport& report,
                                                         const WatchView& view) {
  std::unordered_map<std::string, double> figures;
  for (const FunctionRow& row : report.rows) {
    const HeapFigures& f = view.cumulative ? row.cum : row.flat;
    figures[row.entity == kNone ? "" : IdentityOf(profile, report.entities, row.entity)] =
        FigureOf(f, IsByAllocated(view, report)).value;
  }
  return figures;
}

void SortByGrowth(WatchTable* table) {
  std::vector<size_t> order(table->changes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return table->changes[a].since_start > table->changes[b].since_start;
  });
  std::vector<FunctionRow> rows;
  std::vector<RowChange> changes;
  for (const size_t i : order) {
    rows.push_back(table->report.rows[i]);
    changes.push_back(table->changes[i]);
  }
  table->report.rows = std::move(rows);
  table->changes = std::move(changes);
}

}  // namespace

Result<WatchTable> ComputeWatch(const WatchData& data, const WatchView& view) {
  FunctionOptions options;
  options.filter = view.filter;
  options.granularity = view.granularity;
  options.sort = view.sort;
  options.cumulative = view.cumulative;
  options.flat_only = !view.cumulative;
  WatchTable table;
  HG_ASSIGN(table.report, AggregateFunctions(*data.now, options));
  table.changes.resize(table.report.rows.size());
  const auto compare = [&](const Profile& before, double RowChange::*change) -> Status {
    HG_ASSIGN(const FunctionReport report, AggregateFunctions(before, options));
    const bool by_allocated = IsByAllocated(view, table.report);
    const auto figures = FigureByIdentity(before, report, view);
    for (size_t i = 0; i < table.report.rows.size(); ++i) {
      const FunctionRow& row = table.report.rows[i];
      const HeapFigures& f = view.cumulative ? row.cum : row.flat;
      const auto it = figures.find(
          row.entity == kNone ? "" : IdentityOf(*data.now, table.report.entities, row.entity));
      table.changes[i].*change =
          FigureOf(f, by_allocated).value - (it == figures.end() ? 0 : it->second);
    }
    table.total.*change = FigureOf(table.report.selected, by_allocated).value -
                          FigureOf(report.selected, by_allocated).value;
    return {};
  };
  HG_TRY(compare(*data.last, &RowChange::since_last));
  HG_TRY(compare(*data.first, &RowChange::since_start));
  if (view.by_growth) SortByGrowth(&table);
  return table;
}

size_t WatchPage(const ScreenSize& size) {
  return size.lines > kLinesAround ? size.lines - kLinesAround : 0;
}

std::vector<StyledText> WatchScreen(const WatchData& data, const WatchView& view,
                                    const WatchTable& table, const ScreenSize& size, bool utf8) {
  const size_t page = WatchPage(size);
  std::vector<StyledText> lines;
  lines.push_back(Title(data, view));
  lines.push_back(Totals(data, view, table));
  lines.push_back(Choices(data, view, table, page));
  if (view.help) {
    lines.emplace_back();
    for (const auto& [keys, meaning] : kHelp) {
      StyledText line;
      lines.push_back(line.Add("  ").AddRight(keys, 32, Style::kNumber).Add(meaning));
    }
  } else if (table.report.rows.empty()) {
    lines.emplace_back(table.report.total.samples == 0 ? "No samples yet."
                                                       : "The filter leaves nothing.");
  } else {
    TopOptions options;
    options.rows = page;
    options.layout = {size.columns, utf8};
    options.cumulative = view.cumulative;
    options.sort = view.sort;
    options.names = view.names;
    const size_t rows = table.report.rows.size();
    const size_t first = std::min(view.scroll, rows > page ? rows - page : 0);
    for (StyledText& line :
         TopTable(*data.now, table.report, first, options, &table.changes).Lines()) {
      lines.push_back(std::move(line));
    }
  }
  const size_t body = size.lines > 1 ? size.lines - 1 : 0;
  lines.resize(body);
  lines.push_back(LastLine(view, size));
  if (lines.size() > size.lines) lines.resize(size.lines);
  for (StyledText& line : lines) line = line.Cut(size.columns);
  return lines;
}

}  // namespace heapgauge
