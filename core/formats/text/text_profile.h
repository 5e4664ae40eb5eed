// A profile in the making, out of a text format: addresses become locations, stacks become nodes,
// rows get their labels. What the readers of all these formats have in common.
//
// Not synchronised, but parsing (ParseStack, addresses) and adding rows (Leaf, Leaves, labels,
// AddRow) touch different members, so that one thread may do the one and another the other. Cannot
// be moved: its parts point at each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/formats/text/address_table.h"
#include "core/formats/text/unsample.h"
#include "core/model/profile.h"
#include "core/model/stack_builder.h"

namespace heapgauge {

enum class StackError { kFine, kTooDeep, kTooLarge };

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

}  // namespace heapgauge
