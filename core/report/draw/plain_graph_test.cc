#include "core/report/draw/drawn_graph.h"

#include <gtest/gtest.h>

#include "core/model/testing/profile_maker.h"

namespace heapgauge {
namespace {

std::string Draw(Profile profile, size_t type = kInuseSpace) {
  pprof::ReportRequest request;
  request.kind = pprof::ReportKind::kDot;
  const auto input = PrepareGraph(std::move(profile), request, type, Names::kShort);
  EXPECT_TRUE(input.has_value());
  return input ? PlainGraphSvg(*input) : "";
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(PlainGraph, HasABoxForEachFunctionAndAnArrowForEachCall) {
  testing::Maker m;
  const auto main = m.Function("main");
  const auto f = m.Function("Server::Load(int)");
  const auto g = m.Function("Parse");
  m.Row({f, main}, 6 << 20);
  m.Row({g, f, main}, 2 << 20);
  const std::string svg = Draw(m.profile());
  EXPECT_EQ(Count(svg, "<g class=\"node\">"), 3u);
  EXPECT_EQ(Count(svg, "<g class=\"edge\">"), 2u);
  EXPECT_NE(svg.find("Server::Load"), std::string::npos);
  EXPECT_NE(svg.find("6MB (75.00%)"), std::string::npos);
  EXPECT_NE(svg.find("of 8MB (100%)"), std::string::npos);
  EXPECT_NE(svg.find("Type: inuse_space"), std::string::npos);
}

TEST(PlainGraph, NamesAreEscaped) {
  testing::Maker m;
  m.Row({m.Function("<script>alert(\"1\")</script>&\x01")}, 1 << 20);
  m.Module("/bin/<b>\"x\"");
  const std::string svg = Draw(m.profile());
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_NE(svg.find("&lt;script&gt;"), std::string::npos);
}

TEST(PlainGraph, AProfileWithoutRowsIsALegend) {
  testing::Maker m;
  const std::string svg = Draw(m.profile());
  EXPECT_EQ(Count(svg, "<g class=\"node\">"), 0u);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(PlainGraph, DifferencesAndRecursionAreDrawn) {
  testing::Maker m;
  const auto f = m.Function("Walk");
  m.Row({f, f, f}, -(3 << 20));
  m.Row({m.Function("Other"), f}, 1 << 20);
  const std::string svg = Draw(m.profile());
  EXPECT_EQ(Count(svg, "<g class=\"node\">"), 2u);
  EXPECT_NE(svg.find("-3MB"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge
