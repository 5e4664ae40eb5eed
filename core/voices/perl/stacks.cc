#include "core/voices/perl/stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/base/regex.h"

namespace heapgauge::perl {
namespace {

// Functions that the tools take for the allocator's own. Each counts with a "_" before it too.
constexpr std::string_view kAllocators[] = {"calloc",
                                            "cfree",
                                            "malloc",
                                            "free",
                                            "memalign",
                                            "posix_memalign",
                                            "pvalloc",
                                            "valloc",
                                            "realloc",
                                            "tc_calloc",
                                            "tc_cfree",
                                            "tc_malloc",
                                            "tc_free",
                                            "tc_memalign",
                                            "tc_posix_memalign",
                                            "tc_pvalloc",
                                            "tc_valloc",
                                            "tc_realloc",
                                            "tc_new",
                                            "tc_delete",
                                            "tc_newarray",
                                            "tc_deletearray",
                                            "tc_new_nothrow",
                                            "tc_newarray_nothrow",
                                            "do_malloc",
                                            "::do_malloc",
                                            "::do_malloc_or_cpp_alloc",
                                            "DoSampledAllocation",
                                            "simple_alloc::allocate",
                                            "__malloc_alloc_template::allocate",
                                            "__builtin_delete",
                                            "__builtin_new",
                                            "__builtin_vec_delete",
                                            "__builtin_vec_new",
                                            "operator new",
                                            "operator new[]",
                                            "malloc_zone_malloc",
                                            "malloc_zone_calloc",
                                            "malloc_zone_valloc",
                                            "malloc_zone_realloc",
                                            "malloc_zone_memalign",
                                            "malloc_zone_free",
                                            "__start_google_malloc",
                                            "__stop_google_malloc",
                                            "__start_malloc_hook",
                                            "__stop_malloc_hook"};
constexpr std::string_view kJemallocNames[] = {"newImpl", "void* newImpl", "aligned_alloc",
                                               "mallocx", "rallocx",       "xallocx",
                                               "dallocx", "sdallocx",      "sdallocx_noflags"};
constexpr std::string_view kLocks[] = {"base::RecordLockProfileData",
                                       "base::SubmitMutexProfileData",
                                       "base::SubmitSpinLockProfileData",
                                       "Mutex::Unlock",
                                       "Mutex::UnlockSlow",
                                       "Mutex::ReaderUnlock",
                                       "MutexLock::~MutexLock",
                                       "SpinLock::Unlock",
                                       "SpinLock::SlowUnlock",
                                       "SpinLockHolder::~SpinLockHolder"};
constexpr std::string_view kHandlers[] = {"ProfileData::Add",          "ProfileData::prof_handler",
                                          "CpuProfiler::prof_handler", "__FRAME_END__",
                                          "__pthread_sighandler",      "__restore"};

// Which addresses belong to what is left out.
std::vector<bool> Uninteresting(const SessionState& state, const Options& options) {
  std::unordered_set<std::string> names;
  const bool heap = state.kind == Kind::kHeap || state.kind == Kind::kGrowth;
  if (heap) {
    const auto add = [&](std::string_view name) {
      names.emplace(name);
      names.emplace("_" + std::string(name));
    };
    for (const std::string_view name : kAllocators) add(name);
    if (options.tool == Tool::kJeprof) {
      for (const std::string_view name : kJemallocNames) add(name);
    }
  } else if (state.kind == Kind::kContention) {
    for (const std::string_view name : kLocks) names.emplace(name);
  } else if (!options.no_auto_signal_frames) {
    for (const std::string_view name : kHandlers) names.emplace(name);
  }
  std::vector<bool> result(state.pcs.size());
  for (size_t i = 0; i < state.pcs.size(); ++i) {
    if (state.pcs[i].symbols.empty()) continue;
    const std::string& name = state.pcs[i].symbols[0].name;
    result[i] = names.contains(name);
    if (heap && (name.starts_with("tcmalloc::") || name.find("TCMalloc") != std::string::npos)) {
      result[i] = true;
    }
    if (!heap && name.find("NOMATCH") != std::string::npos) result[i] = true;
  }
  return result;
}

// CPU profiles: a second address that all stacks share is the signal handler's.
Stacks RemoveSignalFrames(const SessionState& state, const Options& options, Stacks stacks,
                          std::string* err) {
  while (stacks.size() != 0) {
    PcId second = kNone;
    bool same = true;
    for (size_t i = 0; i < stacks.size() && same; ++i) {
      const auto stack = stacks.stack(i);
      same = stack.size() >= 2 && (second == kNone || second == stack[1]);
      if (same) second = stack[1];
    }
    if (!same || second == kNone) break;
    const std::string name = state.pcs[second].name();
    if (options.tool == Tool::kGooglePprof && options.no_auto_signal_frames) {
      *err += fmt::format(
          "All second stack frames are same: `{}'.\nMight be stack trace capturing bug.\n", name);
      break;
    }
    *err += fmt::format("Removing {} from all stack traces.\n", name);
    Stacks reduced;
    std::vector<PcId> kept;
    for (size_t i = 0; i < stacks.size(); ++i) {
      const auto stack = stacks.stack(i);
      kept.assign(stack.begin(), stack.end());
      kept.erase(kept.begin() + 1);
      if (options.tool == Tool::kGooglePprof && kept.size() > 2 &&
          state.pcs[kept[1]].address + 1 == state.pcs[kept[0]].address) {
        kept.erase(kept.begin() + 1);
      }
      reduced.Add(kept, stacks.values[i]);
    }
    stacks = std::move(reduced);
  }
  return stacks;
}

size_t TypeOf(const SessionState& state, const Options& options) {
  std::vector<std::string_view> wanted;
  if (state.kind == Kind::kContention) {
    wanted = options.delay_value == DelayValue::kContentions
                 ? std::vector<std::string_view>{"contentions"}
                 : std::vector<std::string_view>{"delay"};
  } else if (state.kind == Kind::kCpu) {
    wanted = {"samples"};
  } else {
    switch (options.heap_value) {
      case HeapValue::kInuseSpace:
        wanted = {"inuse_space", "space"};
        break;
      case HeapValue::kInuseObjects:
        wanted = {"inuse_objects", "objects"};
        break;
      case HeapValue::kAllocSpace:
        wanted = {"alloc_space", "space"};
        break;
      case HeapValue::kAllocObjects:
        wanted = {"alloc_objects", "objects"};
        break;
    }
  }
  for (const std::string_view name : wanted) {
    const auto it = std::find(state.types.begin(), state.types.end(), name);
    if (it != state.types.end()) return static_cast<size_t>(it - state.types.begin());
  }
  return state.types.empty() ? 0 : state.types.size() - 1;
}

double ValueOf(const SessionState& state, const Options& options, const StackRow& row,
               size_t type) {
  if (type >= row.values.size()) return 0;
  if (state.kind == Kind::kContention && options.delay_value == DelayValue::kMeanDelay) {
    const auto it = std::find(state.types.begin(), state.types.end(), "contentions");
    if (it == state.types.end()) return row.values[type];
    const double count = row.values[static_cast<size_t>(it - state.types.begin())];
    return count == 0 ? 0 : row.values[type] / count;
  }
  return row.values[type];
}

uint64_t HashOf(std::span<const PcId> stack) {
  uint64_t hash = stack.size() * 0x9e3779b97f4a7c15;
  for (const PcId pc : stack) hash = (hash ^ pc) * 0xff51afd7ed558ccd + (hash >> 29);
  return hash;
}

// Finds stacks by what is in them.
class StackIndex {
 public:
  // The stack's number in `stacks`, or kNone.
  uint32_t Find(const Stacks& stacks, std::span<const PcId> stack) const {
    const auto [begin, end] = ids_.equal_range(HashOf(stack));
    for (auto it = begin; it != end; ++it) {
      const auto other = stacks.stack(it->second);
      if (std::equal(stack.begin(), stack.end(), other.begin(), other.end())) return it->second;
    }
    return kNone;
  }
  void Add(std::span<const PcId> stack, uint32_t id) { ids_.emplace(HashOf(stack), id); }

