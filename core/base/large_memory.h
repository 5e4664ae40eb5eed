// Memory for large tables: large pages under them, arrays of them, and a heap that keeps what was
// freed.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace heapgauge {

// Asks the kernel for large pages under memory that is read here and there: most of the time that
// a table of a hundred megabytes takes goes into finding the pages it is on.
inline constexpr size_t kHugePage = 2 << 20;

// A hint that may be given for any memory of ours. Best before the memory is first used.
inline void PreferHugePages(void* begin, size_t bytes) {
  constexpr uintptr_t kPage = 4096;
  if (bytes < kHugePage) return;
  // Whole pages, and what is beside it in them.
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / kPage * kPage;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + bytes + kPage - 1) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

// Like reserve(), but the new memory has large pages if there is much of it.
template <typename T>
void ReserveHuge(size_t capacity, std::vector<T>* vector) {
  if (capacity <= vector->capacity()) return;
  // With what the allocator needs for itself the mapping is one of large pages alone; then the
  // kernel makes it begin with one.
  constexpr size_t kForAllocator = 32;
  const size_t pages = (capacity * sizeof(T) + kForAllocator + kHugePage - 1) / kHugePage;
  if (pages > 1) capacity = (pages * kHugePage - kForAllocator) / sizeof(T);
  std::vector<T> larger;
  larger.reserve(capacity);
  PreferHugePages(larger.data(), capacity * sizeof(T));
  larger.assign(vector->begin(), vector->end());
  vector->swap(larger);
}

// Memory of a table that is written once or grows, for plain values. It is zero at first, and what
// was never touched takes neither memory nor time. Where there is much of it, it has large pages
// and begins with one, so that no part of it is left to small ones. Growing moves
// pages, not bytes.
//
// Owned by one thread. Throws std::bad_alloc.
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

// Makes the heap of this process one that a program with large tables lives on for long: memory
// that was freed is kept for the next table rather than given back and asked for again, which costs
// a page fault for each 4 KiB. No large pages: most runs gained by them, but one lost far more,
// probably while the host of the virtual machine had to find the memory.
//
// For a whole process, by its main program; a library has no business with it. REQUIRES: one
// thread.
void MakeHeapSteady();

}  // namespace heapgauge
