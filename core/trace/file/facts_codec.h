// The facts of a trace (program, allocator, what was lost) as bytes: fields with numbers of their
// own, so that a reader passes over those it does not know.
#pragma once

#include <span>

#include "core/trace/file/column.h"
#include "core/trace/file/trace_facts.h"

namespace heapgauge::trace {

void EncodeFacts(const Facts& facts, ColumnWriter* out);
// False if the bytes make no sense.
bool DecodeFacts(std::span<const uint8_t> bytes, Facts* out);

}  // namespace heapgauge::trace
