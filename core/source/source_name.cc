#include "core/source/source_name.h"

#include <algorithm>
#include <array>

#include "core/source/source_path.h"

namespace heapgauge {
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
