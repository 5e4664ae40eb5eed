#include "core/os/process_memory.h"

#include <algorithm>
#include <string>

#include "core/os/cgroup.h"
#include "core/os/process.h"
#include "core/os/process_status.h"

namespace heapgauge {
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
