#include "core/os/process_status.h"

#include <cstdio>
#include <sstream>
#include <string_view>

#include "core/base/file.h"
#include "core/base/number_in.h"
#include "core/os/proc_fields.h"

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

}  // namespace heapgauge
