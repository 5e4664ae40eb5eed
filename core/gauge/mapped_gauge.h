// A gauge file of a program that is being traced, mapped into memory, and the guard that a mapping
// needs whose file others may cut short.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "wire/gauge_format.h"

namespace heapgauge::trace {

// Keeps a mapped file that somebody else cuts short from killing us.
//
// A page of a mapping that lies beyond the end of its file raises SIGBUS. While a BusGuard is there
// for a mapping, such a page is replaced by one of zeros and the guard remembers that it was
// needed; the reader then sees nonsense, which it has to expect anyway. Faults elsewhere end the
// process as they would without it.
//
// The handler is installed with the first guard and stays. Guards may be made and destroyed by any
// thread; at most kMaxGuards at a time, further ones do nothing.
class BusGuard {
 public:
  static constexpr int kMaxGuards = 256;

  BusGuard() = default;
  BusGuard(void* start, size_t size);
  ~BusGuard();
  BusGuard(BusGuard&& other) noexcept;
  BusGuard& operator=(BusGuard&& other) noexcept;
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;

  // True once a page had to be replaced: the file was cut.
  bool was_needed() const;

 private:
  int index_ = -1;
};

// A word that is shared with the program.
template <typename Word>
Word LoadShared(const Word& word) {
  return std::atomic_ref<Word>(const_cast<Word&>(word)).load(std::memory_order_acquire);
}

// A gauge file of a program that is being traced, mapped so that its buffers can be read and
// released without a system call for each.
//
// The program writes it at the same time and is not trusted: sizes are taken from the file system,
// directory words are checked, and a file that is cut short reads as zeros (BusGuard). Words are
// read and written atomically.
//
// One thread, apart from Beat, which any thread may call.
class MappedGauge {
 public:
  // Addresses that each takes, memory or not.
  static constexpr size_t kMapBytes = size_t{wire::kMaxSegments} * wire::kSegmentBytes;

  // The header is checked as readers of gauge files do.
  static Result<MappedGauge> Open(const std::string& path);
  ~MappedGauge();
  MappedGauge(MappedGauge&& other) noexcept;
  MappedGauge& operator=(MappedGauge&& other) noexcept;
  MappedGauge(const MappedGauge&) = delete;
  MappedGauge& operator=(const MappedGauge&) = delete;

  const File& file() const { return file_; }
  const std::string& path() const { return file_.path(); }
  // Shared with the program: use LoadShared for what changes.
  const wire::Header& header() const { return *reinterpret_cast<const wire::Header*>(base_); }
  wire::TraceControl& control() { return reinterpret_cast<wire::Header*>(base_)->trace; }
  const wire::TraceControl& control() const { return header().trace; }
  wire::LeakControl& leaks() { return reinterpret_cast<wire::Header*>(base_)->leaks; }
  uint32_t& trace_answers() { return reinterpret_cast<wire::Header*>(base_)->trace_answers; }

  // Takes segments into account that came since the last call.
  void Refresh();

  // Segments by kind and ordinal, as far as they are known; null if missing.
  const uint8_t* segment(wire::SegmentKind kind, uint32_t ordinal) const {
    const auto& list = segments_[static_cast<uint32_t>(kind)];
    return ordinal < list.size() && list[ordinal] != 0
               ? base_ + uint64_t{list[ordinal]} * wire::kSegmentBytes
               : nullptr;
  }
  uint8_t* mutable_segment(wire::SegmentKind kind, uint32_t ordinal) {
    return const_cast<uint8_t*>(segment(kind, ordinal));
  }
  uint32_t segment_count(wire::SegmentKind kind) const {
    return static_cast<uint32_t>(segments_[static_cast<uint32_t>(kind)].size());
  }
  // Record `index` of a kind, or null if its segment is not there. `record_bytes` is the distance
  // of records.
  const uint8_t* record(wire::SegmentKind kind, uint32_t record_bytes, uint32_t index) const {
    const uint32_t per_segment = wire::kSegmentBytes / record_bytes;
    const uint8_t* const start = segment(kind, index / per_segment);
    return start == nullptr ? nullptr : start + uint64_t{index % per_segment} * record_bytes;
  }

  // Tells the program that there is a recorder.
  void Beat();
  // To be called after buffers were released: wakes threads that wait for one.
  void TellReleased();
  // Nobody records any more: no buffer will be released, and no thread is to wait for one.
  void TellOver();
  // The file was cut short while we read it.
  bool was_cut() const { return guard_.was_needed(); }

 private:
  MappedGauge(File file, uint8_t* base);

  File file_;
  uint8_t* base_ = nullptr;
  BusGuard guard_;
  uint32_t seen_segments_ = 1;        // directory words that were looked at
  std::vector<uint32_t> unfinished_;  // words that were still 0
  std::array<std::vector<uint32_t>, wire::kSegmentKinds> segments_;
};

}  // namespace heapgauge::trace
