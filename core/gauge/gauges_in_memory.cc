#include "core/gauge/gauges_in_memory.h"

#include <sys/stat.h>

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

}  // namespace heapgauge
