// A sink that keeps the events it gets, for tests.
#ifndef HEAPGAUGE_CORE_TRACE_RECORD_TESTING_EVENT_LIST_H_
#define HEAPGAUGE_CORE_TRACE_RECORD_TESTING_EVENT_LIST_H_

#include <string>
#include <vector>

#include "core/trace/record/event_sink.h"

namespace heapgauge::testing {

class EventList final : public trace::EventSink {
 public:
  void Allocate(const trace::Block& block) override { events.push_back({'a', {}, block}); }
  void Free(const trace::Block& block) override { events.push_back({'f', block, {}}); }
  void Reallocate(const trace::Block& old, const trace::Block& block) override {
    events.push_back({'r', old, block});
  }

  // "a0 a1 f0 r1>2": what happened to which numbers.
  std::string Text() const {
    std::string text;
    for (const Event& event : events) {
      if (!text.empty()) text += ' ';
      text += event.kind;
      if (event.kind != 'a') text += std::to_string(event.old.number);
      if (event.kind == 'r') text += '>';
      if (event.kind != 'f') text += std::to_string(event.block.number);
    }
    return text;
  }

  struct Event {
    char kind;
    trace::Block old;
    trace::Block block;
  };
  std::vector<Event> events;
};

}  // namespace heapgauge::testing

#endif  // HEAPGAUGE_CORE_TRACE_RECORD_TESTING_EVENT_LIST_H_
