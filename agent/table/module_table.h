// The objects that stacks lead through, as records in the gauge file. A module is registered when the
// first stack leads into it and is never forgotten, so that stacks through an unloaded plugin still
// resolve.
//
// When an object is unloaded its record stays, and so do the stacks. Only when its addresses are taken
// over by a different object does the epoch advance: from then on the same address means something
// else, so every known stack has to be interned anew (StackTable mixes the epoch into its keys) and every
// unwind rule is void. A plugin that is loaded again at its old place costs nothing.
//
// Unloading is noticed by the dlclose hook and by a look once a second, both through CheckUnloaded.
//
// One thread at a time changes the table; others that come at that moment carry on without.
// Allocation-free. Zero-initialised memory is an empty table.
#ifndef HEAPGAUGE_AGENT_TABLE_MODULE_TABLE_H_
#define HEAPGAUGE_AGENT_TABLE_MODULE_TABLE_H_

#include <atomic>
#include <cstdint>

#include "agent/sys/loaded_objects.h"
#include "agent/table/gauge_file.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

class ModuleTable {
 public:
  // Registers the object that holds `pc`, if it is new.
  void Ensure(GaugeFile* file, uintptr_t pc, const char* main_program);

  // Looks which registered objects are gone, and whether others took their places.
  void CheckUnloaded(GaugeFile* file);
  // The second half alone, and only if there is anything to look for: cheap enough for each sample.
  void CheckTakenOver(GaugeFile* file) {
    if (gone_.load(std::memory_order_relaxed) != 0) CheckUnloaded(file);
  }

  // Writes all records into another file: a forked child's.
  void CopyTo(GaugeFile* file) const;
  // In a forked child: no other thread is at work.
  void Unlock() { changing_.store(0); }

  uint32_t epoch() const { return epoch_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kMaxModules = 1024;
  struct Entry {
    uintptr_t start;
    uintptr_t end;
    const void* identity;
    bool gone;      // unloaded, its place still free
    bool replaced;  // its place was taken over
    wire::Module record;
  };

  bool Lock() {
    uint32_t idle = 0;
    return changing_.compare_exchange_strong(idle, 1);
  }
  void Publish(GaugeFile* file, uint32_t index) const;
  void Append(GaugeFile* file, const LoadedObject& object, const wire::Module& record);
  void Replace(GaugeFile* file, uint32_t index);
  Entry* entry(uint32_t index) const;

  static constexpr uint32_t kPerChunk = 32;
  std::atomic<uint32_t> changing_;
  std::atomic<uint32_t> count_;
  std::atomic<uint32_t> gone_;
  std::atomic<uint32_t> epoch_;
  Entry* chunks_[kMaxModules / kPerChunk] = {};
};

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_TABLE_MODULE_TABLE_H_
