#include "core/trace/record/testing/traced_gauge.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace heapgauge::testing {
namespace {

template <typename Word>
void Store(Word& word, Word value) {
  std::atomic_ref<Word>(word).store(value, std::memory_order_release);
}

}  // namespace

TracedGauge::TracedGauge(uint32_t buffers, GaugeBuilder builder) {
  builder.header().trace.tracing = 1;
  builder.header().trace.max_buffers = buffers;
  std::string bytes = builder.Build();
  wire::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  first_ = header.segment_count;
  header.segment_count += buffers;
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes.resize(size_t{header.segment_count} * wire::kSegmentBytes);
  for (uint32_t i = 0; i < buffers; ++i) {
    const uint32_t word = wire::DirectoryWord(wire::SegmentKind::kTrace, i);
    std::memcpy(&bytes[wire::kHeaderBytes + (first_ + i) * sizeof word], &word, sizeof word);
  }
  const char* const place = std::getenv("TMPDIR");
  path_ = std::string(place != nullptr ? place : "/tmp") + "/traced.XXXXXX";
  const int fd = mkstemp(path_.data());
  if (fd < 0 || write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
  bytes_ = bytes.size();
  base_ = static_cast<uint8_t*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  close(fd);
  if (base_ == MAP_FAILED) std::abort();
}

TracedGauge::~TracedGauge() {
  munmap(base_, bytes_);
  unlink(path_.c_str());
}

wire::TraceBufferHeader& TracedGauge::buffer(uint32_t index) {
  return *reinterpret_cast<wire::TraceBufferHeader*>(base_ +
                                                     size_t{first_ + index} * wire::kSegmentBytes);
}

TracedGauge::Buffer TracedGauge::Take(uint32_t index, uint64_t token, uint32_t thread) {
  wire::TraceBufferHeader& header = buffer(index);
  header.position = sizeof header;
  header.token = token;
  header.thread = thread;
  Store(header.round, header.round + 1);
  return Buffer(&header);
}

template <typename Event>
void TracedGauge::Buffer::Append(const Event& event) {
  const uint32_t position = header_->position & ~1U;
  Store(header_->position, position | 1);
  std::memcpy(reinterpret_cast<uint8_t*>(header_) + position, &event, sizeof event);
  Store(header_->position, position + static_cast<uint32_t>(sizeof event));
}

void TracedGauge::Buffer::Add(const wire::TraceAllocation& event) { Append(event); }
void TracedGauge::Buffer::Add(const wire::TraceFree& event) { Append(event); }

void TracedGauge::Buffer::Allocate(uint64_t time, uint64_t address, uint64_t size, uint32_t stack) {
  wire::TraceAllocation event{};
  event.time = time;
  event.what = wire::PackTraceWhat(wire::TraceEventKind::kAllocate, address);
  event.size = size;
  event.stack = stack;
  Append(event);
}

void TracedGauge::Buffer::Free(uint64_t time, uint64_t address) {
  Append(wire::TraceFree{time, wire::PackTraceWhat(wire::TraceEventKind::kFree, address)});
}

void TracedGauge::Buffer::SetOdd(bool odd) {
  const uint32_t position = header_->position & ~1U;
  Store(header_->position, position | (odd ? 1U : 0U));
}

void TracedGauge::Buffer::Close() { Store(header_->closed, header_->round); }

bool TracedGauge::Buffer::IsReleased() const {
  return std::atomic_ref<uint32_t>(header_->released).load() == header_->round;
}

}  // namespace heapgauge::testing
