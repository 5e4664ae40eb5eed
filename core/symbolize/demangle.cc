#include "core/symbolize/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace heapgauge {
namespace {

// The C++ runtime's demangler is recursive; names beyond this are not worth the risk.
constexpr size_t kMaxMangled = 4096;

bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// Rust's legacy names end in "::h" and 16 hexadecimal digits, which differ from build to build.
bool HasRustHash(std::string_view name) {
  return name.size() > 19 && name.substr(name.size() - 19, 3) == "::h" &&
         std::all_of(name.end() - 16, name.end(), IsHex);
}

// Rust writes what a C symbol cannot hold as $XX$, and ".." for "::".
std::string PlainRust(std::string_view name) {
  name.remove_suffix(19);
  static constexpr std::pair<std::string_view, std::string_view> kEscapes[] = {
      {"$SP$", "@"},  {"$BP$", "*"},  {"$RF$", "&"},   {"$LT$", "<"},  {"$GT$", ">"},
      {"$LP$", "("},  {"$RP$", ")"},  {"$C$", ","},    {"$u20$", " "}, {"$u27$", "'"},
      {"$u5b$", "["}, {"$u5d$", "]"}, {"$u7b$", "{"},  {"$u7d$", "}"}, {"$u7e$", "~"},
      {"$u3b$", ";"}, {"$u2b$", "+"}, {"$u22$", "\""}, {"..", "::"}};
  std::string plain;
  while (!name.empty()) {
    // A component cannot begin with '$', so the compiler puts a '_' in front of it.
    if (name.substr(0, 2) == "_$") name.remove_prefix(1);
    const auto* escape =
        std::find_if(std::begin(kEscapes), std::end(kEscapes), [&](const auto& candidate) {
          return name.substr(0, candidate.first.size()) == candidate.first;
        });
    if (escape != std::end(kEscapes)) {
      plain += escape->second;
      name.remove_prefix(escape->first.size());
    } else {
      plain += name.front();
      name.remove_prefix(1);
    }
  }
  return plain;
}

}  // namespace

std::string Demangle(const std::string& full_name) {
  const size_t version = full_name.find('@');
  const std::string name =
      version == std::string::npos || version == 0 ? full_name : full_name.substr(0, version);
  if (name.size() > kMaxMangled || name.compare(0, 2, "_Z") != 0) return name;
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return name;
  std::string readable = text;
  std::free(text);
  if (HasRustHash(readable)) return PlainRust(readable);
  return readable;
}

}  // namespace heapgauge
