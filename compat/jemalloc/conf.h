// The options of jemalloc that concern its profiler, from its four sources: text like
// "prof:true,lg_prof_sample:17".
//
// Understood as jemalloc 5.3 does, with its words for what cannot be. Options that have nothing to
// do with profiling are known by name and passed over, since there is no jemalloc to set them in.
// Untrusted text, linear time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heapgauge::compat {

struct JemallocConf {
  bool prof = false;
  bool prof_active = true;
  bool prof_thread_active_init = true;
  bool prof_accum = false;
  bool prof_gdump = false;
  bool prof_final = false;
  bool prof_leak = false;
  bool prof_leak_error = false;
  bool prof_sys_thread_name = false;
  uint64_t lg_prof_sample = 19;
  int64_t lg_prof_interval = -1;
  std::string prof_prefix = "jeprof";
  bool confirm_conf = false;
  bool abort_conf = false;

  // Adds the options of one text; later ones win. What could not be used is said in lines such as
  // "<jemalloc>: Invalid conf pair: nonsense:1".
  void Add(std::string_view text, std::vector<std::string>* problems);
  // After the last text: what follows from the options together. prof_leak switches prof on.
  void Settle(std::vector<std::string>* problems);

 private:
  bool Set(std::string_view key, std::string_view value, bool* known, bool* in_range);
};

}  // namespace heapgauge::compat
