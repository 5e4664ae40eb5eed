#include "cli/served_ticks.h"

#include <utility>

#include "core/gauge/gauge_directory.h"
#include "core/os/process.h"
#include "endpoint/base/gauge_process.h"

namespace heapgauge::cli {

void ServedTicks::Tick(endpoint::Processes* processes) {
  std::map<std::string, GaugeTicker> still;
  for (const auto& process : processes->List()) {
    const auto* gauge = dynamic_cast<const endpoint::GaugeProcess*>(process.get());
    if (gauge == nullptr) continue;
    const auto owner = ReadOwner(gauge->path());
    const uint32_t pid = owner ? RunningAs(*owner) : 0;
    if (pid == 0) continue;
    auto known = tickers_.extract(gauge->path());
    if (known.empty() || known.mapped().pid() != owner->pid) {
      auto opened = GaugeTicker::Open(gauge->path());
      if (!opened) continue;
      still.emplace(gauge->path(), *std::move(opened));
    } else {
      still.insert(std::move(known));
    }
    const auto resident = ResidentBytes(pid);
    if (!resident || *resident == 0) continue;
    static_cast<void>(still.at(gauge->path()).Tick(*resident, MonotonicNow()));
  }
  tickers_ = std::move(still);
}

}  // namespace heapgauge::cli
