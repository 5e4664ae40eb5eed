#include "agent/table/module_table.h"

#include <cstring>

#include "agent/sys/os.h"
#include "agent/sys/text.h"
#include "agent/table/atomic_file.h"
#include "agent/unwind/walker.h"

namespace heapgauge::agent {
namespace {

wire::Module Describe(const LoadedObject& object, const char* main_program) {
  wire::Module record{};
  record.start = object.start;
  record.end = object.end;
  record.load_bias = object.load_bias;
  record.loaded = 1;
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

uint32_t ModuleTable::Find(GaugeFile* file, uintptr_t address, const char* main_program) {
  for (uint32_t i = count_.load(std::memory_order_acquire); i-- > 0;) {
    const Entry& known = *entry(i);
    if (known.start <= address && address < known.end && known.place == Place::kLoaded) return i + 1;
  }
  LoadedObject object;
  if (!ObjectAt(address, &object) || !Lock()) return 0;
  const uint32_t found = Adopt(file, object, main_program);
  Unlock();
  return found;
}

// Enters an object that is loaded now, be it new or one that was here before, and puts out of place
// what it replaces. Its index plus 1; 0 if the table is full.
uint32_t ModuleTable::Adopt(GaugeFile* file, const LoadedObject& object, const char* main_program) {
  const wire::Module record = Describe(object, main_program);
  uint32_t found = 0;
  bool replaces = false;
  for (uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
    Entry& known = *entry(i);
    if (known.end <= object.start || object.end <= known.start) continue;
    if (SameFile(known.record, record)) {
      found = i + 1;
      known.identity = object.identity;
      SetPlace(&known, Place::kLoaded);
    } else {
      known.contested = true;
      replaces = true;
      SetPlace(&known, Place::kReplaced);
    }
    Publish(file, i);
  }
  if (found == 0) found = Append(object, record);
  if (found == 0) return 0;
  Publish(file, found - 1);
  if (replaces) {
    entry(found - 1)->contested = true;
    UpdateLayout();
    InvalidateUnwindRules();
  }
  return found;
}

uint32_t ModuleTable::Append(const LoadedObject& object, const wire::Module& record) {
  const uint32_t index = count_.load(std::memory_order_relaxed);
  if (index == kMaxModules) return 0;
  Entry*& chunk = chunks_[index / kPerChunk];
  if (chunk == nullptr) {
    chunk = static_cast<Entry*>(os::MapPrivate(kPerChunk * sizeof(Entry)));
    if (chunk == nullptr) return 0;
  }
  *entry(index) = Entry{object.start, object.end, object.identity, Place::kLoaded, false, record};
  count_.store(index + 1, std::memory_order_release);
  return index + 1;
}

void ModuleTable::SetPlace(Entry* known, Place place) {
  if (known->place == Place::kGone) gone_.fetch_sub(1);
  if (place == Place::kGone) gone_.fetch_add(1);
  known->place = place;
  known->record.loaded = place == Place::kLoaded;
}

void ModuleTable::UpdateLayout() {
  uint64_t layout = 0;
  for (uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
    const Entry& known = *entry(i);
    if (!known.contested || known.place == Place::kReplaced) continue;
    layout ^= (i + 1) * 0x9E3779B97F4A7C15;
  }
  layout_.store(layout, std::memory_order_release);
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
    Put(place->loaded, record.loaded);
  }
  RaiseTo(file->header()->module_count, index + 1);
}

void ModuleTable::CheckAll(GaugeFile* file, const char* main_program) {
  Check(file, main_program, false);
}

void ModuleTable::Check(GaugeFile* file, const char* main_program, bool only_gone) {
  if (!Lock()) return;
  bool vanished = false;
  const uint32_t count = count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    Entry& known = *entry(i);
    if (known.place == Place::kReplaced || (only_gone && known.place != Place::kGone)) continue;
    LoadedObject now;
    const bool taken = ObjectAt(known.start, &now) || ObjectAt(known.end - 1, &now) ||
                       ObjectAt(known.start + (known.end - known.start) / 2, &now);
    if (!taken) {
      if (known.place == Place::kLoaded) {
        SetPlace(&known, Place::kGone);
        Publish(file, i);
        vanished = true;
      }
    } else if (known.place == Place::kGone || now.identity != known.identity) {
      Adopt(file, now, main_program);
      vanished = true;
    }
  }
  if (vanished) InvalidateUnwindRules();
  Unlock();
}

void ModuleTable::CopyTo(GaugeFile* file) const {
  for (uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) Publish(file, i);
}

}  // namespace heapgauge::agent
