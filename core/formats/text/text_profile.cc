#include "core/formats/text/text_profile.h"

#include <limits>

#include "core/formats/text/scan.h"

namespace heapgauge {

StackError TextProfile::ParseStack(std::string_view text) {
  stack_.clear();
  // Each look-up waits for memory, so all are asked for before the first is made.
  parsed_.clear();
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '0' && at + 2 < text.size() && text[at + 1] == 'x' && HexDigit(text[at + 2]) >= 0) {
      at += 2;
      uint64_t address = 0;
      if (TakeHex(text, &at, &address) == Taken::kTooLarge) return StackError::kTooLarge;
      if (parsed_.size() == Profile::kMaxDepth) return StackError::kTooDeep;
      parsed_.push_back(address);
      addresses_.Prefetch(address);
    } else if (IsBlank(c) || c == 'x' || HexDigit(c) >= 0) {
      ++at;
    } else {
      break;
    }
  }
  for (const uint64_t address : parsed_) stack_.push_back(addresses_.At(address));
  return StackError::kFine;
}

StringId TextProfile::String(std::string_view text) {
  const auto [it, is_new] =
      strings_.try_emplace(std::string(text), static_cast<StringId>(profile_.strings.size()));
  if (is_new) profile_.strings.emplace_back(text);
  return it->second;
}

LabelSetId TextProfile::AddLabels(const std::vector<Label>& labels) {
  const auto id = static_cast<LabelSetId>(profile_.label_sets.size());
  profile_.label_sets.push_back(
      {static_cast<uint32_t>(profile_.labels.size()), static_cast<uint32_t>(labels.size())});
  profile_.labels.insert(profile_.labels.end(), labels.begin(), labels.end());
  return id;
}

LabelSetId TextProfile::BytesLabel(int64_t bytes) {
  if (bytes_ == kNone) bytes_ = String("bytes");
  const auto [it, is_new] = bytes_labels_.try_emplace(bytes, kNone);
  if (is_new) {
    Label label;
    label.key = bytes_;
    label.number = bytes;
    it->second = AddLabels({label});
  }
  return it->second;
}

RowId TextProfile::AddRow(NodeId leaf, LabelSetId labels) {
  Row row;
  row.leaf = leaf;
  row.labels = labels;
  profile_.rows.push_back(row);
  return static_cast<RowId>(profile_.rows.size() - 1);
}

int64_t MeanSize(CountAndSize pair) {
  if (pair.count == 0) return 0;
  if (pair.count == -1) {  // the one division that can overflow
    return pair.size == std::numeric_limits<int64_t>::min() ? pair.size : -pair.size;
  }
  return pair.size / pair.count;
}

}  // namespace heapgauge
