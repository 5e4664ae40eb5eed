#include "core/gauge/gauge_directory.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

constexpr size_t kMostShared = 64;

bool IsSameFile(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// To open a device may do something.
bool IsGauge(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && ReadOwner(path).has_value();
}

}  // namespace

std::string RootOf(uint32_t pid) {
  const std::string directory = ProcessDirectory(pid);
  const std::string mounts = LinkTarget(directory + "/ns/mnt");
  const bool elsewhere = !mounts.empty() && mounts != LinkTarget("/proc/self/ns/mnt");
  std::string root = directory + "/root";
  struct stat st {};
  if (stat((root + "/").c_str(), &st) != 0) return "";
  return elsewhere || !IsSameFile(root + "/", "/") ? root : "";
}

std::optional<GaugeInMemory> GaugeInMemoryAt(uint32_t pid, const std::string& root,
                                             const std::string& path) {
  constexpr std::string_view kDeleted = " (deleted)";
  GaugeInMemory gauge;
  gauge.path_inside = path;
  if (path.size() > kDeleted.size() && std::string_view(path).ends_with(kDeleted)) {
    gauge.deleted = true;
    gauge.path_inside.resize(path.size() - kDeleted.size());
  }
  gauge.root = root;
  // Behind a chroot the kernel names files as seen from outside of it, and the file may be there.
  const std::string outer = LinkTarget(ProcessDirectory(pid) + "/root");
  if (outer.size() > 1) {
    if (gauge.path_inside.starts_with(outer + "/")) {
      gauge.path_inside = gauge.path_inside.substr(outer.size());
    } else {
      gauge.root.clear();
      gauge.outside = true;
    }
  }
  gauge.path = gauge.root + gauge.path_inside;
  const bool is_gauge =
      gauge.deleted ? IsGaugeFileName(BaseName(gauge.path_inside)) : IsGauge(gauge.path);
  if (!is_gauge) return std::nullopt;
  return gauge;
}

std::vector<GaugeInMemory> GaugesInMemoryOf(uint32_t pid) {
  std::vector<GaugeInMemory> gauges;
  auto paths = SharedMappings(pid);
  if (!paths || paths->empty()) return gauges;
  if (paths->size() > kMostShared) paths->resize(kMostShared);
  const std::string root = RootOf(pid);
  for (const std::string& path : *paths) {
    auto gauge = GaugeInMemoryAt(pid, root, path);
    if (gauge) gauges.push_back(*std::move(gauge));
  }
  return gauges;
}

OwnGauge OwnAmong(const std::vector<GaugeInMemory>& gauges, uint32_t pid) {
  OwnGauge result;
  if (gauges.empty()) return result;
  const uint32_t inner = InnermostPidOf("/proc/" + std::to_string(pid));
  uint64_t newest = 0;
  for (const GaugeInMemory& gauge : gauges) {
    if (gauge.deleted) continue;
    const auto owner = ReadOwner(gauge.path);
    if (!owner) continue;
    if (owner->pid != pid && owner->pid != inner) {
      result.parent = *owner;
    } else if (!result.own || owner->start_realtime_ns >= newest) {
      result.own = gauge;
      newest = owner->start_realtime_ns;
    }
  }
  return result;
}

std::string OwnGaugePath(uint32_t pid) {
  const OwnGauge found = OwnAmong(GaugesInMemoryOf(pid), pid);
  if (!found.own) return "";
  return IsSameFile(found.own->path_inside, found.own->path) ? found.own->path_inside
                                                             : found.own->path;
}

bool IsGaugeFileName(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits < name.size() && digits > 0 && name[digits - 1] == '.')
    name = name.substr(0, digits - 1);
  return name.size() > 3 && name.substr(name.size() - 3) == ".hg";
}

namespace {

bool IsDirectory(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

// Names of the entries of `directory` that begin with `prefix`.
std::vector<std::string> Entries(const std::string& directory, const std::string& prefix) {
  std::vector<std::string> names;
  DIR* dir = opendir(directory.c_str());
  if (dir == nullptr) return names;
  while (const dirent* entry = readdir(dir)) {
    if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) == 0) {
      names.emplace_back(entry->d_name);
    }
  }
  closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

// `dir` of the agent's settings file; "" if that says nothing.
std::string SettingsDirectory() {
  constexpr size_t kMostBytes = 16 << 10;
  const char* named = std::getenv("HEAPGAUGE_CONFIG");
  const std::string path = named != nullptr ? named : "/etc/heapgauge.conf";
  if (path.empty()) return "";
  const auto text = ReadWholeFile(path, kMostBytes);
  if (!text) return "";
  std::string_view rest = *text;
  while (!rest.empty()) {
    constexpr std::string_view kBlank = " \t\r";  // as the agent has it
    const std::string_view line = TakeUntil(&rest, '\n');
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || Trim(line.substr(0, equals), kBlank) != "dir") continue;
    return std::string(Trim(line.substr(equals + 1), kBlank));
  }
  return "";
}

// True if the process that made the owner's file made this one too, later.
bool IsLaterFile(const std::string& path, const GaugeOwner& owner) {
  const auto other = ReadOwner(path);
  return other && !other->is_copy && other->pid == owner.pid &&
         other->process_start_ticks == owner.process_start_ticks &&
         other->start_realtime_ns > owner.start_realtime_ns;
}

