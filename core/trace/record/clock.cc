#include "core/trace/record/clock.h"

#include <x86intrin.h>

#include <algorithm>
#include <string>

#include "core/base/file.h"
#include "core/base/process.h"

namespace heapgauge::trace {
namespace {

constexpr char kSourcePath[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
// Pairs closer than this say little about the rate.
constexpr uint64_t kLeastGapNs = 1'000'000;
// Lines that nobody asked about: the program was quiet.
constexpr size_t kMostLines = 4096;

}  // namespace

wire::TraceClock BestClock() {
  const auto source = ReadWholeFile(kSourcePath, 64);
  return source && source->rfind("tsc", 0) == 0 ? wire::TraceClock::kCycleCounter
                                                : wire::TraceClock::kMonotonicNs;
}

uint64_t ReadClock(wire::TraceClock clock) {
  return clock == wire::TraceClock::kCycleCounter ? __rdtsc() : MonotonicNow();
}

ClockPair TakePair(wire::TraceClock clock) {
  if (clock != wire::TraceClock::kCycleCounter) {
    const uint64_t now = MonotonicNow();
    return {now, now};
  }
  // The try that was interrupted least.
  ClockPair best;
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = __rdtsc();
    const uint64_t ns = MonotonicNow();
    const uint64_t width = __rdtsc() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {before + width / 2, ns};
  }
  return best;
}

ClockConverter::ClockConverter(wire::TraceClock clock, ClockPair first)
    : clock_(clock), last_(first) {}

uint64_t ClockConverter::RateOf(const ClockPair& from, const ClockPair& to) {
  const uint64_t raw = to.raw - from.raw;
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((Wide{to.ns - from.ns} << 32) / std::max<uint64_t>(raw, 1));
}

void ClockConverter::Add(ClockPair pair) {
  if (clock_ != wire::TraceClock::kCycleCounter) return;
  if (pair.ns < last_.ns + kLeastGapNs || pair.raw <= last_.raw) return;
  rate_ = RateOf(last_, pair);
  lines_.push_back({last_, pair.raw, rate_});
  last_ = pair;
  if (lines_.size() > kMostLines) lines_.pop_front();
}

uint64_t ClockConverter::FindLine(uint64_t raw) {
  if (clock_ != wire::TraceClock::kCycleCounter) return raw;
  while (lines_.size() > 1 && raw >= lines_.front().end) lines_.pop_front();
  Line line{last_, UINT64_MAX, rate_};
  if (!lines_.empty() && raw < lines_.front().end) line = lines_.front();
  if (raw < line.from.raw) {
    const uint64_t before = Scaled(line.from.raw - raw, line.rate);
    return line.from.ns > before ? line.from.ns - before : 0;
  }
  // One whose end is not known yet will be replaced.
  if (line.end != UINT64_MAX) {
    in_use_ = {line.from.raw, line.from.ns, line.end - line.from.raw, line.rate};
  }
  return line.from.ns + Scaled(raw - line.from.raw, line.rate);
}

uint64_t ClockConverter::PerMicrosecond() const {
  if (clock_ != wire::TraceClock::kCycleCounter) return 1000;
  return std::max<uint64_t>((uint64_t{1000} << 32) / std::max<uint64_t>(rate_, 1), 1);
}

}  // namespace heapgauge::trace
