// The mappings of a process: what is in memory of each, which pages, which are stacks of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.h"
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

// /proc/PID/smaps: every mapping of a process, with how much of it is in memory and of what kind.
//
// Parsed as a stream, line by line, as the kernel hands it out. The text is treated as hostile: an
// endless line is cut, a number beyond all bounds counts as nothing, and behind kMaxMappings only
// sums are kept. Memory is bounded by that number; time is linear in the text.
//
// Plain values, no threads.
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

// Which pages of another process are in memory, from /proc/PID/pagemap. smaps tells it for a whole
// mapping; this tells it for a part of one, such as a single block of the heap or one of several
// owners whose memory the kernel has merged into one mapping.
//
// The number of pages that may be asked for is bounded, since a range may be as large as the
// address space. Not synchronised.
class PageMap {
 public:
  static constexpr uint64_t kPage = 4096;

  // Without a source, nothing is known. `budget` is the number of pages that may be looked at.
  explicit PageMap(std::unique_ptr<ByteSource> source = nullptr, uint64_t budget = 16 << 20);

  bool known() const { return source_ != nullptr; }

  // Bytes of [start, end) that lie in pages that are in memory. Nothing if that cannot be told.
  std::optional<uint64_t> ResidentIn(uint64_t start, uint64_t end);

 private:
  std::unique_ptr<ByteSource> source_;
  uint64_t budget_;
  std::vector<uint64_t> window_;  // entries of the pages from window_first_ on
  uint64_t window_first_ = 0;

  const uint64_t* Entry(uint64_t page, uint64_t last);
};

struct StackPointers {
  std::vector<uint64_t> pointers;
  uint32_t threads = 0;  // looked at; at most kMaxThreads
  bool permitted = false;
  static constexpr uint32_t kMaxThreads = 100'000;
};

// From `directory`/task, `directory` being "/proc/PID" as a rule.
StackPointers ReadStackPointers(const std::string& directory);

// The stack pointer in a line of /proc/PID/syscall; 0 if it has none.
uint64_t StackPointerIn(const std::string& line);

// Which mappings are stacks of threads.
//
// The main thread's is called [stack]. For the others the kernel tells the stack pointer of every
// thread that waits in a system call (/proc/PID/task/TID/syscall, to those who may trace the
// process). Threads that are running just then, and where that file may not be read, are found by
// the shape that thread libraries give to stacks: writable anonymous memory right above a small
// guard without any rights. The second way also finds stacks of ended threads, which the C library
// keeps for the next ones. Stacks without a guard are found by the first way alone.
//
// Pure but for ReadStackPointers.
struct StackMappings {
  std::vector<bool> is_stack;  // for each mapping; [stack] is one
  uint32_t by_pointer = 0;
  uint32_t by_shape = 0;
};
StackMappings FindStacks(const std::vector<MappingUsage>& mappings, const StackPointers& pointers);

}  // namespace heapgauge
