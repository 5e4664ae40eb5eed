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
// Suppressions are read-only once files are read. A matcher remembers what it was asked and is for
// one thread; suppressions and profile must outlive it.
#ifndef HEAPGAUGE_CORE_LEAKS_LOSSES_SUPPRESSIONS_H_
#define HEAPGAUGE_CORE_LEAKS_LOSSES_SUPPRESSIONS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/leaks/losses/stack_frames.h"
#include "core/leaks/verdict.h"
#include "core/model/profile.h"

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

class SuppressionMatcher {
 public:
  SuppressionMatcher(const Suppressions& suppressions, const Profile& profile);

  // The first rule that silences blocks of this stack and kind, which `function` allocated
  // (Block::function); kNone if none does.
  uint32_t Match(NodeId leaf, Kind kind, uint32_t function);

 private:
  static constexpr uint32_t kNotCalled = UINT32_MAX;
  uint32_t Find(const std::vector<StackFrame>& stack, Kind kind, uint32_t function);
  bool Matches(const SuppressionRule& rule, const std::vector<StackFrame>& stack, uint32_t called);
  bool Matches(const SuppressionFrame& pattern, const StackFrame& frame);
  const std::string& ResolvedOf(const Module& module);
  uint32_t LsanRuleOf(const StackFrame& frame);

  const Suppressions& suppressions_;
  const Profile& profile_;
  std::unordered_map<uint64_t, uint32_t> known_;             // by leaf, function and kind
  std::unordered_map<uint32_t, uint32_t> by_frame_;          // the first of LeakSanitizer's rules
  std::vector<uint32_t> lsan_;                               // indexes of these
  std::unordered_map<const Module*, std::string> resolved_;  // paths
};

// Whether all of `text` is what the pattern says; '*' is any text, '?' any character.
bool MatchesGlob(std::string_view pattern, std::string_view text);

// An entry that silences blocks of this kind and stack, in Valgrind's syntax or in LeakSanitizer's;
// "" where the stack has nothing to go by.
std::string GenerateSuppression(const Profile& profile, NodeId leaf, Kind kind);
std::string GenerateLsanSuppression(const Profile& profile, NodeId leaf);

}  // namespace heapgauge::leaks

#endif  // HEAPGAUGE_CORE_LEAKS_LOSSES_SUPPRESSIONS_H_
