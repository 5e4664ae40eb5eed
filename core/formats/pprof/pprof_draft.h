// A profile of pprof's format halfway: numbers for its ids, its texts, stacks on their way into the
// trie, and the draft of all.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/batch_queue.h"
#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/model/stacks.h"

namespace heapgauge {

// Gives the ids of a foreign file numbers from 0 on, in the order in which they are met.
//
// Files refer to things before they define them, and may choose any 64-bit ids. Almost all count
// from 1, so small ids are looked up in a plain vector; the others in a hash table. For each id it
// is kept where it was first met and whether it was defined, for messages.
//
// Memory is linear in the number of ids, but for 16 MiB at most of the vector. Not synchronised.
class IdTable {
 public:
  struct Entry {
    uint64_t id = 0;
    uint64_t offset = 0;  // of the field that first named it
    bool defined = false;
  };

  // The number of `id`, a new one if it was never met.
  uint32_t NumberOf(uint64_t id, uint64_t offset) {
    if (id < small_.size() && small_[id] != 0) return small_[id] - 1;
    return id < kSmall ? AddSmall(id, offset) : FindLarge(id, offset);
  }

  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }

 private:
  static constexpr uint64_t kSmall = 1 << 22;

  uint32_t Add(uint64_t id, uint64_t offset) {
    entries_.push_back({id, offset, false});
    return static_cast<uint32_t>(entries_.size() - 1);
  }

  uint32_t AddSmall(uint64_t id, uint64_t offset) {
    if (id >= small_.size()) {
      small_.resize(static_cast<size_t>(std::min(kSmall, std::max<uint64_t>(2 * id + 2, 64))));
    }
    const uint32_t number = Add(id, offset);
    small_[id] = number + 1;
    return number;
  }

  static size_t HashOf(uint64_t id) {
    id *= 0x9e3779b97f4a7c15;
    id ^= id >> 32;
    id *= 0xd6e8feb86659fd93;
    return static_cast<size_t>(id ^ id >> 32);
  }

  uint32_t FindLarge(uint64_t id, uint64_t offset) {
    if (2 * (large_ + 1) > slots_.size()) Grow();
    const size_t mask = slots_.size() - 1;
    size_t at = HashOf(id) & mask;
    for (; slots_[at] != 0; at = (at + 1) & mask) {
      if (entries_[slots_[at] - 1].id == id) return slots_[at] - 1;
    }
    const uint32_t number = Add(id, offset);
    slots_[at] = number + 1;
    ++large_;
    return number;
  }

  void Grow() {
    std::vector<uint32_t> old(std::max<size_t>(64, slots_.size() * 2));
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const uint32_t slot : old) {
      if (slot == 0) continue;
      size_t at = HashOf(entries_[slot - 1].id) & mask;
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  std::vector<Entry> entries_;   // by number
  std::vector<uint32_t> small_;  // number + 1 by id, 0 none
  std::vector<uint32_t> slots_;  // number + 1 of the other ids
  size_t large_ = 0;
};

// The table of texts of a profile.proto file while it is read: the texts end to end in one buffer,
// and the largest number that anything named, since the texts usually come last.
//
// Not synchronised.
class ProtoStringTable {
 public:
  // False if the text cannot be there; error() tells why. `offset` is that of its field.
  bool Add(std::string_view text, uint64_t offset);
  const char* error() const { return error_; }

  // Something names text `index`, in the field at `offset`.
  void Use(uint64_t index, uint64_t offset) {
    if (index <= largest_use_) return;
    largest_use_ = index;
    largest_use_offset_ = offset;
  }
  bool Missing() const { return largest_use_ >= size(); }
  uint64_t largest_use() const { return largest_use_; }
  uint64_t largest_use_offset() const { return largest_use_offset_; }

  size_t size() const { return ends_.size(); }
  // REQUIRES: not Missing(), and the index was used.
  std::string Get(uint64_t index) const {
    const uint64_t begin = index == 0 ? 0 : ends_[index - 1];
    return bytes_.substr(begin, ends_[index] - begin);
  }
  // REQUIRES: as above.
  uint64_t LengthOf(uint64_t index) const {
    return ends_[index] - (index == 0 ? 0 : ends_[index - 1]);
  }
  uint64_t longest() const { return longest_; }
  uint64_t longest_offset() const { return longest_offset_; }
  uint64_t not_utf8() const { return not_utf8_; }

