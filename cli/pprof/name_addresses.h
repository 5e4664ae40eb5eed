// Gives the addresses of a profile their names, as -symbolize says.
#pragma once

#include <string>

#include "cli/pprof/source_options.h"
#include "core/base/result.h"
#include "core/fetch/remote_names.h"
#include "core/model/profile.h"

namespace heapgauge::cli {

// -symbolize=[local|fastlocal|remote|none][:force][:demangle=none|full|templates|default]
struct SymbolizeMode {
  bool none = false;
  bool local = true;
  bool remote = true;
  bool fast = false;     // functions alone
  bool force = false;    // also what has names
  std::string demangle;  // "" the default
  bool understood = true;
};
SymbolizeMode ParseSymbolizeMode(const std::string& text);

// Local files first, then the servers that the profile came from. What cannot be named is told and
// keeps its address.
Status NameAddresses(const PprofSourceOptions& options, const ModuleSources& servers,
                     const Say& say, Profile* profile);

}  // namespace heapgauge::cli
