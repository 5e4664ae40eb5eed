#include "core/base/regex.h"

#include <re2/re2.h>

#include "core/base/text.h"

namespace heapgauge {
namespace {

constexpr int64_t kMaxMemory = 64 << 20;

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

}  // namespace

Regex::Regex(std::unique_ptr<re2::RE2> compiled) : compiled_(std::move(compiled)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::Compile(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxMemory);
  auto compiled = std::make_unique<re2::RE2>(pattern, options);
  if (!compiled->ok()) {
    std::string message = std::string("error parsing regexp: ") + GoWords(compiled->error_code());
    // Of a trailing backslash Go shows nothing.
    const bool shown = compiled->error_code() != re2::RE2::ErrorTrailingBackslash;
    message += ": `" + (shown ? compiled->error_arg() : "") + "`";
    return Fail(ErrorCode::kInvalidArgument, std::move(message));
  }
  return Regex(std::move(compiled));
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

bool Regex::Matches(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

const std::string& Regex::pattern() const { return compiled_->pattern(); }

}  // namespace heapgauge
