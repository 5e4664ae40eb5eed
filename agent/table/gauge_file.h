// The agent's side of the gauge file: the file, which grows segment by segment (GaugeFile), and
// operations on its words. What is in the records is the business of the other tables.
//
// Lock-free, allocation-free.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "wire/gauge_format.h"

namespace heapgauge::agent {

// Operations on words of the gauge file, which other threads write and other processes read at the
// same time. All are single words; see wire/gauge_format.h for what readers may conclude.
inline void AddTo(uint64_t& word, uint64_t amount) {
  std::atomic_ref<uint64_t>(word).fetch_add(amount, std::memory_order_relaxed);
}

inline void SubtractFrom(uint64_t& word, uint64_t amount) {
  std::atomic_ref<uint64_t>(word).fetch_sub(amount, std::memory_order_relaxed);
}

inline void AddTo(double& word, double amount) {
  std::atomic_ref<double> value(word);
  double old = value.load(std::memory_order_relaxed);
  while (!value.compare_exchange_weak(old, old + amount, std::memory_order_relaxed)) {
  }
}

template <typename T>
void Put(T& word, T value) {
  std::atomic_ref<T>(word).store(value, std::memory_order_relaxed);
}

// For counts of records written so far.
inline void RaiseTo(uint32_t& word, uint32_t value) {
  std::atomic_ref<uint32_t> count(word);
  uint32_t old = count.load(std::memory_order_relaxed);
  while (old < value && !count.compare_exchange_weak(old, value, std::memory_order_release)) {
  }
}

// Writes a record that begins with a sequence word (0 free, odd being written, even valid).
// `sequence` is the last even value this slot had, kept privately or read back: readers only
// compare it.
template <typename Record, typename Write>
void WriteSequenced(Record& record, Write write) {
  std::atomic_ref<uint64_t> state(record.state);
  const uint64_t before = state.load(std::memory_order_relaxed) & ~uint64_t{1};
  state.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  write(record);
  state.store(before + 2, std::memory_order_release);
}

// Makes the file, grows it segment by segment, and hands out pointers to its records. The records
// of a segment are zero at first.
//
// A segment is reserved on disk, then mapped, then announced in the directory. Nothing more is ever
// mapped than is reserved, so that mlockall, RLIMIT_AS and a full disk can do no harm. No file
// descriptor is kept: the program may close it, or count its own. For a segment the file is opened
// by its path and checked to be the same one.
//
// Any thread may grow the file at any time. One that finds another thread growing it waits a few
// microseconds for the result. If that does not come (the other may be stopped) it makes a segment
// of its own, and what is left over becomes a spare. The segment behind the one in use is made
// early (TakeNext), so that this is rare. After a failure growing is not tried again for a second.
//
// Zero-initialised.
class GaugeFile {
 public:
  // Makes the file and its first segment. `path` must not exist. 0 or -errno.
  int Create(const char* path);
  // Unmaps everything but the first segment, and forgets the file (which stays).
  void DetachAllButHeader();
  // Moves everything but the spares into `into`, whatever that was, leaving this one empty. No
  // other thread may be using either.
  void MoveTo(GaugeFile* into);

  bool open() const { return header_ != nullptr; }
  wire::Header* header() const { return header_; }
  const char* path() const { return path_; }

  // The record's place, making its segment if need be; nullptr with the reason in *loss if it
  // cannot.
  template <typename Record>
  Record* At(wire::SegmentKind kind, uint32_t index, wire::Loss* loss) {
    constexpr uint32_t kPerSegment = wire::RecordsPerSegment(sizeof(Record));
    char* segment = Segment(kind, index / kPerSegment, loss);
    if (segment == nullptr) return nullptr;
    return reinterpret_cast<Record*>(segment) + index % kPerSegment;
  }

