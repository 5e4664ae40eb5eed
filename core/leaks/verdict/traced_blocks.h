// The blocks that are live at the end of an exact trace, or at another moment, and what became of
// those that are not: all of them are known, and how much each stack held over time.
#pragma once

#include "core/base/result.h"
#include "core/leaks/scan/known_blocks.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::leaks {

// Mappings are left out. Reads the sums of all segments and the events of at most 128, one after
// the other; memory for the live blocks, and for the amounts over time of the stacks that they are
// from. `stacks` are those of the trace, with or without names. `at_ns`: not what is live at its
// end, but at this moment, which may be a little behind the last event.
Result<KnownBlocks> TracedBlocks(const trace::TraceFile& trace,
                                 const trace::TraceFile::Stacks& stacks,
                                 uint64_t at_ns = trace::kNever);

}  // namespace heapgauge::leaks
