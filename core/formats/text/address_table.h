// Finds the location of an address while a profile is read. Text formats name each place by its
// address in every stack, millions of times, so this is the inner loop of their readers.
//
// Not synchronised. The profile must outlive the table.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

class AddressTable {
 public:
  explicit AddressTable(Profile* profile) : profile_(profile), slots_(4096) {}

  // The location of a return address, or of an instruction itself (`exact`). Places that are looked
  // up by the same address are one location, as in pprof; the first mention decides its kind.
  LocationId At(uint64_t address, bool exact = false) {
    // pprof looks one byte below whatever it finds, zero included.
    if (address == 0 && !exact) {
      address = ~uint64_t{0};
      exact = true;
    }
    const uint64_t key = exact ? address : address - 1;
    const size_t mask = slots_.size() - 1;
    size_t at = HashOf(key) & mask;
    while (slots_[at].location != kNone) {
      if (slots_[at].key == key) return slots_[at].location;
      at = (at + 1) & mask;
    }
    return Add(at, key, address, exact);
  }

  // Asks memory for the place of a return address that will be looked up soon.
  void Prefetch(uint64_t address) const {
    __builtin_prefetch(&slots_[HashOf(address - 1) & (slots_.size() - 1)]);
  }

 private:
  struct Slot {
    uint64_t key = 0;
    LocationId location = kNone;  // kNone: free
  };

  static size_t HashOf(uint64_t key) { return static_cast<size_t>(key * 0x9e3779b97f4a7c15 >> 32); }

  LocationId Add(size_t at, uint64_t key, uint64_t address, bool exact);

  Profile* profile_;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace heapgauge
