// Gives every location of a profile its functions and lines. Works outside of the profiled program,
// by module path and build-id, so nothing is asked of the program and a dead one is no different.
//
// Every location has at least one frame afterwards: where no name can be had it is
// "module+0xoffset". What stood in the way (file gone, another build) is told in the report's
// notes.
//
// Formats that tell only where a file was mapped leave the load bias to be found here, from the
// segments of the file (module_files.h). Locations that have frames already are left alone.
//
// Each module's file is opened once for all its addresses. Single-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/model/profile.h"
#include "core/symbolize/symbolize_options.h"

namespace heapgauge {

// Names of code that a just-in-time compiler made, from the text file that such compilers write for
// profilers: /tmp/perf-PID.map with lines "START SIZE NAME", numbers in hexadecimal.
//
// The file is anybody's to write in /tmp, so it is used only if it belongs to us, to root, or to
// the user of the program, and is no link. Read-only once loaded.
class PerfMap {
 public:
  // The map of process `pid`, which runs as `uid`. With `live` it is looked for through /proc too:
  // a container has a /tmp and numbers of its own. A map that was last written before
  // `since_unix_ns` is that of an earlier process with the same number.
  static Result<PerfMap> Load(uint32_t pid, uint32_t uid, bool live, uint64_t since_unix_ns);
  // Lines that make no sense are left out.
  static PerfMap Parse(std::string text);

  // "" if there is none.
  std::string_view Find(uint64_t address) const;
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint64_t start;
    uint64_t end;
    size_t name_at;  // in text_
    size_t name_size;
  };
  std::string text_;
  std::vector<Entry> entries_;  // by start; of two with the same start, the later line
};

// One line for each module that could not be used as it should, for people.
struct SymbolizeReport {
  std::vector<std::string> notes;
};

SymbolizeReport Symbolize(const SymbolizeOptions& options, Profile* profile);

}  // namespace heapgauge
