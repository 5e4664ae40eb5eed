#include "core/trace/answer/question_words.h"

#include <charconv>

#include "core/base/text.h"
#include "core/trace/answer/trace_moment.h"

namespace heapgauge::trace {
namespace {

tl::unexpected<Error> BadOption(const char* name, const Error& error) {
  return Fail(error.code, std::string(name) + ": " + error.message);
}

Status SetSize(const char* name, const std::string& text, uint64_t* size) {
  if (text.empty()) return {};
  const auto parsed = ParseSize(text);
  if (!parsed) return BadOption(name, parsed.error());
  *size = *parsed;
  return {};
}

Status SetDuration(const char* name, const std::string& text, uint64_t* ns) {
  if (text.empty()) return {};
  const auto parsed = ParseDuration(text);
  if (!parsed) return BadOption(name, parsed.error());
  *ns = *parsed;
  return {};
}

Status SetTemporary(const std::string& text, BlockFilter* filter) {
  if (text.empty()) return {};
  uint32_t within = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), within);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Fail(ErrorCode::kInvalidArgument, "--temporary: '" + Printable(text) +
                                                 "' is not a number of allocations; 0 means "
                                                 "freed before the next one");
  }
  filter->temporary_within = within;
  return {};
}

}  // namespace

QuestionWords QuestionWords::Blocks() const {
  QuestionWords words = *this;
  words.at = words.from = words.to = words.value = "";
  words.blocks = false;
  return words;
}

Result<Question> QuestionOf(const QuestionWords& words) {
  Question question;
  question.at = words.at;
  question.from = words.from;
  question.to = words.to;
  question.live_at = words.live_at;
  question.thread = words.thread;
  question.blocks = words.blocks;
  if (!words.value.empty()) {
    const auto value = ParseValue(words.value);
    if (!value) return BadOption("--value", value.error());
    question.value = *value;
  }
  BlockFilter& filter = question.filter;
  HG_TRY(SetSize("--min-size", words.least_size, &filter.least_size));
  HG_TRY(SetSize("--max-size", words.greatest_size, &filter.greatest_size));
  HG_TRY(SetDuration("--min-lifetime", words.least_lifetime, &filter.least_lifetime_ns));
  HG_TRY(SetDuration("--max-lifetime", words.greatest_lifetime, &filter.greatest_lifetime_ns));
  HG_TRY(SetTemporary(words.temporary, &filter));
  if (words.freed) filter.freed = true;
  if (words.not_freed) filter.freed = false;
  if (words.by_realloc) filter.by_realloc = true;
  if (words.with_mappings) filter.mappings.reset();
  filter.stack = words.stack;
  filter.not_stack = words.not_stack;
  filter.function = words.function;
  filter.not_function = words.not_function;
  filter.module = words.module;
  filter.not_module = words.not_module;
  filter.source = words.source;
  filter.not_source = words.not_source;
  return question;
}

}  // namespace heapgauge::trace
