#include "core/os/process.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <numeric>

#include "core/base/file.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

uint64_t Now(clockid_t clock) {
  timespec ts{};
  clock_gettime(clock, &ts);
  return static_cast<uint64_t>(ts.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(ts.tv_nsec);
}

struct ByInode {
  bool operator()(const FileIdentity& a, const FileIdentity& b) const { return a.inode < b.inode; }
};

// Calls `visit` with each of the files that the process maps, until that returns false; with a file
// that is mapped in several places, several times. Nothing if it cannot be told.
// REQUIRES: the files are sorted by their inodes.
template <typename Visit>
std::optional<bool> VisitMapped(uint32_t pid, const std::vector<FileIdentity>& files,
                                const Visit& visit) {
  FILE* maps = std::fopen((ProcessDirectory(pid) + "/maps").c_str(), "re");
  if (maps == nullptr) return std::nullopt;
  bool go_on = true;
  bool found = false;
  bool any = false;
  char* line = nullptr;
  size_t capacity = 0;
  while (go_on && getline(&line, &capacity, maps) > 0) {
    unsigned major_number = 0;
    unsigned minor_number = 0;
    unsigned long long inode = 0;
    if (std::sscanf(line, "%*x-%*x %*s %*x %x:%x %llu", &major_number, &minor_number, &inode) !=
        3) {
      continue;
    }
    any = true;
    // Overlay file systems show another device number here than stat does; the name decides then.
    const dev_t device = makedev(major_number, minor_number);
    const auto same =
        std::equal_range(files.begin(), files.end(), FileIdentity{0, inode, {}}, ByInode());
    for (auto file = same.first; go_on && file != same.second; ++file) {
      if (device != file->device && std::strstr(line, ("/" + file->name).c_str()) == nullptr) {
        continue;
      }
      found = true;
      go_on = visit(*file);
    }
  }
  std::free(line);
  std::fclose(maps);
  if (!any) return std::nullopt;
  return found;
}

// REQUIRES: the files are sorted by their inodes.
std::optional<bool> MapsOneOf(uint32_t pid, const std::vector<FileIdentity>& files) {
  return VisitMapped(pid, files, [](const FileIdentity&) { return false; });
}

// Of a process or thread; without its number.
std::optional<ProcessInfo> ReadStat(const std::string& directory) {
  const auto text = ReadWholeFile(directory + "/stat", 4096);
  if (!text) return std::nullopt;
  // The command name is in brackets and may itself hold brackets and spaces: count from the last
  // one.
  const size_t close = text->rfind(')');
  if (close == std::string::npos) return std::nullopt;
  ProcessInfo info;
  unsigned parent = 0;
  unsigned long long start = 0;
  const int fields = std::sscanf(text->c_str() + close + 1,
                                 " %c %u %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                                 "%*d %*d %*d %llu",
                                 &info.state, &parent, &start);
  if (fields != 3) return std::nullopt;
  info.parent = parent;
  info.start_ticks = start;
  return info;
}

}  // namespace

std::optional<ProcessInfo> ReadProcess(uint32_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  auto info = ReadStat(directory);
  if (!info) return std::nullopt;
  info->pid = info->thread = pid;
  if (!info->ended()) return info;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir((directory + "/task").c_str()), closedir);
  if (tasks == nullptr) return info;
  while (const dirent* entry = readdir(tasks.get())) {
    if (entry->d_name[0] == '.') continue;
    const auto thread = ReadStat(directory + "/task/" + entry->d_name);
    if (!thread || thread->ended()) continue;
    info->thread = static_cast<uint32_t>(std::strtoul(entry->d_name, nullptr, 10));
    info->state = thread->state;
    break;
  }
  return info;
}

std::string ProcessDirectory(uint32_t pid) {
  const auto info = ReadProcess(pid);
  return "/proc/" + std::to_string(info ? info->thread : pid);
}

