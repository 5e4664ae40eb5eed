#include "core/os/process_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/os/proc_fields.h"
#include "core/os/process.h"

namespace heapgauge {
namespace {

constexpr size_t kMaxStatus = 1 << 20;

}  // namespace

Result<ProcessStatus> ReadProcessStatus(const std::string& directory) {
  HG_ASSIGN(const std::string text, ReadWholeFile(directory + "/status", kMaxStatus));
  ProcessStatus status;
  status.resident = StatusBytes(text, "VmRSS");
  status.peak_resident = StatusBytes(text, "VmHWM");
  status.anonymous = StatusBytes(text, "RssAnon");
  status.file = StatusBytes(text, "RssFile");
  status.shared = StatusBytes(text, "RssShmem");
  status.swapped = StatusBytes(text, "VmSwap");
  status.page_tables = StatusBytes(text, "VmPTE");
  status.address_space = StatusBytes(text, "VmSize");
  status.threads = NumberIn<uint32_t>(StatusField(text, "Threads")).value_or(0);
  if (const auto limits = ReadWholeFile(directory + "/limits", kMaxStatus)) {
    status.address_space_limit = SoftLimit(*limits, "Max address space").value_or(0);
    status.stack_limit = SoftLimit(*limits, "Max stack size").value_or(0);
  }
  return status;
}

std::set<std::pair<uint32_t, uint32_t>> MemoryFileSystems(const std::string& directory) {
  std::set<std::pair<uint32_t, uint32_t>> devices;
  const auto text = ReadWholeFile(directory + "/mountinfo", kMaxStatus);
  if (!text) return devices;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::string_view type = std::string_view(line).substr(dash + 3);
    if (!type.starts_with("tmpfs ") && !type.starts_with("ramfs ") &&
        !type.starts_with("hugetlbfs ")) {
      continue;
    }
    unsigned device_major = 0;
    unsigned device_minor = 0;
    if (std::sscanf(line.c_str(), "%*u %*u %u:%u", &device_major, &device_minor) == 2) {
      devices.emplace(device_major, device_minor);
    }
  }
  return devices;
}

HostMemory ReadHostMemory(const std::string& path) {
  HostMemory host;
  const auto text = ReadWholeFile(path, kMaxStatus);
  if (!text) return host;
  host.total = StatusBytes(*text, "MemTotal");
  host.available = StatusBytes(*text, "MemAvailable");
  host.swap_total = StatusBytes(*text, "SwapTotal");
  host.swap_free = StatusBytes(*text, "SwapFree");
  return host;
}

namespace {

constexpr size_t kMaxText = 1 << 20;
constexpr int kMaxDepth = 64;
// Version 1 writes "no limit" as the largest multiple of a page.
constexpr uint64_t kNoLimit = uint64_t{1} << 60;

struct Names {
  const char* usage;
  const char* limit;
  const char* high;
  const char* swap;
};
constexpr Names kNames1 = {"memory.usage_in_bytes", "memory.limit_in_bytes", nullptr, nullptr};
constexpr Names kNames2 = {"memory.current", "memory.max", "memory.high", "memory.swap.current"};

// 0 for "max", nonsense, and a file that is not there.
uint64_t ReadNumber(const std::string& path) {
  const auto text = ReadWholeFile(path, 64);
  if (!text) return 0;
  std::string_view digits = *text;
  const uint64_t value = TakeNumber<uint64_t>(&digits).value_or(0);
  return value < kNoLimit ? value : 0;
}

// The value of a line "key 123".
uint64_t Keyed(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  std::string name;
  uint64_t value = 0;
  while (lines >> name >> value) {
    if (name == key) return value;
  }
  return 0;
}

bool Exists(const std::string& path) { return ReadWholeFile(path, 1).has_value(); }

// In mountinfo blanks and the like are written as \040.
std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 3)).c_str(), nullptr, 8));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

struct Mount {
  int version = 0;
  std::string group;  // the group that is mounted
  std::string point;
};

std::vector<Mount> FindMounts(const std::string& root) {
  std::vector<Mount> mounts;
  const auto text = ReadWholeFile(root + "/proc/self/mountinfo", kMaxText);
  if (!text) return mounts;
  std::istringstream lines(*text);
  std::string line;
  while (std::getline(lines, line)) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream front(line.substr(0, dash));
    std::istringstream back(line.substr(dash + 3));
    std::string skip;
    Mount mount;
    std::string type;
    std::string options;
    front >> skip >> skip >> skip >> mount.group >> mount.point;
    back >> type >> skip >> options;
    if (type == "cgroup2") {
      mount.version = 2;
    } else if (type == "cgroup" && ("," + options + ",").find(",memory,") != std::string::npos) {
      mount.version = 1;
    } else {
      continue;
    }
    mount.group = Unescape(mount.group);
    mount.point = Unescape(mount.point);
    mounts.push_back(mount);
  }
  return mounts;
}

// The process's group in the memory hierarchy; "" if there is none.
std::string GroupOf(const std::string& root, uint32_t pid, int version) {
  const auto text = ReadWholeFile(root + "/proc/" + std::to_string(pid) + "/cgroup", kMaxText);
  if (!text) return "";
  std::istringstream lines(*text);
  std::string line;
  while (std::getline(lines, line)) {  // "4:memory:/group", "0::/group"
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool fits = version == 2 ? line.compare(0, 2, "0:") == 0 && second == first + 1
                                   : controllers.find(",memory,") != std::string::npos;
    if (fits) return line.substr(second + 1);
  }
  return "";
}

