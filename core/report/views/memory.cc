#include "core/report/views/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/report/recording_text.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

using figures::Bytes;

constexpr size_t kBytesWidth = 9;
constexpr size_t kShareWidth = 8;
constexpr size_t kBarWidth = 20;
constexpr size_t kLabel = 26;
constexpr size_t kMaxMappedRows = 10;

const char* AllocatorName(wire::Allocator allocator) {
  switch (allocator) {
    case wire::Allocator::kGlibc:
      return "glibc";
    case wire::Allocator::kJemalloc:
      return "jemalloc";
    case wire::Allocator::kTcmalloc:
      return "tcmalloc";
    case wire::Allocator::kMimalloc:
      return "mimalloc";
    case wire::Allocator::kUnknown:
      break;
  }
  return "the allocator";
}

// True if blocks from before a reset, which the profile has forgotten, cannot be told from what is
// free: only the allocator's own count could, and there is none.
bool MayHoldOlderBlocks(const MemorySurvey& s) {
  const bool told = s.statistics_are_fresh && s.statistics && (s.statistics->mask & kHasInUse) != 0;
  return s.recording.reset_ns != 0 && !s.accounting.coarse && !told;
}

// What to know about a part beside its size; "" if nothing.
std::string Remark(const MemorySurvey& s, Part part) {
  const Accounting& a = s.accounting;
  switch (part) {
    case Part::kLive: {
      std::string text =
          a.live.interval <= 1
              ? fmt::format("{} in {} blocks", FormatBytes(a.live.bytes.value),
                            FormatCount(a.live.objects))
              : fmt::format("estimate {} (95 %: {})", FormatBytes(a.live.bytes.value),
                            FormatByteRange(a.live_range.low, a.live_range.high));
      const double untouched = a.live.bytes.value - a.live.resident;
      if (a.live_is_capped) {
        text += fmt::format(", resident at most {}", Bytes(a.part(part)));
      } else if (untouched > 0.01 * a.live.bytes.value && untouched >= 1 << 20) {
        text += fmt::format(", {} of it not resident", FormatBytes(untouched));
      }
      return text;
    }
    case Part::kRounding:
      return "the allocator's blocks are larger than what was asked for";
    case Part::kNotSampled:
      return "in use by the allocator's count, but not in the profile";
    case Part::kMetadata:
      return s.allocator == wire::Allocator::kGlibc ? "headers of blocks, by their number" : "";
    case Part::kFree:
      if (a.coarse) return "by its own statistics";
      if (MayHoldOlderBlocks(s)) return "or in use since before the reset";
      return a.heap_by_statistics < a.heap_resident / 50
                 ? std::string("kept for later allocations")
                 : fmt::format("kept for later allocations; {} of the heap by statistics alone",
                               Bytes(a.heap_by_statistics));
    case Part::kStacks:
      return fmt::format("{} {}, {} {}", s.stacks, s.stacks == 1 ? "stack" : "stacks",
                         s.status.threads, s.status.threads == 1 ? "thread" : "threads");
    case Part::kMapped:
      return a.coarse ? "mapped by the program itself, at most; top --kind mmap tells by whom"
                      : "mapped by the program itself";
    case Part::kProgram:
      return fmt::format("{} clean, {} written to", Bytes(s.program_clean), Bytes(s.program_dirty));
    case Part::kFiles:
      return a.coarse ? "program, libraries and other files" : "";
    case Part::kShared:
      return "tmpfs, memfd, System V, shared anonymous memory";
    case Part::kAgent:
      return "gauge file, tables, library";
    case Part::kRest:
      if (a.coarse) return "stacks, free memory of the allocator, other anonymous memory";
      return s.records_mappings || a.part(part) == 0
                 ? ""
                 : "anonymous mappings of nobody known; run --mmap tells whose";
    case Part::kKernel:
      break;
  }
  return "";
}

std::string MemoryLine(const char* label, const std::string& text) {
  return fmt::format("{:<11}{}\n", label, text);
}

