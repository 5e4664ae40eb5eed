// Names of code that a just-in-time compiler made, from the text file that such compilers write for
// profilers: /tmp/perf-PID.map with lines "START SIZE NAME", numbers in hexadecimal.
//
// The file is anybody's to write in /tmp, so it is used only if it belongs to us, to root, or to
// the user of the program, and is no link. Read-only once loaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heapgauge {

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

}  // namespace heapgauge
