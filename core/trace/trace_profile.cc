#include "core/trace/trace_profile.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/trace/stack_figures.h"
#include "core/trace/stack_profile.h"

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
  const bool whole = from_ns == 0 && to_ns == kNever;
  std::string range;
  if (from_ns != 0 && to_ns != kNever) {
    range = fmt::format("from {} to {}", FormatMoment(from_ns), FormatMoment(to_ns));
  } else if (from_ns != 0) {
    range = fmt::format("from {} to the end", FormatMoment(from_ns));
  } else if (to_ns != kNever) {
    range = value == Value::kLive && !at_peak ? "at " + FormatMoment(to_ns)
                                              : "up to " + FormatMoment(to_ns);
  }
  if (at_peak) return whole ? "at the peak" : "at the peak " + range;
  if (!whole) return range;
  return value == Value::kLive ? "at the end" : "from start to end";
}

Result<Profile> ReadTraceProfile(const TraceFile& trace, const ProfileRequest& request,
                                 ProgressSink* progress, const NameStacks& name) {
  HG_ASSIGN(std::shared_ptr<const TraceFile::Stacks> stacks, trace.ReadStacks());
  if (name && request.filter.asks_about_stacks()) {
    auto named = std::make_shared<TraceFile::Stacks>(*stacks);
    name(&named->profile);
    stacks = std::move(named);
  }
  HG_ASSIGN(const StackAnswer answer,
            FigureStacks(trace, *stacks, request, SumsIndex(), nullptr, progress));
  return ProfileOf(trace, *stacks, request, answer);
}

}  // namespace heapgauge::trace
