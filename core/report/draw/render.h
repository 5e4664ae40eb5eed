// Pictures of graphs: text in the dot language becomes SVG, PNG, GIF, PostScript or PDF.
//
// The layout is Graphviz's, through its library; the program `dot` is not needed. The library is
// loaded only when a picture is asked for, so that everything else works where it is not installed,
// and it works in a child process with limits on time and memory: some graphs keep it busy for
// hours. When a layout takes too long it is tried again with cheaper settings, then with fewer
// nodes; the notes tell.
//
// May be called from any thread; forks. Takes no longer than the sum of RenderLimits::seconds over
// all attempts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace heapgauge {

struct RenderLimits {
  double seconds = 10;                        // for each attempt
  uint64_t memory_bytes = uint64_t{2} << 30;  // beyond what this process has
};

// `format` is svg, png, gif, ps or pdf. `notes` gets a line for whatever had to be left out, and
// may be null.
Result<std::string> RenderDot(const std::string& dot, const std::string& format,
                              std::vector<std::string>* notes = nullptr,
                              const RenderLimits& limits = {});

}  // namespace heapgauge
