// A block of bytes of fixed capacity that keeps its owner's account.
//
// It adopts a block that its maker took with new[], so that in a profile the block belongs to the
// function that wanted it. Threads: one at a time.
#ifndef HEAPGAUGE_EXAMPLES_DEMO_SERVICE_BUFFER_H_
#define HEAPGAUGE_EXAMPLES_DEMO_SERVICE_BUFFER_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "examples/demo_service/accounting.h"

namespace demo {

class Buffer {
 public:
  Buffer() = default;
  // Owns `data`, which has `capacity` bytes. `account` must outlive the buffer.
  Buffer(char* data, size_t capacity, Account* account)
      : data_(data), capacity_(capacity), account_(account) {
    account_->Allocated(capacity);
  }
  Buffer(Buffer&& other) noexcept { Swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Buffer() {
    if (account_ != nullptr) account_->Freed(capacity_);
  }

  // Adds what still fits.
  void Append(std::string_view text) {
    const size_t count = std::min(text.size(), capacity_ - size_);
    std::memcpy(data_.get() + size_, text.data(), count);
    size_ += count;
  }
  void Fill(char c) {
    std::memset(data_.get() + size_, c, capacity_ - size_);
    size_ = capacity_;
  }

  bool empty() const { return size_ == 0; }
  std::string_view text() const { return {data_.get(), size_}; }

 private:
  void Swap(Buffer& other) {
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
    std::swap(size_, other.size_);
    std::swap(account_, other.account_);
  }

  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0;
  size_t size_ = 0;
  Account* account_ = nullptr;
};

}  // namespace demo

#endif  // HEAPGAUGE_EXAMPLES_DEMO_SERVICE_BUFFER_H_
