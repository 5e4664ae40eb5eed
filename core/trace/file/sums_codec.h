// Sums per stack of a segment, as a column.
#ifndef HEAPGAUGE_CORE_TRACE_FILE_SUMS_CODEC_H_
#define HEAPGAUGE_CORE_TRACE_FILE_SUMS_CODEC_H_

#include <vector>

#include "core/trace/file/column.h"
#include "core/trace/segment.h"

namespace heapgauge::trace {

// REQUIRES: in order of stack, heap before mappings.
void EncodeSums(const std::vector<StackSums>& sums, ColumnWriter* out);
// False if the bytes make no sense. Stacks are below `stacks`, and in order.
bool DecodeSums(ColumnReader in, uint32_t stacks, std::vector<StackSums>* out);

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_FILE_SUMS_CODEC_H_
