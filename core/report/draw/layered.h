// A layout of boxes and arrows in layers, as call graphs are drawn: who calls is above what is
// called, arrows cross as little as a few rounds of sorting can do, and boxes stand near what they
// are joined to.
//
// For pictures inside of other people's programs, where Graphviz is no choice: it keeps its state
// in globals, may run for hours, and must be held to its limits by a child process (render.h). This
// one is a pure function that takes milliseconds for what fits a page, and its work is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapgauge {

struct LayeredBox {
  double width = 0;
  double height = 0;
  double x = 0;  // of the centre; these two are the result
  double y = 0;
};

struct LayeredPoint {
  double x = 0;
  double y = 0;
};

struct LayeredArrow {
  uint32_t from = 0;  // in `boxes`
  uint32_t to = 0;
  double weight = 1;  // heavier ones are kept straighter
  // The result: from the edge of one box to that of the other, by way of these. Of an arrow from a
  // box to itself: none.
  std::vector<LayeredPoint> path;
};

struct LayeredGraph {
  std::vector<LayeredBox> boxes;  // earlier ones are rather placed further up
  std::vector<LayeredArrow> arrows;
  double width = 0;  // the result; everything is at 0 or above
  double height = 0;
};

// REQUIRES: arrows name boxes.
void LayOutInLayers(LayeredGraph* graph);

}  // namespace heapgauge