std::string Bar(double share) {
  const auto filled = static_cast<size_t>(std::lround(share * kBarWidth));
  std::string bar;
  for (size_t i = 0; i < kBarWidth; ++i) bar += i < filled ? "█" : " ";
  return bar;
}

std::string StatisticsText(const MemorySurvey& s) {
  if (!s.statistics || s.statistics->mask == 0) return "";
  const wire::AllocatorStatistics& t = *s.statistics;
  std::string text;
  const auto add = [&](uint32_t bit, const char* label, uint64_t value) {
    if ((t.mask & bit) == 0) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", label, Bytes(value));
  };
  add(kHasInUse, "in use", t.in_use_bytes);
  add(kHasFree, "free", t.free_bytes);
  add(kHasCached, "in thread caches", t.cached_bytes);
  add(kHasMetadata, "metadata", t.metadata_bytes);
  add(kHasMapped, "mapped", t.mapped_bytes);
  add(kHasResident, "resident", t.resident_bytes);
  if (t.arenas != 0) text += fmt::format(", {} arenas", t.arenas);
  const uint64_t age = s.time_ns > t.time_ns ? s.time_ns - t.time_ns : 0;
  text += s.statistics_are_fresh
              ? (s.live ? " (its own count, now)" : " (its own count, at that time)")
              : fmt::format(" (its own count {} before; not used above)", FormatDuration(age));
  return text;
}

std::string CgroupText(const MemorySurvey& s) {
  if (!s.cgroup) return "";
  const CgroupMemory& c = *s.cgroup;
  std::string text = Bytes(c.usage);
  if (c.has_limit()) {
    text += fmt::format(" of {} ({}); {} to go", Bytes(c.limit),
                        FormatShare(static_cast<double>(c.usage), static_cast<double>(c.limit)),
                        Bytes(c.room()));
    if (!c.limited_path.empty()) text += ", limit of " + Printable(c.limited_path);
  } else {
    text += " used, no limit";
  }
  if (c.high != 0) text += fmt::format("; throttled from {} on", Bytes(c.high));
  if (c.reclaimable != 0) text += fmt::format("; {} inactive file pages", Bytes(c.reclaimable));
  if (c.swap != 0) text += fmt::format("; {} swapped", Bytes(c.swap));
  if (c.pressure_some > 0) {
    text += fmt::format("; waited for memory {:.1f} % of the last 10 s", c.pressure_some);
  }
  if (c.oom_kills != 0) text += fmt::format("; {} killed so far", c.oom_kills);
  return text;
}

std::string GrowthText(const MemorySurvey& s) {
  if (!s.growth.known()) return "";
  const double rate = s.growth.bytes_per_second;
  const auto span = FormatDuration(static_cast<uint64_t>(s.growth.seconds * 1e9));
  const char* what = s.growth.of_resident ? "RSS" : "live heap";
  if (std::abs(rate) < 1024) return fmt::format("{} steady over the last {}", what, span);
  std::string text = fmt::format("{} {}{}/s over the last {}", what, rate < 0 ? "-" : "+",
                                 FormatBytes(std::abs(rate)), span);
  if (rate > 0 && s.cgroup && s.cgroup->has_limit()) {
    const double seconds = static_cast<double>(s.cgroup->room()) / rate;
    if (seconds < 30 * 86400.0) {
      text += fmt::format(": at this rate {} to the cgroup's limit",
                          FormatDuration(static_cast<uint64_t>(seconds * 1e9)));
    }
  }
  return text;
}

std::string MappingsText(const MemorySurvey& s) {
  std::string text = fmt::format("\n{:>9}{:>9}{:>9}  {:<8}{:<28}{}\n", "resident", "size",
                                 "swapped", "owner", "address", "  name");
  std::vector<const Piece*> order;
  for (const Piece& piece : s.pieces) order.push_back(&piece);
  std::stable_sort(order.begin(), order.end(),
                   [](const Piece* a, const Piece* b) { return a->resident > b->resident; });
  for (const Piece* piece : order) {
    const MappingUsage& m = s.smaps.mappings[piece->mapping];
    text += fmt::format("{:>9}{:>9}{:>9}  {:<8}{:<28}  {}{}{}{} {}\n", Bytes(piece->resident),
                        Bytes(piece->end - piece->start), Bytes(m.swapped), OwnerName(piece->owner),
                        fmt::format("{:x}-{:x}", piece->start, piece->end), m.readable ? 'r' : '-',
                        m.writable ? 'w' : '-', m.executable ? 'x' : '-', m.shared ? 's' : 'p',
                        Printable(m.name));
  }
  return text;
}

}  // namespace

