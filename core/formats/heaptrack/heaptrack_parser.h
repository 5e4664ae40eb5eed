// Reads the lines of heaptrack's data files and tells a visitor what they say. Both kinds of files
// are read: interpreted ones, which carry names, and raw ones (heaptrack --raw), which carry
// addresses of blocks and of code. docs/formats/heaptrack.md has the grammar.
//
// Knows the grammar and nothing of what is made of it: one visitor makes a profile, another a
// trace. Streams; memory is one line, 16 bytes for each distinct pair of stack and size of an
// interpreted file, and about 100 bytes for each live block of a raw one. Single-threaded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/formats/text/line_reader.h"

namespace heapgauge {

// A block as its event names it. Stacks are numbered from 1; 0 is the empty one.
struct HeaptrackBlock {
  uint64_t size = 0;
  uint32_t stack = 0;
  uint64_t address = 0;     // 0 unless the file has addresses
  uint32_t pair = kNoPair;  // number of the pair of size and stack, where it has no addresses
  static constexpr uint32_t kNoPair = UINT32_MAX;

  bool has_address() const { return pair == kNoPair; }
};

// One place in the source: indexes of strings (from 1, 0 unknown) and a line.
struct HeaptrackFrame {
  uint32_t function = 0;
  uint32_t file = 0;
  uint32_t line = 0;
};

// Called in the order of the file. What is numbered is numbered in the order of the calls, from 1.
// A Status that is an error ends the reading; its message gets file and line in front.
class HeaptrackVisitor {
 public:
  virtual ~HeaptrackVisitor() = default;

  virtual void Program(std::string_view /*path*/) {}
  virtual void Command(std::string_view /*line*/) {}
  virtual void Pages(uint64_t /*page_bytes*/, uint64_t /*pages*/) {}
  virtual void Suppression(std::string_view /*pattern*/) {}
  virtual void Attached() {}

  // Raw files: all objects that are loaded from here on are told again after ClearModules.
  virtual void ClearModules() {}
  // Segments are pairs of address (relative to `base`) and size. An empty name is the program.
  virtual void AddModule(std::string_view /*name*/, uint64_t /*base*/,
                         const std::vector<std::pair<uint64_t, uint64_t>>& /*segments*/) {}

  // Interpreted files.
  virtual Status String(std::string_view text) = 0;
  // A code address; frames innermost first, none if nothing is known.
  virtual Status Instruction(uint64_t address, uint32_t module,
                             const std::vector<HeaptrackFrame>& frames) = 0;

  // The next stack: `parent` (0: none) and one more frame, which is an Instruction's number in
  // interpreted files, a return address in raw ones. Parents come first, and no stack is deeper
  // than Profile::kMaxDepth.
  virtual Status Stack(uint64_t instruction, uint32_t parent, bool is_raw) = 0;

  virtual Status Allocate(const HeaptrackBlock& block) = 0;
  // `temporary` as heaptrack_print counts it: freed by the event behind its allocation.
  virtual Status Free(const HeaptrackBlock& block, bool temporary) = 0;
  virtual Status Time(uint64_t milliseconds) = 0;
  virtual void Resident(uint64_t pages) = 0;
};

enum class HeaptrackKind { kUndecided, kInterpreted, kRaw };

struct HeaptrackOutcome {
  HeaptrackKind kind = HeaptrackKind::kUndecided;
  uint64_t heaptrack_version = 0;  // 0x10400 is 1.4
  uint64_t file_version = 0;
  uint64_t unknown_frees = 0;  // of blocks that no event allocated, left out
  uint64_t missed_frees = 0;   // blocks whose address was handed out again
  uint64_t unknown_lines = 0;  // of a kind that is not known here, left out
  bool cut = false;            // the last line is not whole
  bool breaks_off = false;     // the file ends within its compressed data
};

// By the first bytes of a file: "v VERSION FILEVERSION".
bool IsHeaptrack(std::string_view start);

Result<HeaptrackOutcome> ReadHeaptrackFile(ByteStream* stream, const std::string& name,
                                           HeaptrackVisitor* visitor);

// For reading and importing heaptrack files. No run is longer than a century; what says so is cut
// to that.
inline uint64_t MillisecondsToNs(uint64_t milliseconds) {
  constexpr uint64_t kCentury = uint64_t{100} * 366 * 86400 * 1000;
  return std::min(milliseconds, kCentury) * 1'000'000;
}

}  // namespace heapgauge
