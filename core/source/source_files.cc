#include "core/source/source_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <vector>

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/os/process.h"
#include "core/symbolize/debuginfod.h"

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

namespace {

constexpr size_t kMaxFile = 32 << 20;
constexpr size_t kMaxLine = 64 << 10;
constexpr size_t kMostSearched = 50;

std::string CurrentDirectory() {
  char buffer[PATH_MAX];
  return getcwd(buffer, sizeof(buffer)) == nullptr ? "." : buffer;
}

std::vector<std::string> DirectoriesIn(std::string_view list) {
  std::vector<std::string> parts;
  if (list.empty()) return parts;
  for (const std::string_view part : PiecesOf(list, ':')) parts.emplace_back(part);
  return parts;
}

std::string Joined(const std::string& directory, std::string_view path) {
  return CleanPath(directory + "/" + std::string(path));
}

// Go's words for what the system says: "no such file or directory".
std::string GoError(const std::string& path, int error) {
  std::string text = std::strerror(error);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(text[0]));
  return "open " + path + ": " + text;
}

// The directory above, as Go's filepath.Dir has it: of "." it is ".".
std::string Above(const std::string& directory) {
  const size_t slash = directory.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : CleanPath(directory.substr(0, slash));
}

bool IsRegular(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

}  // namespace

std::optional<std::string> SourceFiles::ReadIfThere(const std::string& path) {
  if (searched_.size() < kMostSearched) searched_.push_back(path);
  if (!IsRegular(path)) return std::nullopt;
  auto text = ReadWholeFile(path, kMaxFile);
  if (!text) return std::nullopt;
  return *std::move(text);
}

SourceFiles::SourceFiles(SourceOptions options)
    : options_(std::move(options)), search_path_given_(!options_.search_path.empty()) {
  if (!search_path_given_) options_.search_path = CurrentDirectory();
}

std::optional<std::string_view> SourceFiles::Line(const std::string& path, int64_t number,
                                                  const std::string& build_id) {
  const File& file = Open(path, build_id);
  if (number < 1 || static_cast<uint64_t>(number) > file.lines.size()) return std::nullopt;
  return file.lines[static_cast<size_t>(number) - 1];
}

const std::string& SourceFiles::ErrorOf(const std::string& path) const {
  static const std::string none;
  const auto at = files_.find(path);
  return at == files_.end() ? none : at->second->error;
}

const std::vector<std::string>& SourceFiles::SearchedFor(const std::string& path) const {
  static const std::vector<std::string> none;
  const auto at = files_.find(path);
  return at == files_.end() ? none : at->second->searched;
}

const SourceFiles::File& SourceFiles::Open(const std::string& path, const std::string& build_id) {
  std::unique_ptr<File>& file = files_[path];
  if (file != nullptr) return *file;
  file = std::make_unique<File>();
  searched_.clear();
  auto text = Read(path, build_id);
  file->searched = std::move(searched_);
  if (!text) {
    file->error = text.error().message;
    return *file;
  }
  file->text = *std::move(text);
  std::string_view rest = file->text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (end >= kMaxLine) break;
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    file->lines.push_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return *file;
}

Result<std::string> SourceFiles::Read(const std::string& path, const std::string& build_id) {
  const std::string trimmed(TrimSourcePath(path, options_.trim_path, options_.search_path));
  auto text = ReadAsPprof(trimmed);
  if (text) return text;
  std::optional<std::string> elsewhere = ReadElsewhere(path, build_id);
  if (elsewhere) return *std::move(elsewhere);
  return text;
}

Result<std::string> SourceFiles::ReadAsPprof(const std::string& path) {
  if (path.starts_with('/')) {
    const int error = access(path.c_str(), R_OK) == 0 ? 0 : errno;
    if (error != 0) searched_.push_back(path);
    if (error != 0) return Fail(ErrorCode::kNotFound, GoError(path, error));
    // A directory can be opened, but there is nothing in it.
    return ReadIfThere(path).value_or("");
  }
  for (std::string directory : DirectoriesIn(options_.search_path)) {
    for (;;) {
      auto text = ReadIfThere(Joined(directory, path));
      if (text) return *std::move(text);
      std::string above = Above(directory);
      if (above == directory) break;
      directory = std::move(above);
    }
  }
  return Fail(ErrorCode::kNotFound,
              "could not find file " + path + " on path " + options_.search_path);
}

std::optional<std::string> SourceFiles::ReadElsewhere(const std::string& path,
                                                      const std::string& build_id) {
  if (search_path_given_) {
    std::string_view rest = path;
    for (size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
      rest.remove_prefix(slash + 1);
      if (rest.empty() || rest.starts_with("../")) continue;
      for (const std::string& directory : DirectoriesIn(options_.search_path)) {
        auto text = ReadIfThere(Joined(directory, rest));
        if (text) return text;
      }
    }
  }
  if (!path.starts_with('/')) return std::nullopt;
  if (options_.pid != 0) {
    auto text = ReadIfThere(ProcessDirectory(options_.pid) + "/root" + path);
    if (text) return text;
  }
  if (options_.debuginfod != nullptr && !build_id.empty()) {
    const std::string fetched = options_.debuginfod->FindSource(build_id, path);
    if (!fetched.empty()) return ReadIfThere(fetched);
  }
  return std::nullopt;
}

namespace {

constexpr int64_t kMargin = 5;

int64_t StartOf(const LineWeight& weight) {
  return weight.start_line != 0 ? weight.start_line : weight.line - kMargin;
}

}  // namespace

void LineSum::Add(const LineWeight& weight) {
  flat = WrapAdd(flat, weight.flat);
  cum = WrapAdd(cum, weight.cum);
  flat_div = WrapAdd(flat_div, weight.flat_div);
  cum_div = WrapAdd(cum_div, weight.cum_div);
}

std::vector<ListedLine> ListLines(const std::string& path, const std::string& build_id,
                                  const std::vector<LineWeight>& weights, SourceFiles* files) {
  int64_t start = StartOf(weights.front());
  int64_t end = weights.front().line + kMargin;
  std::map<int64_t, LineSum> sums;
  for (const LineWeight& weight : weights) {
    start = std::min(start, StartOf(weight));
    end = std::max(end, weight.line + kMargin);
    sums[weight.line].Add(weight);
  }
  std::vector<ListedLine> lines;
  for (int64_t number = std::max<int64_t>(start, 1); number <= end; ++number) {
    const auto text = files->Line(path, number, build_id);
    if (!text) break;
    const auto sum = sums.find(number);
    ListedLine line{number, {}, *text};
    if (sum != sums.end()) line.sum = sum->second;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace heapgauge
