#include "endpoint/dialects/allocator_accounts.h"

#include <fmt/format.h>

#include <cmath>
#include <mutex>

#include "core/base/text.h"
#include "core/memory/accounting.h"
#include "endpoint/base/engine_lock.h"

namespace heapgauge::endpoint {
namespace {

AllocatorAccount NativeAccount(const MemorySurvey& survey) {
  AllocatorAccount account;
  const std::string& name = survey.recording.allocator;
  account.allocator = name.empty() ? "unknown" : Printable(name);
  const Accounting& a = survey.accounting;
  if (survey.statistics) {
    const wire::AllocatorStatistics& s = *survey.statistics;
    account.source =
        survey.statistics_are_fresh ? "asked by the agent" : "asked by the agent some time ago";
    const auto add = [&](uint32_t bit, const char* key, uint64_t value) {
      if ((s.mask & bit) != 0) account.figures.emplace_back(key, value);
    };
    add(kHasInUse, "allocated", s.in_use_bytes);
    add(kHasResident, "resident", s.resident_bytes);
    add(kHasMetadata, "metadata", s.metadata_bytes);
    add(kHasMapped, "mapped", s.mapped_bytes);
    add(kHasFree, "free", s.free_bytes);
    add(kHasCached, "cached", s.cached_bytes);
    if (!account.Find("resident") && a.heap_resident != 0) {
      account.figures.emplace_back("resident", a.heap_resident);
    }
    return account;
  }
  account.source = "estimated from samples and the kernel's account";
  account.figures.emplace_back(
      "allocated", static_cast<uint64_t>(std::llround(std::fmax(0, a.live.bytes.value))));
  if (a.heap_resident != 0) {
    account.figures.emplace_back("resident", a.heap_resident);
    account.figures.emplace_back("free", a.part(Part::kFree));
  }
  return account;
}

const char* MeaningOf(std::string_view figure) {
  static constexpr std::pair<std::string_view, const char*> kMeanings[] = {
      {"allocated", "in blocks that the program holds"},
      {"active", "in pages with at least one such block"},
      {"resident", "in memory, as the allocator or the kernel sees it"},
      {"metadata", "the allocator's own book-keeping"},
      {"mapped", "address space taken from the kernel"},
      {"retained", "address space kept, its memory given back"},
      {"unmapped", "address space kept, its memory given back"},
      {"free", "kept for later"},
      {"cached", "kept for later in caches of threads"},
  };
  for (const auto& [name, meaning] : kMeanings) {
    if (name == figure) return meaning;
  }
  return "";
}

std::string Line(std::string_view name, uint64_t bytes, const std::string& meaning) {
  return fmt::format("  {:<14} {:>16} {:>9}  {}\n", name, bytes,
                     FormatBytes(static_cast<double>(bytes)), meaning);
}

}  // namespace

std::optional<uint64_t> AllocatorAccount::Find(std::string_view name) const {
  for (const auto& [key, value] : figures) {
    if (key == name) return value;
  }
  return {};
}

std::vector<AllocatorAccount> AccountsOf(Process* process, const MemorySurvey& survey) {
  std::vector<AllocatorAccount> accounts;
  accounts.push_back(NativeAccount(survey));
  const std::lock_guard lock(EngineLock());
  for (Engine* engine : process->engines()) {
    AllocatorAccount account;
    account.allocator = Printable(engine->name());
    const std::string version = Printable(engine->state().version);
    account.source = "its own interface" + (version.empty() ? "" : ", version " + version);
    account.figures = engine->Figures();
    if (!account.figures.empty()) accounts.push_back(std::move(account));
  }
  return accounts;
}

std::string AccountText(const AllocatorAccount& account) {
  std::string text = account.allocator + " (" + account.source + ")\n";
  for (const auto& [name, bytes] : account.figures) {
    text += Line(Printable(name), bytes, MeaningOf(name));
  }
  const auto allocated = account.Find("allocated");
  const auto resident = account.Find("resident");
  const auto active = account.Find("active");
  const uint64_t metadata = account.Find("metadata").value_or(0);
  const auto share = [](uint64_t part, uint64_t whole) {
    return FormatShare(static_cast<double>(part), static_cast<double>(whole));
  };
  if (allocated && active && *active >= *allocated && *active != 0) {
    const uint64_t lost = *active - *allocated;
    text += Line("fragmentation", lost,
                 "active but not allocated: " + share(lost, *active) + " of active pages");
  }
  if (allocated && resident && *resident >= *allocated + metadata && *resident != 0) {
    const uint64_t lost = *resident - *allocated - metadata;
    text += Line("overhead", lost,
                 "resident but neither allocated nor metadata: " + share(lost, *resident) +
                     " of resident memory");
  }
  return text;
}

}  // namespace heapgauge::endpoint
