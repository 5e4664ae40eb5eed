// Regular expressions as pprof's users write them: RE2 syntax, not anchored, bounded memory. What
// is wrong with one is told in the words of Go's regexp package, because that is what scripts
// around pprof know.
//
// A compiled expression may be used by several threads at once.
#ifndef HEAPGAUGE_CORE_BASE_REGEX_H_
#define HEAPGAUGE_CORE_BASE_REGEX_H_

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace re2 {
class RE2;
}

namespace heapgauge {

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

  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // Whether it matches anywhere in `text`.
  bool Matches(std::string_view text) const;

  // As it was written.
  const std::string& pattern() const;

 private:
  explicit Regex(std::unique_ptr<re2::RE2> compiled);
  std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_REGEX_H_
