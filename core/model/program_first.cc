#include "core/model/program_first.h"

#include <algorithm>
#include <utility>

namespace heapgauge {

void PutProgramFirst(Profile* profile) {
  std::vector<Module>& modules = profile->modules;
  const auto program = std::find_if(modules.begin(), modules.end(), [&](const Module& module) {
    return module.path == profile->recording.program;
  });
  if (program == modules.end() || program == modules.begin()) return;
  const auto id = static_cast<ModuleId>(program - modules.begin());
  std::swap(modules.front(), *program);
  for (Location& location : profile->locations) {
    if (location.module == id) {
      location.module = 0;
    } else if (location.module == 0) {
      location.module = id;
    }
  }
}

}  // namespace heapgauge
