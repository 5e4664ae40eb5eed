#include "agent/table/module_table.h"

#include <cstring>

#include "agent/sys/os.h"
#include "agent/sys/text.h"
#include "agent/unwind/walker.h"

namespace heapgauge::agent {
namespace {

wire::Module Describe(const LoadedObject& object, const char* main_program, uint32_t epoch) {
  wire::Module record{};
  record.start = object.start;
  record.end = object.end;
  record.load_bias = object.load_bias;
  record.loaded_epoch = epoch;
  record.unloaded_epoch = wire::kStillLoaded;
  record.build_id_bytes =
      static_cast<uint32_t>(BuildId(object, record.build_id, sizeof record.build_id));
  const char* path = object.path[0] == '\0' ? main_program : object.path;
  if (!CopyText(record.path, path)) record.flags |= wire::kModulePathCut;
  return record;
}

bool SameFile(const wire::Module& a, const wire::Module& b) {
  return a.start == b.start && a.end == b.end && a.load_bias == b.load_bias &&
         a.build_id_bytes == b.build_id_bytes &&
         memcmp(a.build_id, b.build_id, a.build_id_bytes) == 0 && strcmp(a.path, b.path) == 0;
}

}  // namespace

ModuleTable::Entry* ModuleTable::entry(uint32_t index) const {
  return chunks_[index / kPerChunk] + index % kPerChunk;
}

void ModuleTable::Ensure(GaugeFile* file, uintptr_t pc, const char* main_program) {
  const uint32_t count = count_.load(std::memory_order_acquire);
  for (uint32_t i = count; i-- > 0;) {
    const Entry& known = *entry(i);
    if (known.start <= pc && pc < known.end && !known.replaced && !known.gone) return;
  }
  LoadedObject object;
  if (!ObjectAt(pc, &object) || !Lock()) return;
  const wire::Module record = Describe(object, main_program, epoch());
  bool known = false;
  for (uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
    Entry& old = *entry(i);
    if (old.replaced || old.end <= object.start || object.end <= old.start) continue;
    if (SameFile(old.record, record)) {
      if (old.gone) gone_.fetch_sub(1);
      old.gone = false;
      old.identity = object.identity;
      known = true;
    } else {
      Replace(file, i);
    }
  }
  if (!known) Append(file, object, Describe(object, main_program, epoch()));
  Unlock();
}

void ModuleTable::Append(GaugeFile* file, const LoadedObject& object, const wire::Module& record) {
  const uint32_t index = count_.load(std::memory_order_relaxed);
  if (index == kMaxModules) return;
  Entry*& chunk = chunks_[index / kPerChunk];
  if (chunk == nullptr) {
    chunk = static_cast<Entry*>(os::MapPrivate(kPerChunk * sizeof(Entry)));
    if (chunk == nullptr) return;
  }
  Entry& fresh = *entry(index);
  fresh = Entry{object.start, object.end, object.identity, false, false, record};
  count_.store(index + 1, std::memory_order_release);
  Publish(file, index);
}

void ModuleTable::Publish(GaugeFile* file, uint32_t index) const {
  if (!file->open()) return;
  wire::Loss ignored;
  auto* place = file->At<wire::Module>(wire::SegmentKind::kModules, index, &ignored);
  if (place == nullptr) return;
  const wire::Module& record = entry(index)->record;
  std::atomic_ref<uint64_t> start(place->start);
  if (start.load(std::memory_order_relaxed) == 0) {
    memcpy(reinterpret_cast<char*>(place) + sizeof place->start,
           reinterpret_cast<const char*>(&record) + sizeof record.start,
           sizeof record - sizeof record.start);
    start.store(record.start, std::memory_order_release);
  } else {
    std::atomic_ref(place->unloaded_epoch).store(record.unloaded_epoch);
  }
  std::atomic_ref<uint32_t> count(file->header()->module_count);
  if (count.load() < index + 1) count.store(index + 1);
  std::atomic_ref(file->header()->module_epoch).store(epoch());
}

// The addresses of module `index` mean something else from now on.
void ModuleTable::Replace(GaugeFile* file, uint32_t index) {
  Entry& old = *entry(index);
  if (old.gone) gone_.fetch_sub(1);
  old.gone = false;
  old.replaced = true;
  old.record.unloaded_epoch = epoch_.fetch_add(1) + 1;
  Publish(file, index);
  InvalidateUnwindRules();
}

void ModuleTable::CheckUnloaded(GaugeFile* file) {
  if (!Lock()) return;
  bool vanished = false;
  for (uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
    Entry& known = *entry(i);
    if (known.replaced) continue;
    LoadedObject now;
    const bool taken = ObjectAt(known.start, &now) || ObjectAt(known.end - 1, &now) ||
                       ObjectAt(known.start + (known.end - known.start) / 2, &now);
    if (!taken) {
      if (!known.gone) {
        known.gone = true;
        gone_.fetch_add(1);
        vanished = true;
      }
      continue;
    }
    if (!known.gone && now.identity == known.identity && now.start == known.start) continue;
    // Something is there that was not there before. The main program never goes away, so its
    // path is not needed here.
    if (SameFile(known.record, Describe(now, "", known.record.loaded_epoch))) {
      if (known.gone) gone_.fetch_sub(1);
      known.gone = false;
      known.identity = now.identity;
    } else {
      Replace(file, i);
    }
  }
  if (vanished) InvalidateUnwindRules();
  Unlock();
}

void ModuleTable::CopyTo(GaugeFile* file) const {
  for (uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) Publish(file, i);
}

}  // namespace heapgauge::agent
