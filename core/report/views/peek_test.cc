#include "core/report/views/peek.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/model/testing/profile_maker.h"
#include "core/report/report_json.h"

namespace heapgauge {
namespace {

using testing::Maker;

Maker Diamond() {
  Maker m;
  const auto main = m.Function("main");
  const auto left = m.Function("left");
  const auto right = m.Function("right");
  const auto shared = m.Function("shared");
  const auto leaf = m.Function("leaf");
  m.Row({leaf, shared, left, main}, 1000);
  m.Row({leaf, shared, right, main}, 3000);
  m.Row({shared, right, main}, 500);
  // A function that calls itself by way of another counts once.
  m.Row({shared, right, shared, right, main}, 200);
  return m;
}

TEST(Peek, SharesOfCallersAddUpToTheFunction) {
  Maker m = Diamond();
  PeekOptions options;
  options.pattern = "^shared$";
  const auto text = PeekJson(m.profile(), options);
  ASSERT_TRUE(text) << text.error().message;
  const auto json = nlohmann::json::parse(*text);
  ASSERT_EQ(json["functions"].size(), 1u);
  const auto& f = json["functions"][0];
  EXPECT_EQ(f["cum"]["live_bytes"]["value"], 4700);
  EXPECT_EQ(f["flat"]["live_bytes"]["value"], 700);
  ASSERT_EQ(f["callers"].size(), 2u);
  EXPECT_EQ(f["callers"][0]["function"], "right");
  EXPECT_EQ(f["callers"][0]["figures"]["live_bytes"]["value"], 3700);
  EXPECT_EQ(f["callers"][1]["figures"]["live_bytes"]["value"], 1000);
  EXPECT_EQ(f["callees"][0]["function"], "leaf");
  EXPECT_EQ(f["callees"][0]["figures"]["live_bytes"]["value"], 4000);
}

TEST(Peek, FindsAFunctionByTheNameThatIsShown) {
  Maker m;
  m.Row({m.Function("a_new(unsigned long)"), m.Function("main")}, 100);
  PeekOptions options;
  options.pattern = "^a_new$";
  const auto text = PeekJson(m.profile(), options);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(nlohmann::json::parse(*text)["functions"].size(), 1u);
}

TEST(Peek, TextHasCallersAboveAndCalleesBelow) {
  Maker m = Diamond();
  PeekOptions options;
  options.pattern = "shared";
  for (const size_t width : {60u, 80u, 160u}) {
    options.layout.width = width;
    const auto made = PeekText(m.profile(), {}, options);
    ASSERT_TRUE(made);
    const std::string text = made->text();
    EXPECT_LT(text.find("right"), text.find("shared x.cc"));
    EXPECT_LT(text.find("shared x.cc"), text.find("leaf"));
    EXPECT_NE(text.find("(itself)"), std::string::npos) << text;
    for (const StyledText& line : made->Lines()) EXPECT_LE(DisplayWidth(line.text()), width);
  }
}

TEST(Peek, ByBlocksShowsBlocks) {
  Maker m;
  const auto main = m.Function("main");
  m.Row({m.Function("empty"), main}, 0);
  m.Row({m.Function("one"), main}, 5);
  m.profile().value(0, kInuseObjects) = 300;
  m.profile().value(1, kInuseObjects) = 100;
  for (Row& row : m.profile().rows) row.samples = row.live_samples = 0;
  PeekOptions options;
  options.pattern = "^main$";
  std::string text = PeekText(m.profile(), {}, options)->text();
  EXPECT_NE(text.find("0 B    0.0%  \u2502   empty"), std::string::npos) << text;
  options.sort = SortKey::kCount;
  text = PeekText(m.profile(), {}, options)->text();
  for (const char* part : {"objects   share", "400    100%  main", "300   75.0%  \u2502   empty",
                           "100   25.0%  \u2502   one"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Peek, SaysThatNothingMatches) {
  Maker m = Diamond();
  PeekOptions options;
  options.pattern = "nothing";
  EXPECT_FALSE(PeekText(m.profile(), {}, options));
  options.pattern = "(";
  EXPECT_FALSE(PeekText(m.profile(), {}, options));
}

TEST(ProfileJson, HasEverythingThatTheProfileHas) {
  Maker m = Diamond();
  Profile& p = m.profile();
  p.strings = {"thread", "worker \"1\"", "bytes"};
  p.labels = {{0, 1, kNone, 0}, {2, kNone, kNone, 64}};
  p.label_sets = {{0, 2}};
  p.rows[1].labels = 0;
  StringSink sink;
  ASSERT_TRUE(WriteProfileJson(p, {"a note"}, {true, true, false, true}, &sink));
  const auto json = nlohmann::json::parse(sink.text());
  EXPECT_EQ(json["samples"].size(), 3u);
  EXPECT_EQ(json["samples"][1]["values"][kInuseSpace], 3000);
  EXPECT_EQ(json["samples"][1]["labels"][0]["text"], "worker \"1\"");
  EXPECT_EQ(json["samples"][1]["labels"][1]["number"], 64);
  const auto& inner = json["locations"][json["samples"][0]["stack"][0].get<size_t>()];
  EXPECT_EQ(json["functions"][inner["frames"][0]["function"].get<size_t>()]["name"], "leaf");
  EXPECT_EQ(json["profile"]["sample_type"], "inuse_space");
  EXPECT_EQ(json["notes"][0], "a note");
}

}  // namespace
}  // namespace heapgauge
