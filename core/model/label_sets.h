// Finds or adds sets of labels in a profile: each set is there once, however many rows carry it.
//
// Not synchronised. The profile must outlive this, and its sets must not be changed by others
// meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/profile.h"

namespace heapgauge {

// Texts of labels, each once.
class LabelStrings {
 public:
  // Begins with the strings that the profile has.
  explicit LabelStrings(Profile* profile);
  StringId Add(std::string_view text);
  // No text that it began with was there twice.
  bool distinct() const { return distinct_; }

 private:
  Profile* profile_;
  std::unordered_map<std::string, StringId> ids_;
  bool distinct_ = true;
};

class LabelSets {
 public:
  // Begins with the sets that the profile has.
  explicit LabelSets(Profile* profile);

  // The set of exactly these labels in this order; kNone for no labels. They may lie in the
  // profile's own `labels`.
  LabelSetId Add(std::span<const Label> labels);
  // No set that it began with was there twice.
  bool distinct() const { return distinct_; }

 private:
  size_t Find(std::span<const Label> labels) const;
  void Grow();

  Profile* profile_;
  std::vector<uint32_t> slots_;  // set + 1, 0 free; a power of two
  bool distinct_ = true;
};

// Brings labels into the order that sets have: texts before numbers, each sorted by key. Labels
// with the same key keep their order. False if there was nothing to do.
bool SortLabels(const Profile& profile, std::span<Label> labels);

// Gives all rows of a profile one more label, for example to tell the rows of one profile from
// those of another after both were merged.
//
// A text label of the same key that a row has is replaced. Pure; linear in labels and rows.
void LabelAllRows(std::string_view key, std::string_view text, Profile* profile);

}  // namespace heapgauge