// FILE of FILE.N, which was moved out of the way of a later program (reliability.md); else "".
std::string NameBeforeMove(const std::string& path) {
  const size_t digits = path.find_last_not_of("0123456789") + 1;
  if (digits == path.size() || digits < 2 || path[digits - 1] != '.') return "";
  return path.substr(0, digits - 1);
}

bool HasNewerFile(const GaugeOwner& owner) {
  const std::string before = NameBeforeMove(owner.path);
  if (!before.empty() && IsLaterFile(before, owner)) return true;
  const size_t slash = owner.path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : owner.path.substr(0, slash);
  const auto paths = ListGaugeFiles(directory);
  if (!paths) return false;
  const std::string pid = "." + std::to_string(owner.pid) + ".";
  return std::any_of(paths->begin(), paths->end(), [&](const std::string& path) {
    return path.find(pid) != std::string::npos && IsLaterFile(path, owner);
  });
}

// A program without the agent in it. Where a copy of its gauge file was made by other means the
// process still maps the file itself, under its name or without one.
bool MapsNoGauge(uint32_t pid) {
  const auto paths = SharedMappings(pid);
  if (!paths) return false;
  return std::none_of(paths->begin(), paths->end(),
                      [](std::string_view path) {
                        constexpr std::string_view kDeleted = " (deleted)";
                        if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
                        return IsGaugeFileName(BaseName(path)) ||
                               ReadOwner(std::string(path)).has_value();
                      }) &&
         GaugesInMemoryOf(pid).empty();
}

}  // namespace

std::vector<std::string> GaugeDirectories() {
  std::vector<std::string> directories;
  const auto add = [&](const std::string& path) {
    if (IsDirectory(path) &&
        std::find(directories.begin(), directories.end(), path) == directories.end()) {
      directories.push_back(path);
    }
  };
  if (const char* dir = std::getenv("HEAPGAUGE_DIR"); dir != nullptr && *dir != 0) add(dir);
  if (const std::string dir = SettingsDirectory(); !dir.empty()) add(dir);
  if (const char* dir = std::getenv("XDG_RUNTIME_DIR"); dir != nullptr && *dir != 0) {
    add(std::string(dir) + "/heapgauge");
  }
  const std::string uid = std::to_string(getuid());
  add("/dev/shm/heapgauge-" + uid);
  add("/tmp/heapgauge-" + uid);
  if (getuid() == 0) {
    for (const std::string& user : Entries("/run/user", "")) {
      if (user[0] != '.') add("/run/user/" + user + "/heapgauge");
    }
    for (const std::string root : {"/dev/shm", "/tmp"}) {
      constexpr std::string_view kPrefix = "heapgauge-";
      for (const std::string& name : Entries(root, std::string(kPrefix))) {
        // The agent's are called by the number of their user.
        const bool by_number =
            name.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
        if (by_number && name.size() > kPrefix.size()) add(root + "/" + name);
      }
    }
  }
  return directories;
}

Result<std::vector<std::string>> ListGaugeFiles(const std::string& directory) {
  DIR* dir = opendir(directory.c_str());
  if (dir == nullptr) {
    return tl::unexpected<Error>(SystemError("cannot list '" + Printable(directory) + "'", errno));
  }
  std::vector<std::string> paths;
  while (const dirent* entry = readdir(dir)) {
    if (IsGaugeFileName(entry->d_name)) paths.push_back(directory + "/" + entry->d_name);
  }
  closedir(dir);
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool WasReplaced(const GaugeOwner& owner) {
  if (owner.process_start_ticks == 0) return false;
  if (HasNewerFile(owner)) return true;
  const uint32_t pid = RunningAs(owner);
  return pid != 0 && ProcessMapsFile(pid, owner.path) == false && MapsNoGauge(pid);
}

Result<std::string> FindGaugeOf(uint32_t pid) {
  if (std::string mapped = OwnGaugePath(pid); !mapped.empty()) return mapped;
  // Where its mappings may not be read: what it is called in a namespace of its own.
  const uint32_t inner = InnermostPidOf("/proc/" + std::to_string(pid));
  std::string best;
  uint64_t best_start = 0;
  bool best_runs = false;
  std::string searched;
  for (const std::string& directory : GaugeDirectories()) {
    searched += (searched.empty() ? "" : ", ") + Printable(directory);
    const auto paths = ListGaugeFiles(directory);
    if (!paths) continue;
    for (const std::string& path : *paths) {
      const auto owner = ReadOwner(path);
      if (!owner || owner->is_copy || (owner->pid != pid && owner->pid != inner)) continue;
      const uint32_t running_as = RunningAs(*owner);
      if (running_as != pid && (running_as != 0 || owner->pid != pid)) continue;
      const bool runs = running_as != 0;
      const bool better = best.empty() || (runs && !best_runs) ||
                          (runs == best_runs && owner->start_realtime_ns > best_start);
      if (!better) continue;
      best = path;
      best_start = owner->start_realtime_ns;
      best_runs = runs;
    }
  }
  if (!best.empty()) return best;
  searched = searched.empty() ? "there is no gauge directory" : "looked in " + searched;
  if (ReadProcess(pid)) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("there is no gauge file of process {} ({}); heapgauge doctor {} "
                            "tells why",
                            pid, searched, pid));
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("there is no process {} and no gauge file of it ({}); "
                          "heapgauge ps lists what there is",
                          pid, searched));
}

}  // namespace heapgauge
