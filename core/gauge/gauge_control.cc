#include "core/gauge/gauge_control.h"

#include <fmt/format.h>
#include <poll.h>

#include <cstddef>
#include <cstring>

#include "core/base/text.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

constexpr size_t kControl = offsetof(wire::Header, control);

}  // namespace

Result<GaugeControl> GaugeControl::Open(const std::string& path) {
  HG_ASSIGN(File file, File::OpenForUpdate(path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path));
  GaugeControl control(std::move(file));
  control.generation_ = layout.header().control.generation;
  return control;
}

template <typename Word>
Status GaugeControl::Change(size_t offset, Word value) {
  HG_TRY(file_.WriteAt(offset, &value, sizeof value));
  uint32_t generation = 0;
  const size_t at = kControl + offsetof(wire::Control, generation);
  if (file_.ReadAt(at, &generation, sizeof generation) != sizeof generation) {
    return Fail(ErrorCode::kTruncated, "'" + Printable(file_.path()) + "' has lost its header");
  }
  generation_ = generation + 1;
  return file_.WriteAt(at, &generation_, sizeof generation_);
}

Status GaugeControl::SetActive(bool active) {
  return Change<uint32_t>(kControl + offsetof(wire::Control, active), active ? 1 : 0);
}

Status GaugeControl::SetInterval(uint64_t bytes) {
  if (bytes == 0 || bytes > wire::kMaxIntervalBytes) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the interval must be from 1 byte to {}",
                            FormatBytes(static_cast<double>(wire::kMaxIntervalBytes))));
  }
  return Change<uint64_t>(kControl + offsetof(wire::Control, interval), bytes);
}

Status GaugeControl::SetMaxSamplesPerSecond(uint32_t samples) {
  return Change<uint32_t>(kControl + offsetof(wire::Control, max_samples_per_second), samples);
}

Result<uint32_t> GaugeControl::ReadCounter(size_t offset) const {
  uint32_t value = 0;
  if (file_.ReadAt(offset, &value, sizeof value) != sizeof value) {
    return Fail(ErrorCode::kTruncated, "'" + Printable(file_.path()) + "' has lost its header");
  }
  return value;
}

Status GaugeControl::RequestReset() {
  const size_t at = kControl + offsetof(wire::Control, reset_requests);
  HG_ASSIGN(const uint32_t requests, ReadCounter(at));
  return Change<uint32_t>(at, requests + 1);
}

Status GaugeControl::RequestStatistics() {
  const size_t at = kControl + offsetof(wire::Control, statistics_requests);
  HG_ASSIGN(const uint32_t requests, ReadCounter(at));
  statistics_requests_ = requests + 1;
  return Change<uint32_t>(at, statistics_requests_);
}

bool GaugeControl::WaitForStatistics(int timeout_ms) const {
  const uint64_t deadline = MonotonicNow() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  constexpr size_t kStatistics = offsetof(wire::Header, statistics);
  while (true) {
    wire::AllocatorStatistics statistics{};
    const size_t got = file_.ReadAt(kStatistics, &statistics, sizeof statistics);
    if (got == sizeof statistics && statistics.state != 0 && statistics.state % 2 == 0 &&
        static_cast<int32_t>(statistics.requests - statistics_requests_) >= 0) {
      return true;
    }
    if (MonotonicNow() >= deadline) return false;
    poll(nullptr, 0, 5);
  }
}

// Not announced: the program itself has nothing to do with it.
Status GaugeControl::RequestTrace() {
  const size_t at = kControl + offsetof(wire::Control, trace_requests);
  HG_ASSIGN(const uint32_t requests, ReadCounter(at));
  trace_requests_ = requests + 1;
  return file_.WriteAt(at, &trace_requests_, sizeof trace_requests_);
}

bool GaugeControl::WaitForTrace(int timeout_ms) const {
  const uint64_t deadline = MonotonicNow() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  while (true) {
    const auto answers = ReadCounter(offsetof(wire::Header, trace_answers));
    if (answers && static_cast<int32_t>(*answers - trace_requests_) >= 0) return true;
    if (!answers || MonotonicNow() >= deadline) return false;
    poll(nullptr, 0, 5);
  }
}

bool GaugeControl::WaitUntilSeen(int timeout_ms) const {
  const uint64_t deadline = MonotonicNow() + static_cast<uint64_t>(timeout_ms) * 1'000'000;
  while (true) {
    uint32_t seen = 0;
    const size_t got = file_.ReadAt(offsetof(wire::Header, seen_generation), &seen, sizeof seen);
    // Generations wrap around: compare by distance.
    if (got == sizeof seen && static_cast<int32_t>(seen - generation_) >= 0) return true;
    if (MonotonicNow() >= deadline) return false;
    poll(nullptr, 0, 10);
  }
}

}  // namespace heapgauge
