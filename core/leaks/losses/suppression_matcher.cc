#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/symbol_name.h"
#include "core/base/text.h"
#include "core/leaks/known_blocks.h"
#include "core/leaks/losses/leak_kinds.h"
#include "core/leaks/losses/suppressions.h"
#include "wire/gauge_format.h"

namespace heapgauge::leaks {
namespace {

// '*' stands for any text; '?' for any character, if `one_of_any`.
bool Matches(std::string_view pattern, std::string_view text, bool one_of_any) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && ((one_of_any && pattern[p] == '?') || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// What the innermost frame may be called that Valgrind shows and the agent leaves out.
struct Allocator {
  wire::Function function;
  std::string_view name;
};
using wire::Function::kAligned;
using wire::Function::kCalloc;
using wire::Function::kMalloc;
using wire::Function::kNew;
using wire::Function::kNewArray;
using wire::Function::kRealloc;
constexpr Allocator kAllocators[] = {
    {kMalloc, "malloc"},
    {kMalloc, "__libc_malloc"},
    {kCalloc, "calloc"},
    {kCalloc, "__libc_calloc"},
    {kRealloc, "realloc"},
    {kRealloc, "reallocarray"},
    {kRealloc, "__libc_realloc"},
    {kAligned, "memalign"},
    {kAligned, "__libc_memalign"},
    {kAligned, "posix_memalign"},
    {kAligned, "aligned_alloc"},
    {kAligned, "valloc"},
    {kAligned, "pvalloc"},
    {kNew, "_Znwm"},
    {kNew, "_ZnwmRKSt9nothrow_t"},
    {kNew, "_ZnwmSt11align_val_t"},
    {kNew, "_ZnwmSt11align_val_tRKSt9nothrow_t"},
    {kNew, "__builtin_new"},
    {kNew, "operator new"},
    {kNew, "operator new(unsigned long)"},
    {kNew, "operator new(unsigned long, std::nothrow_t const&)"},
    {kNew, "operator new(unsigned long, std::align_val_t)"},
    {kNew, "operator new(unsigned long, std::align_val_t, std::nothrow_t const&)"},
    {kNewArray, "_Znam"},
    {kNewArray, "_ZnamRKSt9nothrow_t"},
    {kNewArray, "_ZnamSt11align_val_t"},
    {kNewArray, "_ZnamSt11align_val_tRKSt9nothrow_t"},
    {kNewArray, "__builtin_vec_new"},
    {kNewArray, "operator new[]"},
    {kNewArray, "operator new[](unsigned long)"},
    {kNewArray, "operator new[](unsigned long, std::nothrow_t const&)"},
    {kNewArray, "operator new[](unsigned long, std::align_val_t)"},
    {kNewArray, "operator new[](unsigned long, std::align_val_t, std::nothrow_t const&)"}};

// Whether a block that `recorded` allocated may be one of `named`.
bool MayBe(uint32_t recorded, wire::Function named) {
  switch (static_cast<wire::Function>(recorded)) {
    case kMalloc:
    case kCalloc:
    case kAligned:
    case kNewArray:
      return recorded == static_cast<uint32_t>(named);
    case kRealloc:
      // Of nothing, which Valgrind calls malloc.
      return named == kRealloc || named == kMalloc;
    case kNew:
      // That of libstdc++ calls new for new[], and then that is all the agent sees.
      return named == kNew || named == kNewArray;
    case wire::Function::kMallocx:
    case wire::Function::kPool:
      break;
  }
  return true;  // not known, or none that Valgrind has
}

// Whether a line is about the frame of the allocating function.
bool MatchesAllocator(const SuppressionFrame& pattern, uint32_t function) {
  const std::string_view glob = pattern.pattern;
  if (pattern.what == SuppressionFrame::What::kObject) {
    // The library of Valgrind's that has them all.
    return glob.find("vgpreload_") != std::string_view::npos;
  }
  return pattern.what == SuppressionFrame::What::kFunction &&
         std::any_of(std::begin(kAllocators), std::end(kAllocators), [&](const Allocator& known) {
           return MayBe(function, known.function) && MatchesGlob(glob, known.name);
         });
}

// The C library has names of its own for functions that all know by others: __strdup,
// __GI___strdup, __libc_malloc. All of these begin with two underscores.
std::string_view PublicName(std::string_view name) {
  if (!name.starts_with("__")) return name;
  for (const std::string_view prefix : {"__GI_", "__libc_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  // What makes threads; under Valgrind there is only the older one.
  return name == "clone3" ? "clone" : name;
}

// A linker name of which all kinds of a constructor, or of a destructor, are one, `kind`: they
// mostly are one function, which one tool calls by this name and one by that.
std::string OneOfItsKind(std::string_view name, char kind = '1') {
  std::string one(name);
  if (!name.starts_with("_ZN")) return one;
  for (size_t i = 3; i + 2 < one.size(); ++i) {
    const bool is_kind = (one[i] == 'C' || one[i] == 'D') && one[i + 1] >= '0' &&
                         one[i + 1] <= '5' && (one[i + 2] == 'E' || one[i + 2] == 'I');
    if (is_kind) one[i + 1] = kind;
  }
  return one;
}

// What Valgrind has for all that comes before main, where it shows that at all.
constexpr std::string_view kBelowMain = "(below main)";
bool IsBelowMain(std::string_view name) {
  return name.starts_with("__libc_start_main") || name.starts_with("__libc_start_call_main") ||
         name == "generic_start_main" || name == "_start";
}

// LeakSanitizer's: a part of the text unless '^' or '$' say otherwise; '*' is any text.
bool MatchesTemplate(std::string_view pattern, std::string_view text) {
  std::string glob;
  if (!pattern.empty() && pattern.front() == '^') {
    pattern.remove_prefix(1);
  } else {
    glob += '*';
  }
  const bool to_the_end = !pattern.empty() && pattern.back() == '$';
  if (to_the_end) pattern.remove_suffix(1);
  glob += pattern;
  if (!to_the_end) glob += '*';
  return Matches(glob, text, false);
}

// The linker's name, without a symbol's version.
std::string_view SystemName(const Function& function) {
  const std::string_view name = function.system_name.empty() ? function.name : function.system_name;
  return name.substr(0, name.find('@'));
}

// Whether it is what Valgrind has in place of the allocator, of which it shows one frame.
bool IsAllocator(std::string_view name) {
  return name.starts_with("_Znw") || name.starts_with("_Zna") ||
         std::any_of(std::begin(kAllocators), std::end(kAllocators),
                     [&](const Allocator& known) { return known.name == name; });
}

// By the name that the kernel has for it, as Valgrind does, if it is there.
std::string ResolvedPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  return error ? path : resolved.string();
}

// Functions of one file alone, which have no linker name in debug information: they go by their
// name and a number that tells them apart (":29").
bool HasNoLinkerName(const Function& function) {
  const std::string_view name = SystemName(function);
  if (name == function.name) return name.find('(') != std::string_view::npos;
  const size_t colon = name.rfind(':');
  return colon != std::string_view::npos && name.substr(0, colon) == function.name &&
         name.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

// What "::" parts a name into: "a::b<c::d>" has two.
std::vector<std::string_view> PartsOf(std::string_view name) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  int nested = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (std::string_view("<({").find(name[i]) != std::string_view::npos) ++nested;
    if (std::string_view(">)}").find(name[i]) != std::string_view::npos) --nested;
    if (nested == 0 && name.substr(i, 2) == "::") {
      parts.push_back(name.substr(start, i - start));
      start = i += 2;
      --i;
    }
  }
  parts.push_back(name.substr(start));
  return parts;
}

// A pattern that fits the linker name of such a function: that consists of the parts of its name,
// each behind its length.
std::string LocalPattern(const Function& function) {
  const bool is_c = function.name.find('(') == std::string::npos;
  if (is_c) return function.name;
  const std::string bare = WithoutParameters(function.name);
  std::string pattern = "*";
  std::string_view scope;
  for (std::string_view part : PartsOf(bare)) {
    if (part == "(anonymous namespace)") part = "_GLOBAL__N_1";
    part = part.substr(0, part.find_first_of("<("));
    const bool is_plain = !part.empty() && !part.starts_with("operator") &&
                          std::all_of(part.begin(), part.end(), [](unsigned char c) {
                            return std::isalnum(c) != 0 || c == '_';
                          });
    if (part == scope && is_plain) {  // a constructor
      pattern += "C?";
    } else if (is_plain) {
      pattern += std::to_string(part.size()) + std::string(part);
    } else if (part == "~" + std::string(scope)) {
      pattern += "D?";
    } else if (pattern.back() != '*') {
      pattern += '*';
    }
    scope = part;
  }
  if (pattern.back() != '*') pattern += '*';
  return pattern;
}

}  // namespace

bool MatchesGlob(std::string_view pattern, std::string_view text) {
  return Matches(pattern, text, true);
}

SuppressionMatcher::SuppressionMatcher(const Suppressions& suppressions, const Profile& profile)
    : suppressions_(suppressions), profile_(profile) {
  for (size_t i = 0; i < suppressions.rules().size(); ++i) {
    if (!suppressions.rules()[i].pattern.empty()) lsan_.push_back(static_cast<uint32_t>(i));
  }
}

uint32_t SuppressionMatcher::Match(NodeId leaf, Kind kind, uint32_t function) {
  const uint64_t key =
      uint64_t{leaf} << 16 | uint64_t{function & 0xff} << 8 | static_cast<uint64_t>(kind);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const uint32_t rule = Find(FramesOf(profile_, leaf), kind, function & 0xff);
  known_.emplace(key, rule);
  return rule;
}

uint32_t SuppressionMatcher::Find(const std::vector<StackFrame>& stack, Kind kind,
                                  uint32_t function) {
  const std::vector<SuppressionRule>& rules = suppressions_.rules();
  uint32_t best = kNone;
  if (kind != Kind::kReachable) {
    for (const StackFrame& frame : stack) best = std::min(best, LsanRuleOf(frame));
  }
  // The agent's stacks begin with the caller of malloc, Valgrind's with malloc. That caller may be
  // operator new, which Valgrind replaces: there it is the innermost frame, or that of new[].
  std::vector<StackFrame> outside;
  size_t operators = 0;
  while (operators < stack.size()) {
    const Function* const inner = FunctionOf(profile_, stack[operators]);
    if (inner == nullptr || !IsAllocator(SystemName(*inner))) break;
    ++operators;
  }
  uint32_t outside_function = function;
  if (operators != 0) {
    outside.assign(stack.begin() + static_cast<ptrdiff_t>(operators), stack.end());
    if (SystemName(*FunctionOf(profile_, stack[operators - 1])).starts_with("_Zn")) {
      outside_function = static_cast<uint32_t>(kNew);
    }
  }
  const size_t end = std::min<size_t>(rules.size(), best);
  for (size_t i = 0; i < end; ++i) {
    const SuppressionRule& rule = rules[i];
    if (!rule.pattern.empty() || !Has(rule.kinds, kind)) continue;
    // People who know their own functions leave the allocator's out. A first line that fits it is
    // about it.
    const bool has_allocator =
        !rule.frames.empty() && MatchesAllocator(rule.frames.front(), function);
    if ((!has_allocator && Matches(rule, stack, kNotCalled)) || Matches(rule, stack, function) ||
        (!outside.empty() && Matches(rule, outside, outside_function))) {
      return static_cast<uint32_t>(i);
    }
  }
  return best;
}

// Unless kNotCalled, the stack has one more frame in front, that of the function `called`.
bool SuppressionMatcher::Matches(const SuppressionRule& rule, const std::vector<StackFrame>& stack,
                                 uint32_t called) {
  using What = SuppressionFrame::What;
  const size_t extra = called == kNotCalled ? 0 : 1;
  const std::vector<SuppressionFrame>& frames = rule.frames;
  const size_t depth = stack.size() + extra;
  const auto matches_at = [&](const SuppressionFrame& pattern, size_t i) {
    return i < extra ? MatchesAllocator(pattern, called) : Matches(pattern, stack[i - extra]);
  };
  size_t p = 0;
  size_t f = 0;
  size_t any = SIZE_MAX;  // the last "..."
  size_t mark = 0;
  while (p < frames.size()) {
    if (frames[p].what == What::kAny) {
      any = p++;
      mark = f;
    } else if (f < depth && matches_at(frames[p], f)) {
      ++p;
      ++f;
    } else if (any != SIZE_MAX && mark < depth) {
      p = any + 1;
      f = ++mark;
    } else {
      return false;
    }
  }
  return true;  // outer frames do not matter
}

bool SuppressionMatcher::Matches(const SuppressionFrame& pattern, const StackFrame& frame) {
  using What = SuppressionFrame::What;
  const std::string_view glob = pattern.pattern;
  if (pattern.what == What::kObject) {
    const Module* module = ModuleOf(profile_, frame);
    return module != nullptr &&
           (MatchesGlob(glob, module->path) || MatchesGlob(glob, ResolvedOf(*module)));
  }
  const Function* function = FunctionOf(profile_, frame);
  if (function == nullptr || function->placeholder) {
    return pattern.what == What::kFunction && glob == "*";
  }
  if (pattern.what == What::kSource) {
    if (pattern.line != 0 && profile_.frames[frame.frame].line != pattern.line) return false;
    return MatchesGlob(glob, function->file) || MatchesGlob(glob, BaseName(function->file));
  }
  if (MatchesGlob(glob, SystemName(*function)) || MatchesGlob(glob, function->name)) return true;
  const std::string_view name = SystemName(*function);
  if ((name.starts_with("__") || glob.starts_with("__")) &&
      MatchesGlob(PublicName(glob), PublicName(name))) {
    return true;
  }
  if (name.starts_with("_ZN") && MatchesGlob(OneOfItsKind(glob), OneOfItsKind(name))) return true;
  if (glob == kBelowMain && IsBelowMain(name)) return true;
  // The linker name that somebody else knows, or a pattern of it.
  if ((glob.starts_with("_Z") || glob.starts_with("*")) && HasNoLinkerName(*function)) {
    const std::string local = LocalPattern(*function);
    if (local != "*" && MatchesGlob(local, glob)) return true;
  }
  // Parameters can be left out, as nobody remembers them.
  return glob.find('(') == std::string_view::npos &&
         MatchesGlob(glob, WithoutParameters(function->name));
}

const std::string& SuppressionMatcher::ResolvedOf(const Module& module) {
  const auto [known, is_new] = resolved_.try_emplace(&module);
  if (is_new) known->second = ResolvedPath(module.path);
  return known->second;
}

uint32_t SuppressionMatcher::LsanRuleOf(const StackFrame& frame) {
  if (lsan_.empty()) return kNone;
  // Frames of a location that is not known have no number; a location's number serves as well.
  const uint32_t key = frame.frame == kNone ? frame.location | 0x80000000u : frame.frame;
  const auto known = by_frame_.find(key);
  if (known != by_frame_.end()) return known->second;
  const Module* module = ModuleOf(profile_, frame);
  const Function* function = FunctionOf(profile_, frame);
  uint32_t found = kNone;
  for (const uint32_t rule : lsan_) {
    const std::string& pattern = suppressions_.rules()[rule].pattern;
    const bool matches =
        (module != nullptr && (MatchesTemplate(pattern, module->path) ||
                               MatchesTemplate(pattern, BaseName(module->path)))) ||
        (function != nullptr && !function->placeholder &&
         (MatchesTemplate(pattern, function->name) ||
          MatchesTemplate(pattern, SystemName(*function)) ||
          MatchesTemplate(pattern, WithoutParameters(function->name)) ||
          (!function->file.empty() && MatchesTemplate(pattern, function->file))));
    if (matches) {
      found = rule;
      break;
    }
  }
  by_frame_.emplace(key, found);
  return found;
}

std::string GenerateSuppression(const Profile& profile, NodeId leaf, Kind kind) {
  constexpr size_t kFrames = 23;  // Valgrind takes no more, beside that of the allocator
  const std::vector<StackFrame> stack = FramesOf(profile, leaf);
  const size_t end = FramesUpToMain(profile, stack);
  std::string frames;
  size_t count = 0;
  for (size_t i = 0; i < end && count < kFrames; ++i) {
    const Function* function = FunctionOf(profile, stack[i]);
    const Module* module = ModuleOf(profile, stack[i]);
    ++count;
    if (function != nullptr && !function->placeholder) {
      const std::string_view name = SystemName(*function);
      // One frame stands for the function that allocated, whatever that is.
      if (count == 1 && IsAllocator(name)) {
        count = 0;
        continue;
      }
      // What is outside of these has other names there.
      if (PublicName(name) == "clone") break;
      const bool is_below_main = IsBelowMain(name);
      // Valgrind ends a line's text at its end; patterns have no way to quote.
      frames += "   fun:" +
                Printable(is_below_main                ? std::string(kBelowMain)
                          : HasNoLinkerName(*function) ? LocalPattern(*function)
                          : name.starts_with("__")     ? "*" + std::string(PublicName(name))
                                                       : OneOfItsKind(name, '?')) +
                "\n";
      if (is_below_main) break;
    } else if (module != nullptr && !module->path.empty()) {
      frames += "   obj:" + Printable(ResolvedPath(module->path)) + "\n";
    } else {
      frames += "   obj:*\n";
    }
  }
  if (frames.empty()) return "";
  return std::string("{\n   <insert_a_suppression_name_here>\n   Memcheck:Leak\n") +
         "   match-leak-kinds: " + KindName(kind) + "\n   fun:*\n" + frames + "}\n";
}

std::string GenerateLsanSuppression(const Profile& profile, NodeId leaf) {
  const std::vector<StackFrame> stack = FramesOf(profile, leaf);
  AllocationFrames allocation(profile);
  for (size_t i = allocation.Count(stack); i < stack.size(); ++i) {
    const Function* function = FunctionOf(profile, stack[i]);
    if (function != nullptr && !function->placeholder) {
      return "leak:^" + Printable(WithoutParameters(function->name)) + "$\n";
    }
    const Module* module = ModuleOf(profile, stack[i]);
    if (module != nullptr && !module->path.empty()) {
      return "leak:^" + Printable(BaseName(module->path)) + "$\n";
    }
  }
  return "";
}

}  // namespace heapgauge::leaks
