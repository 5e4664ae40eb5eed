#include "agent/table/label_table.h"

#include <cstring>

#include "agent/sys/os_memory.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {
namespace {

using wire::LabelRecord;
using wire::SegmentKind;

// Bytes of the text that fit into a field, its NUL left out.
uint16_t FittingBytes(const char* text, size_t field_bytes) {
  size_t bytes = 0;
  while (bytes < field_bytes && text[bytes] != '\0') ++bytes;
  if (bytes < field_bytes) return static_cast<uint16_t>(bytes);
  --bytes;  // for the NUL
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return static_cast<uint16_t>(bytes);
}

uint64_t Fold(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

template <typename Word>
uint64_t Load(const char* from) {
  Word word;
  __builtin_memcpy(&word, from, sizeof word);
  return word;
}

// Eight bytes at a time; the last ones overlap with those before.
uint64_t HashText(uint64_t hash, const char* text, size_t bytes) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  size_t at = 0;
  for (; at + 8 < bytes; at += 8) hash = Fold(hash ^ Load<uint64_t>(text + at), kFactor);
  uint64_t last = 0;
  if (bytes >= 8) {
    last = Load<uint64_t>(text + bytes - 8);
  } else if (bytes >= 4) {
    last = Load<uint32_t>(text) | Load<uint32_t>(text + bytes - 4) << 32;
  } else if (bytes > 0) {
    last = Load<uint8_t>(text) | Load<uint8_t>(text + bytes / 2) << 8 |
           Load<uint8_t>(text + bytes - 1) << 16;
  }
  return Fold(hash ^ last, kFactor + bytes * 2);
}

bool SameBytes(const char* a, const char* b, size_t bytes) {
  size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    if (Load<uint64_t>(a + at) != Load<uint64_t>(b + at)) return false;
  }
  for (; at < bytes; ++at) {
    if (a[at] != b[at]) return false;
  }
  return true;
}

bool SameKey(const LabelRecord& record, const LabelText& label) {
  return record.key_bytes == label.key_bytes && SameBytes(record.key, label.key, label.key_bytes);
}

bool SameValue(const LabelRecord& record, const LabelText& label) {
  return record.value_bytes == label.value_bytes &&
         SameBytes(record.value, label.value, label.value_bytes);
}

}  // namespace

LabelText::LabelText(const char* key_text, const char* value_text)
    : key(key_text),
      value(value_text),
      key_bytes(FittingBytes(key_text, sizeof LabelRecord::key)),
      value_bytes(FittingBytes(value_text, sizeof LabelRecord::value)) {}

uint64_t LabelTable::Hash(uint32_t parent, const LabelText& label, uint16_t flags) const {
  uint64_t hash = seed_ + (uint64_t{parent} << 16 | flags);
  hash = HashText(hash, label.key, label.key_bytes);
  hash = HashText(hash, label.value, label.value_bytes) ^ seed_;
  return hash < 2 ? hash + 2 : hash;  // 0 and 1 are not keys
}