std::string PartLabel(Part part, wire::Allocator allocator) {
  switch (part) {
    case Part::kLive:
      return "live heap";
    case Part::kRounding:
      return "rounding";
    case Part::kNotSampled:
      return "in use, not sampled";
    case Part::kMetadata:
      return "allocator's metadata";
    case Part::kFree:
      return std::string("free in ") + AllocatorName(allocator);
    case Part::kStacks:
      return "thread stacks";
    case Part::kMapped:
      return "mmap";
    case Part::kProgram:
      return "program and libraries";
    case Part::kFiles:
      return "files";
    case Part::kShared:
      return "shared memory";
    case Part::kAgent:
      return "heapgauge itself";
    case Part::kKernel:
      return "vdso";
    case Part::kRest:
      return "the rest";
  }
  return "";
}

std::vector<std::string> PressureText(const MemorySurvey& s) {
  std::vector<std::string> steps;
  const Accounting& a = s.accounting;
  if (s.clean_file != 0) {
    steps.push_back(fmt::format("first {} of clean file pages go (read again when needed)",
                                Bytes(s.clean_file)));
  }
  if (s.lazily_freed != 0) {
    steps.push_back(
        fmt::format("then {} that the allocator has marked as free", Bytes(s.lazily_freed)));
  }
  const uint64_t swap = s.host.swap_free;
  if (swap != 0) {
    steps.push_back(
        fmt::format("then cold anonymous and shared pages, into {} of free swap", Bytes(swap)));
  }
  const char* killer = swap != 0 ? "then the OOM killer comes"
                                 : "then, since there is no swap, the OOM killer comes";
  steps.push_back(killer);
  const uint64_t kept = a.part(Part::kFree);
  if (kept >= 1 << 20 && !MayHoldOlderBlocks(s)) {
    const char* how = s.allocator == wire::Allocator::kGlibc      ? "malloc_trim(0)"
                      : s.allocator == wire::Allocator::kJemalloc ? "mallctl arena.<i>.purge"
                      : s.allocator == wire::Allocator::kTcmalloc
                          ? "MallocExtension_ReleaseFreeMemory()"
                      : s.allocator == wire::Allocator::kMimalloc ? "mi_collect(true)"
                                                                  : "the allocator's own call";
    steps.push_back(fmt::format("the {} free in {} go only if the program calls {}", Bytes(kept),
                                AllocatorName(s.allocator), how));
  }
  return steps;
}

