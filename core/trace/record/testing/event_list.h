// A sink that keeps the events it gets, for tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/trace/file/block.h"

namespace heapgauge::testing {

class EventList final : public trace::EventSink {
 public:
  void Born(const trace::Birth& block) override { events.push_back({'a', {}, {block}}); }
  void Died(const trace::Birth& block, const trace::Death& death) override {
    events.push_back({'f', Dead(block, death), {}});
  }
  void Resized(const trace::Birth& old, const trace::Death& death,
               const trace::Birth& block) override {
    events.push_back({'r', Dead(old, death), {block}});
    events.back().old.resized_away = true;
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

  // What the events amount to, mappings left out.
  uint64_t LiveBytes() const { return Add(false).live; }
  uint64_t PeakBytes() const { return Add(false).peak; }
  // Of the mappings alone.
  uint64_t MappedPeakBytes() const { return Add(true).peak; }

  struct Event {
    char kind;
    trace::Block old;
    trace::Block block;
  };
  std::vector<Event> events;

 private:
  struct Sum {
    uint64_t live = 0;
    uint64_t peak = 0;
  };
  Sum Add(bool mappings) const {
    Sum sum;
    for (const Event& event : events) {
      if (event.kind != 'a' && event.old.is_mapping == mappings) sum.live -= event.old.size;
      if (event.kind != 'f' && event.block.is_mapping == mappings) sum.live += event.block.size;
      sum.peak = std::max(sum.peak, sum.live);
    }
    return sum;
  }
  static trace::Block Dead(const trace::Birth& birth, const trace::Death& death) {
    trace::Block block{birth};
    block.death_ns = death.time_ns;
    block.death_thread = death.thread;
    block.distance = death.distance;
    return block;
  }
};

}  // namespace heapgauge::testing
