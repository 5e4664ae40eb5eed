// From the tables of a trace to a Profile without rows: modules, locations, nodes, label sets, and
// the names that the trace brought with it.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/trace/file/tables.h"

namespace heapgauge::trace {

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
