#include "core/trace/trace_moment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/text.h"

namespace heapgauge::trace {
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

Result<uint64_t> ParseMoment(const TraceFile& trace, const std::string& text) {
  const uint64_t begin = trace.facts().recording.began_ns();
  const auto fixed = [&](std::string_view word) -> Result<std::optional<uint64_t>> {
    if (word == "start") return std::optional<uint64_t>(begin);
    if (word == "end") return std::optional<uint64_t>(trace.end_ns());
    if (word != "peak") return std::optional<uint64_t>();
    HG_ASSIGN(const TraceFile::Peak peak, trace.FindPeak());
    return std::optional<uint64_t>(peak.time_ns);
  };
  HG_ASSIGN(const std::optional<uint64_t> whole, fixed(text));
  if (whole) return *whole;
  if (text.ends_with('%')) {
    std::string_view rest = text;
    const std::optional<double> percent = TakeNumber(&rest);
    if (!percent || rest != "%" || *percent > 100) return NoMoment(text);
    const auto length = static_cast<double>(trace.end_ns() - std::min(begin, trace.end_ns()));
    return begin + static_cast<uint64_t>(std::llround(length * *percent / 100));
  }
  const size_t sign = text.find_first_of("+-");
  if (sign != std::string::npos && sign != 0) {
    HG_ASSIGN(const std::optional<uint64_t> base, fixed(std::string_view(text).substr(0, sign)));
    const std::optional<double> by = Duration(std::string_view(text).substr(sign + 1));
    if (!base || !by || !(*by < kMostNs)) return NoMoment(text);
    const auto distance = static_cast<uint64_t>(std::llround(*by));
    if (text[sign] == '-') return *base > distance ? *base - distance : 0;
    return *base + distance;
  }
  const std::optional<double> ns = Duration(text);
  if (!ns || !(*ns < kMostNs)) return NoMoment(text);
  return static_cast<uint64_t>(std::llround(*ns));
}

Result<uint64_t> MomentWithin(const TraceFile& trace, const std::string& text) {
  HG_ASSIGN(const uint64_t at, ParseMoment(trace, text));
  if (at <= trace.end_ns()) return at;
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{} is behind the end of {}, which is at {}", Printable(text),
                          Printable(trace.path()), FormatMoment(trace.end_ns())));
}

