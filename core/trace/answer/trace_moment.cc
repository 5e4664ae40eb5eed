#include "core/trace/answer/trace_moment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "core/base/text.h"

namespace heapgauge::trace {
namespace {

constexpr uint32_t kParts = kOldBlocks | kNewBlocks | kEvents;

class PeakSearch {
 public:
  PeakSearch(const TraceFile& trace, Position begin, Position end, Mappings mappings,
             EdgeSegments* edges)
      : trace_(trace), begin_(begin), end_(end), mappings_(mappings), edges_(edges) {
    best_.at = begin;
  }

  Result<PeakPlace> Run() {
    const auto& segments = trace_.segments();
    for (size_t i = 0; i < segments.size() && Position{i, 0} <= end_; ++i) {
      HG_TRY(ReadMappings(i));
      if (i >= begin_.segment) HG_TRY(Search(i));
      mapped_ += mapped_more_;
    }
    if (begin_.segment >= segments.size()) {
      const uint64_t heap = segments.empty() ? 0 : segments.back().live_bytes_after;
      return PeakPlace{begin_, (CountsHeap() ? heap : 0) + mapped_, trace_.end_ns()};
    }
    // Behind the last event is before the first of the next.
    Position& at = best_.at;
    if (at.event >= segments[at.segment].events) at = {at.segment + 1, 0};
    return best_;
  }

 private:
  bool CountsHeap() const { return !mappings_ || !*mappings_; }
  bool CountsMappings() const { return !mappings_ || *mappings_; }

  uint64_t LiveBefore(const SegmentInfo& info) const {
    return (CountsHeap() ? info.live_bytes_before : 0) + mapped_;
  }

  // What the segment does to mappings, where they count.
  Status ReadMappings(size_t i) {
    any_mapping_ = false;
    mapped_more_ = 0;
    if (!CountsMappings()) return {};
    HG_TRY(trace_.ReadSums(i, &sums_));
    for (const StackSums& s : sums_) {
      if (!s.is_mapping) continue;
      any_mapping_ = true;
      mapped_more_ += s.allocated_bytes - s.freed_bytes;
    }
    return {};
  }

  void Offer(uint64_t bytes, Position at, uint64_t time_ns) {
    if (!first_ && bytes <= best_.bytes) return;
    best_ = {at, bytes, time_ns};
    first_ = false;
  }

  Status Search(size_t i) {
    const SegmentInfo& info = trace_.segments()[i];
    const uint32_t from = i == begin_.segment ? begin_.event : 0;
    const uint32_t to = i == end_.segment ? end_.event : info.events;
    const bool whole = from == 0 && to == info.events;
    if (from == 0) Offer(LiveBefore(info), {i, 0}, info.begin_ns);
    if (to == 0) return {};
    if (!whole) {
      HG_ASSIGN(const Segment* segment, edges_->Get(i));
      OfferEvents(*segment, i, from, to);
    } else if (any_mapping_) {
      HG_TRY(trace_.ReadSegment(i, kParts, &segment_));
      OfferEvents(segment_, i, from, to);
    } else if (CountsHeap() && info.peak_event < to) {
      // Of a segment that only frees, the peak may be what it began with.
      Offer(info.peak_bytes + mapped_, {i, info.peak_event + 1}, info.peak_ns);
    }
    return {};
  }

  void OfferEvents(const Segment& segment, size_t i, uint32_t from, uint32_t to) {
    uint64_t live = LiveBefore(segment.info);
    for (uint32_t e = 0; e < to && e < segment.events.size(); ++e) {
      const Event& event = segment.events[e];
      if (from > 0 && e == from) Offer(live, {i, e}, event.time_ns);
      live += BytesOf(segment, event.born) - BytesOf(segment, event.died);
      if (e >= from) Offer(live, {i, e + 1}, event.time_ns);
    }
    // Behind the last event of the range that begins here.
    if (from > 0 && from >= to) Offer(live, {i, from}, segment.info.end_ns);
  }

  uint64_t BytesOf(const Segment& segment, uint32_t index) const {
    if (index == kNoIndex || !CountsIn(segment.blocks[index], mappings_)) return 0;
    return segment.blocks[index].size;
  }

