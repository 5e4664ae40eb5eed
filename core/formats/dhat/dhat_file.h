// What a DHAT file (dhat.out of `valgrind --tool=dhat` and of dhat-rs, version 2) holds, as plain
// data, and the parser of its JSON: facts about the run, figures of program points, and which
// sample types they become. Reader and writer share it.
//
// The names of members in the file are in the comments; docs/formats/dhat.md explains them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/model/types.h"

namespace heapgauge {

struct DhatFacts {
  std::string mode = "heap";       // mode
  std::string verb = "Allocated";  // verb
  bool has_lifetimes = false;      // bklt: figures of maxima, ends and lifetimes are there
  bool has_accesses = false;       // bkacc: reads and writes are there
  std::string byte_unit;           // bu; "" bytes
  std::string bytes_unit;          // bsu
  std::string blocks_unit;         // bksu
  std::string time_unit;           // tu
  std::string million_unit;        // Mtu: a million of them
  uint64_t short_lifetime = 0;     // tuth: below that, blocks are called short-lived
  std::string command;             // cmd
  uint32_t pid = 0;                // pid
  uint64_t end_time = 0;           // te
  uint64_t peak_time = 0;          // tg
};

// Figures of one stack.
struct DhatPoint {
  uint64_t bytes = 0;          // tb
  uint64_t blocks = 0;         // tbk
  uint64_t lifetimes = 0;      // tl: sum over all blocks
  uint64_t max_bytes = 0;      // mb: the most that this stack held at a time
  uint64_t max_blocks = 0;     // mbk: how many blocks that were
  uint64_t peak_bytes = 0;     // gb: when all of them held the most
  uint64_t peak_blocks = 0;    // gbk
  uint64_t end_bytes = 0;      // eb
  uint64_t end_blocks = 0;     // ebk
  uint64_t read_bytes = 0;     // rb
  uint64_t written_bytes = 0;  // wb
};

// One entry of the frame table: "0x1091D1: Leak(unsigned long) (p.cc:5)", "0x49037B9: ??? (in
// /usr/lib/libstdc++.so.6)".
struct DhatFrame {
  uint64_t address = 0;
  bool has_address = false;
  std::string_view function;  // "" unknown
  std::string_view file;      // "" unknown
  std::string_view module;    // "" not told
  uint32_t line = 0;
  uint32_t column = 0;
};
DhatFrame ParseDhatFrame(std::string_view text);

// By the first bytes of a file.
bool IsDhat(std::string_view start);

// Which sample types of a profile stand for which figures of a DHAT file: one table for both ways.
//
// Plain data and pure functions.
struct DhatType {
  SampleType type;
  uint64_t DhatPoint::*figure = nullptr;
};

// Of a file with these facts, in the order of the profile.
std::vector<DhatType> DhatTypes(const DhatFacts& facts);

// Nanoseconds of a unit of time, by its name in the file; 0 if it is none (instructions, bytes).
uint64_t DhatUnitNs(const std::string& unit);

class DhatVisitor {
 public:
  virtual ~DhatVisitor() = default;
  // `frames` are indexes of the frame table, innermost first. The table may come before or after.
  virtual Status Point(const DhatPoint& point, const std::vector<uint32_t>& frames) = 0;
  // The next entry of the frame table.
  virtual Status FrameText(std::string_view text) = 0;
};

// Reads the JSON of a DHAT file and tells a visitor what is in it, point by point: nothing but one
// point is in memory.
//
// The parser of nlohmann's library does the JSON. It costs seconds wherever it is included, which
// is the .cc file alone. Depth does not matter to it; a single string or number may have 16 MB.
//
// The facts are complete only at the end.
Result<DhatFacts> ParseDhat(ByteStream* stream, const std::string& name, DhatVisitor* visitor);

}  // namespace heapgauge
