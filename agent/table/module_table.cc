#include "agent/table/module_table.h"

#include <cstring>

#include "agent/sys/mapped_path.h"
#include "agent/sys/os_memory.h"
#include "agent/sys/text.h"
#include "agent/table/gauge_file.h"
#include "agent/unwind/walker.h"

namespace heapgauge::agent {
namespace {

void DescribeCode(const LoadedObject& object, wire::ModuleRecord* record) {
  constexpr uint64_t kPageMask = ~uint64_t{4095};
  const ProgramHeaders headers = HeadersOf(object);
  const ElfW(Phdr)* code = nullptr;
  for (size_t i = 0; i < headers.count; ++i) {
    const ElfW(Phdr)& header = headers.first[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    if (code != nullptr) return;
    code = &header;
  }
  if (code == nullptr) return;
  const uint64_t start = object.load_bias + code->p_vaddr;
  record->code_start = start & kPageMask;
  record->code_end = (start + code->p_memsz + ~kPageMask) & kPageMask;
  record->code_offset = code->p_offset & kPageMask;
}

// One that was loaded by a relative path is known by that to the dynamic linker, and names without
// a slash are those of no file (the kernel's own object).
bool IsRelative(const char* path) { return path[0] != '/' && strchr(path, '/') != nullptr; }

wire::ModuleRecord Describe(const LoadedObject& object, const char* main_program) {
  wire::ModuleRecord record{};
  record.start = object.start;
  record.end = object.end;
  record.load_bias = object.load_bias;
  record.loaded = 1;
  record.build_id_bytes =
      static_cast<uint32_t>(BuildId(object, record.build_id, sizeof record.build_id));
  const char* path = object.path[0] == '\0' ? main_program : object.path;
  if (!(IsRelative(path) && MappedPath(object.start, record.path, sizeof record.path)) &&
      !CopyText(record.path, path)) {
    record.flags |= wire::kModulePathCut;
  }
  DescribeCode(object, &record);
  return record;
}

bool SameFile(const wire::ModuleRecord& a, const wire::ModuleRecord& b) {
  return a.start == b.start && a.end == b.end && a.load_bias == b.load_bias &&
         a.build_id_bytes == b.build_id_bytes &&
         memcmp(a.build_id, b.build_id, a.build_id_bytes) == 0 && strcmp(a.path, b.path) == 0;
}

}  // namespace

ModuleTable::Entry* ModuleTable::entry(uint32_t index) const {
  Entry* chunk = chunks_[index / kPerChunk].load(std::memory_order_acquire);
  if (chunk == nullptr) return nullptr;
  Entry* entry = chunk + index % kPerChunk;
  return entry->ready.load(std::memory_order_acquire) != 0 ? entry : nullptr;
}

bool ModuleTable::IsNewGround(const LoadedObject& object) const {
  for (uint32_t i = 0; i < count_.load(std::memory_order_acquire); ++i) {
    const Entry* known = entry(i);
    if (known != nullptr && object.start < known->end && known->start < object.end) return false;
  }
  return true;
}

bool ModuleTable::WasGone(uintptr_t pc) const {
  for (uint32_t i = 0; i < count_.load(std::memory_order_acquire); ++i) {
    const Entry* known = entry(i);
    if (known == nullptr || pc < known->start || pc >= known->end) continue;
    if (known->place.load(std::memory_order_relaxed) == Place::kGone) return true;
  }
  return false;
}

bool ModuleTable::Find(GaugeFile* file, uintptr_t address, const char* main_program,
                       uint32_t* module) {
  for (uint32_t i = count_.load(std::memory_order_acquire); i-- > 0;) {
    const Entry* known = entry(i);
    if (known == nullptr || address < known->start || address >= known->end) continue;
    if (known->place != Place::kLoaded) continue;
    *module = i + 1;
    return true;
  }
  LoadedObject object;
  *module = 0;
  if (!ObjectAt(address, &object)) return true;
  if (IsNewGround(object)) {
    *module = Append(file, object, Describe(object, main_program));
    return true;
  }
  if (!changing_.LockSoon()) return false;
  *module = Adopt(file, object, main_program);
  changing_.Unlock();
  return true;
}

// Enters an object that is loaded now, be it new or one that was here before, and puts out of place
// what it replaces. Its index plus 1; 0 if the table is full.
uint32_t ModuleTable::Adopt(GaugeFile* file, const LoadedObject& object, const char* main_program) {
  const wire::ModuleRecord record = Describe(object, main_program);
  uint32_t found = 0;
  bool competes = false;
  for (uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
    Entry* known = entry(i);
    if (known == nullptr || known->end <= object.start || object.end <= known->start) continue;
    if (SameFile(known->record, record)) {
      found = i + 1;
      known->identity = object.identity;
      SetPlace(known, Place::kLoaded);
    } else {
      known->contested = true;
      competes = true;
      SetPlace(known, Place::kReplaced);
    }
    Publish(file, i);
  }
  if (found == 0) found = Append(file, object, record);
  if (found == 0) return 0;
  if (competes) {
    entry(found - 1)->contested = true;
    InvalidateUnwindRules();
  }
  UpdateLayout();
  return found;
}

uint32_t ModuleTable::Append(GaugeFile* file, const LoadedObject& object,
                             const wire::ModuleRecord& record) {
  uint32_t index = count_.load(std::memory_order_relaxed);
  do {
    if (index == kMaxModules) return 0;
  } while (!count_.compare_exchange_weak(index, index + 1));
  std::atomic<Entry*>& place = chunks_[index / kPerChunk];
  Entry* chunk = place.load(std::memory_order_acquire);
  if (chunk == nullptr) {
    auto* fresh = static_cast<Entry*>(os::MapPrivate(kPerChunk * sizeof(Entry)));
    if (fresh == nullptr) return 0;
    const bool first = place.compare_exchange_strong(chunk, fresh);
    if (!first) os::Unmap(fresh, kPerChunk * sizeof(Entry));
    if (first) chunk = fresh;
  }
  Entry& entry = chunk[index % kPerChunk];
  entry.start = object.start;
  entry.end = object.end;
  entry.identity = object.identity;
  entry.place = Place::kLoaded;
  entry.contested = false;
  entry.record = record;
  entry.ready.store(1, std::memory_order_release);
  Publish(file, index);
  return index + 1;
}

void ModuleTable::SetPlace(Entry* known, Place place) {
  if (known->place == Place::kGone) gone_.fetch_sub(1);
  if (place == Place::kGone) {
    const uintptr_t low = gone_low_.load(std::memory_order_relaxed);
    if (low == 0 || known->start < low) gone_low_.store(known->start);
    if (known->end > gone_high_.load(std::memory_order_relaxed)) gone_high_.store(known->end);
    gone_.fetch_add(1);
  }
  known->place = place;
  known->record.loaded = place == Place::kLoaded;
}

void ModuleTable::UpdateLayout() {
  uint64_t layout = 0;
  bool unsure = false;
  for (uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
    const Entry* known = entry(i);
    if (known == nullptr) continue;
    unsure = unsure || known->place == Place::kUnsure;
    if (!known->contested || known->place == Place::kReplaced) continue;
    layout ^= (i + 1) * 0x9E3779B97F4A7C15;
  }
  // No name given while sure holds while unsure, so each stack is looked at frame by frame.
  layout_.store(unsure ? ~layout : layout, std::memory_order_release);
}

void ModuleTable::Publish(GaugeFile* file, uint32_t index) const {
  if (!file->open() || entry(index) == nullptr) return;
  wire::Loss ignored;
  auto* place = file->At<wire::ModuleRecord>(wire::SegmentKind::kModules, index, &ignored);
  if (place == nullptr) return;
  const wire::ModuleRecord& record = entry(index)->record;
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

void ModuleTable::Check(GaugeFile* file, bool only_gone) {
  if (!changing_.Lock()) return;
  bool changed = false;
  const uint32_t count = count_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    Entry* known = entry(i);
    if (known == nullptr || known->place == Place::kReplaced) continue;
    if (only_gone && known->place != Place::kGone) continue;
    const void* there = IdentityAt(known->start);
    if (there == nullptr) there = IdentityAt(known->end - 1);
    if (there == nullptr) there = IdentityAt(known->start + (known->end - known->start) / 2);
    Place now = Place::kLoaded;
    if (there == nullptr) {
      now = Place::kGone;
    } else if (known->place != Place::kLoaded || there != known->identity) {
      now = Place::kUnsure;
    }
    if (now == known->place) continue;
    SetPlace(known, now);
    Publish(file, i);
    changed = true;
  }
  if (changed) {
    UpdateLayout();
    InvalidateUnwindRules();
  }
  changing_.Unlock();
}

void ModuleTable::CopyTo(GaugeFile* file) const {
  for (uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) Publish(file, i);
}

}  // namespace heapgauge::agent
