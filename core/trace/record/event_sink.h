// Where matched events go: a trace file as a rule, a list in tests. The meaning is that of the
// functions of the same names of TraceWriter.
#ifndef HEAPGAUGE_CORE_TRACE_RECORD_EVENT_SINK_H_
#define HEAPGAUGE_CORE_TRACE_RECORD_EVENT_SINK_H_

#include "core/trace/block.h"

namespace heapgauge::trace {

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Allocate(const Block& block) = 0;
  virtual void Free(const Block& block) = 0;
  virtual void Reallocate(const Block& old, const Block& block) = 0;
};

}  // namespace heapgauge::trace

#endif  // HEAPGAUGE_CORE_TRACE_RECORD_EVENT_SINK_H_
