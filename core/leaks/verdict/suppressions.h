// Leaks that somebody decided to live with: files in Valgrind's syntax or in LeakSanitizer's. Both
// may be in one file; each entry tells by itself what it is.
//
//   {                                       # Valgrind
//      what people call it
//      Memcheck:Leak
//      match-leak-kinds: definite,possible
//      fun:malloc
//      fun:_ZN5Cache*                       # mangled, or Cache::Insert*, as people read it
//      ...
//      obj:*/libfoo.so*
//      src:cache.cc:42
//   }
//   leak:InitOnce                           # LeakSanitizer
//   leak:^libfoo.so$
//
// Entries of other tools or about other errors are passed over. Files are input like any other:
// their size and the number of rules are bounded, and what is wrong is told with its line.
//
// Suppressions are read-only once files are read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heapgauge::leaks {

struct SuppressionFrame {
  enum class What : uint8_t { kFunction, kObject, kSource, kAny };
  What what = What::kAny;  // kAny: "...", any number of frames
  std::string pattern;     // '*' and '?' match anything
  uint32_t line = 0;       // of kSource; 0 any
};

struct SuppressionRule {
  std::string name;
  std::string file;  // it is from
  uint32_t line = 0;
  uint32_t kinds = ~0u;                  // bit n: Kind n
  std::vector<SuppressionFrame> frames;  // Valgrind's: innermost first
  std::string pattern;                   // LeakSanitizer's: of any function, module or file
  bool with_indirect = false;            // what the block leads to is silenced too
};

class Suppressions {
 public:
  static constexpr size_t kMaxFileBytes = 16 << 20;
  static constexpr size_t kMaxRules = 20'000;
  static constexpr size_t kMaxFrames = 500;
  static constexpr size_t kMaxPattern = 4096;

  // Adds the rules of one file.
  Status AddFile(const std::string& path);
  // The same for its text; `name` is for messages.
  Status AddText(std::string_view text, const std::string& name);

  const std::vector<SuppressionRule>& rules() const { return rules_; }

 private:
  std::vector<SuppressionRule> rules_;
};

}  // namespace heapgauge::leaks
