#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/model/testing/profile_maker.h"
#include "core/report/views/watch_view.h"

namespace heapgauge {
namespace {

using testing::Maker;

constexpr double kScreenMb = 1 << 20;

// Three looks at a program in which Leak() grows by 10 MB each time.
class Watch : public ::testing::Test {
 protected:
  Watch() {
    for (int i = 0; i < 3; ++i) {
      Maker m;
      const auto main_ = m.Function("main", 5, "/src/main.cc");
      for (int k = 0; k < 30; ++k) {
        m.Row({m.Function("Steady" + std::to_string(k) + "(int)", 1, "/src/a.cc"), main_},
              5 * kScreenMb + k);
      }
      m.Row({m.Function("Leak(int)", 7, "/src/leak.cc"), main_}, 10 * kScreenMb * (i + 1));
      if (i == 2) m.Row({m.Function("New()", 7, "/src/new.cc"), main_}, 3 * kScreenMb);
      m.profile().recording.command_line = {"server"};
      m.profile().recording.pid = 42;
      m.profile().recording.state = RecordingState::kLive;
      m.profile().recording.duration_ns = 1'000'000'000ull * (10 + 2 * i);
      looks_[i] = m.profile();
    }
    data_.first = &looks_[0];
    data_.last = &looks_[1];
    data_.now = &looks_[2];
  }

  std::string Screen(size_t columns = 100, size_t lines = 20, bool utf8 = true) {
    const auto table = ComputeWatch(data_, view_);
    if (!table) return table.error().message;
    rows_ = table->report.rows.size();
    page_ = WatchPage({columns, lines});
    std::string text;
    const auto screen = WatchScreen(data_, view_, *table, {columns, lines}, utf8);
    EXPECT_LE(screen.size(), lines);
    for (const StyledText& line : screen) {
      EXPECT_LE(DisplayWidth(line.text()), columns) << line.text();
      text += line.text() + "\n";
    }
    return text;
  }

  WatchAction Press(const std::string& letters) {
    WatchAction action = WatchAction::kNothing;
    for (const char c : letters) action = HandleKey({Key::kText, {c}}, rows_, page_, &view_);
    return action;
  }
  WatchAction Press(Key::Kind kind) { return HandleKey({kind, ""}, rows_, page_, &view_); }

