#include "core/formats/pprof/pprof_draft.h"

#include "core/model/types.h"

namespace heapgauge {
namespace {

bool IsUtf8(std::string_view text) {
  const auto byte = [&](size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  for (size_t i = 0; i < text.size();) {
    const unsigned first = byte(i);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4) return false;
    for (size_t k = 1; k <= more; ++k) {
      if (byte(i + k) >> 6 != 2) return false;
    }
    const unsigned second = byte(i + 1);
    // Too long a form, halves of UTF-16 pairs, past the last code point.
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) {
      return false;
    }
    i += more + 1;
  }
  return true;
}

}  // namespace

bool ProtoStringTable::Add(std::string_view text, uint64_t offset) {
  if (ends_.empty() && !text.empty()) {
    error_ = "the table of texts does not begin with an empty one";
    return false;
  }
  if (ends_.size() >= kNone - 1) {
    error_ = "there are too many texts";
    return false;
  }
  bytes_ += text;
  ends_.push_back(bytes_.size());
  if (text.size() > longest_) {
    longest_ = text.size();
    longest_offset_ = offset;
  }
  if (!IsUtf8(text)) ++not_utf8_;
  return true;
}

void LeafQueue::Put(const Batch& batch) {
  if (kNone - profile_->nodes.size() <= batch.locations.size()) {
    too_many_nodes_.store(true, std::memory_order_relaxed);
    return;
  }
  stacks_.Leaves(batch.locations, batch.ends, &found_);
  leaves_.insert(leaves_.end(), found_.begin(), found_.end());
}

void LeafQueue::Finish() {
  queue_.Finish();
  if (too_many_nodes()) return;
  for (size_t row = 0; row < leaves_.size(); ++row) profile_->rows[row].leaf = leaves_[row];
  leaves_ = {};
}

}  // namespace heapgauge
