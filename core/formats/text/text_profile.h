// What the readers of text formats share: options, locations by address, a profile in the making,
// and frames to leave out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/formats/text/sampling.h"
#include "core/model/profile.h"
#include "core/model/stacks.h"

namespace heapgauge {

// Whose arithmetic turns sampled counts into estimates. `values` are pprof's whole numbers in any
// case; the dialect decides about `estimates`, which the perl tools print.
enum class TextDialect { kPprof, kJeprof, kGooglePprof };

// How profiles in text formats are read. Plain data.
struct TextReadOptions {
  TextDialect dialect = TextDialect::kPprof;
  // jemalloc: "" the sum over all threads, "*" one row for each thread, labelled "thread", or the
  // number of one thread.
  std::string thread;
};

// Finds the location of an address while a profile is read. Text formats name each place by its
// address in every stack, millions of times, so this is the inner loop of their readers.
//
// Not synchronised. The profile must outlive the table.
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

enum class StackError { kFine, kTooDeep, kTooLarge };

// A profile in the making, out of a text format: addresses become locations, stacks become nodes,
// rows get their labels. What the readers of all these formats have in common.
//
// Not synchronised, but parsing (ParseStack, addresses) and adding rows (Leaf, Leaves, labels,
// AddRow) touch different members, so that one thread may do the one and another the other. Cannot
// be moved: its parts point at each other.
class TextProfile {
 public:
  TextProfile() : addresses_(&profile_), stacks_(&profile_) {}
  TextProfile(const TextProfile&) = delete;
  TextProfile& operator=(const TextProfile&) = delete;

  Profile& profile() { return profile_; }
  AddressTable& addresses() { return addresses_; }

  // Adds the hexadecimal numbers in `text` ("0x12 0x34", innermost first, all return addresses) to
  // the stack; the first character that cannot be part of them ends it.
  StackError ParseStack(std::string_view text);
  // Locations of the stack that is being put together, innermost first.
  std::vector<LocationId>& stack() { return stack_; }
  NodeId Leaf() { return stacks_.Leaf(stack_); }
  // The leaves of many stacks, as StackBuilder has it.
  void Leaves(const std::vector<LocationId>& locations, const std::vector<size_t>& ends,
              std::vector<NodeId>* leaves) {
    stacks_.Leaves(locations, ends, leaves);
  }

  // The set with the label `bytes` alone, the mean size of a row's blocks.
  LabelSetId BytesLabel(int64_t bytes);
  StringId String(std::string_view text);
  LabelSetId AddLabels(const std::vector<Label>& labels);

  // A row without values, which the caller appends.
  RowId AddRow(NodeId leaf, LabelSetId labels = kNone);

  Profile Take() { return std::move(profile_); }

 private:
  Profile profile_;
  AddressTable addresses_;
  StackBuilder stacks_;
  std::vector<uint64_t> parsed_;  // addresses of the stack
  std::vector<LocationId> stack_;
  StringId bytes_ = kNone;
  std::unordered_map<int64_t, LabelSetId> bytes_labels_;
  std::unordered_map<std::string, StringId> strings_;
};

// The mean size, cut to a whole number; 0 if there is nothing.
int64_t MeanSize(CountAndSize pair);

// Which frames reports leave out of profiles in formats that do not say it themselves: the insides
// of allocators, of locks, of the profiler. Regular expressions over whole function names without
// parameters, with the meaning of pprof's own lists, so that its reports come out the same.
enum class LegacyKind { kHeap, kJemalloc, kContention, kOther };

// Sets drop_frames and keep_frames.
void SetLegacyFrames(LegacyKind kind, Profile* profile);

}  // namespace heapgauge
