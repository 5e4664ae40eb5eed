#include "core/leaks/blocks/recorded_blocks.h"

#include <fmt/format.h>
#include <time.h>

#include <charconv>
#include <filesystem>
#include <utility>

#include "core/base/file.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/formats/gauge/gauge_control.h"
#include "core/formats/gauge/gauge_layout.h"
#include "core/leaks/blocks/traced_blocks.h"
#include "core/trace/trace_file.h"

namespace heapgauge::leaks {
namespace {

namespace fs = std::filesystem;

// A recorder writes what it has after ten seconds at the latest.
constexpr uint64_t kLongestWait = 13 * kSecondNs;
constexpr long kStepNs = 100'000'000;
// One that was asked to writes at once.
constexpr int kAnswerMs = 3000;
constexpr size_t kMostFiles = 1024;  // of one process

bool IsRecorder(const fs::path& process) {
  const auto name = ReadWholeFile((process / "comm").string(), 64);
  return name && name->starts_with("heapgauge");
}

bool IsNumber(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

// The trace of this process among the open files of another; "" if there is none.
std::string TraceAmong(const fs::path& process, uint32_t pid, uint64_t start_ns) {
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
    if (!file || !trace::IsTrace({start, file->ReadAt(0, start, sizeof start)})) continue;
    const auto trace = trace::TraceFile::Open(path);
    if (!trace) continue;
    const Recording& recording = (*trace)->facts().recording;
    // Files of an earlier process of the same number may still be there.
    const uint64_t since = MonotonicNow() - start_ns;
    const uint64_t began = RealtimeNow() - since;
    const uint64_t apart = recording.start_unix_ns > began ? recording.start_unix_ns - began
                                                           : began - recording.start_unix_ns;
    if (recording.pid == pid && apart < 5 * kSecondNs) return path;
  }
  return "";
}

// True if all that has happened up to now is in the trace.
bool HaveWritten(const std::string& gauge_path) {
  auto control = GaugeControl::Open(gauge_path);
  return control && control->RequestTrace() && control->WaitForTrace(kAnswerMs);
}

}  // namespace

bool IsTraced(const std::string& gauge_path, uint64_t* start_ns) {
  const auto file = File::OpenForReading(gauge_path);
  if (!file) return false;
  const auto layout = GaugeLayout::Read(*file, gauge_path);
  if (!layout) return false;
  *start_ns = layout->header().start_monotonic_ns;
  return layout->header().trace.tracing == 1 && layout->header().trace.gave_up == 0;
}

Result<std::unique_ptr<RecordedBlocks>> RecordedBlocks::Find(uint32_t pid,
                                                             const std::string& gauge_path,
                                                             uint64_t start_ns) {
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    if (!IsNumber(entry->path().filename().string()) || !IsRecorder(entry->path())) continue;
    std::string path = TraceAmong(entry->path(), pid, start_ns);
    if (path.empty()) continue;
    return std::make_unique<RecordedBlocks>(std::move(path), gauge_path, start_ns);
  }
  return Fail(ErrorCode::kUnavailable,
              fmt::format("process {} is recorded whole, not sampled, and the trace of it was not "
                          "found: heapgauge leaks FILE.hgt tells what grows; run --leaks tells at "
                          "its end what is lost",
                          pid));
}

void RecordedBlocks::Mark() {
  const uint64_t now = MonotonicNow();
  marked_ns_ = now > start_ns_ ? now - start_ns_ : 0;
}

Result<KnownBlocks> RecordedBlocks::Read() const {
  const uint64_t began = MonotonicNow();
  const bool written = HaveWritten(gauge_path_);
  for (;;) {
    const bool last = MonotonicNow() - began > kLongestWait;
    HG_ASSIGN(const std::shared_ptr<const trace::TraceFile> trace, trace::TraceFile::Open(path_));
    // Where blocks that die young are left out, young ones are kept back.
    const bool has_all = written && trace->facts().culled_below_ns == 0;
    const bool reaches = trace->facts().complete || trace->end_ns() > marked_ns_;
    if (last && !written && !reaches) {
      return Fail(
          ErrorCode::kUnavailable,
          fmt::format("'{}' does not tell what is live now: its recorder writes nothing any "
                      "more; it may be stopped, or its disk may be full",
                      Printable(path_)));
    }
    if (last || has_all || reaches) {
      HG_ASSIGN(const std::shared_ptr<const trace::TraceFile::Stacks> stacks, trace->ReadStacks());
      return TracedBlocks(*trace, *stacks, marked_ns_);
    }
    const timespec step{0, kStepNs};
    nanosleep(&step, nullptr);
  }
}

}  // namespace heapgauge::leaks
