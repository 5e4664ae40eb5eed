#include "compat/gperftools/extension.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>

#include "compat/common/agent_link.h"
#include "compat/common/allocator_figures.h"
#include "compat/common/watcher.h"
#include "core/base/sinks.h"
#include "core/formats/heap_text/heap_text.h"
#include "core/model/profile.h"

namespace heapgauge::compat::extension {
namespace {

constexpr const char* kNoProfile = "heap profile:      0:        0 [     0:        0] @ ";

std::string TextOf(const Result<Profile>& profile, int64_t rate) {
  if (!profile) return "";
  TextWriteOptions options;
  options.rate = rate;
  StringSink sink;
  return WriteHeapText(*profile, options, &sink) ? sink.Take() : "";
}

}  // namespace

bool GetProperty(std::string_view name, size_t* value) {
  const Working working;
  if (name == "tcmalloc.sampling_period_bytes") {
    AgentLink& agent = AgentLink::Get();
    if (!agent.available()) return false;
    *value = agent.active() ? agent.interval() : 0;
    return true;
  }
  const auto figures = AskAllocator();
  if (!figures) return false;
  if (name == "generic.current_allocated_bytes") {
    *value = figures->allocated;
  } else if (name == "generic.heap_size") {
    *value = figures->mapped;
  } else if (name == "generic.total_physical_bytes") {
    *value = figures->resident;
  } else if (name == "tcmalloc.slack_bytes" || name == "tcmalloc.pageheap_free_bytes") {
    *value = figures->free;
  } else if (name == "tcmalloc.pageheap_unmapped_bytes") {
    *value = 0;  // glibc unmaps what it gives back
  } else {
    return false;
  }
  return true;
}

bool SetProperty(std::string_view name, size_t value) {
  const Working working;
  AgentLink& agent = AgentLink::Get();
  if (name != "tcmalloc.sampling_period_bytes" || !agent.available()) return false;
  if (value != 0) agent.SetInterval(value);
  agent.SetActive(value != 0);
  return true;
}

std::string Statistics() {
  const Working working;
  std::string text = "------------------------------------------------\n";
  const auto line = [&text](size_t bytes, const char* what) {
    fmt::format_to(std::back_inserter(text), "MALLOC:   {:12} ({:7.1f} MiB) {}\n", bytes,
                   static_cast<double>(bytes) / (1 << 20), what);
  };
  if (const auto figures = AskAllocator()) {
    line(figures->allocated, "Bytes in use by application");
    line(figures->free, "Bytes in page heap freelist");
    line(figures->mapped, "Actual memory used (physical + swap)");
  }
  const wire::Marks totals = AgentLink::Get().Totals();
  line(totals.live, "Bytes sampled as live (estimate)");
  line(totals.allocated, "Bytes allocated since start (estimate)");
  text += "------------------------------------------------\n";
  return text;
}

void Release() {
  const Working working;
  ReleaseFreeMemory();
}

size_t EstimatedSize(size_t size) {
  // glibc's chunks: eight bytes more, in steps of sixteen, at least 32.
  if (!AskAllocator() || size > SIZE_MAX - 64) return size;
  return size <= 24 ? 24 : ((size + 8 + 15) & ~size_t{15}) - 8;
}

size_t SizeOf(const void* block) { return malloc_usable_size(const_cast<void*>(block)); }

bool MemoryStatistics(int* blocks, size_t* total, int* histogram, int histogram_size) {
  const Working working;
  std::fill(histogram, histogram + histogram_size, 0);
  *blocks = 0;
  *total = 0;
  const Result<Profile> profile = AgentLink::Get().Read();
  if (!profile) return false;
  *blocks = static_cast<int>(std::min(profile->Total(kInuseObjects).value, 2147483647.0));
  *total = static_cast<size_t>(profile->Total(kInuseSpace).value);
  for (const SampledBlock& block : profile->blocks) {
    int bucket = 0;
    while (bucket + 1 < histogram_size && (block.size >> (bucket + 1)) != 0) ++bucket;
    ++histogram[bucket];
  }
  return true;
}

std::string HeapSample() {
  const Working working;
  std::string text = TextOf(AgentLink::Get().Read(), 0);
  return !text.empty() ? text : std::string(kNoProfile) + "heap_v2/0\n\nMAPPED_LIBRARIES:\n";
}

std::string GrowthStacks() {
  const Working working;
  Result<Profile> profile = AgentLink::Get().Read();
  if (profile) {
    // What was allocated counts, whether it was freed or not.
    for (RowId row = 0; row < profile->rows.size(); ++row) {
      profile->value(row, kInuseObjects) = profile->value(row, kAllocObjects);
      profile->value(row, kInuseSpace) = profile->value(row, kAllocSpace);
    }
    profile->estimates.clear();
  }
  std::string text = TextOf(profile, 1);
  if (text.empty()) text = std::string(kNoProfile) + "heapprofile\n\nMAPPED_LIBRARIES:\n";
  const size_t at = text.find("@ heapprofile\n");
  if (at != std::string::npos) text.replace(at, 13, "@ growth");
  return text;
}

}  // namespace heapgauge::compat::extension
