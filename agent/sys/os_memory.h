// Memory of the agent's own, and mappings of its files.
//
// Async-signal-safe, without errno. Everything fails once system calls are frozen (syscall.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapgauge::agent::os {

// What is mapped here lies far from the mappings of the program.
// Private zeroed memory; nullptr if there is none to be had. Never given back, except by Unmap.
void* MapPrivate(size_t bytes);
// Maps the first `bytes` of an open file, shared and writable, where nothing else will come up to
// `most`.
void* MapSharedFirst(int fd, size_t bytes, size_t most);
// Maps `bytes` of the open file from `offset`, shared and writable, at `place` if that is free.
void* MapShared(int fd, uint64_t offset, size_t bytes, void* place);
// Has the kernel prepare mapped memory for writing at once, not page by page as it is touched. It
// may not know how to: then nothing happens.
void PrepareForWriting(void* address, size_t bytes);
// For memory that will be used all over and soon: in large pages, if the system has them to give.
void PreferLargePages(void* address, size_t bytes);
void Unmap(void* address, size_t bytes);
// What MapPrivate has given out, for those who account for the process's memory.
struct PrivateRange {
  uint64_t start;
  uint64_t end;
};
// Changes whenever the list below does.
uint32_t PrivateRangesVersion();
// Copies at most `capacity` ranges and returns how many there are.
uint32_t PrivateRanges(PrivateRange* ranges, uint32_t capacity);
// A page that a forked child (by whatever call) finds zeroed; nullptr where the kernel cannot.
void* MapWipedOnFork(size_t bytes);

// Makes read-only pages of our own writable for as long as it lives.
class WritablePages {
 public:
  WritablePages(void* address, size_t bytes);
  ~WritablePages();
  WritablePages(const WritablePages&) = delete;
  WritablePages& operator=(const WritablePages&) = delete;
  bool ok() const { return ok_; }

 private:
  uintptr_t start_;
  size_t bytes_;
  bool ok_;
};

}  // namespace heapgauge::agent::os
