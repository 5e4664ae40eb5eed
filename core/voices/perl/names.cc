#include "core/voices/perl/names.h"

#include <fmt/printf.h>

#include <cctype>
#include <cmath>

#include "core/elf/demangle.h"

namespace heapgauge::perl {
namespace {

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where text behind a parameter list that belongs to it ends: blanks and "const".
size_t SkipConst(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsSpace(text[end])) ++end;
  return text.substr(end).starts_with("const") ? end + 5 : at;
}

// Takes out pairs of brackets that hold no other bracket, until there are none. `keep` tells
// whether a pair stays; it then counts as text. `with_const`: a "const" behind it goes too.
template <typename Keep>
std::string WithoutBrackets(std::string text, char open, char close, bool with_const, Keep keep) {
  while (true) {
    std::string result;
    result.reserve(text.size());
    size_t start = std::string::npos;  // of the last opening bracket, in `result`
    bool changed = false;
    for (size_t i = 0; i < text.size();) {
      const char c = text[i++];
      if (c == open) start = result.size();
      if (c != close || start == std::string::npos) {
        result += c;
        if (c == close) start = std::string::npos;
        continue;
      }
      if (keep(result, start)) {
        result += c;
      } else {
        result.resize(start);
        if (with_const) i = SkipConst(text, i);
        changed = true;
      }
      start = std::string::npos;
    }
    if (!changed) return text;
    text = std::move(result);
  }
}

bool KeepNone(const std::string&, size_t) { return false; }

// The type in front of a scoped name: all up to the last blank before a "word::".
void DropLeadingType(std::string* name) {
  for (size_t i = name->size(); i-- > 0;) {
    if (!IsSpace((*name)[i])) continue;
    size_t end = i + 1;
    while (end < name->size() && IsWord((*name)[end])) ++end;
    if (end == i + 1 || name->compare(end, 2, "::") != 0) continue;
    name->erase(0, i + 1);
    return;
  }
}

// The mark of an address that nm's names get: "<000000000001234>" at the end.
void DropAddressMark(std::string* name) {
  if (name->empty() || name->back() != '>') return;
  const size_t start = name->rfind('<');
  if (start == std::string::npos) return;
  for (size_t i = start + 1; i + 1 < name->size(); ++i) {
    const char c = (*name)[i];
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return;
  }
  name->resize(start);
}

}  // namespace

std::string ShortFunctionName(std::string_view name, const Options& options) {
  std::string text = WithoutBrackets(std::string(name), '(', ')', true, KeepNone);
  bool strip = true;
  if (options.tool == Tool::kGooglePprof) {
    DropAddressMark(&text);
    strip = !options.no_strip_temp;
  }
  if (strip) text = WithoutBrackets(std::move(text), '<', '>', false, KeepNone);
  DropLeadingType(&text);
  return text;
}

std::string BinutilsName(const std::string& name) {
  if (!name.starts_with("_Z") && !name.starts_with("_R")) return name;
  const size_t version = name.find('@');
  if (version == std::string::npos) return Demangle(name);
  return Demangle(name.substr(0, version)) + name.substr(version);
}

std::string CleanDisassembly(std::string text) {
  // Registers in parentheses are operands.
  text =
      WithoutBrackets(std::move(text), '(', ')', true, [](const std::string& before, size_t start) {
        return before.find('%', start) != std::string::npos;
      });
  return WithoutBrackets(std::move(text), '<', '>', false,
                         [](const std::string& before, size_t start) {
                           return start == 0 || !IsWord(before[start - 1]);
                         });
}

std::string CleanFileName(std::string name) {
  constexpr std::string_view kHere = "/proc/self/cwd/";
  if (name.starts_with(kHere)) name.erase(0, kHere.size());
  if (name.starts_with("./")) name.erase(0, 2);
  return name;
}

std::string HexKey(uint64_t address) { return fmt::format("{:016x}", address); }

std::string PerlNumber(double value) { return fmt::sprintf("%.15g", value); }

std::string Percent(double value, double total) {
  if (total != 0) return fmt::sprintf("%.1f%%", value * 100.0 / total);
  return value == 0 ? "nan" : value > 0 ? "+inf" : "-inf";
}

std::string Unparse(double value, Kind kind, const Options& options) {
  const bool heap = kind == Kind::kHeap || kind == Kind::kGrowth;
  const bool objects = options.heap_value == HeapValue::kInuseObjects ||
                       options.heap_value == HeapValue::kAllocObjects;
  if (heap && !objects && !options.show_bytes) return fmt::sprintf("%.1f", value / 1048576.0);
  if (kind == Kind::kContention && options.delay_value != DelayValue::kContentions) {
    return fmt::sprintf("%.3f", value / 1e9);
  }
  return fmt::sprintf("%.0f", std::trunc(value) + 0.0);
}

std::string UnparseOrDot(double value, Kind kind, const Options& options) {
  return value == 0 ? "." : Unparse(value, kind, options);
}

const char* UnitsOf(Kind kind, const Options& options) {
  if (kind == Kind::kHeap || kind == Kind::kGrowth) {
    if (options.heap_value == HeapValue::kInuseObjects ||
        options.heap_value == HeapValue::kAllocObjects) {
      return "objects";
    }
    return options.show_bytes ? "B" : "MB";
  }
  if (kind == Kind::kContention && options.delay_value != DelayValue::kContentions) {
    return "seconds";
  }
  return "samples";
}

}  // namespace heapgauge::perl
