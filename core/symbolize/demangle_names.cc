#include "core/symbolize/demangle_names.h"

#include <cctype>
#include <vector>

#include "core/elf/demangle.h"

namespace heapgauge {
namespace {

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The length of the operator at the start of `text` that is written with angle brackets, or 0.
size_t BracketOperator(std::string_view text) {
  for (const std::string_view op :
       {"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"}) {
    if (text.starts_with(op)) return op.size();
  }
  return 0;
}

// Whether a name is the result of demangling C++, and not one of Go's or Java's.
bool LooksDemangled(std::string_view name) {
  if (name.find(".<") != std::string_view::npos) return false;
  if (name.find("]).") != std::string_view::npos) return false;
  return name.find_first_of("<>[]") != std::string_view::npos ||
         name.find("::") != std::string_view::npos;
}

// Without all that stands between `open` and `close`; unchanged if these do not match.
std::string WithoutMatching(const std::string& name, char open, char close) {
  std::string result;
  size_t depth = 0;
  size_t begin = 0;  // of the outermost pair
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == open) {
      if (depth++ == 0) begin = result.size();
    } else if (c == close) {
      // What was cut before a mismatch stays cut.
      if (depth == 0) return result + name.substr(i);
      if (--depth == 0) {
        result.resize(begin);
        continue;
      }
    }
    result += c;
  }
  return result;
}

std::string WithoutClones(std::string name) {
  for (size_t at; name.ends_with(']') && (at = name.rfind(" [clone ")) != std::string::npos;) {
    name.resize(at);
  }
  return name;
}

bool IsRust(const std::string& system_name) {
  if (system_name.starts_with("_R")) return true;
  // The older kind is a C++ name that ends in a hash.
  const size_t hash = system_name.rfind("17h");
  constexpr size_t kLength = 19;  // "17h" and 16 digits
  if (!system_name.starts_with("_ZN") || hash == std::string::npos) return false;
  const size_t end = system_name.find_first_not_of("0123456789abcdef", hash + 3);
  return end == hash + kLength && system_name[end] == 'E';
}

}  // namespace

std::string WithoutTemplates(std::string_view name) {
  constexpr std::string_view kOperator = "operator";
  std::string result;
  std::vector<char> open;  // brackets that are not closed yet
  size_t cut = 0;          // angle brackets among them
  for (size_t i = 0; i < name.size();) {
    const std::string_view rest = name.substr(i);
    const bool word_start = i == 0 || !IsWordCharacter(name[i - 1]);
    if (word_start && rest.starts_with(kOperator)) {
      size_t length = kOperator.size();
      length += BracketOperator(rest.substr(length));
      if (cut == 0) result += rest.substr(0, length);
      i += length;
      // A space keeps the arguments of operator< apart from it.
      if (name.substr(i).starts_with(" <")) ++i;
      continue;
    }
    const char c = name[i];
    const char before = i == 0 ? ' ' : name[i - 1];
    bool shown = cut == 0;
    if (c == '(') {
      open.push_back(c);
    } else if (c == ')') {
      if (open.empty() || open.back() != '(') return std::string(name);
      open.pop_back();
    } else if (c == '<' && before != ')' && !(before == '<' && i >= 2 && name[i - 2] == ')')) {
      open.push_back(c);
      ++cut;
      shown = false;
    } else if (c == '>' && !open.empty() && open.back() == '<' && before != '-') {
      open.pop_back();
      --cut;
      shown = false;
    }
    if (shown) result += c;
    ++i;
  }
  return open.empty() ? result : std::string(name);
}

std::string DemangledName(const std::string& system_name, DemangleMode mode) {
  if (mode == DemangleMode::kMangled) return system_name;
  const bool short_form = mode != DemangleMode::kFull;
  const bool mangled = system_name.starts_with("_Z") || system_name.starts_with("_R");
  std::string name = system_name;
  if (mangled) name = short_form ? DemangleWithoutParameters(name) : Demangle(name);
  if (name != system_name) {
    if (mode == DemangleMode::kFull) return WithoutClones(std::move(name));
    if (mode == DemangleMode::kTemplates || IsRust(system_name)) return name;
    return WithoutTemplates(name);
  }
  if (short_form && LooksDemangled(name)) {
    name = WithoutMatching(name, '(', ')');
    if (mode == DemangleMode::kDefault) name = WithoutMatching(name, '<', '>');
  }
  return name;
}

void DemangleNames(DemangleMode mode, bool force, Profile* profile, FunctionId first) {
  for (FunctionId id = first; id < profile->functions.size(); ++id) {
    Function& function = profile->functions[id];
    if (function.no_system_name || function.placeholder) continue;
    const bool same = function.system_name.empty() || function.system_name == function.name;
    if (!same && !function.name.empty() && !force) continue;
    const std::string system_name = same ? function.name : function.system_name;
    std::string name = DemangledName(system_name, mode);
    function.system_name = name == system_name ? "" : system_name;
    function.name = std::move(name);
  }
}

}  // namespace heapgauge
