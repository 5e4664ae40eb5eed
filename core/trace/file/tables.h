// The tables of a trace file, and the Profile without rows that is made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/base/lookup_tables.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/model/types.h"
#include "core/trace/file/chunk.h"
#include "core/trace/file/column.h"
#include "core/trace/file/trace_facts.h"
#include "wire/gauge_format.h"

namespace heapgauge::trace {

struct StackEntry {
  uint32_t leaf = 0;  // node, 0 none
  uint16_t labels = 0;
  uint16_t flags = 0;  // wire::kStackOf*
};

// The tables of a trace file: modules, nodes, stacks and label sets, which readers need only when
// they name stacks, and threads, memory and markers, which they need at once. A table chunk holds
// what was added since the one before; it comes before the segments that name it.
//
// TableWriter: one thread. The readers are pure functions; every number from the file is checked.
class TableWriter {
 public:
  void AddModule(uint32_t index, const wire::ModuleRecord& module);
  void AddNode(uint32_t index, const wire::NodeRecord& node);
  void AddStack(uint32_t index, const StackEntry& stack);
  void AddLabelSet(uint32_t index, const wire::LabelRecord& record);
  void SetThread(uint32_t index, const Thread& thread);
  void AddMemory(const MemoryPoint& point);
  void AddMarker(const Marker& marker);

  // Numbers below these were added.
  uint32_t stack_count() const { return stack_count_; }
  uint32_t thread_count() const { return thread_count_; }

  bool pending() const;
  // Adds columns to a chunk of kTables; nothing is pending afterwards.
  void Encode(ChunkMaker* chunk);

 private:
  void EncodeNode(uint32_t index, const wire::NodeRecord& node);
  void EncodeEarlyNodes();
  uint32_t NodeNumber(uint32_t index);  // in the file

  std::vector<std::pair<uint32_t, wire::NodeRecord>>
      early_nodes_;  // their callers are not known yet
  std::vector<std::pair<uint32_t, StackEntry>> stacks_;
  // The file numbers nodes in the order in which it has them: readers need no gaps.
  std::vector<uint32_t> node_numbers_{0};  // by index; 0 not known
  uint32_t node_count_ = 1;                // node 0 is the root
  PairIndex pcs_{1024};                    // numbers in order of appearance
  uint32_t stack_count_ = 1;
  uint32_t thread_count_ = 0;
  MemoryPoint last_memory_;
  uint64_t last_marker_ns_ = 0;
  ColumnWriter modules_, node_links_, node_pcs_, stack_column_, labels_, threads_, memory_,
      markers_;
};

// What a name of a stack leads to.
struct StackTables {
  std::vector<std::optional<Module>> modules;               // by record
  std::vector<wire::NodeRecord> nodes{wire::NodeRecord{}};  // parents first; 0 is the root
  std::vector<StackEntry> stacks{StackEntry{}};
  std::vector<wire::LabelRecord> labels;
  std::vector<uint64_t> pcs;  // distinct ones, in order of appearance
};
// What is known beside the stacks.
struct PlainTables {
  std::vector<Thread> threads;
  std::vector<MemoryPoint> memory;
  std::vector<Marker> markers;
  uint32_t stack_count = 1;
};

// What the tables of a file may ask for, all together: a small file cannot make a reader take much
// memory or time.
class TableBudget {
 public:
  explicit TableBudget(uint64_t file_bytes)
      : plain_bytes_(file_bytes * 64 + (16 << 20)), stacks_(file_bytes * 64 + (1 << 16)) {}
  size_t plain_bytes() const;
  // REQUIRES: no more than is left.
  void Spend(uint64_t plain_bytes) { spent_ += plain_bytes; }
  uint64_t spent() const { return spent_; }
  uint64_t stacks() const;  // numbers are below
  uint64_t threads() const { return stacks_ / 64; }

 private:
  uint64_t plain_bytes_;
  uint64_t spent_ = 0;
  uint64_t stacks_;
};

// Add what one table chunk has.
Status ReadStackTables(const ByteSource& source, const ChunkReader& chunk, TableBudget* budget,
                       StackTables* out);
Status ReadPlainTables(const ByteSource& source, const ChunkReader& chunk, TableBudget* budget,
                       PlainTables* out);

// From the tables of a trace to a Profile without rows: modules, locations, nodes, label sets, and
// the names that the trace brought with it.
//
// Pure functions.
//
// Modules, locations, nodes and label sets of all stacks, without rows.
struct TraceStacks {
  Profile profile;  // with facts().recording
  struct Stack {
    NodeId leaf = kNone;  // kNone: unknown or empty
    LabelSetId labels = kNone;
    bool truncated = false;
  };
  std::vector<Stack> stacks;  // by number; 0 is unknown
};

// `names` is the stream of names, "" none. Module ids are the record numbers of the trace, so that
// names can be made for it from the profile.
TraceStacks MakeStacks(const StackTables& tables, uint32_t stack_count, std::string_view names,
                       const std::string& path);

}  // namespace heapgauge::trace
