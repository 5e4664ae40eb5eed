#include "core/formats/heaptrack/heaptrack_modules.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapgauge {

void HeaptrackModules::Clear() { loaded_.clear(); }

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
  const std::string key = fmt::format("{} {:x} {:x}", name, start, end);
  auto it = numbers_.find(key);
  if (it == numbers_.end()) {
    if (modules_.size() >= kMost) return false;
    it = numbers_.emplace(key, static_cast<ModuleId>(modules_.size())).first;
    Module module;
    module.path = name;
    module.start = start;
    module.end = end;
    module.load_bias = base;
    modules_.push_back(std::move(module));
  }
  // Into its place: files are free to add one object and ask, again and again.
  const auto place = After(start);
  const auto same = std::lower_bound(
      loaded_.cbegin(), place, start,
      [&](ModuleId module, uint64_t value) { return modules_[module].start < value; });
  const bool is_loaded = std::find(same, place, it->second) != place;
  if (!is_loaded) loaded_.insert(place, it->second);
  return true;
}

std::vector<ModuleId>::const_iterator HeaptrackModules::After(uint64_t address) const {
  return std::upper_bound(
      loaded_.begin(), loaded_.end(), address,
      [&](uint64_t value, ModuleId module) { return value < modules_[module].start; });
}

ModuleId HeaptrackModules::At(uint64_t address) const {
  const auto after = After(address);
  if (after == loaded_.begin() || address >= modules_[*(after - 1)].end) return kNone;
  return *(after - 1);
}

}  // namespace heapgauge