  Profile looks_[3];
  WatchData data_;
  WatchView view_;
  size_t rows_ = 32;
  size_t page_ = 15;
};

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Watch, ShowsWhatGrew) {
  const std::string screen = Screen();
  for (const char* part :
       {"server  pid 42  running for 14s", "every 2.0s", "+13.0 MB since the last look",
        "+23.0 MB in 4.0s", "change", "growth", "rows 1-15 of 32", "q quit"}) {
    EXPECT_TRUE(Contains(screen, part)) << part << "\n" << screen;
  }
  const std::string leak = screen.substr(screen.find("  30.0 MB"), 100);
  EXPECT_TRUE(Contains(leak.substr(0, leak.find('\n')), "+10.0 MB  +20.0 MB")) << leak;
  EXPECT_TRUE(Contains(leak.substr(0, leak.find('\n')), "Leak")) << leak;
}

TEST_F(Watch, TellsWhatTheFiguresOfATraceAre) {
  for (Profile& look : looks_) {
    look.recording.exact = true;
    look.recording.moment = "from 2s to the end";
    look.recording.filter = "at least 1000 B";
    look.sample_types = {{"alloc_objects", "count"}, {"allocated_space", "bytes"}};
    look.default_type = 1;
    look.values.clear();
    look.estimates.clear();
    for (RowId row = 0; row < look.rows.size(); ++row) {
      look.values.insert(look.values.end(), {1, 1000});
    }
  }
  const std::string screen = Screen(120);
  for (const char* part : {"time from 2s to the end", "filter at least 1000 B", "sort allocated"}) {
    EXPECT_TRUE(Contains(screen, part)) << part << "\n" << screen;
  }
  EXPECT_FALSE(Contains(screen, "live ")) << screen;
}

TEST_F(Watch, ChangesAreThoseOfTheFigureItIsSortedBy) {
  for (int64_t i = 0; i < 3; ++i) looks_[i].value(0, kAllocSpace) = (i + 1) << 30;
  view_.sort = SortKey::kAllocated;
  const std::string screen = Screen(120);
  for (const char* part : {"allocated 3.0 GB", "+1.0 GB since the last look", "+2.0 GB in 4.0s",
                           "sort allocated", "+1.0 GB   +2.0 GB"}) {
    EXPECT_TRUE(Contains(screen, part)) << part << "\n" << screen;
  }
}

TEST_F(Watch, TheLineOfKeysLeavesOutWholeOnes) {
  EXPECT_TRUE(Contains(Screen(80, 24), "q quit  ? help  space freeze  s sort"));
  EXPECT_FALSE(Contains(Screen(80, 24), "gran"));
  EXPECT_TRUE(Contains(Screen(120, 24), "g granularity"));
}

TEST_F(Watch, EveryScreenFits) {
  for (const size_t columns : {40u, 80u, 200u}) {
    for (size_t lines = 2; lines < 60; lines += 7) {
      view_ = {};
      Screen(columns, lines);
      Press("f");
      Press(std::string(300, 'x'));
      Screen(columns, lines);
      Press(Key::kEscape);
      Press("?");
      Screen(columns, lines, false);
    }
  }
}

TEST_F(Watch, SortCyclesBothWays) {
  EXPECT_EQ(Press("s"), WatchAction::kCompute);
  EXPECT_EQ(view_.sort, SortKey::kAllocated);
  Press("ss");
  EXPECT_EQ(view_.sort, SortKey::kAge);
  Press("s");
  EXPECT_TRUE(view_.by_growth);
  Press("s");
  EXPECT_EQ(view_.sort, SortKey::kLive);
  EXPECT_FALSE(view_.by_growth);
  Press("SS");
  EXPECT_EQ(view_.sort, SortKey::kAge);
  EXPECT_TRUE(Contains(Screen(), "sort age"));
}

TEST_F(Watch, SortsByGrowth) {
  Press("S");
  const std::string screen = Screen(100, 7);  // two rows
  EXPECT_TRUE(Contains(screen, "sort growth")) << screen;
  EXPECT_TRUE(Contains(screen, "Leak")) << screen;
  EXPECT_TRUE(Contains(screen, "New")) << "smaller than all that is steady, but it grew\n"
                                       << screen;
}

TEST_F(Watch, FocusIsTypedAndEdited) {
  Press("fLekk");
  EXPECT_TRUE(Contains(Screen(), "focus: Lekk"));
  Press(Key::kBackspace);
  Press(Key::kLeft);
  Press("a");
  EXPECT_EQ(view_.line, "Leak");
  EXPECT_EQ(Press(Key::kEnter), WatchAction::kCompute);
  EXPECT_EQ(view_.filter.focus, "Leak");
  const std::string screen = Screen();
  EXPECT_TRUE(Contains(screen, "focus Leak")) << screen;
  EXPECT_FALSE(Contains(screen, "Steady")) << screen;
  EXPECT_TRUE(Contains(screen, "+10.0 MB since the last look")) << "of what is selected";
  Press("i");
  Press("Le");
  Press(Key::kEscape);
  EXPECT_EQ(view_.filter.ignore, "");
  Press("f");
  Press(Key::kKillLine);
  Press(Key::kEnter);
  EXPECT_EQ(view_.filter.focus, "");
}

TEST_F(Watch, ABadPatternIsSaidAndCanBeMended) {
  Press("f(");
  EXPECT_EQ(Press(Key::kEnter), WatchAction::kDraw);
  EXPECT_TRUE(Contains(Screen(), "is not a regular expression")) << Screen();
  EXPECT_EQ(view_.filter.focus, "") << "the old one holds";
  Press("q)");
  EXPECT_EQ(Press(Key::kEnter), WatchAction::kCompute) << "q was typed, not obeyed";
  EXPECT_EQ(view_.filter.focus, "(q)");
  EXPECT_TRUE(Contains(Screen(), "The filter leaves nothing"));
}

TEST_F(Watch, ScrollsWithinTheTable) {
  Screen();
  Press(Key::kUp);
  EXPECT_EQ(view_.scroll, 0u);
  Press(Key::kPageDown);
  EXPECT_EQ(view_.scroll, 15u);
  Press(Key::kPageDown);
  Press(Key::kDown);
  EXPECT_EQ(view_.scroll, 17u) << "the last page is full";
  EXPECT_TRUE(Contains(Screen(), "rows 18-32 of 32"));
  Press(Key::kHome);
  EXPECT_EQ(view_.scroll, 0u);
}

TEST_F(Watch, TheRestOfTheKeys) {
  EXPECT_EQ(Press(" "), WatchAction::kDraw);
  EXPECT_TRUE(Contains(Screen(), " frozen "));
  EXPECT_EQ(Press(" "), WatchAction::kRefresh);
  Press("g");
  EXPECT_EQ(view_.granularity, Granularity::kLines);
  Press("g");
  EXPECT_TRUE(Contains(Screen(), "/src/leak.cc"));
  EXPECT_EQ(Press("c"), WatchAction::kCompute);
  EXPECT_TRUE(Contains(Screen(), "/src/main.cc"));
  Press("n");
  EXPECT_TRUE(Contains(Screen(), "names whole"));
  EXPECT_EQ(Press("r"), WatchAction::kCompute);
  EXPECT_FALSE(view_.cumulative);
  EXPECT_EQ(Press("b"), WatchAction::kRestart);
  Press("?");
  EXPECT_TRUE(Contains(Screen(100, 30), "Ctrl-C"));
  Press("x");
  EXPECT_FALSE(view_.help);
  EXPECT_EQ(Press("x"), WatchAction::kNothing);
  EXPECT_EQ(Press("q"), WatchAction::kQuit);
  EXPECT_EQ(Press(Key::kInterrupt), WatchAction::kQuit);
}

TEST_F(Watch, AnEndedProgramIsSaidToHaveEnded) {
  looks_[2].recording.state = RecordingState::kKilled;
  EXPECT_TRUE(Contains(Screen(), "killed after 14s"));
  data_.trouble = "the gauge file is gone";
  EXPECT_TRUE(Contains(Screen(), "the gauge file is gone"));
}

TEST_F(Watch, AnEmptyProfileIsNoTrouble) {
  Maker m;
  data_.now = data_.last = data_.first = &m.profile();
  EXPECT_TRUE(Contains(Screen(), "No samples yet"));
}

}  // namespace
}  // namespace heapgauge