 private:
  std::string bytes_;
  std::vector<uint64_t> ends_;
  uint64_t largest_use_ = 0;
  uint64_t largest_use_offset_ = 0;
  uint64_t longest_ = 0;
  uint64_t longest_offset_ = 0;
  uint64_t not_utf8_ = 0;
  const char* error_ = "";
};

// Stacks of samples on their way from the parser into the trie of the profile, by row.
//
// Putting stacks together takes as long as parsing them, so in a large profile another thread does
// it (core/base/batch_queue.h). Until Finish() the nodes of the profile belong to the queue, and
// the leaves of its rows are not set; everything else in the profile belongs to the parser.
//
// For one parser; not synchronised otherwise.
class LeafQueue {
 public:
  // The profile has no rows yet and must outlive the queue.
  explicit LeafQueue(Profile* profile)
      : profile_(profile), stacks_(profile), queue_(Putter{this}) {}
  LeafQueue(const LeafQueue&) = delete;
  LeafQueue& operator=(const LeafQueue&) = delete;

  // Where the locations of the next row go, innermost first, behind those that are there.
  std::vector<LocationId>& NextStack() { return queue_.at_hand().locations; }
  // They are there.
  void EndStack() {
    Batch& batch = queue_.at_hand();
    batch.ends.push_back(batch.locations.size());
    if (batch.ends.size() == kBatch) queue_.HandOver();
  }

  // Some stacks found no room in the trie. Noticed late, so to be asked after Finish() as well.
  bool too_many_nodes() const { return too_many_nodes_.load(std::memory_order_relaxed); }

  // Sets the leaves of all rows. REQUIRES: there is a stack for each.
  void Finish();

 private:
  static constexpr size_t kBatch = 256;  // stacks

  struct Batch {
    std::vector<LocationId> locations;  // of all stacks, end to end
    std::vector<size_t> ends;
    void Clear() {
      locations.clear();
      ends.clear();
    }
  };
  struct Putter {
    LeafQueue* queue;
    void operator()(Batch* batch) const { queue->Put(*batch); }
  };

  void Put(const Batch& batch);

  Profile* profile_;
  StackBuilder stacks_;
  std::vector<NodeId> found_;   // of the batch that is being put
  std::vector<NodeId> leaves_;  // by row
  std::atomic<bool> too_many_nodes_{false};
  BatchQueue<Batch, Putter> queue_;
};

// A profile of pprof's format halfway: all messages are read, but what they name is still numbers.
//
// Samples name locations, locations functions, and all of them texts that come later in the file.
// pprof_messages.h fills a draft, pprof_reader.cc makes a profile of it. Owned by the reader of one
// file; not for several threads.
struct PprofDraft {
  // Numbers of texts.
  struct TypeRefs {
    uint64_t name = 0;
    uint64_t unit = 0;
  };
  struct ModuleRefs {
    uint64_t file = 0;
    uint64_t build_id = 0;
  };
  struct FunctionRefs {
    uint64_t name = 0;
    uint64_t system_name = 0;
    uint64_t file = 0;
  };

  std::string name;    // of the file, for messages
  uint64_t bytes = 0;  // that it has, unpacked

  // Locations and functions are in the order in which their ids were met, labels have the numbers
  // of their texts, locations the numbers of their mappings.
  Profile profile;
  ProtoStringTable strings;
  IdTable mappings;
  IdTable locations;
  IdTable functions;
  std::vector<ModuleId> module_of;  // by number in `mappings`

  std::vector<TypeRefs> types;
  TypeRefs period_type;
  std::vector<ModuleRefs> module_refs;
  std::vector<FunctionRefs> function_refs;
  std::vector<uint64_t> comments;
  uint64_t drop_frames = 0;
  uint64_t keep_frames = 0;
  uint64_t default_type = 0;
  uint64_t doc_url = 0;

  size_t values_in_row = 0;
  uint64_t first_sample = 0;  // where it is in the file
  uint64_t absurd_lines = 0;

  // What is wrong with the file, and where.
  Error Mistake(uint64_t offset, const std::string& what) const;
};

}  // namespace heapgauge
