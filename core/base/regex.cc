#include "core/base/regex.h"

#include <array>
#include <cassert>
#include <utility>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr int64_t kMaxMemory = 64 << 20;
constexpr size_t kMostGroups = 7;

}  // namespace

Regex::Regex(std::string pattern, std::unique_ptr<RegexEngine> engine)
    : pattern_(std::move(pattern)), engine_(std::move(engine)) {}

Regex::Regex(const std::string& pattern, RegexOver over) : pattern_(pattern) {
  RegexEngine::Fault fault;
  engine_ = RegexEngine::Compile(pattern, over, 0, &fault);
  assert(engine_ != nullptr);
}

Result<Regex> Regex::Compile(const std::string& pattern) {
  RegexEngine::Fault fault;
  auto engine = RegexEngine::Compile(pattern, RegexOver::kText, kMaxMemory, &fault);
  if (engine != nullptr) return Regex(pattern, std::move(engine));
  return Fail(ErrorCode::kInvalidArgument, "error parsing regexp: " + fault.go_words);
}

Result<Regex> Regex::CompileTyped(const std::string& pattern) {
  auto regex = Compile(pattern);
  if (regex) return regex;
  return Fail(ErrorCode::kInvalidArgument,
              "'" + Printable(pattern) +
                  "' is not a regular expression: " + Printable(regex.error().message));
}

Result<std::unique_ptr<Regex>> Regex::CompileOption(const std::string& option,
                                                    const std::string& pattern) {
  if (pattern.empty()) return std::unique_ptr<Regex>();
  auto regex = Compile(pattern);
  if (!regex) {
    return Fail(ErrorCode::kInvalidArgument,
                "parsing " + option + " regexp: " + regex.error().message);
  }
  return std::make_unique<Regex>(*std::move(regex));
}

Result<Regex> Regex::CompilePerl(const std::string& pattern) {
  RegexEngine::Fault fault;
  auto engine = RegexEngine::Compile(pattern, RegexOver::kBytes, 0, &fault);
  if (engine != nullptr) return Regex(pattern, std::move(engine));
  return Fail(ErrorCode::kInvalidArgument, "regular expression '" + pattern + "': " + fault.words);
}

bool Regex::Match(std::string_view* text, RegexAnchor anchor,
                  std::initializer_list<std::string_view*> groups) const {
  assert(groups.size() <= kMostGroups);
  std::array<std::string_view, 1 + kMostGroups> found;
  // Without groups an engine need not find out where the match is.
  const size_t wanted = groups.size() == 0 && anchor != RegexAnchor::kStart ? 0 : 1 + groups.size();
  if (engine_ == nullptr || !engine_->Match(*text, anchor, found.data(), wanted)) return false;
  size_t i = 0;
  for (std::string_view* group : groups) *group = found[++i];
  if (anchor == RegexAnchor::kStart) text->remove_prefix(found[0].size());
  return true;
}

}  // namespace heapgauge
