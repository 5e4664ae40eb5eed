#include "core/report/views/watch_view.h"

#include <algorithm>

#include "core/base/columns.h"

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

}  // namespace heapgauge