  // The same for a record that is known to be there.
  template <typename Record>
  Record* Existing(wire::SegmentKind kind, uint32_t index) const {
    constexpr uint32_t kPerSegment = wire::RecordsPerSegment(sizeof(Record));
    if (index / kPerSegment >= kMaxOrdinals) return nullptr;
    char* segment =
        segments_[static_cast<uint32_t>(kind)][index / kPerSegment].load(std::memory_order_acquire);
    return segment == nullptr ? nullptr : reinterpret_cast<Record*>(segment) + index % kPerSegment;
  }

  // Calls fn(ordinal, segment) for every segment of the kind; ends early if that answers false.
  template <typename Fn>
  bool ForEachSegment(wire::SegmentKind kind, Fn fn) const {
    for (uint32_t i = 0; i < kMaxOrdinals; ++i) {
      const char* segment =
          segments_[static_cast<uint32_t>(kind)][i].load(std::memory_order_acquire);
      if (segment != nullptr && !fn(i, segment)) return false;
    }
    return true;
  }

  // Takes the next record of an append-only kind: *count is the last index taken so far. While
  // there is no room no index is used up. Half-way through a segment the next one is made, so that
  // other threads seldom have to wait for one.
  template <typename Record>
  Record* TakeNext(wire::SegmentKind kind, std::atomic<uint32_t>* count, uint32_t* index,
                   wire::Loss* loss) {
    constexpr uint32_t kPerSegment = wire::RecordsPerSegment(sizeof(Record));
    if (At<Record>(kind, count->load(std::memory_order_relaxed) + 1, loss) == nullptr)
      return nullptr;
    *index = count->fetch_add(1, std::memory_order_relaxed) + 1;
    if (*index % kPerSegment == kPerSegment / 2) {
      wire::Loss ignored;
      Segment(kind, *index / kPerSegment + 1, &ignored);
    }
    return At<Record>(kind, *index, loss);
  }

  // Makes the segment and forgets it: whoever asks keeps the pointer, and asks once for each
  // ordinal. nullptr if it cannot.
  char* MakeSegment(wire::SegmentKind kind, uint32_t ordinal);

  // Every segment from now on will be written from one end to the other, and soon: while tracing
  // they fill within milliseconds.
  void ExpectFilling() { will_be_filled_ = true; }

  // Makes segments ahead of need, for a program that will soon allow no system calls.
  void ReserveSpare();
  // The same for a program that will not be able to open the file; nothing from the second call on.
  void ReserveSpareOnce() {
    if (!spare_reserved_.exchange(true, std::memory_order_relaxed)) ReserveSpare();
  }

  // The file once more, by its path, for writing: a descriptor to be closed, or -errno, also if
  // another file is there now.
  int OpenAgain() const;

  // How many segments of one kind there can be.
  static constexpr uint32_t kMaxOrdinals = 2048;

 private:
  static constexpr uint64_t kRetryNs = 1'000'000'000;
  static constexpr uint32_t kSpareSegments = 32;

  // Reserved and mapped, not yet in the directory.
  struct Spare {
    std::atomic<char*> segment;
    std::atomic<uint32_t> index;  // of the segment in the file
  };

  char* Segment(wire::SegmentKind kind, uint32_t ordinal, wire::Loss* loss);
  char* Make(uint32_t* index);
  char* MakeOnDisk(uint32_t* index);
  char* MakeIn(int fd, uint32_t* index);
  bool KeepSpare(char* segment, uint32_t index);
  char* TakeSpare(uint32_t* index);
  void Announce(uint32_t index, wire::SegmentKind kind, uint32_t ordinal);

  wire::Header* header_ = nullptr;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  bool will_be_filled_ = false;
  std::atomic<bool> spare_reserved_;
  std::atomic<uint32_t> growing_;        // threads at it
  std::atomic<uint32_t> segment_count_;  // private copy: the header's is not read back
  std::atomic<uint64_t> retry_at_ns_;
  Spare spares_[kSpareSegments];
  std::atomic<char*> segments_[wire::kSegmentKinds][kMaxOrdinals];
  char path_[1024] = {};
};

}  // namespace heapgauge::agent