 private:
  std::unordered_multimap<uint64_t, uint32_t> ids_;
};

}  // namespace

void Stacks::Add(std::span<const PcId> stack, double value) {
  pcs.insert(pcs.end(), stack.begin(), stack.end());
  ends.push_back(static_cast<uint32_t>(pcs.size()));
  values.push_back(value);
}

double Stacks::Total() const {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

Stacks MergeEqual(const Stacks& stacks) {
  Stacks merged;
  StackIndex index;
  for (size_t i = 0; i < stacks.size(); ++i) {
    const auto stack = stacks.stack(i);
    const uint32_t known = index.Find(merged, stack);
    if (known != kNone) {
      merged.values[known] += stacks.values[i];
      continue;
    }
    index.Add(stack, static_cast<uint32_t>(merged.size()));
    merged.Add(stack, stacks.values[i]);
  }
  return merged;
}

Stacks SelectStacks(const SessionState& state, const Options& options, const std::string& thread) {
  const size_t type = TypeOf(state, options);
  Stacks selected;
  if (thread.empty()) {
    selected = state.stacks;
    for (size_t i = 0; i < selected.size(); ++i) {
      selected.values[i] = ValueOf(state, options, state.rows[i], type);
    }
  } else {
    for (size_t i = 0; i < state.stacks.size(); ++i) {
      if (state.rows[i].thread != thread) continue;
      selected.Add(state.stacks.stack(i), ValueOf(state, options, state.rows[i], type));
    }
    return selected;
  }
  if (!state.has_base) return selected;
  Stacks base = state.base;
  for (size_t i = 0; i < base.size(); ++i) {
    base.values[i] = ValueOf(state, options, state.base_rows[i], type);
  }
  base = MergeEqual(base);
  selected = MergeEqual(selected);
  StackIndex index;
  for (uint32_t i = 0; i < selected.size(); ++i) index.Add(selected.stack(i), i);
  const uint32_t own = static_cast<uint32_t>(selected.size());
  for (size_t i = 0; i < base.size(); ++i) {
    const uint32_t id = index.Find(selected, base.stack(i));
    if (id != kNone && id < own) {
      selected.values[id] -= base.values[i];
    } else if (!options.drop_negative) {
      selected.Add(base.stack(i), 0 - base.values[i]);
    }
  }
  if (options.drop_negative) {
    for (double& value : selected.values) value = std::max(value, 0.0);
  }
  return selected;
}

Result<Stacks> RemoveUninteresting(const SessionState& state, const Options& options, Stacks stacks,
                                   std::string* err) {
  if (state.kind == Kind::kCpu) {
    stacks = RemoveSignalFrames(state, options, std::move(stacks), err);
  }
  const std::vector<bool> skip = Uninteresting(state, options);
  const bool jeprof = options.tool == Tool::kJeprof;
  std::vector<bool> drop(state.pcs.size());
  const bool filters = jeprof && (!options.retain.empty() || !options.exclude.empty());
  if (filters) {
    for (const bool retain : {true, false}) {
      const std::string& pattern = retain ? options.retain : options.exclude;
      if (pattern.empty()) continue;
      HG_ASSIGN(const Regex re, Regex::CompilePerl(pattern));
      for (size_t i = 0; i < state.pcs.size(); ++i) {
        if (re.Matches(state.pcs[i].name()) != retain) drop[i] = true;
      }
    }
  }
  Stacks result;
  result.pcs.reserve(stacks.pcs.size());
  std::vector<PcId> path;
  for (size_t i = 0; i < stacks.size(); ++i) {
    path.clear();
    for (const PcId pc : stacks.stack(i)) {
      if (skip[pc]) {
        // For jeprof all that the allocator called is the allocator's too.
        if (jeprof) path.clear();
        continue;
      }
      path.push_back(pc);
    }
    if (filters) {
      std::erase_if(path, [&](PcId pc) { return drop[pc]; });
      if (path.empty()) continue;
    }
    result.Add(path, stacks.values[i]);
  }
  return result;
}

Result<Stacks> FilterByPattern(const SessionState& state, const Stacks& stacks,
                               const std::string& pattern, bool wanted) {
  HG_ASSIGN(const Regex re, Regex::CompilePerl(pattern));
  std::vector<bool> matches(state.pcs.size());
  for (size_t i = 0; i < state.pcs.size(); ++i) {
    const Pc& pc = state.pcs[i];
    matches[i] = re.Matches(pc.key());
    for (const Symbol& symbol : pc.symbols) {
      matches[i] = matches[i] || re.Matches(symbol.name) || re.Matches(symbol.place);
    }
  }
  Stacks result;
  for (size_t i = 0; i < stacks.size(); ++i) {
    const auto stack = stacks.stack(i);
    const bool match =
        std::any_of(stack.begin(), stack.end(), [&](PcId pc) { return matches[pc]; });
    if (match == wanted) result.Add(stack, stacks.values[i]);
  }
  return result;
}

}  // namespace heapgauge::perl
