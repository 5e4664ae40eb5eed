#include "core/report/views/tree.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

using testing::Maker;

constexpr double kMegabyte = 1 << 20;

Maker Shop() {
  Maker m;
  const auto add = m.Function("Cart::Add(int)", 12, "cart.cc");
  m.InlinedInto(add, "Cart::AddAll()", 20, "cart.cc");
  const auto load = m.Function("Catalogue::Load()", 7, "catalogue.cc");
  const auto small = m.Function("Small()", 1, "small.cc");
  const auto serve = m.Function("Serve(int)", 33, "main.cc");
  const auto main_ = m.Function("main", 5, "main.cc");
  m.Row({add, serve, main_}, 60 * kMegabyte, 90 * kMegabyte);
  m.Row({load, serve, main_}, 39.8 * kMegabyte, 40 * kMegabyte);
  m.Row({small, serve, main_}, 0.2 * kMegabyte, 100 * kMegabyte);
  return m;
}

// The table without the header of the report.
std::string Drawn(const Profile& profile, const TreeOptions& options) {
  const auto text = TreeText(profile, {}, options);
  if (!text) return text.error().message;
  return text->text().substr(text->text().find("\n\n") + 2);
}

TreeOptions Narrow() {
  TreeOptions options;
  options.layout.width = 80;
  return options;
}

TEST(Tree, ShowsBranchesAndFoldsSmallOnes) {
  Maker m = Shop();
  EXPECT_EQ(Drawn(m.profile(), Narrow()),
            "      live      ±  share  calls\n"
            "    100 MB          100%  main main.cc:5\n"
            "    100 MB          100%  Serve main.cc:33\n"
            "   60.0 MB         60.0%  ├─ Cart::AddAll cart.cc:20\n"
            "   60.0 MB         60.0%  │  Cart::Add cart.cc:12 (inlined)\n"
            "   39.8 MB         39.8%  ├─ Catalogue::Load catalogue.cc:7\n"
            "    205 kB          0.2%  └─ … 1 more branch\n");
}

TEST(Tree, BeginsWithWhatAllocatesIfAsked) {
  Maker m = Shop();
  TreeOptions options = Narrow();
  options.callers = true;
  options.fold = 50;
  EXPECT_EQ(Drawn(m.profile(), options),
            "      live      ±  share  what allocates, then its callers\n"
            "   60.0 MB         60.0%  ├─ Cart::Add cart.cc:12 (inlined)\n"
            "   60.0 MB         60.0%  │  Cart::AddAll cart.cc:20\n"
            "   60.0 MB         60.0%  │  Serve main.cc:33\n"
            "   60.0 MB         60.0%  │  main main.cc:5\n"
            "   40.0 MB         40.0%  └─ … 2 more branches\n");
}

TEST(Tree, CompressesChains) {
  Maker m = Shop();
  TreeOptions options = Narrow();
  options.compress = true;
  const std::string text = Drawn(m.profile(), options);
  EXPECT_NE(text.find("main › Serve"), std::string::npos) << text;
  EXPECT_NE(text.find("├─ Cart::AddAll › Cart::Add"), std::string::npos) << text;
  EXPECT_NE(text.find("└─ … 1 more branch"), std::string::npos) << text;
}

TEST(Tree, SortsByWhatItIsAskedFor) {
  Maker m = Shop();
  TreeOptions options = Narrow();
  options.sort = SortKey::kAllocated;
  const std::string text = Drawn(m.profile(), options);
  EXPECT_LT(text.find("Small"), text.find("Cart::AddAll")) << text;
  options.filter.focus = "Cart";
  EXPECT_EQ(Drawn(m.profile(), options).find("Small"), std::string::npos);
  options.filter.focus = "(";
  EXPECT_NE(Drawn(m.profile(), options).find("not a regular expression"), std::string::npos);
}

TEST(Tree, JsonHasParentsBeforeChildren) {
  Maker m = Shop();
  const auto json = nlohmann::json::parse(TreeJson(m.profile(), {"n"}, Narrow()).value());
  const auto& nodes = json["nodes"];
  ASSERT_EQ(nodes.size(), 6u);
  EXPECT_TRUE(nodes[0]["parent"].is_null());
  EXPECT_EQ(nodes[1]["function"], "main");
  EXPECT_EQ(nodes[2]["parent"], 1);
  EXPECT_EQ(nodes[2]["folded"]["branches"], 1);
  EXPECT_EQ(nodes[4]["inlined"], true);
  EXPECT_EQ(nodes[4]["figures"]["live_bytes"]["value"], 60 * kMegabyte);
}

TEST(Tree, DeepAndWideOnesFitTheTerminal) {
  Maker m;
  std::vector<LocationId> stack;
  std::vector<LocationId> names;
  for (int i = 0; i < 40; ++i) {
    names.push_back(m.Function("ns::Some<int>::RatherLongName" + std::to_string(i) + "(int)"));
  }
  // Every call has a second branch, so that each indents.
  for (int depth = 0; depth < 40; ++depth) {
    stack.insert(stack.begin(), names[static_cast<size_t>(depth)]);
    m.Row(stack, kMegabyte);
  }
  std::vector<LocationId> side = stack;
  for (int depth = 0; depth < 40; ++depth) {
    side.front() = m.Function("side" + std::to_string(depth));
    m.Row(side, kMegabyte);
    side.erase(side.begin());
  }
  for (const size_t width : {60u, 80u, 120u, 200u}) {
    for (const bool utf8 : {true, false}) {
      TreeOptions options;
      options.layout = {width, utf8};
      options.fold = 0;
      const auto text = TreeText(m.profile(), {}, options);
      ASSERT_TRUE(text);
      for (const StyledText& line : text->Lines()) {
        EXPECT_LE(DisplayWidth(Render(line, {false, utf8})), width) << line.text();
      }
    }
  }
}

TEST(Tree, SaysWhenThereIsNothing) {
  Maker m;
  EXPECT_EQ(Drawn(m.profile(), {}), "No samples.\n");
  m.Row({m.Function("f")}, 0, 100);
  EXPECT_EQ(Drawn(m.profile(), {}), "Nothing is live; --sort allocated shows what was.\n");
  Profile& p = m.profile();
  p.sample_types[kInuseObjects].name = "lifetime_objects";
  p.sample_types[kInuseSpace].name = "lifetime_space";
  EXPECT_EQ(Drawn(p, {}), "Everything is zero.\n") << "that is about what is live";
}

}  // namespace
}  // namespace heapgauge
