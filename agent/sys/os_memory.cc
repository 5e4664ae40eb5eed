#include "agent/sys/os_memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>

#include "agent/sys/os.h"

namespace heapgauge::agent::os {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr uintptr_t kLargePage = uintptr_t{1} << 21;

constexpr uintptr_t RoundUp(uintptr_t value, uintptr_t unit) {
  return (value + unit - 1) & ~(unit - 1);
}

// Where the agent's memory goes: far from where the kernel puts mappings by itself. A program may
// give a range of addresses back and take it again by MAP_FIXED, as long as nobody else in the
// process makes mappings meanwhile; were ours in such a range, both would write to the same memory.
// No range is reserved ahead, which would count for limits. Where the place is taken, or cannot be
// had for whatever reason (too few addresses, a kernel that is none), the kernel decides.
constexpr uintptr_t kAway = uintptr_t{1} << 40;
constexpr uintptr_t kLeastAddress = uintptr_t{1} << 32;
std::atomic<uintptr_t> next_place;  // 0: nothing was mapped yet

uintptr_t FirstPlace() {
  // The library is where the kernel put it; a program that we are linked into may lie low, and then
  // the kernel begins at some distance from the stack.
  uintptr_t origin = reinterpret_cast<uintptr_t>(&next_place);
  if (origin < kAway + kLeastAddress) origin = reinterpret_cast<uintptr_t>(&origin) - 2 * kAway;
  return RoundUp(origin - kAway, kLargePage);
}

// Addresses that nobody was given before; those of much memory begin a large page.
uintptr_t TakePlace(size_t bytes) {
  uintptr_t place = next_place.load(std::memory_order_relaxed);
  uintptr_t start;
  do {
    start = RoundUp(place == 0 ? FirstPlace() : place, bytes < kLargePage ? kPage : kLargePage);
  } while (!next_place.compare_exchange_weak(place, start + RoundUp(bytes, kPage),
                                             std::memory_order_relaxed));
  return start;
}

// At `place` if nobody is there.
void* MapAway(uintptr_t place, size_t bytes, int flags, int fd, uint64_t offset) {
  constexpr int kFixedNoReplace = 0x100000;  // MAP_FIXED_NOREPLACE; before Linux 4.17 a mere wish
  const auto map = [&](uintptr_t at, int more) {
    return Syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, flags | more, fd, offset);
  };
  long result = place == 0 ? -EEXIST : map(place, kFixedNoReplace);
  if (result < 0) result = map(0, 0);
  return result < 0 ? nullptr : reinterpret_cast<void*>(result);
}

// Ranges of private memory. They only grow, but for a mapping that is given back at once. Two
// threads that map at the same moment may make two entries of one range; nothing depends on it.
struct AtomicRange {
  std::atomic<uint64_t> start;
  std::atomic<uint64_t> end;  // 0: not written yet
};
constexpr uint32_t kMaxRanges = 64;
AtomicRange private_ranges[kMaxRanges];
std::atomic<uint32_t> private_range_count;
std::atomic<uint32_t> private_ranges_version;

void NoteRange(uint64_t start, uint64_t bytes) {
  const uint64_t end = RoundUp(start + bytes, kPage);
  private_ranges_version.fetch_add(1, std::memory_order_relaxed);
  const uint32_t count = private_range_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < kMaxRanges; ++i) {
    uint64_t expected_start = end;
    uint64_t expected_end = start;
    if (private_ranges[i].start.compare_exchange_strong(expected_start, start)) return;
    if (private_ranges[i].end.compare_exchange_strong(expected_end, end)) return;
  }
  const uint32_t slot = private_range_count.fetch_add(1);
  if (slot >= kMaxRanges) return;
  private_ranges[slot].start.store(start);
  private_ranges[slot].end.store(end, std::memory_order_release);
}

void ForgetRange(uint64_t start, uint64_t bytes) {
  const uint64_t end = RoundUp(start + bytes, kPage);
  private_ranges_version.fetch_add(1, std::memory_order_relaxed);
  const uint32_t count = private_range_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < kMaxRanges; ++i) {
    uint64_t expected_start = start;
    uint64_t expected_end = end;
    if (private_ranges[i].start.compare_exchange_strong(expected_start, end)) return;
    if (private_ranges[i].end.compare_exchange_strong(expected_end, start)) return;
  }
}

}  // namespace

uint32_t PrivateRangesVersion() { return private_ranges_version.load(std::memory_order_relaxed); }

uint32_t PrivateRanges(PrivateRange* ranges, uint32_t capacity) {
  const uint32_t count = private_range_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < kMaxRanges && i < capacity; ++i) {
    ranges[i] = {private_ranges[i].start.load(), private_ranges[i].end.load()};
  }
  return count;
}

void* MapPrivate(size_t bytes) {
  void* const address = MapAway(TakePlace(bytes), bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address != nullptr) NoteRange(reinterpret_cast<uint64_t>(address), bytes);
  return address;
}

void* MapSharedFirst(int fd, size_t bytes, size_t most) {
  return MapAway(TakePlace(most), bytes, MAP_SHARED, fd, 0);
}

void* MapShared(int fd, uint64_t offset, size_t bytes, void* place) {
  return MapAway(reinterpret_cast<uintptr_t>(place), bytes, MAP_SHARED, fd, offset);
}

void PrepareForWriting(void* address, size_t bytes) {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14
  Syscall(SYS_madvise, address, bytes, kPopulateWrite);
}

void PreferLargePages(void* address, size_t bytes) {
  Syscall(SYS_madvise, address, bytes, MADV_HUGEPAGE);
}

void Unmap(void* address, size_t bytes) {
  ForgetRange(reinterpret_cast<uint64_t>(address), bytes);
  Syscall(SYS_munmap, address, bytes);
}

void* MapWipedOnFork(size_t bytes) {
  void* page = MapPrivate(bytes);
  if (page == nullptr) return nullptr;
  if (Syscall(SYS_madvise, page, bytes, MADV_WIPEONFORK) < 0) {
    Unmap(page, bytes);
    return nullptr;
  }
  return page;
}

WritablePages::WritablePages(void* address, size_t bytes) {
  const uintptr_t from = reinterpret_cast<uintptr_t>(address);
  start_ = from & ~(kPage - 1);
  bytes_ = ((from + bytes + kPage - 1) & ~(kPage - 1)) - start_;
  ok_ = Syscall(SYS_mprotect, start_, bytes_, PROT_READ | PROT_WRITE) == 0;
}

WritablePages::~WritablePages() {
  if (ok_) Syscall(SYS_mprotect, start_, bytes_, PROT_READ);
}

}  // namespace heapgauge::agent::os
