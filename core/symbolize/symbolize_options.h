// Where names are looked up, and for whom.
//
// Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/sinks.h"

namespace heapgauge {

class Debuginfod;

struct SymbolizeOptions {
  // Where separate debug files are kept.
  std::vector<std::string> debug_dirs = {"/usr/lib/debug"};
  // More of these, given by the user; searched first. Each may also hold debug files, .dwo, .dwp
  // and modules themselves by their plain names.
  std::vector<std::string> extra_debug_dirs;
  // Where modules themselves may be, for profiles from elsewhere: by build-id (DIR/ab12.../name,
  // DIR/ab/12....debug), by whole path below DIR, and by plain name. Searched before the path that
  // the profile names.
  std::vector<std::string> binary_dirs;
  // If not "", the file of the first module, whatever the profile says. If its build-id is another
  // one, a note says so.
  std::string program_path;
  // Asked for debug files that are nowhere else; may be null.
  Debuginfod* debuginfod = nullptr;
  // Where names are kept from one run to the next; "" nowhere. See name_cache.h.
  std::string cache_dir;
  // If not 0, files are also looked for through this running process: in a container, or deleted
  // since, they may exist nowhere else.
  uint32_t pid = 0;
  // When the recording ended, if not 0: a module without a build-id that was written later is not
  // the one that ran. Symbolize takes it from the profile.
  uint64_t ended_unix_ns = 0;
  // If not null, is told which module's names are read. Must outlive the call.
  ProgressSink* progress = nullptr;
};

}  // namespace heapgauge
