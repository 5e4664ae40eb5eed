// Where the agent begins and ends. The library is marked to be initialised first
// (agent/CMakeLists.txt), so that what the constructors of other libraries allocate is seen as
// well. libc is not initialised then: nothing here may rely on it.
#include "agent/hooks/entry_table.h"
#include "agent/recorder.h"
#include "agent/sys/environment.h"
#include "agent/sys/os.h"
#include "agent/sys/symbol_search.h"

HG_HIDDEN void hg_resolve_libc();

namespace heapgauge::agent {
namespace {

__attribute__((constructor)) void Start(int, char**, char** environment) {
  ResolveRealFunctions();
  HideUncountedFunctions();
  hg_resolve_libc();
  os::UseLibcClock(FindInLibc("clock_gettime"));
  if (os::RunsWithElevatedRights()) return;
  const Settings settings = ReadSettings(environment);
  const bool started = recorder.Start(settings, Traits().identity);
  if (!settings.follow_exec) RemoveFromEnvironment(environment);
  if (!started) return;
  if (settings.active) {
    StartCounting();
  } else {
    SetMode(Mode::kDormant);
  }
}

__attribute__((destructor)) void End() { recorder.End(); }

}  // namespace
}  // namespace heapgauge::agent
