// Copies what is new in the tables of a traced program's gauge file into its trace: modules, nodes,
// stacks, label sets. The tables are append-only, so each record is looked at once, or again as
// long as its writer has not finished it.
//
// One thread. Called after events were read and before they are written: what an event names was in
// the tables before it.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "core/gauge/mapped_gauge.h"
#include "core/trace/record/trace_writer.h"

namespace heapgauge::trace {

class TableCopier {
 public:
  // Both must outlive it.
  TableCopier(MappedGauge* gauge, TraceWriter* writer);

  void CopyNew();
  // Also modules that have changed since: they may have been unloaded.
  void CopyChanged();

  // False for a number that no record was seen of.
  bool HasStack(uint32_t stack) const {
    return stack < stacks_.next && (stacks_.open.empty() || stacks_.open.count(stack) == 0);
  }
  // Numbers below need not be asked about.
  uint32_t KnownStacks() const { return stacks_.open.empty() ? stacks_.next : 0; }

 private:
  struct Table {
    wire::SegmentKind kind;
    uint32_t record_bytes = 0;
    uint32_t next = 0;                  // records below were looked at
    std::unordered_set<uint32_t> open;  // of these, not finished
  };
  template <typename Record, typename Add>
  void Copy(Table* table, uint32_t count, Add add);

  MappedGauge* gauge_;
  TraceWriter* writer_;
  Table modules_;
  Table nodes_;
  Table stacks_;
  Table labels_;
  std::vector<size_t> module_hashes_;
};

}  // namespace heapgauge::trace
