#include "core/leaks/verdict/suppression_matcher.h"

#include <algorithm>

#include "core/base/function_name.h"
#include "core/base/text.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/leaks/verdict/valgrind_names.h"
#include "wire/gauge_format.h"

namespace heapgauge::leaks {
namespace {

// Whether a line is about the frame of the allocating function.
bool MatchesAllocator(const SuppressionFrame& pattern, uint32_t function) {
  // The library of Valgrind's that has them all.
  if (pattern.what == SuppressionFrame::What::kObject) {
    return pattern.pattern.find("vgpreload_") != std::string::npos;
  }
  return pattern.what == SuppressionFrame::What::kFunction &&
         FitsAllocator(pattern.pattern, function);
}

// Arguments of templates are written in different ways, and not compared.
bool MatchesInlined(std::string_view glob, std::string_view name) {
  if (MatchesGlob(glob, name)) return true;
  const size_t arguments = glob.find('<');
  return arguments != std::string_view::npos && arguments != 0 && !glob.starts_with("operator") &&
         arguments == name.find('<') &&
         MatchesGlob(glob.substr(0, arguments), name.substr(0, arguments));
}

}  // namespace

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
      outside_function = static_cast<uint32_t>(wire::AllocationFunction::kNew);
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
  if (IsInlined(profile_, frame) && MatchesInlined(glob, InlinedName(*function))) return true;
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
  if (is_new) known->second = KernelPath(module.path);
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

}  // namespace heapgauge::leaks
