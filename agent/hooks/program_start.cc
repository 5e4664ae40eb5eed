#include "agent/hooks/program_start.h"

#include "agent/hooks/service_loader.h"
#include "agent/sys/symbol_search.h"

namespace {

using Main = int(int, char**, char**);
using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);

Start* real_start = nullptr;
Main* program_main = nullptr;

// A jump at the end, so that no frame of ours is in the program's stacks.
int MainWithPort(int count, char** arguments, char** environment) {
  heapgauge::agent::OpenDebugPort();
  return program_main(count, arguments, environment);
}

}  // namespace

namespace heapgauge::agent {

void PrepareProgramStart(bool wanted) {
  constexpr const char* kName = "__libc_start_main";
  Definition found;
  if (wanted) FindNextAtStart(&real_start, &kName, &found, 1);
  real_start = reinterpret_cast<Start*>(found.address);
  if (real_start == nullptr) BindOwnSymbol(kName, nullptr);
}

}  // namespace heapgauge::agent

extern "C" __attribute__((visibility("default"))) Start __libc_start_main;

int __libc_start_main(Main* main, int count, char** arguments, void (*init)(), void (*fini)(),
                      void (*linker_fini)(), void* stack_end) {
  program_main = main;
  // Not to be reached unless the symbol could not be taken back.
  if (real_start == nullptr) {
    real_start = reinterpret_cast<Start*>(heapgauge::agent::FindInLibc("__libc_start_main"));
  }
  return real_start(MainWithPort, count, arguments, init, fini, linker_fini, stack_end);
}
