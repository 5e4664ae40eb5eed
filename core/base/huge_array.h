// Memory of a table that is written once or grows, for plain values. It is zero at first, and what
// was never touched takes neither memory nor time. Where there is much of it, it has large pages
// (huge_pages.h), and begins with one, so that no part of it is left to small ones. Growing moves
// pages, not bytes.
//
// Owned by one thread. Throws std::bad_alloc.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "core/base/huge_pages.h"

namespace heapgauge {

template <typename T>
class HugeArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  HugeArray() = default;
  explicit HugeArray(size_t capacity) { Reserve(capacity); }
  ~HugeArray() {
    if (bytes_ != 0) munmap(data_, bytes_);
  }
  HugeArray(const HugeArray&) = delete;
  HugeArray& operator=(const HugeArray&) = delete;

  // Addresses change when it grows.
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

  size_t capacity() const { return bytes_ / sizeof(T); }
  // There is room for at least as many.
  void Reserve(size_t capacity) {
    if (capacity > this->capacity()) Grow(capacity);
  }

 private:
  __attribute__((noinline, cold)) void Grow(size_t capacity) {
    if (capacity > (SIZE_MAX >> 2) / sizeof(T)) throw std::bad_alloc();
    const size_t page = capacity * sizeof(T) < kHugePage ? 4096 : kHugePage;
    const size_t bytes = (capacity * sizeof(T) + page - 1) / page * page;
    char* const memory = MapAligned(bytes);
    if (bytes_ != 0 &&
        mremap(data_, bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == MAP_FAILED) {
      munmap(memory, bytes);
      throw std::bad_alloc();
    }
    data_ = reinterpret_cast<T*>(memory);
    bytes_ = bytes;
  }
  static char* MapAligned(size_t bytes) {
    const size_t more = bytes < kHugePage ? 0 : kHugePage;
    void* const mapped =
        mmap(nullptr, bytes + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    char* memory = static_cast<char*>(mapped);
    if (more == 0) return memory;
    const size_t before = -reinterpret_cast<uintptr_t>(memory) % kHugePage;
    if (before != 0) munmap(memory, before);
    munmap(memory + before + bytes, more - before);
    PreferHugePages(memory + before, bytes);
    return memory + before;
  }

  T* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace heapgauge
