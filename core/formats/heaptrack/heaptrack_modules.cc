#include "core/formats/heaptrack/heaptrack_modules.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapgauge {

void HeaptrackModules::Clear() {
  loaded_.clear();
  sorted_ = true;
}

bool HeaptrackModules::Add(std::string_view name, uint64_t base,
                           const std::vector<std::pair<uint64_t, uint64_t>>& segments) {
  uint64_t start = UINT64_MAX;
  uint64_t end = 0;
  for (const auto& [address, size] : segments) {
    uint64_t from = 0;
    uint64_t to = 0;
    if (size == 0 || __builtin_add_overflow(base, address, &from) ||
        __builtin_add_overflow(from, size, &to)) {
      continue;
    }
    start = std::min(start, from);
    end = std::max(end, to);
  }
  if (start >= end) return true;  // nothing can lie in it
  const auto [it, is_new] = numbers_.try_emplace(fmt::format("{} {:x} {:x}", name, start, end),
                                                 static_cast<ModuleId>(modules_.size()));
  if (is_new) {
    if (modules_.size() >= kMost) return false;
    Module module;
    module.path = name;
    module.start = start;
    module.end = end;
    module.load_bias = base;
    modules_.push_back(std::move(module));
  }
  loaded_.push_back(it->second);
  sorted_ = false;
  return true;
}

ModuleId HeaptrackModules::At(uint64_t address) {
  if (!sorted_) {
    std::sort(loaded_.begin(), loaded_.end(),
              [&](ModuleId a, ModuleId b) { return modules_[a].start < modules_[b].start; });
    sorted_ = true;
  }
  const auto after = std::upper_bound(
      loaded_.begin(), loaded_.end(), address,
      [&](uint64_t value, ModuleId module) { return value < modules_[module].start; });
  if (after == loaded_.begin() || address >= modules_[*(after - 1)].end) return kNone;
  return *(after - 1);
}

}  // namespace heapgauge
