// Memory of the agent's own, mappings of its files, and what it recognises a forked child by: a
// page that the kernel wipes there.
//
// Async-signal-safe, without errno. Everything that enters the kernel fails once system calls are
// frozen (os.h). What is mapped here lies far from the mappings of the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapgauge::agent::os {

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
// Changes whenever the list of PrivateRanges() does.
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

namespace heapgauge::agent {

// Whether this process has a record of its own. A forked child must not write into its parent's; it
// notices by a word in a page that the kernel wipes in the child, however it was forked. A vfork
// child shares all memory, and with it the parent's record, as it should.
//
// A small value: copies stand for the same process, also in a child. Any thread; zero-initialised.
class ProcessLife {
 public:
  // To be followed by Settle. False where the kernel cannot wipe pages.
  bool Start() {
    state_ = static_cast<std::atomic<State>*>(os::MapWipedOnFork(4096));
    return state_ != nullptr;
  }
  bool has_started() const { return state_ != nullptr; }

  // It has one. REQUIRES: has_started().
  bool is_ready() const { return Load() == State::kReady; }
  // It is a forked child that has none yet.
  bool is_forked() const { return Load() == State::kForked; }
  // It can have none.
  bool has_failed() const { return Load() == State::kFailed; }

  // In a forked child: true for the one thread that is to make the record and then calls Settle.
  bool Begin() {
    State expected = State::kForked;
    return state_->compare_exchange_strong(expected, State::kStarting);
  }
  void Settle(bool ready) {
    state_->store(ready ? State::kReady : State::kFailed, std::memory_order_release);
  }

 private:
  enum class State : uint32_t { kForked = 0, kStarting, kReady, kFailed };
  State Load() const { return state_->load(std::memory_order_acquire); }

  std::atomic<State>* state_ = nullptr;  // in that page
};

}  // namespace heapgauge::agent
