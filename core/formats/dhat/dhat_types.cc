#include "core/formats/dhat/dhat_types.h"

namespace heapgauge {

std::vector<DhatType> DhatTypes(const DhatFacts& facts) {
  const std::string bytes = facts.bytes_unit.empty() ? "bytes" : facts.bytes_unit;
  // dhat-rs puts "rust-" in front of the modes.
  if (facts.mode.ends_with("ad-hoc")) {
    return {{{"events", "count"}, &DhatPoint::blocks}, {{"event_units", bytes}, &DhatPoint::bytes}};
  }
  if (facts.mode.ends_with("copy")) {
    return {{{"copies", "count"}, &DhatPoint::blocks},
            {{"copied_space", bytes}, &DhatPoint::bytes}};
  }
  std::vector<DhatType> types = {{{"alloc_objects", "count"}, &DhatPoint::blocks},
                                 {{"alloc_space", bytes}, &DhatPoint::bytes}};
  if (facts.has_lifetimes) {
    types.push_back({{"inuse_objects", "count"}, &DhatPoint::end_blocks});
    types.push_back({{"inuse_space", bytes}, &DhatPoint::end_bytes});
    types.push_back({{"peak_objects", "count"}, &DhatPoint::peak_blocks});
    types.push_back({{"peak_space", bytes}, &DhatPoint::peak_bytes});
    types.push_back({{"own_peak_objects", "count"}, &DhatPoint::max_blocks});
    types.push_back({{"own_peak_space", bytes}, &DhatPoint::max_bytes});
    types.push_back({{"lifetimes", facts.time_unit.empty() ? "instrs" : facts.time_unit},
                     &DhatPoint::lifetimes});
  }
  if (facts.has_accesses) {
    types.push_back({{"read_space", "bytes"}, &DhatPoint::read_bytes});
    types.push_back({{"written_space", "bytes"}, &DhatPoint::written_bytes});
  }
  return types;
}

uint64_t DhatUnitNs(const std::string& unit) {
  if (unit == "ns") return 1;
  if (unit == "µs" || unit == "us") return 1000;
  if (unit == "ms") return 1000000;
  if (unit == "s") return 1000000000;
  return 0;
}

}  // namespace heapgauge
