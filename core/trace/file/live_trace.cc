#include "core/trace/file/live_trace.h"

#include <time.h>

#include <filesystem>

#include "core/base/file.h"
#include "core/gauge/gauge_control.h"
#include "core/gauge/gauge_layout.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::trace {
namespace {

namespace fs = std::filesystem;

constexpr int kAnswerMs = 3000;      // one that was asked to writes at once
constexpr size_t kMostFiles = 1024;  // of one process

// A process all of whose calls are recorded.
struct Traced {
  uint32_t pid;
  uint64_t since_ns;  // CLOCK_MONOTONIC
};

std::optional<Traced> ReadTraced(const std::string& gauge_path) {
  const auto file = File::OpenForReading(gauge_path);
  if (!file) return std::nullopt;
  const auto layout = GaugeLayout::Read(*file, gauge_path);
  if (!layout) return std::nullopt;
  const auto& header = layout->header();
  if (header.trace.tracing != 1 || header.trace.gave_up != 0) return std::nullopt;
  return Traced{header.pid, header.start_monotonic_ns};
}

// The trace of this process among the open files of another; "" if there is none.
std::string TraceAmong(const fs::path& process, const Traced& traced) {
  std::error_code error;
  size_t seen = 0;
  for (fs::directory_iterator fd(process / "fd", error), end; !error && fd != end;
       fd.increment(error)) {
    if (++seen > kMostFiles) break;
    std::error_code ignored;
    const std::string path = fs::read_symlink(fd->path(), ignored).string();
    if (path.empty() || path[0] != '/' || !fs::is_regular_file(path, ignored)) continue;
    const auto file = File::OpenForReading(path);
    char start[64];
    if (!file || !IsTrace({start, file->ReadAt(0, start, sizeof start)})) continue;
    const auto trace = TraceFile::Open(path);
    if (!trace || !(*trace)->facts().being_written) continue;
    const RecordingFacts& recording = (*trace)->facts().recording;
    // Files of an earlier process of the same number may still be there.
    const uint64_t began = RealtimeNow() - (MonotonicNow() - traced.since_ns);
    const uint64_t apart = recording.start_unix_ns > began ? recording.start_unix_ns - began
                                                           : began - recording.start_unix_ns;
    if (recording.pid == traced.pid && apart < 5 * kSecondNs) return path;
  }
  return "";
}

// The same among those of all processes.
std::string TraceOf(const Traced& traced) {
  for (const uint32_t pid : NumbersIn("/proc").value_or(std::vector<uint32_t>())) {
    const std::string process = "/proc/" + std::to_string(pid);
    if (!TaskName(process).starts_with("heapgauge")) continue;
    std::string path = TraceAmong(process, traced);
    if (!path.empty()) return path;
  }
  return "";
}

}  // namespace

std::optional<uint64_t> TracedSince(const std::string& gauge_path) {
  const auto traced = ReadTraced(gauge_path);
  return traced ? std::optional(traced->since_ns) : std::nullopt;
}

bool IsBeingRecorded(const std::string& gauge_path) {
  constexpr timespec kStep{0, 20'000'000};
  constexpr int kSteps = 50;
  const auto file = File::OpenForReading(gauge_path);
  if (!file) return false;
  std::optional<uint32_t> first;
  for (int i = 0; i < kSteps; ++i) {
    const auto layout = GaugeLayout::Read(*file, gauge_path);
    if (!layout) return false;
    const uint32_t beat = layout->header().trace.beat;
    if (first && *first != beat) return true;
    first = beat;
    nanosleep(&kStep, nullptr);
  }
  return false;
}

std::string FindLiveTrace(const std::string& gauge_path) {
  const auto traced = ReadTraced(gauge_path);
  if (!traced) return "";
  std::string path = TraceOf(*traced);
  // It may just have been made, and been missed: whoever gives signs of life has one.
  if (path.empty() && IsBeingRecorded(gauge_path)) path = TraceOf(*traced);
  return path;
}

bool HaveTraceWritten(const std::string& gauge_path) {
  auto control = GaugeControl::Open(gauge_path);
  return control && control->RequestTrace() && control->WaitForTrace(kAnswerMs);
}

}  // namespace heapgauge::trace
