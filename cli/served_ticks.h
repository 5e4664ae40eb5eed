// Ticks the timelines of the processes that `serve` shows, as `run` does for its own: a program
// that allocates little would have gaps in it, and nobody else notes its resident memory.
//
// Single-threaded. Files that may not be written are left alone.
#pragma once

#include <map>
#include <string>

#include "core/gauge/gauge_ticker.h"
#include "endpoint/base/process.h"

namespace heapgauge::cli {

class ServedTicks {
 public:
  // To be called once a second.
  void Tick(endpoint::Processes* processes);

 private:
  std::map<std::string, GaugeTicker> tickers_;
};

}  // namespace heapgauge::cli
