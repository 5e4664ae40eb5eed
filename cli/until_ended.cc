#include "cli/until_ended.h"

#include <ctime>

#include "cli/served_ticks.h"

namespace heapgauge::cli {

UntilEnded::UntilEnded() {
  sigemptyset(&signals_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals_, signal);
  sigprocmask(SIG_BLOCK, &signals_, nullptr);
}

void UntilEnded::Wait(endpoint::Processes* processes) const {
  ServedTicks ticks;
  const timespec second{1, 0};
  while (sigtimedwait(&signals_, nullptr, &second) < 0) ticks.Tick(processes);
}

}  // namespace heapgauge::cli
