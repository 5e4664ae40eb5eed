#include "core/leaks/verdict/recorded_blocks.h"

#include <fmt/format.h>
#include <time.h>

#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/gauge/gauge_layout.h"
#include "core/leaks/verdict/traced_blocks.h"
#include "core/os/process.h"
#include "core/trace/file/live_trace.h"
#include "core/trace/file/trace_file.h"

namespace heapgauge::leaks {
namespace {

// A recorder writes what it has after ten seconds at the latest.
constexpr uint64_t kLongestWait = 13 * kSecondNs;
constexpr long kStepNs = 100'000'000;

// Under `run --leaks`.
bool WaitsForCheckAtExit(const std::string& gauge_path) {
  const auto file = File::OpenForReading(gauge_path);
  if (!file) return false;
  const auto layout = GaugeLayout::Read(*file, gauge_path);
  return layout && layout->header().leaks.wants_exit_check != 0;
}

}  // namespace

Result<std::unique_ptr<RecordedBlocks>> RecordedBlocks::Find(uint32_t pid,
                                                             const std::string& gauge_path,
                                                             uint64_t start_ns) {
  if (std::string path = trace::FindLiveTrace(gauge_path); !path.empty()) {
    return std::make_unique<RecordedBlocks>(std::move(path), gauge_path, start_ns);
  }
  if (WaitsForCheckAtExit(gauge_path)) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("process {} runs under heapgauge run --leaks and is checked when it "
                            "ends; to check it before, have a trace written as well (run --leaks "
                            "--trace -o FILE), or start it by heapgauge run alone",
                            pid));
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
  const bool written = trace::HaveTraceWritten(gauge_path_);
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
