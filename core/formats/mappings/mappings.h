// Which file was mapped where: the section that says so, and modules for locations by it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/formats/text/line_reader.h"
#include "core/model/profile.h"
#include "core/model/types.h"

namespace heapgauge {

// The section at the end of a text profile that says which file was mapped where: the lines of
// /proc/PID/maps, or one of the shorter forms that tools write.
//
//   MAPPED_LIBRARIES:                             (or: --- Memory map: ---)
//   00400000-004fd000 r-xp 00000000 fe:01 123  /usr/bin/program
//   build=/home/me/out
//   40000000-40015000: $build/lib.so (@1000) 0123abcd
//
// A prefix such as glog puts before each line is dropped. Mappings without the right to execute
// are left out; so are lines that are nothing of the kind. Paths are kept whole, blanks included
// (pprof cuts them at the first).
//
// Untrusted input; linear time. Single-threaded.

// The line begins the section.
bool IsMappingSentinel(std::string_view line);

// Takes the lines of a section one by one.
class MappingParser {
 public:
  void Line(std::string_view line);
  // As they stood there, in that order.
  std::vector<Module> Take() { return std::move(modules_); }

 private:
  std::string Expand(std::string_view line) const;
  bool Entry(std::string_view line);

  std::vector<Module> modules_;
  std::vector<std::pair<std::string, std::string>> variables_;  // "$build", its value
};

// All lines up to the end.
Result<std::vector<Module>> ReadMappings(LineReader* lines);

// Puts together what was split, and the program first: neighbours in file and memory become one,
// and the first that looks like neither a shared library nor a kernel's own name is swapped to the
// front. For modules of any format.
void TidyModules(std::vector<Module>* modules);

// Gives the locations of a profile their modules, by address, with the results of pprof: the first
// module in the list wins where several overlap; an address below a module but within its offset
// belongs to it, and extends it; what belongs nowhere goes to a module without a name that spans
// everything, so that merging profiles still works.
//
// pprof walks the list for each address. Here a tree over the sorted ends of all ranges answers in
// the logarithm of their number, whatever the overlaps.
//
// `modules` as they were read; TidyModules() is applied, and they become the profile's.
// Locations that have a module already keep it. REQUIRES: the profile has no modules.
void AssignModules(std::vector<Module> modules, Profile* profile);

}  // namespace heapgauge
