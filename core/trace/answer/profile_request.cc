#include "core/trace/answer/profile_request.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/text.h"

namespace heapgauge::trace {
namespace {

constexpr std::pair<TraceValue, const char*> kValues[] = {
    {TraceValue::kLive, "live"},         {TraceValue::kPeak, "peak"},     {TraceValue::kAllocated, "allocated"},
    {TraceValue::kFreed, "freed"},       {TraceValue::kGrowth, "growth"}, {TraceValue::kTemporary, "temporary"},
    {TraceValue::kLifetime, "lifetime"}, {TraceValue::kLeft, "left"},     {TraceValue::kNeverFreed, "never-freed"},
};

}  // namespace

const char* ValueName(TraceValue value) {
  for (const auto& [known, name] : kValues) {
    if (known == value) return name;
  }
  return "";
}

Result<TraceValue> ParseValue(const std::string& name) {
  std::string names;
  for (const auto& [value, known] : kValues) {
    if (name == known) return value;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  return Fail(ErrorCode::kInvalidArgument,
              "'" + Printable(name) + "' is no value of a trace; there are " + names);
}

std::string ProfileRequest::MomentText() const {
  const bool whole = range.is_whole();
  const std::string from = FormatMoment(range.from);
  const std::string to = FormatMoment(range.to);
  std::string text;
  if (!range.from.is_start() && !range.to.is_end()) {
    text = fmt::format("from {} to {}", from, to);
  } else if (!range.from.is_start()) {
    text = fmt::format("from {} to the end", from);
  } else if (!range.to.is_end()) {
    text = (value == TraceValue::kLive && !at_peak ? "at " : "up to ") + to;
  }
  if (at_peak) return whole ? "at the peak" : "at the peak " + text;
  if (!whole) return text;
  return value == TraceValue::kLive ? "at the end" : "from start to end";
}

}  // namespace heapgauge::trace
