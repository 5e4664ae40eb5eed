#include "core/trace/record/early_births.h"

#include <algorithm>

namespace heapgauge::trace {

template <typename Wanted>
std::optional<MergedEvent> EarlyBirths::TakeFirst(const Wanted& wanted) {
  const auto found = std::find_if(births_.begin(), births_.end(), wanted);
  if (found == births_.end()) return std::nullopt;
  const MergedEvent birth = *found;
  births_.erase(found);
  return birth;
}

std::optional<MergedEvent> EarlyBirths::Add(const MergedEvent& birth) {
  std::optional<MergedEvent> oldest;
  if (births_.size() >= kMost) oldest = TakeFirst([](const MergedEvent&) { return true; });
  births_.push_back(birth);
  return oldest;
}

std::optional<MergedEvent> EarlyBirths::TakeAt(uint64_t address) {
  return TakeFirst([&](const MergedEvent& birth) { return birth.address() == address; });
}

std::optional<MergedEvent> EarlyBirths::TakeOwn(const MergedEvent& event) {
  return TakeFirst([&](const MergedEvent& birth) {
    return birth.address() == event.address() && birth.thread == event.thread;
  });
}

std::optional<MergedEvent> EarlyBirths::TakeExpired(uint64_t now_ns) {
  return TakeFirst([&](const MergedEvent& birth) {
    return now_ns >= birth.time && now_ns - birth.time > kMostEarlyNs;
  });
}

}  // namespace heapgauge::trace