std::string FormatMoment(uint64_t ns) {
  const auto in = [&](double unit, const char* name) {
    std::string text = fmt::format("{:.3f}", static_cast<double>(ns) / unit);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text + name;
  };
  if (ns == 0) return "0s";
  if (ns < 1'000) return fmt::format("{}ns", ns);
  if (ns < 1'000'000) return in(1e3, "us");
  if (ns < 1'000'000'000) return in(1e6, "ms");
  const uint64_t tenths = ns / 100'000'000;
  if (tenths < 600) return in(1e9, "s");
  const uint64_t s = tenths / 10;
  if (s < 3600) return fmt::format("{}m{:02}.{}s", s / 60, s % 60, tenths % 10);
  return fmt::format("{}h{:02}m{:02}s", s / 3600, s / 60 % 60, s % 60);
}

namespace {

// The first segment that ends at or behind that time.
size_t SegmentAt(const TraceFile& trace, uint64_t time_ns) {
  const auto& segments = trace.segments();
  const auto it =
      std::lower_bound(segments.begin(), segments.end(), time_ns,
                       [](const SegmentInfo& info, uint64_t time) { return info.end_ns < time; });
  return static_cast<size_t>(it - segments.begin());
}

}  // namespace

void PrepareEdges(const TraceFile& trace, uint64_t from_ns, uint64_t to_ns, EdgeSegments* edges) {
  std::vector<size_t> needed;
  const auto add = [&](uint64_t time_ns) {
    const size_t index = SegmentAt(trace, time_ns);
    const bool within =
        index < trace.segments().size() && trace.segments()[index].begin_ns < time_ns;
    if (within) needed.push_back(index);
  };
  add(from_ns);
  if (to_ns != kNever) add(to_ns + 1);
  edges->Prepare(needed);
}

Result<Position> PositionBefore(const TraceFile& trace, uint64_t time_ns, EdgeSegments* edges) {
  const auto& segments = trace.segments();
  const size_t index = SegmentAt(trace, time_ns);
  if (index == segments.size() || segments[index].begin_ns >= time_ns) return Position{index, 0};
  HG_ASSIGN(const Segment* segment, edges->Get(index));
  const auto event =
      std::lower_bound(segment->events.begin(), segment->events.end(), time_ns,
                       [](const Event& e, uint64_t time) { return e.time_ns < time; });
  if (event == segment->events.end()) return Position{index + 1, 0};
  return Position{index, static_cast<uint32_t>(event - segment->events.begin())};
}

Result<Position> PositionAfter(const TraceFile& trace, uint64_t time_ns, EdgeSegments* edges) {
  if (time_ns == kNever) return Position{trace.segments().size(), 0};
  return PositionBefore(trace, time_ns + 1, edges);
}

Result<uint64_t> FirstBlockAt(const TraceFile& trace, Position at, EdgeSegments* edges) {
  if (at.segment >= trace.segments().size()) return trace.blocks();
  uint64_t number = trace.segments()[at.segment].first_block;
  if (at.event == 0) return number;
  HG_ASSIGN(const Segment* segment, edges->Get(at.segment));
  for (uint32_t i = 0; i < at.event && i < segment->events.size(); ++i) {
    number += segment->events[i].born != kNoIndex ? 1 : 0;
  }
  return number;
}

namespace {

// What an event does to the bytes that are live.
int64_t ChangeOf(const Segment& segment, const Event& event) {
  int64_t change = 0;
  if (event.born != kNoIndex && !segment.blocks[event.born].is_mapping) {
    change += static_cast<int64_t>(segment.blocks[event.born].size);
  }
  if (event.died != kNoIndex && !segment.blocks[event.died].is_mapping) {
    change -= static_cast<int64_t>(segment.blocks[event.died].size);
  }
  return change;
}

}  // namespace

Result<PeakPlace> PeakBetween(const TraceFile& trace, Position begin, Position end,
                              EdgeSegments* edges) {
  const auto& segments = trace.segments();
  PeakPlace best;
  best.at = begin;
  bool first = true;
  const auto offer = [&](uint64_t bytes, Position at, uint64_t time_ns) {
    if (!first && bytes <= best.bytes) return;
    best = {at, bytes, time_ns};
    first = false;
  };
  if (begin.segment >= segments.size()) {
    best.bytes = segments.empty() ? 0 : segments.back().live_bytes_after;
    best.time_ns = trace.end_ns();
    return best;
  }
  for (size_t i = begin.segment; i < segments.size() && Position{i, 0} <= end; ++i) {
    const SegmentInfo& info = segments[i];
    const uint32_t from = i == begin.segment ? begin.event : 0;
    const uint32_t to = i == end.segment ? end.event : info.events;
    if (from == 0) offer(info.live_bytes_before, {i, 0}, info.begin_ns);
    if (from == 0 && to == info.events) {
      // Of a segment that is empty or only frees, the peak may be what it began with.
      if (to == 0 || info.peak_event >= to) continue;
      if (info.peak_bytes > best.bytes) {
        offer(info.peak_bytes, {i, info.peak_event + 1}, info.peak_ns);
      }
      continue;
    }
    if (to == 0) continue;
    HG_ASSIGN(const Segment* segment, edges->Get(i));
    uint64_t live = info.live_bytes_before;
    for (uint32_t e = 0; e < to && e < segment->events.size(); ++e) {
      if (from > 0 && e == from) offer(live, {i, e}, segment->events[e].time_ns);
      live += static_cast<uint64_t>(ChangeOf(*segment, segment->events[e]));
      if (e >= from) offer(live, {i, e + 1}, segment->events[e].time_ns);
    }
    // Behind the last event of the range that begins here.
    if (from > 0 && from >= to) offer(live, {i, from}, info.end_ns);
  }
  // Behind the last event is before the first of the next.
  if (best.at.event >= segments[best.at.segment].events) best.at = {best.at.segment + 1, 0};
  return best;
}

}  // namespace heapgauge::trace
