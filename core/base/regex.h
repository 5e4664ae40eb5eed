// Regular expressions in RE2 syntax, in bounded memory: those that users write, as they do for
// pprof, and the program's own. What is wrong with one is told in the words of Go's regexp package,
// because that is what scripts around pprof know.
//
// A compiled expression may be used by several threads at once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heapgauge {

// What `.` is: a character of UTF-8, or a byte.
enum class RegexOver { kText, kBytes };

enum class RegexAnchor { kNowhere, kStart, kBoth };

// A library of regular expressions: RE2 (regex_re2.cc), or PCRE2 (regex_pcre2.cc) where RE2 cannot
// be. A program links one of the two.
class RegexEngine {
 public:
  // What is wrong with an expression.
  struct Fault {
    std::string go_words;  // "missing closing ): `(`"
    std::string words;     // the library's own
  };

  // nullptr: `fault` says why. `max_memory` is at most what it takes; 0: what the library thinks
  // good.
  static std::unique_ptr<RegexEngine> Compile(const std::string& pattern, RegexOver over,
                                              int64_t max_memory, Fault* fault);
  virtual ~RegexEngine() = default;

  // Sets groups[0 .. n): the whole match, then what is in brackets. False as well if there are
  // fewer.
  virtual bool Match(std::string_view text, RegexAnchor anchor, std::string_view* groups,
                     size_t n) const = 0;
};

class Regex {
 public:
  // The error is what Go says: "error parsing regexp: missing closing ): `(`".
  static Result<Regex> Compile(const std::string& pattern);
  // The same for what people typed, told in our own words: "'(' is not a regular expression: ...".
  static Result<Regex> CompileTyped(const std::string& pattern);
  // The same for an option; nothing for an empty pattern. The error tells the option: "parsing
  // focus regexp: ...".
  static Result<std::unique_ptr<Regex>> CompileOption(const std::string& option,
                                                      const std::string& pattern);
  // As the perl tools have them, over bytes: "regular expression '(': missing ): (".
  static Result<Regex> CompilePerl(const std::string& pattern);

  // One of the program's own, which is right.
  explicit Regex(const std::string& pattern, RegexOver over = RegexOver::kBytes);

  // Whether it matches anywhere in `text`. Each group is set to what a pair of brackets holds, or
  // to nothing if that had no part in the match.
  template <typename... Groups>
  bool Matches(std::string_view text, Groups*... groups) const {
    return Match(&text, RegexAnchor::kNowhere, {groups...});
  }
  // The same for the whole of `text`.
  template <typename... Groups>
  bool MatchesWhole(std::string_view text, Groups*... groups) const {
    return Match(&text, RegexAnchor::kBoth, {groups...});
  }
  // The same for the start of `text`, which is shortened by it.
  template <typename... Groups>
  bool Take(std::string_view* text, Groups*... groups) const {
    return Match(text, RegexAnchor::kStart, {groups...});
  }

  // As it was written.
  const std::string& pattern() const { return pattern_; }

 private:
  Regex(std::string pattern, std::unique_ptr<RegexEngine> engine);
  bool Match(std::string_view* text, RegexAnchor anchor,
             std::initializer_list<std::string_view*> groups) const;

  std::string pattern_;
  std::unique_ptr<RegexEngine> engine_;
};

}  // namespace heapgauge
