#include "core/recording/view.h"

#include <algorithm>

#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/trace/answer/trace_moment.h"

namespace heapgauge {
namespace {

template <auto member, typename Enum>
constexpr ViewField::Choice ChoiceOf(std::span<const char* const> words) {
  return {words, [](size_t word, View* view) { view->*member = static_cast<Enum>(word); },
          [](const View& view) {
            const std::optional<Enum> value = view.*member;
            return value ? static_cast<size_t>(*value) : SIZE_MAX;
          }};
}

constexpr const char* kInherited[] = {"all", "only", "none"};
constexpr const char* kKinds[] = {"heap", "mmap", "pool"};
constexpr const char* kSorts[] = {"live", "allocated", "count", "age"};
constexpr const char* kGranularityWords[] = {"functions", "lines", "files", "modules", "addresses"};
constexpr const char* kNameWords[] = {"short", "whole"};

constexpr ViewField kFields[] = {
    {"focus", kStackFields, &View::focus, "only stacks with a function that matches (RE2)"},
    {"ignore", kStackFields, &View::ignore, "no stacks with a function that matches (RE2)"},
    {"peak", kPeakField, &View::peak,
     "the largest heap so far in place of this moment, if the file knows it"},
    {"inherited", kGaugeFields, ChoiceOf<&View::inherited, Inherited>(kInherited),
     "blocks that a forked process has from its parent, of a gauge file: all, only, none"},
    {"kind", kGaugeFields, ChoiceOf<&View::kind, ProfileKind>(kKinds),
     "heap; mmap: what the program mapped itself (run --mmap); pool: blocks of pools that it "
     "reports"},
    {"type", kTypeField, &View::type,
     "sample type to show, by name or number; the profile's own by default"},
    {"at", kMomentField, &View::at,
     "what is live at a moment: 12.3s, 250ms, 2:30, 40%, peak, end, peak-100ms"},
    {"from", kRangeFields, &View::from, "a range of time: what happened after this moment"},
    {"to", kRangeFields, &View::to,
     "up to and including this one; the end of the trace by default"},
    {"value", kValueFields, &View::value,
     "what to count in the range: live (at its end), peak (where most was live in it), "
     "allocated, freed, growth, temporary (freed before the thread allocates again), "
     "lifetime (bytes times seconds), left (allocated in it and live at its end), "
     "never-freed (allocated in it and never freed). Sampled programs and profiles that "
     "count all allocations tell freed as well"},
    {"blocks", kValueFields, &View::blocks, "count blocks in place of bytes"},
    {"min-size", kBlockFields, &View::least_size, "blocks of this size and larger"},
    {"max-size", kBlockFields, &View::greatest_size, "blocks of this size and smaller"},
    {"min-lifetime", kBlockFields, &View::least_lifetime,
     "blocks that lived so long (10ms, 2s); what is never freed lives to the end"},
    {"max-lifetime", kBlockFields, &View::greatest_lifetime, "blocks that did not live longer"},
    {"temporary", kBlockFields, &View::temporary,
     "blocks that their thread freed within so many allocations of its own; 0: before the next"},
    {"thread", kBlockFields, &View::thread, "blocks that this thread allocated: ID or name (RE2)"},
    {"freed", kBlockFields, &View::freed, "blocks that were freed"},
    {"not-freed", kBlockFields, &View::not_freed, "blocks that were never freed"},
    {"realloc", kBlockFields, &View::by_realloc, "blocks that realloc made, or made into another"},
    {"mmap-blocks", kBlockFields, &View::with_mappings,
     "ranges that the program mapped count too (run --trace --mmap)"},
    {"live-at", kBlockFields, &View::live_at,
     "blocks that were live at this moment (may be given several times)"},
    {"stack", kBlockFields, &View::stack,
     "blocks whose stack has a function, source file or module that matches (RE2)"},
    {"not-stack", kBlockFields, &View::not_stack, "blocks whose stack has none"},
    {"function", kBlockFields, &View::function, "blocks with such a function on their stack"},
    {"not-function", kBlockFields, &View::not_function, "blocks without"},
    {"module", kBlockFields, &View::module,
     "blocks with such an executable or library on their stack"},
    {"not-module", kBlockFields, &View::not_module, "blocks without"},
    {"source", kBlockFields, &View::source_file, "blocks with such a source file on their stack"},
    {"not-source", kBlockFields, &View::not_source_file, "blocks without"},
    {"sort", kSortField, ChoiceOf<&View::sort, SortKey>(kSorts),
     "by live, allocated, count (of objects) or, unless it is a trace, age"},
    {"granularity", kGranularityField, ChoiceOf<&View::granularity, Granularity>(kGranularityWords),
     "what rows and calls stand for"},
    {"names", kNamesField, ChoiceOf<&View::names, Names>(kNameWords),
     "short (templates and parameters folded unless they tell functions apart) or whole"},
};

// Reads a word of a trace into `to`, if it is given.
template <typename Parsed, typename Value>
Status Read(const char* field, const std::string& text, Result<Parsed> (*parse)(std::string_view),
            Value* to) {
  if (text.empty()) return {};
  const auto parsed = parse(text);
  if (!parsed) return FailField(field, parsed.error().code, parsed.error().message);
  *to = *parsed;
  return {};
}

Result<uint32_t> ParseDistance(std::string_view text) {
  if (const auto within = NumberIn<uint32_t>(text)) return *within;
  return Fail(ErrorCode::kInvalidArgument,
              "'" + Printable(text) +
                  "' is not a number of allocations; 0 means freed before the next one");
}

}  // namespace

std::span<const ViewField> ViewFields() { return kFields; }

bool ViewField::Set(std::string_view text, View* view) const {
  if (const Choice* choice = std::get_if<Choice>(&value)) {
    const auto word = std::find(choice->words.begin(), choice->words.end(), text);
    if (word == choice->words.end()) return text.empty();  // the default stays
    choice->set(static_cast<size_t>(word - choice->words.begin()), view);
  } else if (std::holds_alternative<Flag>(value)) {
    bool& flag = view->*std::get<Flag>(value);
    flag = text == "1" || text == "true";
    return flag || text == "0" || text == "false";
  } else if (std::holds_alternative<Texts>(value)) {
    (view->*std::get<Texts>(value)).emplace_back(text);
  } else {
    view->*std::get<Text>(value) = text;
  }
  return true;
}

std::vector<std::string> ViewField::Given(const View& view) const {
  static const View usual;
  std::string text;
  if (const Choice* choice = std::get_if<Choice>(&value)) {
    const size_t word = choice->word(view);
    if (word != choice->word(usual)) text = choice->words[word];
  } else if (std::holds_alternative<Flag>(value)) {
    text = view.*std::get<Flag>(value) ? "1" : "";
  } else if (std::holds_alternative<Texts>(value)) {
    return view.*std::get<Texts>(value);
  } else {
    text = view.*std::get<Text>(value);
  }
  return text.empty() ? std::vector<std::string>() : std::vector{text};
}

std::string KeyOf(const View& view, uint32_t parts) {
  std::string key;
  for (const ViewField& field : kFields) {
    if ((field.part & parts) == 0) continue;
    for (const std::string& text : field.Given(view)) {
      key.append(field.name).append("=").append(text).push_back('\0');
    }
  }
  return key;
}

Result<trace::Question> BlocksOf(const View& view) {
  trace::Question question;
  question.live_at = view.live_at;
  question.thread = view.thread;
  trace::BlockFilter& filter = question.filter;
  HG_TRY(Read("min-size", view.least_size, ParseSize, &filter.least_size));
  HG_TRY(Read("max-size", view.greatest_size, ParseSize, &filter.greatest_size));
  HG_TRY(
      Read("min-lifetime", view.least_lifetime, trace::ParseDuration, &filter.least_lifetime_ns));
  HG_TRY(Read("max-lifetime", view.greatest_lifetime, trace::ParseDuration,
              &filter.greatest_lifetime_ns));
  HG_TRY(Read("temporary", view.temporary, ParseDistance, &filter.temporary_within));
  if (view.freed) filter.freed = true;
  if (view.not_freed) filter.freed = false;
  if (view.by_realloc) filter.by_realloc = true;
  if (view.with_mappings) filter.mappings.reset();
  filter.stack = view.stack;
  filter.not_stack = view.not_stack;
  filter.function = view.function;
  filter.not_function = view.not_function;
  filter.module = view.module;
  filter.not_module = view.not_module;
  filter.source = view.source_file;
  filter.not_source = view.not_source_file;
  return question;
}

Result<trace::Question> QuestionOf(const View& view) {
  trace::TraceValue value = trace::TraceValue::kLive;
  HG_TRY(Read("value", view.value, trace::ParseValue, &value));
  HG_ASSIGN(trace::Question question, BlocksOf(view));
  question.at = view.at;
  question.from = view.from;
  question.to = view.to;
  question.value = value;
  question.blocks = view.blocks;
  return question;
}

}  // namespace heapgauge
