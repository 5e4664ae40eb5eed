#include "core/voices/perl/routines.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/regex.h"

namespace heapgauge::perl {

AddressFigures::Pair AddressFigures::Sum(uint64_t begin, uint64_t end) const {
  Pair pair;
  if (begin >= end) return pair;
  for (auto it = cum.lower_bound(begin); it != cum.end() && it->first < end; ++it) {
    pair.cum += it->second;
  }
  for (auto it = flat.lower_bound(begin); it != flat.end() && it->first < end; ++it) {
    pair.flat += it->second;
  }
  return pair;
}

AddressFigures CountAddresses(const ReportInput& input) {
  AddressFigures figures;
  std::vector<size_t> last_seen(input.state->pcs.size(), ~size_t{0});
  for (size_t i = 0; i < input.stacks.size(); ++i) {
    const double value = input.stacks.values[i];
    bool first = true;
    for (const PcId pc : input.stacks.stack(i)) {
      const uint64_t address = input.state->pcs[pc].address;
      if (address >> 63 != 0 || last_seen[pc] == i) continue;
      last_seen[pc] = i;
      if (first) {
        figures.flat[address] += value;
        figures.total += value;
      }
      first = false;
      figures.cum[address] += value;
    }
  }
  return figures;
}

Status ForEachRoutine(const ReportInput& input, const AddressFigures& figures,
                      const std::function<Status(const Routine&)>& handle) {
  HG_ASSIGN(const Regex re, Regex::CompilePerl(input.options.pattern));
  SessionState& state = *input.state;
  for (Library& library : state.libraries) {
    if (library.image == nullptr && library.is_rest) {
      library.image = Image::Open(library.module, state.options, state.symbolize);
    }
    if (library.image == nullptr) continue;
    std::map<std::string, const NmTable::Entry*> chosen;
    for (const NmTable::Entry& entry : library.image->nm().entries()) {
      const uint64_t begin = entry.start + library.bias;
      const auto sample = figures.cum.lower_bound(begin);
      if (sample == figures.cum.end() || sample->first >= entry.end + library.bias) continue;
      std::string name = entry.FullName();
      if (re.Matches(name)) chosen[std::move(name)] = &entry;
    }
    std::vector<Routine> routines;
    for (const auto& [name, entry] : chosen) {
      routines.push_back(
          {&library, ShortFunctionName(name, input.options), entry->start, entry->end});
    }
    std::stable_sort(routines.begin(), routines.end(), [](const Routine& a, const Routine& b) {
      return a.name != b.name ? a.name < b.name : a.start < b.start;
    });
    for (const Routine& routine : routines) HG_TRY(handle(routine));
  }
  return {};
}

}  // namespace heapgauge::perl
