// The table of texts of a profile.proto file while it is read: the texts end to end in one buffer,
// and the largest number that anything named, since the texts usually come last.
//
// Not synchronised.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapgauge {

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

}  // namespace heapgauge
