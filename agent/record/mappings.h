// Records mappings (mmap and its kin): all of them are kept, none is sampled.
//
// Threads: all of them, also signal handlers. Allocation-free. Usable before any constructor ran;
// the session must outlive it.
#pragma once

#include <cstdint>

#include "agent/record/session.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

class Mappings {
 public:
  constexpr explicit Mappings(Session& session) : session_(session) {}

  // A mapping that the program has been given.
  struct Mapping {
    uint64_t address;
    uint64_t length;
    uint32_t protection;
    uint32_t map_flags;
    bool of_allocator;
  };
  void Record(const Mapping& mapping, const Registers& caller);
  // A range that the program gives back. `taken` is what was there; if the program cannot give it
  // back after all, PutBack.
  void RecordUnmap(uint64_t address, uint64_t length, wire::MappingRecord* taken);
  void PutBack(const wire::MappingRecord& taken);

 private:
  void CountLoss();
  static void CountUnmapped(void* self, const MappingTable::Gone& gone);

  Session& session_;
};

}  // namespace heapgauge::agent
