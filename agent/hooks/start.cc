// Where the agent begins and ends.
//
// It begins twice. First while the dynamic linker relocates it, through an indirect function of its
// own: all objects are mapped by then and the libraries behind are bound, but the program itself is
// relocated last, and is bound by what the agent says at that moment. Then as a constructor. The
// library is marked to be initialised first (agent/CMakeLists.txt), so that what the constructors
// of other libraries allocate is seen as well. libc is not initialised then: nothing here may rely
// on it.
#include "agent/hooks/allocator_statistics.h"
#include "agent/hooks/came_by_preload.h"
#include "agent/hooks/entry_table.h"
#include "agent/hooks/exit_check.h"
#include "agent/hooks/exit_hooks.h"
#include "agent/hooks/map_hooks.h"
#include "agent/hooks/service_loader.h"
#include "agent/record/recorder.h"
#include "agent/sys/environment.h"
#include "agent/sys/os.h"
#include "agent/sys/symbol_search.h"

HG_HIDDEN void hg_resolve_libc();
HG_HIDDEN void hg_relocated();  // hooks/bind_early.cc

namespace heapgauge::agent {
namespace {

__attribute__((constructor(101))) void Start(int, char**, char** environment) {
  hg_relocated();  // does nothing; without a call the linker would leave it out
  ResolveRealFunctions();
  hg_resolve_libc();
  os::UseLibcClock(FindInLibc("clock_gettime"));
  ResolveMapFunctions();
  if (os::RunsWithElevatedRights()) return;
  const Settings settings = ReadSettings(environment, CameByPreload(environment));
  ResolveAllocatorStatistics();
  samples.statistics().SetQuestions({&CollectAllocatorStatistics, &IsInsideAllocator});
  const bool started = StartRecording(settings, Traits().identity);
  RememberService(settings, started);
  if (!settings.follow_exec) RemoveFromEnvironment(environment);
  if (!started) return;
#ifndef HG_LINKED_IN
  NoticeQuickExit();
#endif
  if (settings.trace.on && StartTracing(settings.trace)) {
    SetMode(Mode::kTrace);
#ifndef HG_LINKED_IN
    if (settings.trace.checks_leaks) StartExitCheck(settings.trace.freeing);
#endif
  } else if (settings.active && !settings.trace.on) {
    StartCounting();
  } else {
    SetMode(Mode::kDormant);
  }
  if (settings.record_mappings) StartRecordingMappings();  // from here on threads look up stacks
#ifdef HG_LINKED_IN
  OpenDebugPort();  // libc is initialised; a library waits for main (program_start.h)
#endif
}

__attribute__((destructor)) void End() {
  if (const wire::Service* service = LoadedService()) service->end();
  EndRecording();
}

}  // namespace
}  // namespace heapgauge::agent
