// Builds the .eh_frame and .eh_frame_hdr of an imaginary object, byte by byte, for tests.
//
// The bytes end at an inaccessible page, so a reader that goes too far does not go unnoticed.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "agent/unwind/eh_frame.h"

namespace heapgauge::agent {

using Bytes = std::vector<uint8_t>;

class EhFrameBuilder {
 public:
  EhFrameBuilder() {
    base_ = static_cast<uint8_t*>(
        mmap(nullptr, kBytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + kBytes, 4096, PROT_NONE) != 0) abort();
  }
  ~EhFrameBuilder() { munmap(base_, kBytes + 4096); }
  EhFrameBuilder(const EhFrameBuilder&) = delete;
  EhFrameBuilder& operator=(const EhFrameBuilder&) = delete;

  // Where the imaginary code begins: far enough away to be somewhere else, near enough for 4 bytes.
  uintptr_t code() const { return reinterpret_cast<uintptr_t>(base_) + 0x100000; }

  // Returns the place of the CIE for AddFde().
  size_t AddCie(const std::string& augmentation, const Bytes& program, uint8_t encoding = 0x1b,
                uint8_t return_column = 16) {
    encoding_ = encoding;
    augmented_ = !augmentation.empty() && augmentation[0] == 'z';
    Bytes body = {1};
    body.insert(body.end(), augmentation.begin(), augmentation.end());
    body.insert(body.end(), {0, 1, 0x78, return_column});  // code alignment 1, data alignment -8
    if (augmented_) body.insert(body.end(), {1, encoding});
    body.insert(body.end(), program.begin(), program.end());
    const size_t at = eh_frame_.size();
    Append32(&eh_frame_, static_cast<uint32_t>(body.size() + 4));
    Append32(&eh_frame_, 0);
    eh_frame_.insert(eh_frame_.end(), body.begin(), body.end());
    return at;
  }

  void AddFde(size_t cie, uintptr_t begin, uint32_t size, const Bytes& program) {
    const size_t at = eh_frame_.size();
    rows_.push_back({begin, at});
    Bytes body;
    Append32(&body, static_cast<uint32_t>(at + 4 - cie));
    if (encoding_ == 0x1b) {
      Append32(&body, static_cast<uint32_t>(begin - (EhFrameAddress() + at + 8)));
      Append32(&body, size);
    } else {
      Append64(&body, begin);
      Append64(&body, size);
    }
    if (augmented_) body.push_back(0);
    body.insert(body.end(), program.begin(), program.end());
    Append32(&eh_frame_, static_cast<uint32_t>(body.size()));
    eh_frame_.insert(eh_frame_.end(), body.begin(), body.end());
  }

  // Writes the sections to the end of the memory. The header comes first.
  LoadedObject Finish(bool with_table = true) {
    Bytes header = {1, 0x1b, static_cast<uint8_t>(with_table ? 0x03 : 0xff),
                    static_cast<uint8_t>(with_table ? 0x3b : 0xff)};
    Append32(&eh_frame_, 0);
    const uintptr_t start = reinterpret_cast<uintptr_t>(base_);
    Append32(&header, static_cast<uint32_t>(EhFrameAddress() - (start + 4)));
    if (with_table) {
      Append32(&header, static_cast<uint32_t>(rows_.size()));
      std::sort(rows_.begin(), rows_.end());
      for (const auto& [begin, at] : rows_) {
        Append32(&header, static_cast<uint32_t>(begin - start));
        Append32(&header, static_cast<uint32_t>(EhFrameAddress() + at - start));
      }
    }
    if (header.size() > kEhFrameOffset || eh_frame_.size() > kBytes - kEhFrameOffset) abort();
    memcpy(base_, header.data(), header.size());
    memcpy(base_ + kEhFrameOffset, eh_frame_.data(), eh_frame_.size());
    return {start, start + kEhFrameOffset + eh_frame_.size(), start};
  }

  // Moves nothing, but says where bytes may be damaged.
  uint8_t* bytes() { return base_; }
  static constexpr size_t kBytes = 8192;
  static constexpr size_t kEhFrameOffset = 4096;

 private:
  uintptr_t EhFrameAddress() const { return reinterpret_cast<uintptr_t>(base_) + kEhFrameOffset; }
  static void Append32(Bytes* out, uint32_t value) {
    for (int i = 0; i < 4; ++i) out->push_back(static_cast<uint8_t>(value >> 8 * i));
  }
  static void Append64(Bytes* out, uint64_t value) {
    for (int i = 0; i < 8; ++i) out->push_back(static_cast<uint8_t>(value >> 8 * i));
  }

  uint8_t* base_;
  Bytes eh_frame_;
  std::vector<std::pair<uintptr_t, size_t>> rows_;
  uint8_t encoding_ = 0x1b;
  bool augmented_ = false;
};

}  // namespace heapgauge::agent
