#include "compat/jemalloc/conf.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/numbers.h"
#include "core/base/text.h"

namespace heapgauge::compat {
namespace {

constexpr size_t kMostPrefix = 4095;

// Options of jemalloc that have no meaning without it.
constexpr std::string_view kOthers[] = {"abort",
                                        "abort_conf",
                                        "background_thread",
                                        "cache_oblivious",
                                        "confirm_conf",
                                        "dirty_decay_ms",
                                        "dss",
                                        "experimental_infallible_new",
                                        "hpa",
                                        "hpa_dirty_mult",
                                        "hpa_hugification_threshold",
                                        "hpa_hugification_threshold_ratio",
                                        "hpa_hugify_delay_ms",
                                        "hpa_min_purge_interval_ms",
                                        "hpa_sec_batch_fill_extra",
                                        "hpa_sec_bytes_after_flush",
                                        "hpa_sec_max_alloc",
                                        "hpa_sec_max_bytes",
                                        "hpa_sec_nshards",
                                        "hpa_slab_max_alloc",
                                        "huge_arena_pool_threshold",
                                        "junk",
                                        "lg_extent_max_active_fit",
                                        "lg_tcache_flush_large_div",
                                        "lg_tcache_flush_small_div",
                                        "lg_tcache_max",
                                        "lg_tcache_nslots_mul",
                                        "max_background_threads",
                                        "max_batched_size",
                                        "metadata_thp",
                                        "mutex_max_spin",
                                        "muzzy_decay_ms",
                                        "narenas",
                                        "oversize_threshold",
                                        "percpu_arena",
                                        "prof_bt_max",
                                        "prof_log",
                                        "prof_pid_namespace",
                                        "prof_recent_alloc_max",
                                        "prof_stats",
                                        "prof_time_resolution",
                                        "prof_unbias",
                                        "retain",
                                        "safety_check_abort",
                                        "san_guard_large",
                                        "san_guard_small",
                                        "slab_sizes",
                                        "stats_interval",
                                        "stats_interval_opts",
                                        "stats_print",
                                        "stats_print_opts",
                                        "tcache",
                                        "tcache_gc_delay_bytes",
                                        "tcache_gc_incr_bytes",
                                        "tcache_max",
                                        "tcache_ncached_max",
                                        "tcache_nslots_large",
                                        "tcache_nslots_small_max",
                                        "tcache_nslots_small_min",
                                        "thp",
                                        "trust_madvise",
                                        "uaf_min_free",
                                        "utrace",
                                        "xmalloc",
                                        "zero",
                                        "zero_realloc",
                                        "zone",
                                        "bin_shards",
                                        "calloc_madvise_threshold",
                                        "lg_san_uaf_align",
                                        "stats_interval_opts",
                                        "hpa_experimental_max_purge_nhp"};

bool SetFlag(std::string_view value, bool* flag) {
  if (value != "true" && value != "false") return false;
  *flag = value == "true";
  return true;
}

}  // namespace

bool JemallocConf::Set(std::string_view key, std::string_view value, bool* known, bool* in_range) {
  *known = *in_range = true;
  if (key == "prof") return SetFlag(value, &prof);
  if (key == "prof_active") return SetFlag(value, &prof_active);
  if (key == "prof_thread_active_init") return SetFlag(value, &prof_thread_active_init);
  if (key == "prof_accum") return SetFlag(value, &prof_accum);
  if (key == "prof_gdump") return SetFlag(value, &prof_gdump);
  if (key == "prof_final") return SetFlag(value, &prof_final);
  if (key == "prof_leak") return SetFlag(value, &prof_leak);
  if (key == "prof_leak_error") return SetFlag(value, &prof_leak_error);
  if (key == "prof_sys_thread_name") return SetFlag(value, &prof_sys_thread_name);
  const auto number = NumberIn<int64_t>(value);
  if (key == "lg_prof_sample") {
    // The one number that jemalloc bends into its range.
    if (!number || *number < 0) return false;
    lg_prof_sample = static_cast<uint64_t>(std::min<int64_t>(*number, 63));
    return true;
  }
  if (key == "lg_prof_interval") {
    if (!number) return false;
    *in_range = *number >= -1 && *number <= 63;
    if (*in_range) lg_prof_interval = *number;
    return *in_range;
  }
  if (key == "prof_prefix") {
    prof_prefix = value.substr(0, kMostPrefix);
    return true;
  }
  if (key == "confirm_conf") return SetFlag(value, &confirm_conf);
  if (key == "abort_conf") return SetFlag(value, &abort_conf);
  *known = std::find(std::begin(kOthers), std::end(kOthers), key) != std::end(kOthers);
  return *known;
}

void JemallocConf::Add(std::string_view text, std::vector<std::string>* problems) {
  while (!text.empty()) {
    const std::string_view pair = TakeUntil(&text, ',');
    const size_t colon = pair.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      problems->push_back(pair.empty() || colon == 0 ? "<jemalloc>: Malformed conf string"
                                                     : "<jemalloc>: Conf string ends with key");
      return;
    }
    bool known = false;
    bool in_range = false;
    if (Set(pair.substr(0, colon), pair.substr(colon + 1), &known, &in_range)) continue;
    problems->push_back(fmt::format("<jemalloc>: {}: {}",
                                    !known      ? "Invalid conf pair"
                                    : !in_range ? "Out-of-range conf value"
                                                : "Invalid conf value",
                                    pair));
  }
}

void JemallocConf::Settle(std::vector<std::string>* problems) {
  if (prof_leak_error && !prof_final) {
    problems->push_back("<jemalloc>: prof_leak_error is set w/o prof_final.");
  }
  if (prof_leak && !prof) {
    prof = true;
    prof_gdump = false;
  }
}

}  // namespace heapgauge::compat
