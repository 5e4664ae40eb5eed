#include "core/report/draw/render.h"

#include <gtest/gtest.h>

#include <string>

#include "core/report/draw/svg_scripts.h"

namespace heapgauge {
namespace {

// Skips where Graphviz is not installed, which is how people may have it.
#define HG_NEED_GRAPHVIZ()                                                   \
  if (const auto probe = RenderDot("digraph {a}", "svg");                    \
      !probe && probe.error().message.find("libgvc") != std::string::npos) { \
    GTEST_SKIP() << probe.error().message;                                   \
  }

TEST(RenderDot, DrawsEveryNodeAndEdgeAsSvg) {
  HG_NEED_GRAPHVIZ();
  const auto svg = RenderDot("digraph g { first -> second; third }", "svg");
  ASSERT_TRUE(svg) << svg.error().message;
  for (const char* name : {"first", "second", "third"}) {
    EXPECT_NE(svg->find(name), std::string::npos) << name;
  }
  EXPECT_NE(svg->find("class=\"edge\""), std::string::npos);
}

TEST(RenderDot, WritesEachFormatInItsOwnBytes) {
  HG_NEED_GRAPHVIZ();
  const std::pair<const char*, std::string> kStarts[] = {
      {"svg", "<?xml"}, {"png", "\x89PNG"}, {"gif", "GIF8"}, {"ps", "%!PS"}, {"pdf", "%PDF"}};
  for (const auto& [format, start] : kStarts) {
    const auto picture = RenderDot("digraph { a -> b }", format);
    ASSERT_TRUE(picture) << format << ": " << picture.error().message;
    EXPECT_EQ(picture->substr(0, start.size()), start) << format;
  }
}

TEST(RenderDot, RefusesUnknownFormatsAndBrokenGraphs) {
  const auto format = RenderDot("digraph {}", "bmp3");
  ASSERT_FALSE(format);
  EXPECT_EQ(format.error().code, ErrorCode::kInvalidArgument);
  HG_NEED_GRAPHVIZ();
  const auto graph = RenderDot("digraph { a -> ", "svg");
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().message.find("dot language"), std::string::npos);
}

TEST(RenderDot, LeavesLabelBoxesAndLastNodesOutWhenTimeIsShort) {
  HG_NEED_GRAPHVIZ();
  // A dense graph that the layout cannot finish in the time given, at any effort but the least.
  std::string dot = "digraph {\n";
  constexpr int kNodes = 1500;
  for (int i = 0; i < kNodes; ++i) {
    dot += "N" + std::to_string(i) + " [label=\"node number " + std::to_string(i) + "\"]\n";
    dot += "N" + std::to_string(i) + "_0 [shape=box3d]\n";
  }
  for (int i = 0; i < kNodes; ++i) {
    dot += "N" + std::to_string(i) + " -> N" + std::to_string(i) + "_0\n";
    for (int k = 1; k <= 6; ++k) {
      dot += "N" + std::to_string(i) + " -> N" + std::to_string((i * 7919 + k * 104729) % kNodes) +
             "\n";
    }
  }
  dot += "}\n";
  std::vector<std::string> notes;
  const auto svg = RenderDot(dot, "svg", &notes, {3, uint64_t{1} << 30});
  if (!svg) {  // a machine this busy cannot draw even the least: then it must say so
    EXPECT_NE(svg.error().message.find("takes too long"), std::string::npos);
    return;
  }
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("not in the picture"), std::string::npos) << notes[0];
  EXPECT_NE(svg->find("node number 0<"), std::string::npos);
  EXPECT_EQ(svg->find("node number 1499<"), std::string::npos);
}

TEST(PanAndZoom, FillsTheWindowAndKeepsThePictureWhole) {
  const std::string svg =
      "<?xml version=\"1.0\"?>\n<svg width=\"62pt\" height=\"116pt\" viewBox=\"0 0 62 116\">\n"
      "<g width=\"3\"/></svg>\n";
  const std::string made = WithPanAndZoom(svg);
  EXPECT_NE(made.find("<svg width=\"100%\" height=\"100%\" viewBox=\"0 0 62 116\">"),
            std::string::npos);
  EXPECT_NE(made.find("<g width=\"3\"/>"), std::string::npos);
  EXPECT_NE(made.find("</script>\n</svg>\n"), std::string::npos);
}

TEST(PanAndZoom, LeavesWhatIsNoPictureAsItIs) {
  for (const char* text : {"", "nothing", "<svg", "</svg><svg>"}) {
    EXPECT_EQ(WithPanAndZoom(text), text);
  }
}

}  // namespace
}  // namespace heapgauge
