// A massif.out file: what it says, the text of a node in it, and how it is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"
#include "core/base/sinks.h"

namespace heapgauge {

// What a massif.out file says: how much heap there was at some moments, and for a few of them a
// tree of who had allocated it. This is what the reader, the writer and the text of ms_print have
// in common; it is close to the file, so that nothing is lost on the way.
//
// Plain data. Texts of tree nodes repeat in every snapshot and are kept once.
inline constexpr uint64_t kNsPerMs = 1'000'000;

// What MassifSnapshot::time counts.
enum class MassifUnit { kInstructions, kMilliseconds, kBytes };
// "i", "ms", "B": as the file has it.
const char* MassifUnitName(MassifUnit unit);

struct MassifNode {
  uint32_t children = 0;
  uint32_t text = 0;  // in MassifFile::texts
  uint64_t bytes = 0;
};

struct MassifSnapshot {
  enum class Kind { kEmpty, kDetailed, kPeak };

  uint64_t number = 0;
  uint64_t time = 0;
  uint64_t heap_bytes = 0;   // as requested
  uint64_t extra_bytes = 0;  // what the allocator added
  uint64_t stack_bytes = 0;
  Kind kind = Kind::kEmpty;
  // Every node before its children; none if the kind is kEmpty. The first one is no frame but the
  // total, below it are the functions that allocated, below these their callers.
  std::vector<MassifNode> tree;

  uint64_t total_bytes() const { return heap_bytes + extra_bytes + stack_bytes; }
};

struct MassifFile {
  std::vector<std::string> descriptions;  // "desc:" lines
  std::string command;
  MassifUnit unit = MassifUnit::kInstructions;
  std::vector<MassifSnapshot> snapshots;  // in order of time
  std::vector<std::string> texts;

  // The snapshot that the file calls its peak, else the detailed one of the highest total, else
  // the highest; snapshots.size() if there is none.
  size_t PeakSnapshot() const;
};

// The text of a node in massif's tree: "0x4848899: malloc (vg_replace_malloc.c:381)", "0x109151:
// ??? (in /usr/bin/x)", "in 3 places, all below massif's threshold (1.00%)".
//
// Pure functions.
struct MassifFrame {
  uint64_t address = 0;   // 0 unknown
  std::string_view name;  // "" unknown
  std::string_view file;  // "" unknown
  uint32_t line = 0;
  std::string_view module;  // "" unknown
  bool folded = false;      // stands for several places; `name` says so
};

// Parts of the text, which must outlive them.
MassifFrame ParseMassifFrame(std::string_view text);

// The other way round.
std::string MassifFrameText(const MassifFrame& frame);

// Writes a massif.out file, as ms_print and massif-visualizer read it.
//
// Written piece by piece. ms_print takes '#' for the beginning of a comment wherever it is, so
// names get a blank in its place.
Status WriteMassif(const MassifFile& file, TextSink* out);

// Reads the text of a massif.out file.
//
// It is hostile input: an error names the line. Memory is bounded by the size of the file: a tree
// of n levels needs n blanks before its deepest line, as all programs write it. More is accepted
// than ms_print accepts: a header that comes late, seconds, times with a fraction, a '#' within a
// name (only a line that begins with one is a comment). Single-threaded.
//
// `name` is for messages.
Result<MassifFile> ParseMassif(ByteStream* stream, const std::string& name);

// By the first bytes of a file.
bool IsMassif(std::string_view start);

}  // namespace heapgauge
