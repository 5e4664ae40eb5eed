#include "agent/record/process_memory.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <cstring>

#include "agent/sys/os.h"
#include "agent/sys/text.h"

namespace heapgauge::agent {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kScanNs = 1'000'000'000;
// Version 1 says "no limit" by a number of about this size.
constexpr uint64_t kNoLimit = uint64_t{1} << 60;
constexpr int kMostLevels = 64;

// Reads decimal digits at *at and moves behind them; false if there are none.
bool TakeNumber(const char** at, uint64_t* number) {
  const char* p = *at;
  if (*p < '0' || *p > '9') return false;
  uint64_t value = 0;
  for (; *p >= '0' && *p <= '9'; ++p) {
    if (value > (UINT64_MAX - 9) / 10) return false;
    value = value * 10 + static_cast<uint64_t>(*p - '0');
  }
  *at = p;
  *number = value;
  return true;
}

// The number behind `key` at the start of a line; 0 if there is none.
uint64_t NumberOf(const char* text, const char* key) {
  const size_t length = strlen(key);
  for (const char* line = text; line != nullptr && *line != '\0';) {
    if (strncmp(line, key, length) == 0) {
      const char* at = line + length;
      while (*at == ' ' || *at == '\t') ++at;
      uint64_t number = 0;
      return TakeNumber(&at, &number) ? number : 0;
    }
    line = strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return 0;
}

// Does a list "a,b,c" of this length hold the word?
bool ListHolds(const char* list, size_t length, const char* word) {
  const size_t word_length = strlen(word);
  for (size_t at = 0; at < length;) {
    size_t end = at;
    while (end < length && list[end] != ',') ++end;
    if (end - at == word_length && memcmp(list + at, word, word_length) == 0) return true;
    at = end + 1;
  }
  return false;
}

// Copies a word that ends at a space; names in mountinfo have \040 for a space and the like.
bool CopyWord(const char* from, char* to, size_t bytes) {
  size_t n = 0;
  while (*from != '\0' && *from != ' ') {
    char c = *from++;
    if (c == '\\' && from[0] >= '0' && from[0] <= '3' && from[1] >= '0' && from[1] <= '7' &&
        from[2] >= '0' && from[2] <= '7') {
      c = static_cast<char>((from[0] - '0') * 64 + (from[1] - '0') * 8 + (from[2] - '0'));
      from += 3;
    }
    if (n + 1 >= bytes) return false;
    to[n++] = c;
  }
  to[n] = '\0';
  return true;
}

const char* NextWord(const char* at) {
  while (*at != '\0' && *at != ' ') ++at;
  while (*at == ' ') ++at;
  return at;
}

}  // namespace

// Looks for the mount of version 1's memory controller, else for that of version 2.
bool ProcessMemoryReader::FindMount() {
  if (searched_mount_) return mount_[0] != '\0';
  searched_mount_ = true;
  path_.Clear();
  path_.Add(proc_).Add("/mountinfo");
  const int fd = os::OpenForReading(path_.c_str());
  if (fd < 0) return false;
  size_t filled = 0;
  bool skip = false;  // the rest of a line that is too long
  for (int rounds = 0; rounds < 4096; ++rounds) {
    const long got = os::Read(fd, text_ + filled, sizeof text_ - 1 - filled);
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
    text_[filled] = '\0';
    char* line = text_;
    while (char* end = strchr(line, '\n')) {
      *end = '\0';
      // id parent device ROOT MOUNT options... - TYPE source SUPER_OPTIONS
      const char* root = NextWord(NextWord(NextWord(line)));
      const char* dash = strstr(root, " - ");
      if (!skip && dash != nullptr) {
        const char* type = dash + 3;
        const char* options = NextWord(NextWord(type));
        const bool v2 = strncmp(type, "cgroup2 ", 8) == 0;
        const bool v1 =
            strncmp(type, "cgroup ", 7) == 0 && ListHolds(options, strlen(options), "memory");
        if (v1 || (v2 && mount_[0] == '\0')) {
          version_1_ = v1;
          if (!CopyWord(root, mount_root_, sizeof mount_root_) ||
              !CopyWord(NextWord(root), mount_, sizeof mount_)) {
            mount_[0] = '\0';
          }
        }
      }
      skip = false;
      line = end + 1;
    }
    filled = strlen(line);
    memmove(text_, line, filled);
    if (filled == sizeof text_ - 1) {
      filled = 0;
      skip = true;
    }
  }
  os::Close(fd);
  return mount_[0] != '\0';
}

// The directory of the process's own group.
bool ProcessMemoryReader::CgroupPath(char* out, size_t bytes) {
  path_.Clear();
  path_.Add(proc_).Add("/cgroup");
  if (os::ReadWhole(path_.c_str(), text_, sizeof text_) <= 0) return false;
  const char* name = nullptr;
  for (char* line = text_; line != nullptr && *line != '\0';) {
    char* end = strchr(line, '\n');
    if (end != nullptr) *end = '\0';
    // number:controllers:path
    const char* list = strchr(line, ':');
    const char* colon = list == nullptr ? nullptr : strchr(list + 1, ':');
    if (colon != nullptr) {
      const auto length = static_cast<size_t>(colon - list - 1);
      if (version_1_ ? ListHolds(list + 1, length, "memory") : length == 0) name = colon + 1;
    }
    line = end == nullptr ? nullptr : end + 1;
  }
  if (name == nullptr || strstr(name, "/..") != nullptr) name = "/";
  // Where only a part of the tree is mounted, names below it are without that part's own name.
  const size_t root_length = strcmp(mount_root_, "/") == 0 ? 0 : strlen(mount_root_);
  const bool below = strncmp(name, mount_root_, root_length) == 0 &&
                     (name[root_length] == '/' || name[root_length] == '\0');
  name = below ? name + root_length : "";
  path_.Clear();
  path_.Add(mount_);
  if (strcmp(name, "/") != 0) path_.Add(name);
  if (path_.cut() || path_.length() >= bytes) return false;
  memcpy(out, path_.c_str(), path_.length() + 1);
  return true;
}

uint64_t ProcessMemoryReader::CgroupNumber(const char* directory, const char* name) {
  path_.Clear();
  path_.Add(directory).Add('/').Add(name);
  char text[64];
  if (path_.cut() || os::ReadWhole(path_.c_str(), text, sizeof text) <= 0) return 0;
  const char* at = text;
  uint64_t number = 0;
  return TakeNumber(&at, &number) ? number : 0;  // "max" is none
}

void ProcessMemoryReader::FindCgroup(uint64_t now_ns) {
  scanned_ns_ = now_ns | 1;
  group_[0] = '\0';
  group_limit_ = 0;
  struct sysinfo info {};
  if (Syscall(SYS_sysinfo, &info) == 0) machine_bytes_ = info.totalram * info.mem_unit;
  char* const directory = directory_;
  if (!FindMount() || !CgroupPath(directory, sizeof directory_)) return;
  uint64_t least_room = UINT64_MAX;
  const size_t mount_length = strlen(mount_);
  for (int level = 0; level < kMostLevels; ++level) {
    const uint64_t limit =
        CgroupNumber(directory, version_1_ ? "memory.limit_in_bytes" : "memory.max");
    if (limit != 0 && limit < kNoLimit) {
      const uint64_t used =
          CgroupNumber(directory, version_1_ ? "memory.usage_in_bytes" : "memory.current");
      const uint64_t room = limit > used ? limit - used : 0;
      if (room < least_room) {
        least_room = room;
        group_limit_ = limit;
        CopyText(group_, directory);
      }
    }
    char* slash = strrchr(directory, '/');
    if (slash == nullptr || static_cast<size_t>(slash - directory) < mount_length) break;
    *slash = '\0';
  }
}

// Pages of files in the group: these go before anybody is killed.
uint64_t ProcessMemoryReader::FilePages() {
  path_.Clear();
  path_.Add(group_).Add("/memory.stat");
  if (path_.cut() || os::ReadWhole(path_.c_str(), text_, sizeof text_) <= 0) return 0;
  if (version_1_) {
    return NumberOf(text_, "total_inactive_file ") + NumberOf(text_, "total_active_file ");
  }
  return NumberOf(text_, "inactive_file ") + NumberOf(text_, "active_file ");
}

void ProcessMemoryReader::LookAtCgroup(uint64_t now_ns, MemoryUse* use) {
  if (scanned_ns_ == 0 || now_ns - scanned_ns_ > kScanNs) FindCgroup(now_ns);
  if (group_[0] == '\0') return;
  uint64_t used = CgroupNumber(group_, version_1_ ? "memory.usage_in_bytes" : "memory.current");
  // The statistics take longer, and matter only near the limit.
  if (used > group_limit_ / 2) {
    const uint64_t files = FilePages();
    used = used > files ? used - files : 0;
  }
  use->used = used;
  use->limit = group_limit_;
}

void ProcessMemoryReader::LookAtAddressSpace(uint64_t size_pages, uint64_t data_pages,
                                             MemoryUse* use) const {
  const struct {
    int resource;
    uint64_t used;
  } kinds[] = {{RLIMIT_AS, size_pages * kPage}, {RLIMIT_DATA, data_pages * kPage}};
  uint64_t least_room = UINT64_MAX;
  for (const auto& kind : kinds) {
    rlimit64 limit{};
    if (Syscall(SYS_prlimit64, 0, kind.resource, nullptr, &limit) < 0) continue;
    if (limit.rlim_cur == RLIM64_INFINITY || limit.rlim_cur == 0) continue;
    const uint64_t room = limit.rlim_cur > kind.used ? limit.rlim_cur - kind.used : 0;
    if (room >= least_room) continue;
    least_room = room;
    use->used = kind.used;
    use->limit = limit.rlim_cur;
  }
}

MemoryFigures ProcessMemoryReader::Look(uint64_t now_ns) {
  if (proc_ == nullptr) proc_ = "/proc/self";
  MemoryFigures figures;
  LookAtCgroup(now_ns, &figures.cgroup);
  path_.Clear();
  path_.Add(proc_).Add("/statm");
  char text[256];
  if (os::ReadWhole(path_.c_str(), text, sizeof text) <= 0) return figures;
  // size resident shared text lib data
  uint64_t pages[6] = {};
  const char* at = text;
  for (uint64_t& number : pages) {
    if (!TakeNumber(&at, &number)) break;
    while (*at == ' ') ++at;
  }
  LookAtAddressSpace(pages[0], pages[5], &figures.address_space);
  figures.machine = {pages[1] * kPage, machine_bytes_};
  return figures;
}

void ProcessMemoryReader::Describe(uint64_t now_ns, wire::ProcessMemory* out) {
  const MemoryFigures figures = Look(now_ns);
  out->resident_bytes = figures.machine.used;
  out->cgroup_bytes = figures.cgroup.used;
  out->cgroup_limit = figures.cgroup.limit;
  out->address_space_bytes = figures.address_space.used;
  out->address_space_limit = figures.address_space.limit;
  path_.Clear();
  path_.Add(proc_).Add("/status");
  if (os::ReadWhole(path_.c_str(), text_, sizeof text_) <= 0) return;
  out->anonymous_bytes = NumberOf(text_, "RssAnon:") * 1024;
  out->file_bytes = NumberOf(text_, "RssFile:") * 1024;
  out->shared_bytes = NumberOf(text_, "RssShmem:") * 1024;
  out->swapped_bytes = NumberOf(text_, "VmSwap:") * 1024;
  if (out->address_space_limit == 0) out->address_space_bytes = NumberOf(text_, "VmSize:") * 1024;
}

}  // namespace heapgauge::agent
