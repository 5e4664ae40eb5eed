// Bytes that count as held for a client as long as this lives: it travels with what they are.
//
// Movable. The sum must outlive it, and may be read and changed by any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace heapgauge::endpoint {

class HeldBytes {
 public:
  HeldBytes() = default;
  HeldBytes(std::atomic<size_t>* sum, size_t bytes) noexcept : sum_(sum), bytes_(bytes) {
    *sum_ += bytes_;
  }
  HeldBytes(HeldBytes&& other) noexcept
      : sum_(std::exchange(other.sum_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  HeldBytes& operator=(HeldBytes&& other) noexcept {
    std::swap(sum_, other.sum_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;
  ~HeldBytes() {
    if (sum_ != nullptr) *sum_ -= bytes_;
  }

 private:
  std::atomic<size_t>* sum_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace heapgauge::endpoint