  const TraceFile& trace_;
  const Position begin_;
  const Position end_;
  const Mappings mappings_;
  EdgeSegments* edges_;
  PeakPlace best_;
  bool first_ = true;
  uint64_t mapped_ = 0;       // live when the segment begins
  uint64_t mapped_more_ = 0;  // by the segment
  bool any_mapping_ = false;  // comes or goes in it
  std::vector<StackSums> sums_;
  Segment segment_;
};

}  // namespace

Result<PeakPlace> PeakBetween(const TraceFile& trace, Position begin, Position end,
                              Mappings mappings, EdgeSegments* edges) {
  return PeakSearch(trace, begin, end, mappings, edges).Run();
}

Result<PeakPlace> PeakOf(const TraceFile& trace, Mappings mappings) {
  EdgeSegments edges(trace, nullptr);
  return PeakBetween(trace, {}, {trace.segments().size(), 0}, mappings, &edges);
}

Result<TraceMoment> PeakMoment(const TraceFile& trace, Mappings mappings) {
  HG_ASSIGN(const PeakPlace peak, PeakOf(trace, mappings));
  if (peak.bytes == 0) return TraceMoment{trace.facts().recording.began_ns(), 0};
  return MomentAt(trace, peak.at, peak.time_ns);
}

namespace {

constexpr double kSecond = 1e9;
constexpr double kMostNs = 9e18;  // three centuries

// Takes a number off the front.
std::optional<double> TakeNumber(std::string_view* text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text->data(), text->data() + text->size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0) || !std::isfinite(number)) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

// Takes a unit of time off the front.
std::optional<double> TakeUnit(std::string_view* text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1},      {"us", 1e3},         {"\u00b5s", 1e3},      {"ms", 1e6},
      {"s", kSecond}, {"m", 60 * kSecond}, {"h", 3600 * kSecond}, {"d", 86400 * kSecond}};
  for (const auto& [name, factor] : kUnits) {
    if (!text->starts_with(name)) continue;
    text->remove_prefix(name.size());
    return factor;
  }
  return std::nullopt;
}

