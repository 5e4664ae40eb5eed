#include "core/trace/record/owner_process.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "core/base/file.h"
#include "core/base/proc_fields.h"
#include "core/base/process.h"

namespace heapgauge::trace {
namespace {

uint32_t OwnNumber(const std::string& directory) {
  const auto status = ReadWholeFile(directory + "/status", 16384);
  return status ? InnermostPid(*status) : 0;
}

}  // namespace

OwnerProcess FindOwnerProcess(const GaugeOwner& owner, bool may_wait) {
  const auto named = ReadProcess(owner.pid);
  if (named && owner.process_start_ticks != 0 && named->start_ticks == owner.process_start_ticks) {
    return {owner.pid, named->start_ticks};
  }
  // Some cannot read when they began.
  const bool by_number = named && owner.process_start_ticks == 0;
  const auto maps = by_number ? ProcessMapsFile(owner.pid, owner.path) : std::optional(false);
  if (maps == std::optional(true)) return {owner.pid, named->start_ticks};
  const auto self = static_cast<uint32_t>(getpid());
  // Mostly this: a short one, that is gone. Numbers in a namespace are small.
  if (owner.ended_ns != 0 && !may_wait && owner.pid > self) return {};
  const auto here = ReadProcess(self);
  OwnerProcess likely;  // it may have executed another program since
  bool only_one = true;
  for (const uint32_t pid : ProcessesSince(here ? here->start_ticks : 0)) {
    if (OwnNumber("/proc/" + std::to_string(pid)) != owner.pid) continue;
    const auto process = ReadProcess(pid);
    if (!process) continue;
    if (ProcessMapsFile(pid, owner.path) == std::optional(true)) return {pid, process->start_ticks};
    if (owner.process_start_ticks == 0 || process->start_ticks != owner.process_start_ticks) {
      continue;
    }
    only_one = likely.pid == 0;
    likely = {pid, process->start_ticks};
  }
  if (likely.pid != 0) return only_one ? likely : OwnerProcess();
  return maps ? OwnerProcess() : OwnerProcess{owner.pid, 0};  // whether it does may not be told
}

bool IsGone(const OwnerProcess& owner) {
  if (owner.pid == 0) return true;
  const auto process = ReadProcess(owner.pid);
  if (!process || process->ended()) return true;
  return owner.start_ticks != 0 && process->start_ticks != owner.start_ticks;
}

std::unordered_map<uint32_t, uint32_t> ThreadsByOwnNumber(uint32_t pid) {
  std::unordered_map<uint32_t, uint32_t> threads;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> list(opendir(tasks.c_str()), closedir);
  if (list == nullptr) return threads;
  while (const dirent* entry = readdir(list.get())) {
    if (entry->d_name[0] == '.') continue;
    const std::string task = tasks + "/" + entry->d_name;
    if (const uint32_t own = OwnNumber(task)) {
      threads[own] = static_cast<uint32_t>(std::strtoul(entry->d_name, nullptr, 10));
    }
    const auto children = ReadWholeFile(task + "/children", 1 << 20);
    if (!children) continue;
    const char* at = children->c_str();
    char* end = nullptr;
    for (auto child = std::strtoul(at, &end, 10); end != at; child = std::strtoul(at, &end, 10)) {
      at = end;
      const uint32_t own = OwnNumber("/proc/" + std::to_string(child));
      if (own != 0) threads.try_emplace(own, static_cast<uint32_t>(child));
    }
  }
  return threads;
}

}  // namespace heapgauge::trace