std::string MemoryText(const MemorySurvey& s, const MemoryOptions& options) {
  const Accounting& a = s.accounting;
  const RecordingFacts& r = s.recording;
  std::string text = fmt::format("{}  pid {}  {}\n", r.name(), r.pid, StateText(r));
  std::string rss = Bytes(a.resident);
  if (s.status.peak_resident != 0) {
    rss += fmt::format(", {} at its highest", Bytes(s.status.peak_resident));
  }
  if (s.status.swapped != 0) rss += fmt::format("; {} swapped out", Bytes(s.status.swapped));
  if (!s.live) rss += fmt::format("; as of {}, {}", FormatDuration(s.time_ns), s.time_note);
  text += MemoryLine("RSS", rss) + "\n";

  const double total = static_cast<double>(a.resident);
  text += PadLeft("bytes", kBytesWidth) + PadLeft("share", kShareWidth) + "\n";
  for (size_t i = 0; i < kParts; ++i) {
    const Part part = static_cast<Part>(i);
    const uint64_t bytes = a.part(part);
    if (bytes == 0 && part != Part::kLive && part != Part::kRest) continue;
    std::string line = PadLeft(Bytes(bytes), kBytesWidth) +
                       PadLeft(FormatShare(static_cast<double>(bytes), total), kShareWidth) + "  ";
    if (options.bars) line += Bar(total > 0 ? static_cast<double>(bytes) / total : 0) + "  ";
    const std::string remark = Remark(s, part);
    line += remark.empty() ? PartLabel(part, s.allocator)
                           : PadRight(PartLabel(part, s.allocator), kLabel) + remark;
    text += CutTo(line, options.width) + "\n";
    if (part != Part::kMapped) continue;
    for (size_t row = 0; row < options.mapped.size() && row < kMaxMappedRows; ++row) {
      const MappedRow& m = options.mapped[row];
      text += CutTo(fmt::format("{:>{}}  {} in {} {}: {}", Bytes(m.resident),
                                kBytesWidth + kShareWidth + 4, Bytes(m.bytes), m.mappings,
                                m.mappings == 1 ? "mapping" : "mappings", m.function),
                    options.width) +
              "\n";
    }
  }
  text += PadLeft(Bytes(a.resident), kBytesWidth) + PadLeft("100%", kShareWidth) + "  RSS\n\n";

  if (const std::string line = StatisticsText(s); !line.empty()) {
    text += MemoryLine(AllocatorName(s.allocator), line);
  }
  if (const std::string line = CgroupText(s); !line.empty()) text += MemoryLine("cgroup", line);
  if (s.status.address_space_limit != 0) {
    text +=
        MemoryLine("addresses", fmt::format("{} of {} (RLIMIT_AS)", Bytes(s.status.address_space),
                                            Bytes(s.status.address_space_limit)));
  }
  if (const std::string line = GrowthText(s); !line.empty()) text += MemoryLine("growth", line);
  if (s.live && !a.coarse) {
    const char* label = "pressure";
    for (const std::string& step : PressureText(s)) {
      text += MemoryLine(label, step);
      label = "";
    }
  }
  for (const std::string& note : s.notes) text += "note: " + note + "\n";
  if (options.mappings && !s.pieces.empty()) text += MappingsText(s);
  return text;
}

std::string MemoryLine(const MemorySurvey& s) {
  const Accounting& a = s.accounting;
  // All in the unit of the whole, so that they can be added up by eye.
  const double total = static_cast<double>(a.resident);
  const std::string whole = FormatBytes(total);
  const std::string unit = whole.substr(whole.find(' '));
  double scale = 1;
  for (const char* u : {" B", " kB", " MB", " GB", " TB"}) {
    if (unit == u) break;
    scale *= 1024;
  }
  const double scaled_total = total / scale;
  std::string text = whole + " =";
  double other = 0;
  const char* separator = " ";
  const auto add = [&](const std::string& label, double bytes) {
    text +=
        fmt::format("{}{} {:.{}f}", separator, label, bytes / scale, scaled_total < 99.95 ? 1 : 0);
    separator = " + ";
  };
  for (size_t i = 0; i < kParts; ++i) {
    const Part part = static_cast<Part>(i);
    const double bytes = static_cast<double>(a.part(part));
    switch (part) {
      case Part::kLive:
        add("live", bytes);
        break;
      case Part::kRounding:
      case Part::kFree:
      case Part::kMapped:
        if (bytes >= 0.005 * total) {
          const bool unclear = part == Part::kFree && MayHoldOlderBlocks(s);
          add(unclear ? "free or from before the reset" : PartLabel(part, s.allocator), bytes);
        } else {
          other += bytes;
        }
        break;
      case Part::kStacks:
        if (bytes >= 0.005 * total) {
          add("stacks", bytes);
        } else {
          other += bytes;
        }
        break;
      case Part::kProgram:
        break;
      case Part::kFiles:
        add("files", bytes + static_cast<double>(a.part(Part::kProgram)));
        break;
      default:
        other += bytes;
    }
  }
  add("other", other);
  return text;
}

}  // namespace heapgauge
