#include "core/source/source_path.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/text.h"

namespace heapgauge {
namespace {

// Calls `use` for each part of a list with colons, until it returns true.
template <typename Use>
bool AnyOfList(std::string_view list, const Use& use) {
  const std::vector<std::string_view> parts = PiecesOf(list, ':');
  return !list.empty() && std::any_of(parts.begin(), parts.end(), use);
}

}  // namespace

std::string CleanPath(std::string_view path) {
  const bool rooted = path.starts_with('/');
  std::vector<std::string_view> parts;
  size_t up = 0;  // leading ".."
  while (!path.empty()) {
    const std::string_view part = TakeUntil(&path, '/');
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (parts.size() > up) {
        parts.pop_back();
      } else if (!rooted) {
        parts.push_back(part);
        ++up;
      }
      continue;
    }
    parts.push_back(part);
  }
  std::string clean = rooted ? "/" : "";
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) clean += '/';
    clean += parts[i];
  }
  return clean.empty() ? "." : clean;
}

std::string_view TrimSourcePath(std::string_view path, std::string_view trim,
                                std::string_view search) {
  std::string_view result = path;
  if (trim.empty()) {
    const bool found = AnyOfList(search, [&](std::string_view directory) {
      const std::string want = "/" + std::string(LastPart(directory)) + "/";
      const size_t at = path.find(want);
      if (at != std::string_view::npos) result = path.substr(at + want.size());
      return at != std::string_view::npos;
    });
    if (found) return result;
  }
  const auto cut = [&](std::string_view prefix) {
    std::string with_slash(prefix);
    if (!with_slash.ends_with('/')) with_slash += '/';
    if (!path.starts_with(with_slash)) return false;
    result = path.substr(with_slash.size());
    return true;
  };
  if (!AnyOfList(trim, cut) && !cut("/proc/self/cwd/./")) cut("/proc/self/cwd/");
  return result;
}

std::string_view LastPart(std::string_view path) {
  if (path.empty()) return ".";
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == "/") return path;
  return path.substr(path.rfind('/') + 1);
}

namespace {

// In the order of bytes.
constexpr std::array<std::string_view, 90> kEnds = {
    "C",   "CPP", "F",   "F90",  "H",   "S",   "adb", "ads",   "asm",   "c",    "c++", "cc",
    "clj", "cp",  "cpp", "cppm", "cr",  "cs",  "cu",  "cuh",   "cxx",   "cxxm", "d",   "dart",
    "def", "di",  "erl", "ex",   "exs", "f",   "f03", "f08",   "f90",   "f95",  "for", "fs",
    "ftn", "gen", "go",  "h",    "h++", "hh",  "hip", "hpp",   "hrl",   "hs",   "hxx", "i",
    "ii",  "inc", "inl", "ino",  "ipp", "ixx", "jai", "java",  "jl",    "js",   "kt",  "l",
    "ll",  "lua", "m",   "ml",   "mli", "mm",  "mod", "mpp",   "nim",   "odin", "pas", "pl",
    "pm",  "pp",  "py",  "pyx",  "rb",  "rs",  "s",   "scala", "swift", "sx",   "tcc", "tpp",
    "ts",  "txx", "v",   "vala", "y",   "zig"};
static_assert(std::is_sorted(kEnds.begin(), kEnds.end()));

}  // namespace

bool IsSourceName(std::string_view path) {
  const std::string_view name = LastPart(path);
  const size_t dot = name.rfind('.');
  if (dot == 0) return false;  // of those that are hidden
  if (dot != std::string_view::npos) {
    return std::binary_search(kEnds.begin(), kEnds.end(), name.substr(dot + 1));
  }
  return path.starts_with("include/") || path.find("/include/") != std::string_view::npos;
}

}  // namespace heapgauge
