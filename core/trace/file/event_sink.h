// Where matched events go, in order of time: a trace file as a rule, a list in tests.
//
// One thread. What is handed over is looked at during the call alone.
#pragma once

#include <cstdint>
#include <span>

#include "core/trace/file/block.h"

namespace heapgauge::trace {

class EventSink {
 public:
  virtual ~EventSink() = default;
  // `block` has the next number.
  virtual void Born(const Birth& block) = 0;
  // `block` is as it was born.
  virtual void Died(const Birth& block, const Death& death) = 0;
  // Both in one event: realloc made `block`, whose previous is old.number, of `old`.
  virtual void Resized(const Birth& old, const Death& death, const Birth& block) = 0;
  // Stacks that the next births will name: memory can be asked for in time. False if that is not
  // worth it for now.
  virtual bool Expect(std::span<const uint32_t>) { return false; }
};

}  // namespace heapgauge::trace
