// The objects that stacks lead through, as records in the gauge file. A module is registered when
// the first stack leads into it and is never forgotten: each node of the trie names its module, so
// stacks through an unloaded plugin still resolve.
//
// The same addresses may belong to different objects at different times. Then the rolling hash of a
// stack, which knows addresses only, is not enough to tell stacks apart. So there is a number that
// stands for which of the objects that ever competed for addresses are in their places now
// (layout), and stacks are interned by hash and layout. A plugin that is loaded again where it was
// brings the old layout back, so that loading and unloading for ever costs nothing.
//
// Unloading is noticed by the dlclose hook and by a look once a second.
//
// A new object is registered without a lock (two threads may both register it, which does no harm).
// Only where objects compete for addresses one thread at a time changes the table; others then wait
// for some microseconds, or give up their sample. Allocation-free. Zero-initialised memory is an
// empty table.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/sys/symbol_search.h"
#include "agent/sys/try_lock.h"
#include "agent/table/gauge_file.h"
#include "wire/gauge_format.h"

namespace heapgauge::agent {

class ModuleTable {
 public:
  // The module that holds the code at `address`, registering it if it is new: its index plus 1, as
  // nodes name it; 0 if there is none (code made at run time). False if it cannot be told now.
  // REQUIRES: the calling thread is executing in that object, so that it cannot be unloaded
  // meanwhile.
  bool Find(GaugeFile* file, uintptr_t address, const char* main_program, uint32_t* module);

  // Looks which registered objects are gone or replaced. Reads nothing of the objects themselves:
  // another thread may be unloading them.
  void CheckAll(GaugeFile* file) { Check(file, false); }
  // The same for those that were gone already: cheap enough for each sample.
  void CheckGone(GaugeFile* file) {
    if (gone_.load(std::memory_order_relaxed) != 0) Check(file, true);
  }

  // Whether code at `pc` may be of an object that took the place of one that is gone. Cheap enough
  // for each frame that is new since the last stack.
  bool any_gone() const { return gone_.load(std::memory_order_relaxed) != 0; }
  bool MayHaveReplaced(uintptr_t pc) const {
    return gone_low_.load(std::memory_order_relaxed) <= pc &&
           pc < gone_high_.load(std::memory_order_relaxed) && WasGone(pc);
  }

  uint64_t layout() const { return layout_.load(std::memory_order_acquire); }

  // Writes all records into another file: a forked child's.
  void CopyTo(GaugeFile* file) const;
  // In a forked child: no other thread is at work.
  void Unlock() { changing_.Unlock(); }

 private:
  static constexpr uint32_t kMaxModules = 1024;
  enum class Place : uint32_t {
    kLoaded,    // in its place
    kGone,      // unloaded, nothing there
    kUnsure,    // something is there again; what it is tells the first stack that leads through it
    kReplaced,  // another object is there
  };
  struct Entry {
    std::atomic<uint32_t> ready;  // 0: the rest is not written yet
    uintptr_t start;
    uintptr_t end;
    const void* identity;  // the dynamic linker's, while loaded
    std::atomic<Place> place;
    bool contested;  // another registered object had some of its addresses at another time
    wire::ModuleRecord record;
  };

  void Check(GaugeFile* file, bool only_gone);
  uint32_t Adopt(GaugeFile* file, const LoadedObject& object, const char* main_program);
  uint32_t Append(GaugeFile* file, const LoadedObject& object, const wire::ModuleRecord& record);
  bool WasGone(uintptr_t pc) const;
  bool IsNewGround(const LoadedObject& object) const;
  void SetPlace(Entry* entry, Place place);
  void UpdateLayout();
  void Publish(GaugeFile* file, uint32_t index) const;
  Entry* entry(uint32_t index) const;  // nullptr if it is not ready

  static constexpr uint32_t kPerChunk = 32;
  TryLock changing_;
  std::atomic<uint32_t> count_;  // entries taken, ready or not
  std::atomic<uint32_t> gone_;
  std::atomic<uintptr_t> gone_low_;  // all that were ever gone lie between these
  std::atomic<uintptr_t> gone_high_;
  std::atomic<uint64_t> layout_;
  std::atomic<Entry*> chunks_[kMaxModules / kPerChunk];
};

}  // namespace heapgauge::agent