LabelRecord* LabelTable::Private(uint32_t set) const {
  LabelRecord* chunk = chunks_[set / kPerChunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : chunk + set % kPerChunk;
}

LabelRecord* LabelTable::MakePrivate(uint32_t set) {
  if (set > wire::kMaxLabelSets) return nullptr;
  if (LabelRecord* record = Private(set)) return record;
  auto* fresh = static_cast<LabelRecord*>(os::MapPrivate(wire::kSegmentBytes));
  if (fresh == nullptr) return nullptr;
  LabelRecord* none = nullptr;
  if (!chunks_[set / kPerChunk].compare_exchange_strong(none, fresh)) {
    os::Unmap(fresh, wire::kSegmentBytes);
  }
  return Private(set);
}

const LabelRecord* LabelTable::Get(uint32_t set) const {
  if (set == 0 || set > wire::kMaxLabelSets) return nullptr;
  LabelRecord* record = Private(set);
  if (record == nullptr) return nullptr;
  return std::atomic_ref(record->valid).load(std::memory_order_acquire) != 0 ? record : nullptr;
}

// Would one more such label change anything? Not if the innermost of its key has the same value.
bool LabelTable::InForce(uint32_t set, const LabelText& label) const {
  for (const LabelRecord* record = Get(set); record != nullptr; record = Get(record->parent)) {
    if (SameKey(*record, label)) return SameValue(*record, label);
  }
  return false;
}

uint32_t LabelTable::Find(uint32_t parent, const LabelText& label, uint16_t flags) const {
  uint32_t set;
  if (index_.Find(Hash(parent, label, flags), &set)) {
    const LabelRecord* record = Get(set);
    if (record != nullptr && record->parent == parent && record->flags == flags &&
        SameKey(*record, label) && SameValue(*record, label)) {
      return set;
    }
  }
  return flags == 0 && parent != 0 && InForce(parent, label) ? parent : 0;
}

void LabelTable::Publish(const LabelRecord& record, LabelRecord* shared) {
  memcpy(reinterpret_cast<char*>(shared) + sizeof shared->valid,
         reinterpret_cast<const char*>(&record) + sizeof record.valid,
         sizeof record - sizeof record.valid);
  std::atomic_ref(shared->valid).store(1, std::memory_order_release);
}

uint32_t LabelTable::Add(GaugeFile* file, uint32_t parent, const LabelText& label, uint16_t flags) {
  const LabelRecord* above = Get(parent);
  const uint32_t depth = above == nullptr ? 1 : above->depth + 1u;
  if (depth > wire::kMaxLabelDepth || label.key_bytes == 0) return 0;
  // The private memory first, so that no number is used up while there is none.
  wire::Loss loss;
  uint32_t set;
  const uint32_t next = count_.load(std::memory_order_relaxed) + 1;
  if (next > wire::kMaxLabelSets || MakePrivate(next) == nullptr) return 0;
  auto* shared = file->TakeNext<LabelRecord>(SegmentKind::kLabels, &count_, &set, &loss);
  if (shared == nullptr || set > wire::kMaxLabelSets) return 0;
  LabelRecord* record = MakePrivate(set);
  if (record == nullptr) return 0;

  record->parent = static_cast<uint16_t>(above == nullptr ? 0 : parent);
  record->depth = static_cast<uint16_t>(depth);
  record->key_bytes = label.key_bytes;
  record->value_bytes = label.value_bytes;
  record->flags = flags;
  record->thread_name = static_cast<uint16_t>((flags & wire::kLabelThreadName) != 0 ? set
                                              : above != nullptr ? above->thread_name
                                                                 : 0);
  memcpy(record->key, label.key, label.key_bytes);
  memcpy(record->value, label.value, label.value_bytes);
  Publish(*record, shared);
  std::atomic_ref(record->valid).store(1, std::memory_order_release);
  RaiseTo(file->header()->label_count, set + 1);
  // If the index is full the set is numbered again at the next push; it is right all the same.
  index_.Insert(Hash(parent, label, flags), set);
  return set;
}

void LabelTable::CopyTo(GaugeFile* file) const {
  uint32_t count = count_.load(std::memory_order_relaxed);
  if (count > wire::kMaxLabelSets) count = wire::kMaxLabelSets;
  for (uint32_t i = 1; i <= count; ++i) {
    wire::Loss ignored;
    auto* fresh = file->At<LabelRecord>(SegmentKind::kLabels, i, &ignored);
    if (fresh == nullptr) return;
    if (const LabelRecord* record = Get(i)) Publish(*record, fresh);
  }
  Put(file->header()->label_count, count + 1);
}

void LabelTable::Prepare() {
  index_.Prepare();
  MakePrivate(count_.load(std::memory_order_relaxed) + 1);
}

size_t LabelTable::private_bytes() const {
  size_t bytes = index_.private_bytes();
  for (const auto& chunk : chunks_) {
    if (chunk.load(std::memory_order_relaxed) != nullptr) bytes += wire::kSegmentBytes;
  }
  return bytes;
}

}  // namespace heapgauge::agent
