#include "core/trace/record/clock.h"

#include <algorithm>
#include <string>

#include "core/base/arch.h"
#include "core/base/file.h"
#include "core/os/process.h"

namespace heapgauge::trace {
namespace {

constexpr char kSourcePath[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
// Pairs closer than this say little about the rate.
constexpr uint64_t kLeastGapNs = 1'000'000;
// Lines that nobody asked about: the program was quiet.
constexpr size_t kMostLines = 4096;
// Of the past: pairs so far apart at first, and twice as far each time that there are too many.
constexpr uint64_t kFirstPastGapNs = 10'000'000;
constexpr size_t kMostPast = 1024;

}  // namespace

wire::TraceClock BestClock() {
  const auto source = ReadWholeFile(kSourcePath, 64);
  return source && source->rfind(arch::kCycleClockSource, 0) == 0 ? wire::TraceClock::kCycleCounter
                                                                  : wire::TraceClock::kMonotonicNs;
}

uint64_t ReadClock(wire::TraceClock clock) {
  return clock == wire::TraceClock::kCycleCounter ? arch::CycleCounter() : MonotonicNow();
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
    const uint64_t before = arch::CycleCounter();
    const uint64_t ns = MonotonicNow();
    const uint64_t width = arch::CycleCounter() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {before + width / 2, ns};
  }
  return best;
}

ClockConverter::ClockConverter(wire::TraceClock clock, ClockPair first)
    : clock_(clock), last_(first), past_{first}, past_gap_ns_(kFirstPastGapNs) {
  if (clock != wire::TraceClock::kCycleCounter) line_ = LineFrom({0, 0}, UINT64_MAX, rate_);
}

ClockConverter::Line ClockConverter::LineFrom(const ClockPair& from, uint64_t end, uint64_t rate) {
  Line line;
  line.raw_ = from.raw;
  line.ns_ = from.ns;
  line.length_ = end - from.raw;
  line.rate_ = rate;
  return line;
}

uint64_t ClockConverter::RateOf(const ClockPair& from, const ClockPair& to) {
  const uint64_t raw = to.raw - from.raw;
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((Wide{to.ns - from.ns} << 32) / std::max<uint64_t>(raw, 1));
}

void ClockConverter::Add(ClockPair pair) {
  if (clock_ != wire::TraceClock::kCycleCounter) return;
  if (pair.ns < last_.ns + kLeastGapNs || pair.raw <= last_.raw) return;
  rate_ = RateOf(last_, pair);
  lines_.push_back(LineFrom(last_, pair.raw, rate_));
  // If it was without an end, that is known now.
  line_.length_ = 0;
  last_ = pair;
  Keep(pair);
  if (lines_.size() > kMostLines) lines_.pop_front();
}

void ClockConverter::Keep(const ClockPair& pair) {
  if (pair.ns < past_.back().ns + past_gap_ns_) return;
  if (past_.size() >= kMostPast) {
    for (size_t i = 0; i < past_.size() / 2; ++i) past_[i] = past_[2 * i];
    past_.resize(past_.size() / 2);
    past_gap_ns_ *= 2;
  }
  past_.push_back(pair);
}

void ClockConverter::FindLine(uint64_t raw) {
  const auto end = [](const Line& line) { return line.raw_ + line.length_; };
  while (lines_.size() > 1 && raw >= end(lines_.front())) lines_.pop_front();
  const bool is_known = !lines_.empty() && raw < end(lines_.front());
  line_ = is_known ? lines_.front() : LineFrom(last_, UINT64_MAX, rate_);
}

// Of a moment before the line that is in use, which is the first there is.
uint64_t ClockConverter::Before(uint64_t raw) const {
  if (clock_ != wire::TraceClock::kCycleCounter) return raw;
  const auto is_later = [](uint64_t a, const ClockPair& b) { return a < b.raw; };
  const auto next = std::upper_bound(past_.begin(), past_.end(), raw, is_later);
  if (next != past_.begin()) {
    const ClockPair& from = *(next - 1);
    const ClockPair to = next != past_.end() ? *next : ClockPair{line_.raw_, line_.ns_};
    return from.ns + Scaled(raw - from.raw, RateOf(from, to));
  }
  const uint64_t before = Scaled(line_.raw_ - raw, line_.rate_);
  return line_.ns_ > before ? line_.ns_ - before : 0;
}

uint64_t ClockConverter::PerMicrosecond() const {
  if (clock_ != wire::TraceClock::kCycleCounter) return 1000;
  return std::max<uint64_t>((uint64_t{1000} << 32) / std::max<uint64_t>(rate_, 1), 1);
}

}  // namespace heapgauge::trace
