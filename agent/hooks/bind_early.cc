// Where the agent begins as a library: while the dynamic linker relocates it. start.cc tells the
// whole.
#include "agent/hooks/entry_table.h"
#include "agent/hooks/map_hooks.h"
#include "agent/sys/environment.h"

HG_HIDDEN heapgauge::agent::AnyFunction hg_while_relocated();
HG_HIDDEN void hg_relocated() __attribute__((ifunc("hg_while_relocated")));

namespace {
void Nothing() {}
}  // namespace

heapgauge::agent::AnyFunction hg_while_relocated() {
  using namespace heapgauge::agent;
  ResolveRealFunctions();
  const Settings settings = ReadSettings(EnvironmentAtStart());
  BindProgram(settings.active);
  if (!settings.record_mappings) HideMapFunctions();
  return Nothing;
}
