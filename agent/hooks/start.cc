// Where the agent begins and ends.
//
// As a library it begins twice. First while the dynamic linker relocates it, through an indirect
// function of its own: all objects are mapped by then and the libraries behind are bound, but the
// program itself is relocated last, and is bound by what the agent says at that moment. Then as a
// constructor. The library is marked to be initialised first (CMakeLists.txt), so that what the
// constructors of other libraries allocate is seen as well. libc is not initialised then: nothing
// here may rely on it. Linked into a program it begins as a constructor.
//
// HEAPGAUGE_HTTP takes effect right before main. The constructor is too early, since the C library
// is not initialised then, and the first sample may never come or come while the dynamic linker or
// the program holds locks. So, only if a port was asked for, the agent stands in for
// __libc_start_main, which the start code of every program calls once all libraries are there, and
// has it run a main that opens the port and then jumps to the program's own. Otherwise the symbol
// is taken back before the program is bound. A program without that start code (Go's) gets no port.
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "agent/hooks/allocator_statistics.h"
#include "agent/hooks/entry_table.h"
#include "agent/hooks/exit.h"
#include "agent/hooks/libc_hooks.h"
#include "agent/hooks/service_loader.h"
#include "agent/hooks/slow_path.h"
#include "agent/record/recorder.h"
#include "agent/record/settings.h"
#include "agent/sys/environment.h"
#include "agent/sys/os.h"
#include "agent/sys/symbol_search.h"

#ifndef HG_LINKED_IN
HG_HIDDEN heapgauge::agent::AnyFunction hg_while_relocated();
HG_HIDDEN void hg_relocated() __attribute__((ifunc("hg_while_relocated")));
#endif

namespace heapgauge::agent {
namespace {

constexpr char kLibraryName[] = "libheapgauge.so";

#ifndef HG_LINKED_IN
// Whether an object names us among the libraries that it needs.
bool Needs(const link_map* map) {
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_STRTAB) continue;
    // glibc relocates it in place, but not in the vDSO.
    const uintptr_t at = entry->d_un.d_ptr;
    strings = reinterpret_cast<const char*>(at >= map->l_addr ? at : at + map->l_addr);
  }
  if (strings == nullptr) return false;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED) continue;
    const char* needed = strings + entry->d_un.d_val;
    const char* slash = strrchr(needed, '/');
    const char* base = slash == nullptr ? needed : slash + 1;
    if (strncmp(base, kLibraryName, sizeof kLibraryName - 1) == 0) return true;
  }
  return false;
}
#endif

// How the agent came into this process: because somebody asked for it (LD_PRELOAD, the dynamic
// linker's own list), or because the program or one of its libraries was linked with it. The first
// profiles unless told otherwise; the second waits to be asked.
bool CameByPreload(char** environment) {
  if (environment == nullptr) return true;
  if (strstr(EnvironmentValue(environment, "LD_PRELOAD"), kLibraryName) != nullptr) return true;
#ifndef HG_LINKED_IN
  for (const link_map* map = FirstObject(); map != nullptr; map = map->l_next) {
    if (map->l_ld != nullptr && Needs(map)) return false;
  }
  return true;
#else
  return false;
#endif
}

#ifndef HG_LINKED_IN

// As the kernel left it on the first stack: the number of arguments, these, and behind them the
// environment. nullptr if it cannot be found.
char** EnvironmentAtStart() {
  const auto* stack =
      static_cast<uintptr_t* const*>(heapgauge::agent::FindInLinker("__libc_stack_end"));
  if (stack == nullptr || *stack == nullptr) return nullptr;
  uintptr_t* const first = *stack;
  return reinterpret_cast<char**>(first + 1 + *first + 1);
}

void Nothing() {}

// ---- the start of the program ----

using Main = int(int, char**, char**);
using ProgramStart = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);

ProgramStart* real_start = nullptr;
Main* program_main = nullptr;

// A jump at the end, so that no frame of ours is in the program's stacks.
int MainWithPort(int count, char** arguments, char** environment) {
  OpenDebugPort();
  return program_main(count, arguments, environment);
}

// While the agent is relocated: decides whether the program will start through us.
void BindProgramStart(bool wanted) {
  constexpr const char* kName = "__libc_start_main";
  Definition found;
  if (wanted) FindNextAtStart(&real_start, &kName, &found, 1);
  real_start = reinterpret_cast<ProgramStart*>(found.address);
  if (real_start == nullptr) BindOwnSymbol(kName, nullptr);
}

#endif  // HG_LINKED_IN

__attribute__((constructor(101))) void Start(int, char**, char** environment) {
#ifndef HG_LINKED_IN
  hg_relocated();  // does nothing; without a call the linker would leave it out
#endif
  ResolveRealFunctions();
  ResolveLibcFunctions();
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
  OpenDebugPort();  // libc is initialised; a library waits for main (BindProgramStart)
#endif
}

__attribute__((destructor)) void End() {
  if (const wire::Service* service = LoadedService()) service->end();
  EndRecording();
}

}  // namespace
}  // namespace heapgauge::agent

#ifndef HG_LINKED_IN

heapgauge::agent::AnyFunction hg_while_relocated() {
  using namespace heapgauge::agent;
  ResolveRealFunctions();
  char** environment = EnvironmentAtStart();
  const Settings settings = ReadSettings(environment, CameByPreload(environment));
  BindProgram(settings.active && !settings.trace.on);
  if (!settings.record_mappings) HideMapFunctions();
  BindExitFunctions(settings.trace.on && settings.trace.checks_leaks);
  BindProgramStart(settings.http[0] != '\0' && !os::RunsWithElevatedRights());
  return Nothing;
}

extern "C" __attribute__((visibility("default"))) heapgauge::agent::ProgramStart __libc_start_main;

int __libc_start_main(heapgauge::agent::Main* main, int count, char** arguments, void (*init)(),
                      void (*fini)(), void (*linker_fini)(), void* stack_end) {
  using namespace heapgauge::agent;
  program_main = main;
  // Not to be reached unless the symbol could not be taken back.
  if (real_start == nullptr) {
    real_start = reinterpret_cast<ProgramStart*>(FindInLibc("__libc_start_main"));
  }
  return real_start(MainWithPort, count, arguments, init, fini, linker_fini, stack_end);
}

#endif  // HG_LINKED_IN