double Pressure(const std::string& text, const char* kind) {
  const size_t at = text.find(kind);
  if (at == std::string::npos) return -1;
  double value = -1;
  return std::sscanf(text.c_str() + at + std::strlen(kind), " avg10=%lf", &value) == 1 ? value : -1;
}

CgroupMemory ReadGroup(const std::string& root, const Mount& mount, const std::string& group) {
  const Names& names = mount.version == 2 ? kNames2 : kNames1;
  CgroupMemory memory;
  memory.version = mount.version;
  memory.path = group;
  // The part of the path that lies below what is mounted. ".." is a group outside our namespace.
  std::string below = group;
  if (mount.group != "/" && below.compare(0, mount.group.size(), mount.group) == 0) {
    below.erase(0, mount.group.size());
  }
  if (below.find("..") != std::string::npos || below == "/") below.clear();
  const std::string base = root + mount.point;
  std::string own;  // the directory of the first group that is there
  std::string tightest;
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const std::string directory = base + below + "/";
    if (Exists(directory + names.usage)) {
      const uint64_t usage = ReadNumber(directory + names.usage);
      if (own.empty()) {
        own = directory;
        memory.usage = usage;
      }
      const uint64_t limit = ReadNumber(directory + names.limit);
      const uint64_t room = limit > usage ? limit - usage : 0;
      if (limit != 0 && (tightest.empty() || room < memory.room())) {
        tightest = directory;
        memory.usage = usage;
        memory.limit = limit;
        memory.limited_path = below.empty() ? "/" : below;
      }
    }
    const size_t slash = below.rfind('/');
    if (slash == std::string::npos) break;
    below.erase(slash);
  }
  const std::string directory = tightest.empty() ? own : tightest;
  if (directory.empty()) return memory;
  if (names.high != nullptr) memory.high = ReadNumber(directory + names.high);
  const auto stat = ReadWholeFile(directory + "memory.stat", kMaxText);
  if (stat) {
    const std::string total = mount.version == 2 ? "" : "total_";
    memory.reclaimable = Keyed(*stat, total + "inactive_file");
    memory.file_pages = memory.reclaimable + Keyed(*stat, total + "active_file");
    if (mount.version == 1) memory.swap = Keyed(*stat, "total_swap");
  }
  if (names.swap != nullptr) memory.swap = ReadNumber(directory + names.swap);
  if (const auto pressure = ReadWholeFile(directory + "memory.pressure", 4096)) {
    memory.pressure_some = Pressure(*pressure, "some");
    memory.pressure_full = Pressure(*pressure, "full");
  }
  const char* events = mount.version == 2 ? "memory.events" : "memory.oom_control";
  if (const auto text = ReadWholeFile(directory + events, 4096)) {
    memory.oom_kills = Keyed(*text, "oom_kill");
  }
  if (memory.pressure_some < 0) {  // the machine's own is better than nothing
    if (const auto pressure = ReadWholeFile(root + "/proc/pressure/memory", 4096)) {
      memory.pressure_some = Pressure(*pressure, "some");
      memory.pressure_full = Pressure(*pressure, "full");
    }
  }
  return memory;
}

}  // namespace

std::optional<CgroupMemory> ReadCgroupMemory(uint32_t pid, const std::string& root) {
  // Where both versions are mounted, memory belongs to one of them: the one that counts.
  static const std::vector<Mount> real_mounts = FindMounts("");
  for (const Mount& mount : root.empty() ? real_mounts : FindMounts(root)) {
    const std::string group = GroupOf(root, pid, mount.version);
    if (group.empty()) continue;
    CgroupMemory memory = ReadGroup(root, mount, group);
    if (memory.usage != 0 || memory.limit != 0) return memory;
  }
  return std::nullopt;
}

namespace {

double Share(uint64_t used, uint64_t limit) {
  return limit == 0 ? 0 : static_cast<double>(used) / static_cast<double>(limit);
}

}  // namespace

std::optional<wire::ProcessMemory> ReadProcessMemory(uint32_t pid) {
  const auto status = ReadProcessStatus(ProcessDirectory(pid));
  if (!status || status->resident == 0) return std::nullopt;  // a zombie has none
  wire::ProcessMemory memory{};
  memory.resident_bytes = status->resident;
  memory.anonymous_bytes = status->anonymous;
  memory.file_bytes = status->file;
  memory.shared_bytes = status->shared;
  memory.swapped_bytes = status->swapped;
  memory.address_space_bytes = status->address_space;
  memory.address_space_limit = status->address_space_limit;
  if (const auto cgroup = ReadCgroupMemory(pid)) {
    memory.cgroup_bytes = cgroup->held();
    memory.cgroup_limit = cgroup->limit;
  }
  return memory;
}

double ShareOfLimit(const wire::ProcessMemory& memory, uint64_t machine_bytes) {
  return std::max(Share(memory.address_space_bytes, memory.address_space_limit),
                  memory.cgroup_limit != 0 ? Share(memory.cgroup_bytes, memory.cgroup_limit)
                                           : Share(memory.resident_bytes, machine_bytes));
}

}  // namespace heapgauge
