#include "core/trace/answer/trace_question.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/base/text.h"

namespace heapgauge::trace {
namespace {

std::string ThreadNames(const TraceFile& trace) {
  constexpr size_t kMost = 6;
  const std::vector<Thread>& threads = trace.threads();
  std::string names;
  for (size_t i = 0; i < std::min(threads.size(), kMost); ++i) {
    names += fmt::format("{}{} {}", i == 0 ? "" : ", ", threads[i].id, Printable(threads[i].name));
  }
  if (threads.size() > kMost) names += fmt::format(" and {} more", threads.size() - kMost);
  return names.empty() ? "none" : names;
}

Status SetThread(const TraceFile& trace, const std::string& text, BlockFilter* filter) {
  const auto id = NumberIn<uint32_t>(text);
  if (id) {
    filter->threads.push_back(*id);
  } else {
    filter->thread_name = text;
  }
  auto regex = Regex::Compile(text);
  if (!regex) {
    return Fail(ErrorCode::kInvalidArgument,
                "'" + Printable(text) +
                    "' is not a regular expression: " + Printable(regex.error().message));
  }
  const bool any = std::any_of(
      trace.threads().begin(), trace.threads().end(),
      [&](const Thread& thread) { return id ? thread.id == *id : regex->Matches(thread.name); });
  if (any) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{} has no thread '{}'; it has {}", Printable(trace.path()),
                          Printable(text), ThreadNames(trace)));
}

}  // namespace

bool Question::only_a_moment() const {
  Question rest = *this;
  rest.at.clear();
  rest.blocks = false;
  return !rest.any();
}

bool Question::only_peak_or_end() const {
  return only_a_moment() && (at.empty() || at == "peak" || at == "end");
}

bool Question::only_a_value() const {
  Question rest = *this;
  rest.value = TraceValue::kLive;
  return at != "peak" && rest.only_peak_or_end();
}

Result<BlockFilter> FilterOf(const Question& question, const TraceFile& trace) {
  BlockFilter filter = question.filter;
  for (const std::string& text : question.live_at) {
    HG_ASSIGN(const TraceMoment at, MomentWithin(trace, text, filter.mappings));
    filter.live_at.push_back(at);
  }
  if (!question.thread.empty()) HG_TRY(SetThread(trace, question.thread, &filter));
  return filter;
}

Result<BlockFilter> BlocksBornWithin(const Question& question, const TraceFile& trace) {
  HG_ASSIGN(BlockFilter filter, FilterOf(question, trace));
  HG_ASSIGN(filter.born, ParseRange(trace, question.from, question.to, filter.mappings));
  return filter;
}

Result<ProfileRequest> RequestOf(const Question& question, const TraceFile& trace) {
  ProfileRequest request;
  if (!question.at.empty() && !(question.from.empty() && question.to.empty())) {
    return Fail(ErrorCode::kInvalidArgument,
                "a moment and a range are different questions: ask for the one or the other");
  }
  const Mappings mappings = question.filter.mappings;
  if (question.at == "peak") {
    request.at_peak = true;
  } else if (!question.at.empty() && question.at != "end") {
    HG_ASSIGN(request.range.to, MomentWithin(trace, question.at, mappings));
  } else {
    HG_ASSIGN(request.range, ParseRange(trace, question.from, question.to, mappings));
  }
  request.value = question.value;
  request.blocks = question.blocks;
  HG_ASSIGN(request.filter, FilterOf(question, trace));
  return request;
}

}  // namespace heapgauge::trace
