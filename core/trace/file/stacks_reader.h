// From the tables of a trace to a Profile without rows: modules, locations, nodes, label sets, and
// the names that the trace brought with it.
//
// Pure functions.
#ifndef HEAPGAUGE_CORE_TRACE_FILE_STACKS_READER_H_
#define HEAPGAUGE_CORE_TRACE_FILE_STACKS_READER_H_

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/trace/file/tables.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {

// `names` is the stream of names, "" none. Module ids are the record numbers of the trace, so that
// names can be made for it from the profile.
TraceFile::Stacks MakeStacks(const StackTables& tables, uint32_t stack_count,
                             std::string_view names, const std::string& path);

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_FILE_STACKS_READER_H_
