// Leaks that somebody decided to live with: kinds of leaks, files of entries, and new entries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/leaks/scan/check.h"
#include "core/model/profile.h"

namespace heapgauge::leaks {

// Sets of kinds and of heuristics as people write them on a command line or in a file of
// suppressions: "definite,possible", "all", "none".
//
// Pure functions. A set is a word with bit n for value n of the enum.
constexpr uint32_t Bit(Kind kind) { return 1u << static_cast<uint32_t>(kind); }
constexpr bool Has(uint32_t kinds, Kind kind) { return (kinds & Bit(kind)) != 0; }
inline constexpr uint32_t kAllKinds = (1u << kKinds) - 1;

// "definite,indirect,possible,reachable", "all", "none".
Result<uint32_t> ParseKinds(std::string_view text);

// "stdstring,length64,newarray,multipleinheritance", "all", "none".
Result<uint32_t> ParseHeuristics(std::string_view text);

// "definitely lost", "still reachable": as memcheck's summary says it.
const char* KindPhrase(Kind kind);

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

// Entries for suppression files, of leaks that were found.
//
// An entry that silences blocks of this kind and stack, in Valgrind's syntax or in LeakSanitizer's;
// "" where the stack has nothing to go by.
std::string GenerateSuppression(const Profile& profile, NodeId leaf, Kind kind);
std::string GenerateLsanSuppression(const Profile& profile, NodeId leaf);

}  // namespace heapgauge::leaks
