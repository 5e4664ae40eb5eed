// The libraries that LD_PRELOAD names: would the dynamic linker load them for this user, and do
// they define malloc?

#include <elf.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/doctor/executable.h"
#include "core/doctor/process.h"

namespace heapgauge {
namespace {

// Whether the mode gives the user this right (4 to read, 1 to pass). Groups of others are not
// looked into: what any group may do counts as allowed.
bool Allows(const struct stat& st, uint32_t uid, uint32_t right) {
  if (uid == 0) return true;
  if (st.st_uid == uid) return (st.st_mode & right << 6) != 0;
  return (st.st_mode & (right << 3 | right)) != 0;
}

// Why `uid` cannot read the file; "" if it can. `root` is not part of what is checked.
std::string WhyNotReadable(const std::string& path, size_t root_length, uint32_t uid) {
  struct stat st {};
  for (size_t at = path.find('/', root_length + 1); at != std::string::npos;
       at = path.find('/', at + 1)) {
    const std::string directory = path.substr(0, at);
    if (stat(directory.c_str(), &st) == 0 && !Allows(st, uid, 1)) {
      return "user " + std::to_string(uid) + " may not enter " + directory.substr(root_length);
    }
  }
  if (stat(path.c_str(), &st) != 0) return std::strerror(errno);
  if (!Allows(st, uid, 4)) return "user " + std::to_string(uid) + " may not read it";
  struct statvfs fs {};
  if (statvfs(path.c_str(), &fs) == 0 && (fs.f_flag & ST_NOEXEC) != 0) {
    return "its file system is mounted noexec";
  }
  return "";
}

std::string WhyNoLibrary(const std::string& path) {
  const auto head = ReadWholeFile(path, 20);
  if (!head) return head.error().message;
  if (head->size() < 20 || head->compare(0, SELFMAG, ELFMAG) != 0) {
    return "it is not a shared library";
  }
  if ((*head)[EI_CLASS] != ELFCLASS64 || (*head)[18] != EM_X86_64) {
    return "it is a library for another architecture";
  }
  return "";
}

// A name without a slash is searched for by the dynamic linker.
std::string Located(const std::string& name, const std::string& root) {
  if (name.find('/') != std::string::npos) return root + name;
  for (const char* directory : {"/lib/x86_64-linux-gnu/", "/usr/lib/x86_64-linux-gnu/",
                                "/usr/local/lib/", "/usr/lib64/", "/usr/lib/"}) {
    std::string path = root + directory + name;
    if (access(path.c_str(), F_OK) == 0) return path;
  }
  return root + "/usr/lib/" + name;
}

}  // namespace

std::vector<PreloadEntry> ReadPreload(const std::string& list, const std::string& root,
                                      uint32_t uid) {
  constexpr size_t kMaxEntries = 64;
  std::vector<PreloadEntry> entries;
  for (size_t at = 0; at < list.size() && entries.size() < kMaxEntries;) {
    const size_t end = std::min(list.find_first_of(": ", at), list.size());
    PreloadEntry entry;
    entry.name = list.substr(at, end - at);
    at = end + 1;
    if (entry.name.empty()) continue;
    entry.is_agent = BaseName(entry.name).substr(0, 15) == "libheapgauge.so";
    const std::string path = Located(entry.name, root);
    entry.problem = WhyNotReadable(path, root.size(), uid);
    if (entry.problem.empty()) entry.problem = WhyNoLibrary(path);
    if (entry.problem.empty()) {
      const auto defined = DefinedSymbols(path);
      entry.defines_malloc = defined.count("malloc") != 0;
      entry.allocator = AllocatorOf(defined);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace heapgauge
