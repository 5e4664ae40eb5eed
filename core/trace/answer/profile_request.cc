#include "core/trace/answer/profile_request.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/text.h"

namespace heapgauge::trace {
namespace {

constexpr std::pair<Value, const char*> kValues[] = {
    {Value::kLive, "live"},         {Value::kPeak, "peak"},     {Value::kAllocated, "allocated"},
    {Value::kFreed, "freed"},       {Value::kGrowth, "growth"}, {Value::kTemporary, "temporary"},
    {Value::kLifetime, "lifetime"}, {Value::kLeft, "left"},     {Value::kNeverFreed, "never-freed"},
};

}  // namespace

const char* ValueName(Value value) {
  for (const auto& [known, name] : kValues) {
    if (known == value) return name;
  }
  return "";
}

Result<Value> ParseValue(const std::string& name) {
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
    text = (value == Value::kLive && !at_peak ? "at " : "up to ") + to;
  }
  if (at_peak) return whole ? "at the peak" : "at the peak " + text;
  if (!whole) return text;
  return value == Value::kLive ? "at the end" : "from start to end";
}

}  // namespace heapgauge::trace
