#include "core/formats/mappings/assign_modules.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/formats/mappings/mapping_section.h"

namespace heapgauge {
namespace {

// Ranges are put in with a number; asked for a point, it tells the smallest number of all ranges
// around it.
class LowestRange {
 public:
  // `bounds` are all ends of ranges that will come, sorted, each once.
  explicit LowestRange(const std::vector<uint64_t>& bounds)
      : bounds_(bounds), lowest_(2 * bounds.size(), kNone) {}

  void Add(uint64_t start, uint64_t end, uint32_t number) {
    if (start >= end) return;
    size_t low = IndexOf(start) + bounds_.size();
    size_t high = IndexOf(end) + bounds_.size();
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) Lower(low++, number);
      if (high % 2 == 1) Lower(--high, number);
    }
  }

  // kNone: no range is around it.
  uint32_t At(uint64_t point) const {
    const auto after = std::upper_bound(bounds_.begin(), bounds_.end(), point);
    if (after == bounds_.begin()) return kNone;
    uint32_t lowest = kNone;
    size_t at = static_cast<size_t>(after - bounds_.begin()) - 1 + bounds_.size();
    for (; at != 0; at /= 2) lowest = std::min(lowest, lowest_[at]);
    return lowest;
  }

 private:
  size_t IndexOf(uint64_t bound) const {
    return static_cast<size_t>(std::lower_bound(bounds_.begin(), bounds_.end(), bound) -
                               bounds_.begin());
  }
  void Lower(size_t at, uint32_t number) { lowest_[at] = std::min(lowest_[at], number); }

  const std::vector<uint64_t>& bounds_;
  std::vector<uint32_t> lowest_;  // a segment tree; leaf i is from bound i to the next
};

// Some writers tell wrong ranges of a program that moved its code to huge pages.
void MendProgram(std::vector<Module>* modules) {
  constexpr std::string_view kHugePages = "/anon_hugepage";
  if (modules->size() > 1 && (*modules)[0].path.starts_with(kHugePages) &&
      (*modules)[0].end == (*modules)[1].start) {
    modules->erase(modules->begin());
  }
  // Where the linker puts programs that are not position-independent.
  constexpr uint64_t kUsualStart = 0x400000;
  if (!modules->empty() && modules->front().start - modules->front().offset == kUsualStart) {
    modules->front().start = kUsualStart;
    modules->front().offset = 0;
  }
}

}  // namespace

void AssignModules(std::vector<Module> modules, Profile* profile) {
  TidyModules(&modules);
  MendProgram(&modules);
  std::vector<uint64_t> bounds;
  for (const Module& m : modules) {
    bounds.insert(bounds.end(), {m.start, m.end, m.start - m.offset});
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  LowestRange inside(bounds);
  LowestRange below(bounds);  // within the offset
  for (ModuleId i = 0; i < modules.size(); ++i) {
    const Module& m = modules[i];
    inside.Add(m.start, m.end, i);
    if (m.offset != 0) below.Add(m.start - m.offset, m.start, i);
  }
  ModuleId fake = kNone;
  for (Location& location : profile->locations) {
    const uint64_t address = location.lookup_address();
    if (location.module != kNone || address == 0) continue;
    ModuleId found = inside.At(address);
    if (found == kNone && fake == kNone) {
      found = below.At(address);
      if (found != kNone) {
        // What is below is inside from now on, so nobody will ask for this one again.
        Module& m = modules[found];
        inside.Add(m.start - m.offset, m.start, found);
        m.start -= m.offset;
        m.offset = 0;
      }
    }
    if (found == kNone) {
      if (fake == kNone) {
        fake = static_cast<ModuleId>(modules.size());
        Module whole;
        whole.end = ~uint64_t{0};
        whole.load_bias_known = false;
        modules.push_back(std::move(whole));
      }
      found = fake;
    }
    location.module = found;
  }
  profile->modules = std::move(modules);
}

}  // namespace heapgauge
