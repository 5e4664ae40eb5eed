#include "core/model/label_sets.h"

#include <algorithm>
#include <string>

namespace heapgauge {
namespace {

size_t HashOf(std::span<const Label> labels) {
  uint64_t h = labels.size();
  for (const Label& label : labels) {
    for (const uint64_t part : {uint64_t{label.key} << 32 | label.text, uint64_t{label.unit},
                                static_cast<uint64_t>(label.number)}) {
      h = (h ^ part) * 0x9e3779b97f4a7c15;
      h ^= h >> 29;
    }
  }
  return static_cast<size_t>(h * 0xbf58476d1ce4e5b9 >> 20);
}

}  // namespace

LabelStrings::LabelStrings(Profile* profile) : profile_(profile) {
  for (StringId id = 0; id < profile->strings.size(); ++id) {
    distinct_ &= ids_.try_emplace(profile->strings[id], id).second;
  }
}

StringId LabelStrings::Add(std::string_view text) {
  const auto [it, is_new] =
      ids_.try_emplace(std::string(text), static_cast<StringId>(profile_->strings.size()));
  if (is_new) profile_->strings.emplace_back(text);
  return it->second;
}

LabelSets::LabelSets(Profile* profile) : profile_(profile), slots_(64) {
  while (slots_.size() < 2 * profile->label_sets.size() + 2) slots_.resize(slots_.size() * 2);
  Grow();
}

LabelSetId LabelSets::Add(std::span<const Label> labels) {
  if (labels.empty()) return kNone;
  size_t at = Find(labels);
  if (slots_[at] != 0) return slots_[at] - 1;
  std::vector<LabelSet>& sets = profile_->label_sets;
  std::vector<Label>& all = profile_->labels;
  const auto first = static_cast<uint32_t>(all.size());
  const auto count = static_cast<uint32_t>(labels.size());
  if (!all.empty() && labels.data() >= all.data() && labels.data() < all.data() + all.size()) {
    sets.push_back({static_cast<uint32_t>(labels.data() - all.data()), count});
  } else {
    all.insert(all.end(), labels.begin(), labels.end());
    sets.push_back({first, count});
  }
  slots_[at] = static_cast<uint32_t>(sets.size());
  if (2 * sets.size() > slots_.size()) {
    slots_.resize(slots_.size() * 2);
    Grow();
  }
  return static_cast<LabelSetId>(sets.size() - 1);
}

size_t LabelSets::Find(std::span<const Label> labels) const {
  const size_t mask = slots_.size() - 1;
  size_t at = HashOf(labels) & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    const LabelSet& set = profile_->label_sets[slots_[at] - 1];
    if (set.count == labels.size() &&
        std::equal(labels.begin(), labels.end(), profile_->labels.begin() + set.first)) {
      break;
    }
  }
  return at;
}

void LabelSets::Grow() {
  std::fill(slots_.begin(), slots_.end(), 0);
  for (LabelSetId id = 0; id < profile_->label_sets.size(); ++id) {
    const LabelSet& set = profile_->label_sets[id];
    uint32_t& slot = slots_[Find({profile_->labels.data() + set.first, set.count})];
    if (slot == 0) {
      slot = id + 1;
    } else {
      distinct_ = false;
    }
  }
}

bool SortLabels(const Profile& profile, std::span<Label> labels) {
  const auto before = [&](const Label& a, const Label& b) {
    if (a.is_number() != b.is_number()) return b.is_number();
    return a.key != b.key && profile.strings[a.key] < profile.strings[b.key];
  };
  if (std::is_sorted(labels.begin(), labels.end(), before)) return false;
  std::stable_sort(labels.begin(), labels.end(), before);
  return true;
}

void LabelAllRows(std::string_view key, std::string_view text, Profile* profile) {
  Label added;
  added.key = static_cast<StringId>(profile->strings.size());
  added.text = added.key + 1;
  profile->strings.emplace_back(key);
  profile->strings.emplace_back(text);

  // Every set of labels is written again with the new one in its place.
  std::vector<Label> labels;
  std::vector<LabelSet> sets = profile->label_sets;
  sets.emplace_back();  // of rows without labels
  for (LabelSet& set : sets) {
    const LabelSet old = set;
    set.first = static_cast<uint32_t>(labels.size());
    bool placed = false;
    for (uint32_t i = old.first; i < old.first + old.count; ++i) {
      const Label& label = profile->labels[i];
      const std::string& name = profile->strings[label.key];
      if (!label.is_number() && name == key) continue;
      if (!placed && (label.is_number() || name > key)) {
        labels.push_back(added);
        placed = true;
      }
      labels.push_back(label);
    }
    if (!placed) labels.push_back(added);
    set.count = static_cast<uint32_t>(labels.size()) - set.first;
  }
  const auto none = static_cast<LabelSetId>(sets.size() - 1);
  for (Row& row : profile->rows) {
    if (row.labels == kNone) row.labels = none;
  }
  profile->labels = std::move(labels);
  profile->label_sets = std::move(sets);
}

}  // namespace heapgauge
