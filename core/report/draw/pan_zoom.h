// Makes an SVG picture fill its window, to be dragged with the mouse and zoomed with the wheel.
//
// A pure function. Pictures that are not as Graphviz writes them are returned as they are.
#pragma once

#include <string>

namespace heapgauge {

std::string WithPanAndZoom(std::string svg);

}  // namespace heapgauge
