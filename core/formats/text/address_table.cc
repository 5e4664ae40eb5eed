#include "core/formats/text/address_table.h"

namespace heapgauge {

LocationId AddressTable::Add(size_t at, uint64_t key, uint64_t address, bool exact) {
  const auto id = static_cast<LocationId>(profile_->locations.size());
  Location location;
  location.address = address;
  location.exact = exact;
  profile_->locations.push_back(location);
  slots_[at] = {key, id};
  if (2 * profile_->locations.size() <= slots_.size()) return id;
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.location == kNone) continue;
    size_t to = HashOf(slot.key) & mask;
    while (slots_[to].location != kNone) to = (to + 1) & mask;
    slots_[to] = slot;
  }
  return id;
}

}  // namespace heapgauge
