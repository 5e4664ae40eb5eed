#include "core/os/process.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <numeric>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/os/memory_maps.h"
#include "core/os/proc_fields.h"

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
  const auto maps = ReadSmaps(ProcessDirectory(pid) + "/maps");
  if (!maps || maps->mappings.empty()) return std::nullopt;
  bool found = false;
  for (const MappingUsage& m : maps->mappings) {
    // Overlay file systems show another device number here than stat does; the name decides then.
    const dev_t device = makedev(m.device_major, m.device_minor);
    const auto same =
        std::equal_range(files.begin(), files.end(), FileIdentity{0, m.inode, {}}, ByInode());
    for (auto file = same.first; file != same.second; ++file) {
      if (device != file->device && m.name.find("/" + file->name) == std::string::npos) continue;
      found = true;
      if (!visit(*file)) return found;
    }
  }
  return found;
}

// REQUIRES: the files are sorted by their inodes.
std::optional<bool> MapsOneOf(uint32_t pid, const std::vector<FileIdentity>& files) {
  return VisitMapped(pid, files, [](const FileIdentity&) { return false; });
}

// Of a process or thread; without its number.
std::optional<ProcessInfo> ReadInfo(const std::string& directory) {
  constexpr int kParent = 4;
  constexpr int kStartTime = 22;
  const std::string stat = ReadStat(directory);
  const int64_t start = StatField(stat, kStartTime);
  if (start < 0) return std::nullopt;
  ProcessInfo info;
  info.state = StatState(stat);
  info.parent = static_cast<uint32_t>(StatField(stat, kParent));
  info.start_ticks = static_cast<uint64_t>(start);
  return info;
}

}  // namespace

std::optional<ProcessInfo> ReadProcess(uint32_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  auto info = ReadInfo(directory);
  if (!info) return std::nullopt;
  info->pid = info->thread = pid;
  if (!info->ended()) return info;
  for (const uint32_t id : NumbersIn(directory + "/task").value_or(std::vector<uint32_t>())) {
    const auto thread = ReadInfo(directory + "/task/" + std::to_string(id));
    if (!thread || thread->ended()) continue;
    info->thread = id;
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

std::string ProcessExecutable(uint32_t pid) { return LinkTarget(ProcessDirectory(pid) + "/exe"); }

std::optional<FileIdentity> IdentityOf(const std::string& path) {
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return std::nullopt;
  return FileIdentity{st.st_dev, st.st_ino, std::string(BaseName(path))};
}

uint32_t InnermostPidOf(const std::string& directory) {
  return InnermostPid(ReadStatus(directory));
}

uint64_t PidNamespaceOf(uint32_t pid) {
  struct stat st {};
  return stat((ProcessDirectory(pid) + "/ns/pid").c_str(), &st) == 0 ? st.st_ino : 0;
}

uint64_t ProcNamespace() {
  // It may be that of another namespace, as after `unshare -p` without --mount-proc; the first
  // process is within.
  const bool own = std::to_string(getpid()) == LinkTarget("/proc/self");
  return PidNamespaceOf(own ? static_cast<uint32_t>(getpid()) : 1);
}

bool ProcShowsAll() {
  constexpr uint64_t kFirstNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO of the kernel
  return ProcNamespace() == kFirstNamespace && !ReadStatus("/proc/1").empty();
}

std::vector<uint32_t> ProcessesSince(uint64_t since_ticks) {
  std::vector<uint32_t> found;
  const auto self = static_cast<uint32_t>(getpid());
  for (const uint32_t pid : NumbersIn("/proc").value_or(std::vector<uint32_t>())) {
    if (pid == self) continue;
    const auto process = ReadProcess(pid);
    if (!process || process->ended() || process->start_ticks < since_ticks) continue;
    found.push_back(pid);
  }
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
  const auto maps = ReadSmaps(ProcessDirectory(pid) + "/maps");
  if (!maps || maps->mappings.empty()) return std::nullopt;
  std::vector<std::string> paths;
  for (const MappingUsage& m : maps->mappings) {
    if (!m.shared || !m.name.starts_with('/')) continue;
    if (paths.empty() || paths.back() != m.name) paths.push_back(m.name);
  }
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
