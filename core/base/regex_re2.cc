// RE2 behind Regex.
#include <re2/re2.h>

#include <array>

#include "core/base/regex.h"

namespace heapgauge {
namespace {

const char* GoWords(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass:
      return "invalid character class";
    case re2::RE2::ErrorBadCharRange:
      return "invalid character class range";
    case re2::RE2::ErrorMissingBracket:
      return "missing closing ]";
    case re2::RE2::ErrorMissingParen:
      return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case re2::RE2::ErrorPatternTooLarge:
      return "expression too large";
    default:
      return "internal error";
  }
}

class Re2Engine final : public RegexEngine {
 public:
  Re2Engine(const std::string& pattern, const re2::RE2::Options& options)
      : compiled_(pattern, options) {}
  const re2::RE2& compiled() const { return compiled_; }

  bool Match(std::string_view text, RegexAnchor anchor, std::string_view* groups,
             size_t n) const override {
    std::array<re2::StringPiece, 16> found;
    if (n > found.size() || static_cast<int>(n) > 1 + compiled_.NumberOfCapturingGroups()) {
      return false;
    }
    const auto where = anchor == RegexAnchor::kNowhere ? re2::RE2::UNANCHORED
                       : anchor == RegexAnchor::kStart ? re2::RE2::ANCHOR_START
                                                       : re2::RE2::ANCHOR_BOTH;
    if (!compiled_.Match({text.data(), text.size()}, 0, text.size(), where, found.data(),
                         static_cast<int>(n))) {
      return false;
    }
    for (size_t i = 0; i < n; ++i) groups[i] = {found[i].data(), found[i].size()};
    return true;
  }

 private:
  re2::RE2 compiled_;
};

}  // namespace

std::unique_ptr<RegexEngine> RegexEngine::Compile(const std::string& pattern, RegexOver over,
                                                  int64_t max_memory, Fault* fault) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  if (over == RegexOver::kBytes) options.set_encoding(re2::RE2::Options::EncodingLatin1);
  if (max_memory != 0) options.set_max_mem(max_memory);
  auto engine = std::make_unique<Re2Engine>(pattern, options);
  const re2::RE2& compiled = engine->compiled();
  if (compiled.ok()) return engine;
  // Of a trailing backslash Go shows nothing.
  const bool shown = compiled.error_code() != re2::RE2::ErrorTrailingBackslash;
  fault->go_words = std::string(GoWords(compiled.error_code())) + ": `" +
                    (shown ? compiled.error_arg() : "") + "`";
  fault->words = compiled.error();
  return nullptr;
}

}  // namespace heapgauge