// "12:30", "1:02:03.5"
std::optional<double> ClockTime(std::string_view text) {
  double seconds = 0;
  for (int part = 0; part < 3; ++part) {
    const std::optional<double> number = TakeNumber(&text);
    if (!number || (part > 0 && *number >= 60)) return std::nullopt;
    seconds = seconds * 60 + *number;
    if (text.empty()) return part == 0 ? std::nullopt : std::optional<double>(seconds * kSecond);
    if (text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

std::optional<double> Duration(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return ClockTime(text);
  double sum = 0;
  bool first = true;
  while (!text.empty()) {
    const std::optional<double> number = TakeNumber(&text);
    if (!number) return std::nullopt;
    if (first && text.empty()) return *number * kSecond;
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    const std::optional<double> unit = TakeUnit(&text);
    if (!unit) return std::nullopt;
    sum += *number * *unit;
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    first = false;
  }
  return first ? std::nullopt : std::optional<double>(sum);
}

tl::unexpected<Error> NoMoment(const std::string& text) {
  return Fail(ErrorCode::kInvalidArgument,
              "'" + Printable(text) +
                  "' is no moment of a trace; write for example 1.5s, 250ms, 12:30, 40%, start, "
                  "peak, end or peak-100ms");
}

}  // namespace

Result<uint64_t> ParseDuration(std::string_view text) {
  const std::optional<double> ns = Duration(text);
  if (!ns || !(*ns < kMostNs)) {
    return Fail(ErrorCode::kInvalidArgument,
                "'" + Printable(text) +
                    "' is no length of time; write for example 1.5s, 250ms, 10us or 2m30s");
  }
  return static_cast<uint64_t>(std::llround(*ns));
}

namespace {

// What was written, as a time that may lie before the start or behind the end.
struct WrittenMoment {
  TraceMoment moment;
  bool is_before_start = false;
};

class MomentReader {
 public:
  MomentReader(const TraceFile& trace, const std::string& text, Mappings mappings)
      : trace_(trace),
        text_(text),
        mappings_(mappings),
        begin_ns_(trace.facts().recording.began_ns()) {}

  Result<WrittenMoment> Read() const {
    HG_ASSIGN(const std::optional<TraceMoment> word, Word(text_));
    if (word) return WrittenMoment{*word};
    if (text_.ends_with('%')) return Share();
    const size_t sign = text_.find_first_of("+-");
    if (sign != std::string::npos && sign != 0) return Distance(sign);
    const std::optional<double> ns = Duration(text_);
    if (!ns || !(*ns < kMostNs)) return NoMoment(text_);
    return AtTime(static_cast<uint64_t>(std::llround(*ns)));
  }

 private:
  TraceMoment Start() const { return {begin_ns_, 0}; }

  // Before the start there is nothing: what a process had before it was forked is not told.
  WrittenMoment AtTime(uint64_t ns) const {
    return {ns <= begin_ns_ ? Start() : TraceMoment::At(ns)};
  }

  Result<std::optional<TraceMoment>> Word(std::string_view word) const {
    if (word == "start") return Start();
    if (word == "end") return TraceMoment::At(trace_.end_ns());
    if (word != "peak") return std::nullopt;
    HG_ASSIGN(const TraceMoment peak, PeakMoment(trace_, mappings_));
    return peak;
  }

  Result<WrittenMoment> Share() const {
    std::string_view rest = text_;
    const std::optional<double> percent = TakeNumber(&rest);
    if (!percent || rest != "%" || *percent > 100) return NoMoment(text_);
    const auto length = static_cast<double>(trace_.end_ns() - std::min(begin_ns_, trace_.end_ns()));
    return AtTime(begin_ns_ + static_cast<uint64_t>(std::llround(length * *percent / 100)));
  }

  // "peak-100ms"
  Result<WrittenMoment> Distance(size_t sign) const {
    HG_ASSIGN(const std::optional<TraceMoment> base, Word(std::string_view(text_).substr(0, sign)));
    const std::optional<double> by = Duration(std::string_view(text_).substr(sign + 1));
    if (!base || !by || !(*by < kMostNs)) return NoMoment(text_);
    const auto distance = static_cast<uint64_t>(std::llround(*by));
    if (distance == 0) return WrittenMoment{*base};
    if (text_[sign] == '+') return AtTime(base->time_ns + distance);
    if (distance > base->time_ns - std::min(begin_ns_, base->time_ns)) {
      return WrittenMoment{Start(), true};
    }
    return AtTime(base->time_ns - distance);
  }

  const TraceFile& trace_;
  const std::string& text_;
  const Mappings mappings_;
  const uint64_t begin_ns_;
};

tl::unexpected<Error> IsBeforeStart(const TraceFile& trace, const std::string& text) {
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("{} is before the start of {}, which is at {}", Printable(text),
                  Printable(trace.path()), FormatMoment(trace.facts().recording.began_ns())));
}

tl::unexpected<Error> IsBehindEnd(const TraceFile& trace, const std::string& text) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{} is behind the end of {}, which is at {}", Printable(text),
                          Printable(trace.path()), FormatMoment(trace.end_ns())));
}

}  // namespace

Result<TraceMoment> ParseMoment(const TraceFile& trace, const std::string& text,
                                Mappings mappings) {
  HG_ASSIGN(const WrittenMoment written, MomentReader(trace, text, mappings).Read());
  if (written.is_before_start) return IsBeforeStart(trace, text);
  return written.moment;
}

Result<TraceMoment> MomentWithin(const TraceFile& trace, const std::string& text,
                                 Mappings mappings) {
  HG_ASSIGN(const TraceMoment at, ParseMoment(trace, text, mappings));
  if (at.time_ns > trace.end_ns()) return IsBehindEnd(trace, text);
  return at;
}

Result<TraceRange> ParseRange(const TraceFile& trace, const std::string& from,
                              const std::string& to, Mappings mappings) {
  TraceRange range;
  if (!from.empty()) {
    HG_ASSIGN(const WrittenMoment begin, MomentReader(trace, from, mappings).Read());
    if (begin.moment.time_ns > trace.end_ns()) return IsBehindEnd(trace, from);
    if (!begin.is_before_start) range.from = begin.moment;
  }
  if (!to.empty()) {
    HG_ASSIGN(const TraceMoment end, ParseMoment(trace, to, mappings));
    if (end < TraceMoment::At(trace.end_ns())) range.to = end;
  }
  if (range.from <= range.to) return range;
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("the range of {} ends before it begins: from {} to {}", Printable(trace.path()),
                  FormatMoment(range.from), FormatMoment(range.to)));
}

}  // namespace heapgauge::trace
