// Where the agent begins as a library: while the dynamic linker relocates it. start.cc tells the
// whole.
#include "agent/hooks/came_by_preload.h"
#include "agent/hooks/entry_table.h"
#include "agent/hooks/exit_hooks.h"
#include "agent/hooks/map_hooks.h"
#include "agent/hooks/program_start.h"
#include "agent/record/settings.h"
#include "agent/sys/os.h"
#include "agent/sys/symbol_search.h"

HG_HIDDEN heapgauge::agent::AnyFunction hg_while_relocated();
HG_HIDDEN void hg_relocated() __attribute__((ifunc("hg_while_relocated")));

namespace {

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

}  // namespace

heapgauge::agent::AnyFunction hg_while_relocated() {
  using namespace heapgauge::agent;
  ResolveRealFunctions();
  char** environment = EnvironmentAtStart();
  const Settings settings = ReadSettings(environment, CameByPreload(environment));
  BindProgram(settings.active && !settings.trace.on);
  if (!settings.record_mappings) HideMapFunctions();
  BindExitFunctions(settings.trace.on && settings.trace.checks_leaks);
  PrepareProgramStart(settings.http[0] != '\0' && !os::RunsWithElevatedRights());
  return Nothing;
}
