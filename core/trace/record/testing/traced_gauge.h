// The gauge file of a program that is traced, without the program: tests write events into its
// buffers as the agent does. Not for use outside of tests.
//
//   TracedGauge gauge(4);
//   auto buffer = gauge.Take(0, /*token=*/1, /*thread=*/100);
//   buffer.Allocate(10, 0x1000, 64);
//   buffer.Close();
#pragma once

#include <cstdint>
#include <string>

#include "core/gauge/testing/gauge_builder.h"
#include "wire/gauge_format.h"

namespace heapgauge::testing {

class TracedGauge {
 public:
  // With so many buffers. The file lies in the directory of temporary files.
  explicit TracedGauge(uint32_t buffers, GaugeBuilder builder = {});
  ~TracedGauge();
  TracedGauge(const TracedGauge&) = delete;
  TracedGauge& operator=(const TracedGauge&) = delete;

  class Buffer {
   public:
    explicit Buffer(wire::TraceBufferHeader* header) : header_(header) {}
    wire::TraceBufferHeader& header() { return *header_; }
    void Add(const wire::TraceAllocation& event);
    void Add(const wire::TraceFree& event);
    void Allocate(uint64_t time, uint64_t address, uint64_t size, uint32_t stack = 0);
    void Free(uint64_t time, uint64_t address);
    // The thread is within an event, or no more.
    void SetOdd(bool odd);
    void Close();
    bool HasRoom() const { return header_->position + 32 <= wire::kSegmentBytes; }
    bool IsReleased() const;

   private:
    template <typename Event>
    void Append(const Event& event);
    wire::TraceBufferHeader* header_;
  };

  // A thread takes buffer `index`. REQUIRES: it is free.
  Buffer Take(uint32_t index, uint64_t token, uint32_t thread);
  const std::string& path() const { return path_; }
  wire::Header& header() { return *reinterpret_cast<wire::Header*>(base_); }
  wire::TraceBufferHeader& buffer(uint32_t index);

 private:
  std::string path_;
  uint8_t* base_ = nullptr;
  size_t bytes_ = 0;
  uint32_t first_ = 0;  // segment of the first buffer
};

}  // namespace heapgauge::testing
