// /proc/PID/smaps: every mapping of a process, with how much of it is in memory and of what kind.
//
// Parsed as a stream, line by line, as the kernel hands it out. The text is treated as hostile: an
// endless line is cut, a number beyond all bounds counts as nothing, and behind kMaxMappings only
// sums are kept. Memory is bounded by that number; time is linear in the text.
//
// Plain values, no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heapgauge {

struct MappingUsage {
  uint64_t start = 0;
  uint64_t end = 0;
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;
  bool no_reserve = false;     // VmFlags: nr
  bool wiped_on_fork = false;  // wf
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  std::string name;  // a path, "[heap]", "[anon:...]", or "" for anonymous memory

  // Bytes.
  uint64_t resident = 0;
  uint64_t anonymous = 0;  // of the resident ones: not, or no longer, the file's
  uint64_t shared_clean = 0;
  uint64_t shared_dirty = 0;
  uint64_t private_clean = 0;
  uint64_t private_dirty = 0;
  uint64_t swapped = 0;
  uint64_t lazily_freed = 0;  // MADV_FREE: the kernel may take it at any time
  uint64_t locked = 0;

  uint64_t size() const { return end - start; }
  uint64_t clean() const { return shared_clean + private_clean; }
  bool is_anonymous() const { return name.empty() && inode == 0; }
};

struct Smaps {
  std::vector<MappingUsage> mappings;  // by address
  uint64_t not_listed = 0;             // mappings beyond kMaxMappings
  uint64_t not_listed_resident = 0;
  uint64_t damaged_lines = 0;

  uint64_t resident() const;
  uint64_t swapped() const;
};

class SmapsParser {
 public:
  static constexpr size_t kMaxMappings = 200'000;  // three times what the kernel allows by default
  static constexpr size_t kMaxLine = 8192;

  // Text in pieces of any size.
  void Feed(std::string_view text);
  Smaps Finish();

 private:
  void Line(std::string_view line);
  bool Begin(std::string_view line);
  void Field(std::string_view line);

  Smaps smaps_;
  MappingUsage current_;
  bool has_current_ = false;
  bool line_is_cut_ = false;
  uint64_t last_end_ = 0;
  std::string rest_;  // of a line that is not complete

  void Keep();
};

// Reads /proc/PID/smaps in one pass. Fails where the process is gone or may not be looked at.
Result<Smaps> ReadSmaps(const std::string& path);

}  // namespace heapgauge
