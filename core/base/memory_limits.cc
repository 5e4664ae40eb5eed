#include "core/base/memory_limits.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/file.h"

namespace heapgauge {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 60;
constexpr size_t kMostText = 1 << 20;

uint64_t NumberIn(const std::string& path) {
  const auto text = ReadWholeFile(path, 64);
  return text ? std::strtoull(text->c_str(), nullptr, 10) : 0;  // "max" is 0
}

// The number behind a key at the start of a line.
uint64_t NumberOf(const std::string& text, const std::string& key) {
  const size_t at = text.compare(0, key.size(), key) == 0 ? 0 : text.find("\n" + key);
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + key.size() + (at == 0 ? 0 : 1), nullptr, 10);
}

bool ListHolds(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

struct Hierarchy {
  int version = 0;  // 0: none
  std::string mount;
  std::string root;
};

// Where memory is accounted for; asked for once.
Hierarchy FindHierarchy() {
  Hierarchy found;
  const auto text = ReadWholeFile("/proc/self/mountinfo", kMostText);
  std::istringstream lines(text ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line.substr(0, dash));
    std::istringstream right(line.substr(dash + 3));
    std::string skip, root, mount, type, source, options;
    left >> skip >> skip >> skip >> root >> mount;
    right >> type >> source >> options;
    const bool v1 = type == "cgroup" && ListHolds(options, "memory");
    if (v1 || (type == "cgroup2" && found.version == 0)) found = {v1 ? 1 : 2, mount, root};
  }
  return found;
}

std::string GroupDirectory(const Hierarchy& hierarchy, uint32_t pid) {
  const auto text = ReadWholeFile("/proc/" + std::to_string(pid) + "/cgroup", 65536);
  std::istringstream lines(text ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    const size_t one = line.find(':');
    const size_t two = one == std::string::npos ? one : line.find(':', one + 1);
    if (two == std::string::npos) continue;
    const std::string controllers = line.substr(one + 1, two - one - 1);
    if (hierarchy.version == 1 ? !ListHolds(controllers, "memory") : !controllers.empty()) continue;
    std::string name = line.substr(two + 1);
    if (name.find("/..") != std::string::npos) return hierarchy.mount;
    if (hierarchy.root != "/") {
      if (name.compare(0, hierarchy.root.size(), hierarchy.root) != 0) return hierarchy.mount;
      name = name.substr(hierarchy.root.size());
    }
    return name == "/" ? hierarchy.mount : hierarchy.mount + name;
  }
  return "";
}

void ReadCgroup(uint32_t pid, MemoryLimits* limits) {
  static const Hierarchy hierarchy = FindHierarchy();
  if (hierarchy.version == 0) return;
  const bool v1 = hierarchy.version == 1;
  uint64_t least_room = UINT64_MAX;
  std::string nearest;
  std::string directory = GroupDirectory(hierarchy, pid);
  while (directory.size() >= hierarchy.mount.size() && !directory.empty()) {
    const uint64_t limit = NumberIn(directory + (v1 ? "/memory.limit_in_bytes" : "/memory.max"));
    if (limit != 0 && limit < kNoLimit) {
      const uint64_t used =
          NumberIn(directory + (v1 ? "/memory.usage_in_bytes" : "/memory.current"));
      const uint64_t room = limit > used ? limit - used : 0;
      if (room < least_room) {
        least_room = room;
        limits->cgroup_bytes = used;
        limits->cgroup_limit = limit;
        nearest = directory;
      }
    }
    directory.resize(std::min(directory.rfind('/'), directory.size()));
  }
  if (nearest.empty()) return;
  const auto text = ReadWholeFile(nearest + "/memory.stat", 65536);
  if (!text) return;
  const std::string total = v1 ? "total_" : "";
  const uint64_t files =
      NumberOf(*text, total + "inactive_file ") + NumberOf(*text, total + "active_file ");
  limits->cgroup_bytes -= std::min(files, limits->cgroup_bytes);
}

double ShareOf(uint64_t used, uint64_t limit) {
  return limit == 0 ? 0 : static_cast<double>(used) / static_cast<double>(limit);
}

}  // namespace

double MemoryLimits::Share() const {
  return std::max(ShareOf(address_space_bytes, address_space_limit),
                  cgroup_limit != 0 ? ShareOf(cgroup_bytes, cgroup_limit)
                                    : ShareOf(resident_bytes, machine_bytes));
}

std::optional<MemoryLimits> ReadMemoryLimits(uint32_t pid) {
  const auto text = ReadWholeFile("/proc/" + std::to_string(pid) + "/statm", 256);
  unsigned long long size = 0;
  unsigned long long resident = 0;
  if (!text || std::sscanf(text->c_str(), "%llu %llu", &size, &resident) != 2) return std::nullopt;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  MemoryLimits limits;
  limits.resident_bytes = resident * page;
  limits.machine_bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * page;
  limits.address_space_bytes = size * page;
  rlimit limit{};
  if (prlimit(static_cast<pid_t>(pid), RLIMIT_AS, nullptr, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY) {
    limits.address_space_limit = limit.rlim_cur;
  }
  ReadCgroup(pid, &limits);
  return limits;
}

}  // namespace heapgauge
