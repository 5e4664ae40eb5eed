// Graphviz, found at run time. For the child process of render.cc alone: the library keeps its
// state in globals and reports errors by printing.
//
// Not synchronised.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>

namespace heapgauge {

// How much of a graph is drawn and how carefully.
struct Effort {
  bool careful = true;   // the library's own settings; false: straight lines, few iterations
  size_t max_nodes = 0;  // 0 all; otherwise boxes of labels go first, then the last nodes
};

struct Drawn {
  bool ok = false;
  std::string error;    // one line, if not ok
  size_t left_out = 0;  // nodes
};

// Draws to `out`.
Drawn DrawWithGraphviz(const std::string& dot, const std::string& format, const Effort& effort,
                       FILE* out);

}  // namespace heapgauge
