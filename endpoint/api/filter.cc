#include "endpoint/api/filter.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/base/text.h"

namespace heapgauge::endpoint::api {
namespace {

using trace::QuestionWords;

struct TextWord {
  std::string_view name;
  std::string Filter::*value;
  std::string_view choices;  // separated by blanks; "" anything
};
constexpr TextWord kTexts[] = {
    {"source", &Filter::source, ""},
    {"type", &Filter::type, ""},
    {"hold", &Filter::hold, ""},
    {"focus", &Filter::focus, ""},
    {"ignore", &Filter::ignore, ""},
    {"sort", &Filter::sort, "live allocated count age"},
    {"granularity", &Filter::granularity, "functions lines files modules addresses"},
    {"names", &Filter::names, "short whole"},
};

struct QuestionText {
  std::string_view name;
  std::string QuestionWords::*value;
};
constexpr QuestionText kQuestionTexts[] = {
    {"at", &QuestionWords::at},
    {"from", &QuestionWords::from},
    {"to", &QuestionWords::to},
    {"value", &QuestionWords::value},
    {"temporary", &QuestionWords::temporary},
    {"min-size", &QuestionWords::least_size},
    {"max-size", &QuestionWords::greatest_size},
    {"min-lifetime", &QuestionWords::least_lifetime},
    {"max-lifetime", &QuestionWords::greatest_lifetime},
    {"thread", &QuestionWords::thread},
    {"stack", &QuestionWords::stack},
    {"not-stack", &QuestionWords::not_stack},
    {"function", &QuestionWords::function},
    {"not-function", &QuestionWords::not_function},
    {"module", &QuestionWords::module},
    {"not-module", &QuestionWords::not_module},
    // As the command line's --source, which is not the SOURCE.
    {"source-file", &QuestionWords::source},
    {"not-source-file", &QuestionWords::not_source},
};

struct QuestionFlag {
  std::string_view name;
  bool QuestionWords::*value;
};
constexpr QuestionFlag kQuestionFlags[] = {
    {"blocks", &QuestionWords::blocks},
    {"freed", &QuestionWords::freed},
    {"not-freed", &QuestionWords::not_freed},
    {"realloc", &QuestionWords::by_realloc},
    {"mmap-blocks", &QuestionWords::with_mappings},
};

constexpr std::string_view kPeak = "peak";
constexpr std::string_view kLiveAt = "live-at";  // may be given several times

tl::unexpected<Error> Bad(const std::string& message) {
  return Fail(ErrorCode::kInvalidArgument, message);
}

bool IsChoice(std::string_view value, std::string_view choices) {
  if (choices.empty() || value.empty()) return true;
  while (!choices.empty()) {
    const std::string_view one = choices.substr(0, choices.find(' '));
    if (one == value) return true;
    choices.remove_prefix(std::min(choices.size(), one.size() + 1));
  }
  return false;
}

Result<bool> ValueOfFlag(std::string_view name, std::string_view value) {
  if (value == "1" || value == "true") return true;
  if (value == "0" || value == "false") return false;
  return Bad(std::string(name) + " is 1 or 0");
}

Status SetWord(const std::string& name, const std::string& value, bool* known, Filter* filter) {
  *known = true;
  for (const TextWord& word : kTexts) {
    if (word.name != name) continue;
    if (!IsChoice(value, word.choices)) {
      return Bad(name + " is one of: " + std::string(word.choices));
    }
    // An empty word is none: the default stays.
    if (!value.empty()) filter->*word.value = value;
    return {};
  }
  for (const QuestionText& word : kQuestionTexts) {
    if (word.name != name) continue;
    filter->words.*word.value = value;
    return {};
  }
  for (const QuestionFlag& flag : kQuestionFlags) {
    if (flag.name != name) continue;
    HG_ASSIGN(filter->words.*flag.value, ValueOfFlag(name, value));
    return {};
  }
  if (name == kPeak) {
    HG_ASSIGN(filter->peak, ValueOfFlag(name, value));
    return {};
  }
  if (name == kLiveAt) {
    filter->words.live_at.push_back(value);
    return {};
  }
  *known = false;
  return {};
}

void Append(std::string_view name, std::string_view value, std::string* key) {
  if (value.empty()) return;
  key->append(name).append("=").append(value).push_back('\0');
}

}  // namespace

std::string Filter::ProfileKey() const {
  std::string key;
  Append("type", type, &key);
  for (const QuestionText& word : kQuestionTexts) Append(word.name, words.*word.value, &key);
  for (const QuestionFlag& flag : kQuestionFlags)
    Append(flag.name, words.*flag.value ? "1" : "", &key);
  Append(kPeak, peak ? "1" : "", &key);
  for (const std::string& at : words.live_at) Append(kLiveAt, at, &key);
  return key;
}

std::string Filter::RowsKey() const {
  std::string key;
  Append("focus", focus, &key);
  Append("ignore", ignore, &key);
  Append("sort", sort, &key);
  Append("granularity", granularity, &key);
  return key;
}

std::span<const std::string_view> FilterParameters() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> names;
    for (const TextWord& word : kTexts) names.push_back(word.name);
    for (const QuestionText& word : kQuestionTexts) names.push_back(word.name);
    for (const QuestionFlag& flag : kQuestionFlags) names.push_back(flag.name);
    names.push_back(kPeak);
    names.push_back(kLiveAt);
    return names;
  }();
  return all;
}

Result<Filter> ParseFilter(const Headers& parameters, std::span<const std::string_view> also) {
  Filter filter;
  std::vector<std::string_view> seen;
  for (const auto& [name, value] : parameters) {
    if (name != kLiveAt && std::find(seen.begin(), seen.end(), name) != seen.end()) {
      return Bad("the parameter " + Printable(name) + " is given twice");
    }
    seen.push_back(name);
    bool known = false;
    HG_TRY(SetWord(name, value, &known, &filter));
    if (known || std::find(also.begin(), also.end(), name) != also.end()) continue;
    return Bad("there is no parameter " + Printable(name) + " here");
  }
  return filter;
}

}  // namespace heapgauge::endpoint::api
