#include "core/trace/answer/trace_moment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/text.h"
#include "core/trace/answer/trace_peak.h"

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
