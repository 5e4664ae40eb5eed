// The clock by which a traced program stamps its events, and how its readings become nanoseconds of
// CLOCK_MONOTONIC.
//
// Where the kernel itself goes by the processor's counter, the program reads that counter, which
// takes a third of the time. Pairs of both clocks are taken again and again while the program runs;
// between two of them a straight line is right to some nanoseconds. The result never goes back.
// Of pairs that are long past a few are kept, for those who ask about an earlier moment.
//
// One thread. Memory: bounded, some 16 KiB and the lines of a program that was quiet.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "wire/trace_buffer.h"

namespace heapgauge::trace {

// The one that a program on this machine should use.
wire::TraceClock BestClock();

// A reading of it, as the program would take it.
uint64_t ReadClock(wire::TraceClock clock);

struct ClockPair {
  uint64_t raw = 0;
  uint64_t ns = 0;  // CLOCK_MONOTONIC at the same moment
};
ClockPair TakePair(wire::TraceClock clock);

class ClockConverter {
 public:
  // `first` was taken before the first event.
  ClockConverter(wire::TraceClock clock, ClockPair first);

  // Makes times up to the pair's convertible. Later ones go by the last rate that is known.
  void Add(ClockPair pair);
  // Best with times that never go back; an earlier one goes by the pairs that were kept.
  uint64_t ToNs(uint64_t raw) {
    if (!line_.Has(raw)) [[unlikely]]
      FindLine(raw);
    return line_.Has(raw) ? line_.At(raw) : Before(raw);
  }
  // A stretch of time in which both clocks go evenly.
  class Line {
   public:
    bool Has(uint64_t raw) const { return raw - raw_ < length_; }
    // REQUIRES: it has it.
    uint64_t At(uint64_t raw) const { return ns_ + Scaled(raw - raw_, rate_); }

   private:
    friend class ClockConverter;
    uint64_t raw_ = 0;
    uint64_t ns_ = 0;
    uint64_t length_ = 0;  // raw
    uint64_t rate_ = 0;    // nanoseconds per unit, times 2^32
  };
  // The one that ToNs used last; good until Add.
  const Line& line() const { return line_; }
  // How many of the clock's units are a microsecond, about.
  uint64_t PerMicrosecond() const;

 private:
  static uint64_t RateOf(const ClockPair& from, const ClockPair& to);
  static uint64_t Scaled(uint64_t units, uint64_t rate) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((Wide{units} * rate) >> 32);
  }
  static Line LineFrom(const ClockPair& from, uint64_t end, uint64_t rate);
  void Keep(const ClockPair& pair);
  void FindLine(uint64_t raw);
  uint64_t Before(uint64_t raw) const;

  wire::TraceClock clock_;
  ClockPair last_;
  uint64_t rate_ = uint64_t{1} << 32;  // of the last line
  std::deque<Line> lines_;             // those that are known to their ends
  Line line_;                          // in use
  std::vector<ClockPair> past_;        // from the first on, in order; not empty
  uint64_t past_gap_ns_;               // between them, at least
};

}  // namespace heapgauge::trace
