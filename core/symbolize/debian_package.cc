#include "core/symbolize/debian_package.h"

#include <filesystem>

#include "core/base/file.h"

namespace heapgauge {
namespace {

constexpr size_t kMaxLists = 20'000;
constexpr size_t kMaxList = 16 << 20;
constexpr size_t kMaxBytes = 64 << 20;  // in all
constexpr size_t kMaxPaths = 16;
constexpr std::string_view kSuffix = ".list";

// The file has this line. Lists start with "/.", which nobody asks for.
bool HasLine(const std::string& text, const std::string& line) {
  for (size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) {
    const size_t end = at + line.size();
    if (at > 0 && text[at - 1] == '\n' && (end == text.size() || text[end] == '\n')) return true;
  }
  return false;
}

bool IsPackageName(std::string_view name) {
  return name.size() >= 2 && name.size() <= 128 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") ==
             std::string_view::npos;
}

// Since /lib is a link to /usr/lib, files are known by either path.
std::string OtherPath(const std::string& path) {
  if (path.starts_with("/usr/")) return path.substr(4);
  return "/usr" + path;
}

}  // namespace

std::vector<std::string> DebugPackagesOf(const std::vector<std::string>& paths,
                                         const std::string& info_dir) {
  std::vector<std::string> packages(paths.size());
  size_t open = 0;
  for (const std::string& path : paths) open += path.starts_with("/") && path.size() > 1;
  if (open == 0 || paths.size() > kMaxPaths) return packages;
  size_t lists = 0;
  size_t bytes = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it(info_dir, error), end;
       !error && it != end && open != 0 && lists < kMaxLists && bytes < kMaxBytes;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.ends_with(kSuffix)) continue;
    ++lists;
    const auto text = ReadWholeFile(it->path().string(), kMaxList);
    if (!text) continue;
    bytes += text->size();
    name.resize(std::min(name.size() - kSuffix.size(), name.find(':')));
    if (!IsPackageName(name)) continue;
    for (size_t i = 0; i < paths.size(); ++i) {
      if (!packages[i].empty() || !paths[i].starts_with("/") || paths[i].size() < 2) continue;
      if (!HasLine(*text, paths[i]) && !HasLine(*text, OtherPath(paths[i]))) continue;
      // glibc's debug files are in the main archive, under the older kind of name.
      packages[i] = name == "libc6" ? "libc6-dbg" : name + "-dbgsym";
      --open;
    }
  }
  return packages;
}

}  // namespace heapgauge
