#include "core/leaks/verdict/valgrind_names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/function_name.h"
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

}  // namespace

bool MatchesGlob(std::string_view pattern, std::string_view text) {
  return Matches(pattern, text, true);
}

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

namespace {

// What the innermost frame may be called that Valgrind shows and the agent leaves out.
struct Allocator {
  wire::AllocationFunction function;
  std::string_view name;
};
using wire::AllocationFunction::kAligned;
using wire::AllocationFunction::kCalloc;
using wire::AllocationFunction::kMalloc;
using wire::AllocationFunction::kNew;
using wire::AllocationFunction::kNewArray;
using wire::AllocationFunction::kRealloc;
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
bool MayBe(uint32_t recorded, wire::AllocationFunction named) {
  switch (static_cast<wire::AllocationFunction>(recorded)) {
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
    case wire::AllocationFunction::kMallocx:
    case wire::AllocationFunction::kPool:
      break;
  }
  return true;  // not known, or none that Valgrind has
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

}  // namespace

std::string_view SystemName(const Function& function) {
  const std::string_view name = function.system_name.empty() ? function.name : function.system_name;
  return name.substr(0, name.find('@'));
}

bool IsAllocator(std::string_view name) {
  return name.starts_with("_Znw") || name.starts_with("_Zna") ||
         std::any_of(std::begin(kAllocators), std::end(kAllocators),
                     [&](const Allocator& known) { return known.name == name; });
}

bool FitsAllocator(std::string_view glob, uint32_t function) {
  return std::any_of(std::begin(kAllocators), std::end(kAllocators), [&](const Allocator& known) {
    return MayBe(function, known.function) && MatchesGlob(glob, known.name);
  });
}

std::string_view PublicName(std::string_view name) {
  if (!name.starts_with("__")) return name;
  for (const std::string_view prefix : {"__GI_", "__libc_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  // What makes threads; under Valgrind there is only the older one.
  return name == "clone3" ? "clone" : name;
}

std::string OneOfItsKind(std::string_view name, char kind) {
  std::string one(name);
  if (!name.starts_with("_ZN")) return one;
  for (size_t i = 3; i + 2 < one.size(); ++i) {
    const bool is_kind = (one[i] == 'C' || one[i] == 'D') && one[i + 1] >= '0' &&
                         one[i + 1] <= '5' && (one[i + 2] == 'E' || one[i + 2] == 'I');
    if (is_kind) one[i + 1] = kind;
  }
  return one;
}

bool IsBelowMain(std::string_view name) {
  return name.starts_with("__libc_start_main") || name.starts_with("__libc_start_call_main") ||
         name == "generic_start_main" || name == "_start";
}

bool HasNoLinkerName(const Function& function) {
  const std::string_view name = SystemName(function);
  if (name == function.name) return name.find('(') != std::string_view::npos;
  const size_t colon = name.rfind(':');
  return colon != std::string_view::npos && name.substr(0, colon) == function.name &&
         name.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
}

std::string LocalPattern(const Function& function) {
  const bool is_c = function.name.find('(') == std::string::npos;
  if (is_c) return function.name;
  const std::string bare = WithoutParameters(function.name);
  std::string pattern = "*";
  std::string_view scope;
  for (std::string_view part : PartsOf(bare)) {
    if (part == "(anonymous namespace)") part = "_GLOBAL__N_1";
    if (part == "std" && scope.empty()) {
      pattern += "St";
      scope = part;
      continue;
    }
    part = part.substr(0, part.find_first_of("<("));
    const bool is_plain = !part.empty() && !part.starts_with("operator") &&
                          std::all_of(part.begin(), part.end(), [](unsigned char c) {
                            return std::isalnum(c) != 0 || c == '_';
                          });
    if (part == scope && is_plain) {  // a constructor
      pattern += "C?";
    } else if (is_plain) {
      // What is static has an 'L' in front of it.
      if (!scope.empty() && scope != "_GLOBAL__N_1" && scope != "std") pattern += '*';
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

std::string InlinedName(const Function& function) {
  const std::string bare = WithoutParameters(function.name);
  return std::string(PartsOf(bare).back());
}

std::string KernelPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  return error ? path : resolved.string();
}

}  // namespace heapgauge::leaks
