// The objects that stacks lead through, as records in the gauge file. A module is registered when the
// first stack leads into it and is never forgotten: each node of the trie names its module, so stacks
// through an unloaded plugin still resolve.
//
// The same addresses may belong to different objects at different times. Then the rolling hash of a stack,
// which knows addresses only, is not enough to tell stacks apart. So there is a number that stands for
// which of the objects that ever competed for addresses are in their places now (layout), and stacks are
// interned by hash and layout. A plugin that is loaded again where it was brings the old layout back, so
// that loading and unloading for ever costs nothing.
//
// Unloading is noticed by the dlclose hook and by a look once a second.
//
// One thread at a time changes the table; others that come at that moment carry on without.
// Allocation-free. Zero-initialised memory is an empty table.
#ifndef HEAPGAUGE_AGENT_TABLE_MODULE_TABLE_H_
#define HEAPGAUGE_AGENT_TABLE_MODULE_TABLE_H_

#include <atomic>
#include <cstdint>

#include "agent/sys/symbol_search.h"
#include "agent/table/gauge_file.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

class ModuleTable {
 public:
  // The module that holds the code at `address`, registering it if it is new: its index plus 1, as
  // nodes name it; 0 if there is none (code made at run time) or it cannot be told now.
  uint32_t Find(GaugeFile* file, uintptr_t address, const char* main_program);

  // Looks which registered objects are gone or replaced.
  void CheckAll(GaugeFile* file, const char* main_program);
  // The same for those that were gone already: cheap enough for each sample.
  void CheckGone(GaugeFile* file, const char* main_program) {
    if (gone_.load(std::memory_order_relaxed) != 0) Check(file, main_program, true);
  }

  uint64_t layout() const { return layout_.load(std::memory_order_acquire); }

  // Writes all records into another file: a forked child's.
  void CopyTo(GaugeFile* file) const;
  // In a forked child: no other thread is at work.
  void Unlock() { changing_.store(0); }

 private:
  static constexpr uint32_t kMaxModules = 1024;
  enum class Place : uint32_t {
    kLoaded,    // in its place
    kGone,      // unloaded, nothing there
    kReplaced,  // another object is there
  };
  struct Entry {
    uintptr_t start;
    uintptr_t end;
    const void* identity;  // the dynamic linker's, while loaded
    Place place;
    bool contested;  // another registered object had some of its addresses at another time
    wire::Module record;
  };

  bool Lock() {
    uint32_t idle = 0;
    return changing_.compare_exchange_strong(idle, 1);
  }
  void Check(GaugeFile* file, const char* main_program, bool only_gone);
  uint32_t Adopt(GaugeFile* file, const LoadedObject& object, const char* main_program);
  uint32_t Append(const LoadedObject& object, const wire::Module& record);
  void SetPlace(Entry* entry, Place place);
  void UpdateLayout();
  void Publish(GaugeFile* file, uint32_t index) const;
  Entry* entry(uint32_t index) const;

  static constexpr uint32_t kPerChunk = 32;
  std::atomic<uint32_t> changing_;
  std::atomic<uint32_t> count_;
  std::atomic<uint32_t> gone_;
  std::atomic<uint64_t> layout_;
  Entry* chunks_[kMaxModules / kPerChunk] = {};
};

}  // namespace heapgauge::agent

#endif  // HEAPGAUGE_AGENT_TABLE_MODULE_TABLE_H_