std::optional<uint64_t> ResidentBytes(uint32_t pid) {
  const auto text = ReadWholeFile(ProcessDirectory(pid) + "/statm", 256);
  unsigned long long pages = 0;
  if (!text || std::sscanf(text->c_str(), "%*u %llu", &pages) != 1) return std::nullopt;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

std::string TaskName(const std::string& directory) {
  std::string name = ReadWholeFile(directory + "/comm", 64).value_or("");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::string ProcessExecutable(uint32_t pid) {
  std::array<char, 4096> buffer{};
  const ssize_t n =
      readlink((ProcessDirectory(pid) + "/exe").c_str(), buffer.data(), buffer.size());
  return n > 0 ? std::string(buffer.data(), static_cast<size_t>(n)) : std::string();
}

std::optional<FileIdentity> IdentityOf(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return std::nullopt;
  return FileIdentity{st.st_dev, st.st_ino, std::string(BaseName(path))};
}

uint64_t PidNamespaceOf(uint32_t pid) {
  struct stat st {};
  return stat((ProcessDirectory(pid) + "/ns/pid").c_str(), &st) == 0 ? st.st_ino : 0;
}

uint64_t ProcNamespace() {
  // It may be that of another namespace, as after `unshare -p` without --mount-proc; the first
  // process is within.
  std::array<char, 32> number{};
  const ssize_t n = readlink("/proc/self", number.data(), number.size() - 1);
  const bool own = n > 0 && std::to_string(getpid()) == number.data();
  return PidNamespaceOf(own ? static_cast<uint32_t>(getpid()) : 1);
}

bool ProcShowsAll() {
  constexpr uint64_t kFirstNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO of the kernel
  return ProcNamespace() == kFirstNamespace && ReadWholeFile("/proc/1/status", 16384).has_value();
}

std::vector<uint32_t> ProcessesSince(uint64_t since_ticks) {
  std::vector<uint32_t> found;
  DIR* const processes = opendir("/proc");
  if (processes == nullptr) return found;
  while (const dirent* entry = readdir(processes)) {
    char* end = nullptr;
    const unsigned long pid = std::strtoul(entry->d_name, &end, 10);
    if (pid == 0 || *end != 0 || pid == static_cast<unsigned long>(getpid())) continue;
    const auto process = ReadProcess(static_cast<uint32_t>(pid));
    if (!process || process->ended() || process->start_ticks < since_ticks) continue;
    found.push_back(static_cast<uint32_t>(pid));
  }
  closedir(processes);
  return found;
}

std::vector<uint32_t> ProcessesMapping(std::vector<FileIdentity> files, uint64_t since_ticks) {
  if (files.empty()) return {};
  std::sort(files.begin(), files.end(), ByInode());
  std::vector<uint32_t> found = ProcessesSince(since_ticks);
  const auto maps_none = [&](uint32_t pid) { return !MapsOneOf(pid, files).value_or(false); };
  found.erase(std::remove_if(found.begin(), found.end(), maps_none), found.end());
  return found;
}

std::vector<bool> MappedBySome(const std::vector<FileIdentity>& files) {
  std::vector<bool> mapped(files.size(), false);
  if (files.empty()) return mapped;
  std::vector<size_t> order(files.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return ByInode()(files[a], files[b]); });
  std::vector<FileIdentity> sorted;
  sorted.reserve(files.size());
  for (const size_t i : order) sorted.push_back(files[i]);
  for (const uint32_t pid : ProcessesSince(0)) {
    VisitMapped(pid, sorted, [&](const FileIdentity& file) {
      mapped[order[static_cast<size_t>(&file - sorted.data())]] = true;
      return true;
    });
  }
  return mapped;
}

std::optional<bool> ProcessMapsFile(uint32_t pid, const std::string& path) {
  const auto file = IdentityOf(path);
  if (!file) return std::nullopt;
  return MapsOneOf(pid, {*file});
}

std::optional<std::vector<std::string>> SharedMappings(uint32_t pid) {
  FILE* maps = std::fopen((ProcessDirectory(pid) + "/maps").c_str(), "re");
  if (maps == nullptr) return std::nullopt;
  std::vector<std::string> paths;
  bool any = false;
  char* line = nullptr;
  size_t capacity = 0;
  while (getline(&line, &capacity, maps) > 0) {
    char rights[8] = "";
    int path_at = 0;
    if (std::sscanf(line, "%*x-%*x %7s %*x %*x:%*x %*u %n", rights, &path_at) != 1) continue;
    any = true;
    if (rights[3] != 's' || path_at == 0 || line[path_at] != '/') continue;
    std::string path = line + path_at;
    if (path.back() == '\n') path.pop_back();
    if (paths.empty() || paths.back() != path) paths.push_back(std::move(path));
  }
  std::free(line);
  std::fclose(maps);
  if (!any) return std::nullopt;
  return paths;
}

bool IsDescendant(uint32_t pid, uint32_t ancestor) {
  for (int depth = 0; depth < 64 && pid > 1; ++depth) {
    if (pid == ancestor) return true;
    const auto info = ReadProcess(pid);
    if (!info) return false;
    pid = info->parent;
  }
  return false;
}

uint64_t MonotonicNow() { return Now(CLOCK_MONOTONIC); }
uint64_t RealtimeNow() { return Now(CLOCK_REALTIME); }

}  // namespace heapgauge
