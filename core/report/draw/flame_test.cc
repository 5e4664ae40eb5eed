#include "core/report/draw/flame.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "core/base/text.h"
#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

Maker Small() {
  Maker m;
  const auto main = m.Function("main");
  m.Row({m.Function("big<int>(a & b)", 12), main}, 3000);
  m.Row({m.Function("small"), main}, 1000);
  return m;
}

struct BoxText {
  long left, width, level;
};

std::map<std::string, BoxText> Boxes(const std::string& svg) {
  std::map<std::string, BoxText> boxes;
  const std::regex box("data-l=\"(\\d+)\" data-w=\"(\\d+)\" data-d=\"(\\d+)\"><title>([^\n<]*)");
  for (std::sregex_iterator it(svg.begin(), svg.end(), box), end; it != end; ++it) {
    boxes[(*it)[4]] = {std::stol((*it)[1]), std::stol((*it)[2]), std::stol((*it)[3])};
  }
  return boxes;
}

TEST(Flame, BoxesAreAsWideAsWhatTheyHold) {
  Maker m = Small();
  auto options = FlameOptions();
  options.names = Names::kWhole;
  const auto svg = FlameSvg(m.profile(), options);
  ASSERT_TRUE(svg);
  const auto boxes = Boxes(*svg);
  ASSERT_EQ(boxes.size(), 4u) << *svg;
  EXPECT_EQ(boxes.at("all").width, 10'000'000);
  EXPECT_EQ(boxes.at("main").width, 10'000'000);
  EXPECT_EQ(boxes.at("main").level, 1);
  const BoxText big = boxes.at("big&lt;int&gt;(a &amp; b)");
  EXPECT_EQ(big.left, 0);
  EXPECT_EQ(big.width, 7'500'000);
  EXPECT_EQ(boxes.at("small").left, 7'500'000);
  EXPECT_EQ(boxes.at("small").width, 2'500'000);
}

TEST(Flame, NamesOutOfFilesCannotBreakTheXml) {
  Maker m;
  m.Row({m.Function("a\x01]]><script>alert(1)</script>\xff\"'&")}, 10);
  const auto svg = FlameSvg(m.profile(), FlameOptions());
  ASSERT_TRUE(svg);
  EXPECT_EQ(svg->find("<script>alert"), std::string::npos);
  EXPECT_EQ(svg->find('\x01'), std::string::npos);
  EXPECT_EQ(svg->find('\xff'), std::string::npos);
}

TEST(Flame, TellsValueShareAndPlace) {
  Maker m = Small();
  const auto svg = FlameSvg(m.profile(), FlameOptions());
  ASSERT_TRUE(svg);
  EXPECT_NE(svg->find("2.9 kB, 75.0%"), std::string::npos) << *svg;
  EXPECT_NE(svg->find("x.cc:12"), std::string::npos);
}

TEST(Flame, TellsWhichTimeAndBlocksOfATraceItShows) {
  Maker m = Small();
  m.profile().recording.exact = true;
  m.profile().recording.moment = "at 12.3s";
  m.profile().recording.filter = "at least 1000 B";
  const auto svg = FlameSvg(m.profile(), FlameOptions());
  ASSERT_TRUE(svg);
  EXPECT_NE(svg->find("3.9 kB (at 12.3s; at least 1000 B)</text>"), std::string::npos) << *svg;
}

TEST(Flame, AnEmptyProfileIsAPictureToo) {
  Maker m;
  const auto svg = FlameSvg(m.profile(), FlameOptions());
  ASSERT_TRUE(svg);
  EXPECT_NE(svg->find("</svg>"), std::string::npos);
}

TEST(Flame, OnATerminalEveryLineIsAsWideAsTheTerminal) {
  Maker m = Small();
  for (const size_t width : {40u, 80u, 161u}) {
    TreeOptions options = FlameOptions();
    options.layout.width = width;
    const auto text = FlameText(m.profile(), {}, options, 20);
    ASSERT_TRUE(text);
    bool found = false;
    for (const StyledText& line : text->Lines()) {
      EXPECT_LE(DisplayWidth(line.text()), width) << line.text();
      if (line.text().find("small") == std::string::npos) continue;
      found = true;
      EXPECT_NE(line.text().find("big"), std::string::npos);
      EXPECT_EQ(DisplayWidth(line.text()), width);
    }
    EXPECT_TRUE(found) << text->text();
  }
}

}  // namespace
}  // namespace heapgauge
