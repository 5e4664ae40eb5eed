#include "core/report/draw/layered.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heapgauge {
namespace {

LayeredGraph Graph(size_t boxes, const std::vector<std::pair<uint32_t, uint32_t>>& arrows) {
  LayeredGraph graph;
  for (size_t i = 0; i < boxes; ++i) {
    LayeredBox box;
    box.width = 60 + 10 * static_cast<double>(i % 5);
    box.height = 20 + 5 * static_cast<double>(i % 3);
    graph.boxes.push_back(box);
  }
  for (const auto& [from, to] : arrows) {
    LayeredArrow arrow;
    arrow.from = from;
    arrow.to = to;
    graph.arrows.push_back(arrow);
  }
  return graph;
}

void ExpectApart(const LayeredGraph& graph) {
  for (size_t a = 0; a < graph.boxes.size(); ++a) {
    const LayeredBox& one = graph.boxes[a];
    EXPECT_GE(one.x - one.width / 2, -1e-6);
    EXPECT_LE(one.x + one.width / 2, graph.width + 1e-6);
    EXPECT_LE(one.y + one.height / 2, graph.height + 1e-6);
    for (size_t b = a + 1; b < graph.boxes.size(); ++b) {
      const LayeredBox& other = graph.boxes[b];
      const bool overlap = std::fabs(one.x - other.x) < (one.width + other.width) / 2 - 1e-6 &&
                           std::fabs(one.y - other.y) < (one.height + other.height) / 2 - 1e-6;
      EXPECT_FALSE(overlap) << a << " and " << b;
    }
  }
}

TEST(Layered, NothingTakesNoRoom) {
  LayeredGraph graph;
  LayOutInLayers(&graph);
  EXPECT_EQ(graph.width, 0);
  EXPECT_EQ(graph.height, 0);
}

TEST(Layered, CallersAreAboveWhatTheyCall) {
  LayeredGraph graph = Graph(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  LayOutInLayers(&graph);
  ExpectApart(graph);
  for (const LayeredArrow& arrow : graph.arrows) {
    EXPECT_LT(graph.boxes[arrow.from].y, graph.boxes[arrow.to].y);
    ASSERT_EQ(arrow.path.size(), 2u);
    EXPECT_LT(arrow.path.front().y, arrow.path.back().y);
  }
  EXPECT_NEAR(graph.boxes[0].x, graph.boxes[3].x, 20) << "a diamond is even";
}

TEST(Layered, AChainIsStraight) {
  LayeredGraph graph = Graph(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  LayOutInLayers(&graph);
  for (const LayeredBox& box : graph.boxes) EXPECT_NEAR(box.x, graph.boxes[0].x, 0.5);
}

TEST(Layered, CyclesAndCallsOfItselfAreDrawn) {
  LayeredGraph graph = Graph(3, {{0, 1}, {1, 2}, {2, 0}, {1, 1}});
  LayOutInLayers(&graph);
  ExpectApart(graph);
  EXPECT_LT(graph.boxes[0].y, graph.boxes[2].y);
  const LayeredArrow& back = graph.arrows[2];
  ASSERT_GE(back.path.size(), 2u);
  EXPECT_GT(back.path.front().y, back.path.back().y) << "it begins at its caller, which is below";
  EXPECT_TRUE(graph.arrows[3].path.empty());
}

TEST(Layered, ALongArrowGoesAroundBoxes) {
  LayeredGraph graph = Graph(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  LayOutInLayers(&graph);
  ASSERT_EQ(graph.arrows[3].path.size(), 4u);
  for (size_t i = 1; i + 1 < 4; ++i) {
    const LayeredPoint& at = graph.arrows[3].path[i];
    EXPECT_GT(std::fabs(at.x - graph.boxes[i].x), graph.boxes[i].width / 2);
  }
}

TEST(Layered, LargeAndTangledGraphsStayApartAndEnd) {
  std::vector<std::pair<uint32_t, uint32_t>> arrows;
  uint32_t random = 7;
  for (int i = 0; i < 600; ++i) {
    random = random * 1664525 + 1013904223;
    const uint32_t from = (random >> 8) % 200;
    random = random * 1664525 + 1013904223;
    arrows.emplace_back(from, (random >> 8) % 200);
  }
  for (uint32_t i = 0; i + 1 < 200; ++i) arrows.emplace_back(i, i + 1);
  LayeredGraph graph = Graph(200, arrows);
  graph.arrows[0].weight = std::nan("");
  graph.arrows[1].weight = -5;
  LayOutInLayers(&graph);
  ExpectApart(graph);
}

TEST(Layered, CrossingsThatCanBeAvoidedAre) {
  LayeredGraph graph = Graph(6, {{0, 5}, {1, 4}, {2, 3}});
  LayOutInLayers(&graph);
  for (const LayeredArrow& a : graph.arrows) {
    for (const LayeredArrow& b : graph.arrows) {
      const double above = graph.boxes[a.from].x - graph.boxes[b.from].x;
      const double below = graph.boxes[a.to].x - graph.boxes[b.to].x;
      EXPECT_GE(above * below, -1e-6);
    }
  }
}

}  // namespace
}  // namespace heapgauge
