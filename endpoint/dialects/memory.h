// What each allocator of a process says about itself, in words that mean the same for all:
// allocated, active, resident, metadata, fragmentation.
//
// Plain values; engines are asked under their lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/memory/survey.h"
#include "endpoint/base/process.h"

namespace heapgauge::endpoint {

struct AllocatorAccount {
  std::string allocator;  // "glibc", "jemalloc"
  std::string source;     // who says so
  // Bytes by name, only those that are known.
  std::vector<std::pair<std::string, uint64_t>> figures;

  std::optional<uint64_t> Find(std::string_view name) const;
};

// The process's allocator first, as the agent asked it or as samples estimate it; then its engines.
std::vector<AllocatorAccount> AccountsOf(Process* process, const MemorySurvey& survey);

// A line for each figure, what it means, and fragmentation spelled out.
std::string AccountText(const AllocatorAccount& account);

}  // namespace heapgauge::endpoint
