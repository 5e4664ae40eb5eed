// jemalloc's profiler on the agent, where no jemalloc is: options, dumps and their names, the
// report of leaks.
//
// What differs: prof_gdump dumps when live memory has grown past its maximum by kGrowth or by a
// thirty-second of it, where jemalloc dumps at each new extent. Threads: any; all under the lock of
// Working.
#pragma once

#include <cstdint>
#include <string>

#include "compat/common/watcher.h"
#include "compat/jemalloc/conf.h"
#include "core/base/result.h"
#include "core/model/profile.h"

namespace heapgauge::compat {

class JemallocProfiler final : public WatchClient {
 public:
  static constexpr uint64_t kGrowth = 2 << 20;

  static JemallocProfiler& Get();

  void StartFromConf();
  // prof_final, prof_leak, prof_leak_error.
  void AtExit();

  const JemallocConf& conf() const { return conf_; }
  bool enabled() const { return conf_.prof; }
  bool active() const;
  void SetActive(bool active);
  bool gdump() const { return gdump_; }
  void SetGdump(bool gdump);
  uint64_t lg_sample() const;
  // Forgets all; with another rate if `lg_sample` is not negative.
  void Reset(int64_t lg_sample);
  void SetPrefix(const std::string& prefix);
  // Into that file, or into one named by the prefix if `path` is null. False if it cannot be
  // written, or there is no prefix.
  bool Dump(const char* path);

  wire::Marks marks() override;
  void Look(const wire::Marks& totals) override;

 private:
  JemallocProfiler() = default;
  Result<Profile> Take() const;
  // `kind` is one of f, i, m, u; `number` counts those of it, none for f.
  std::string NextName(char kind, int64_t number);
  bool WriteTo(const std::string& path, const Profile& profile) const;
  bool DumpNow(char kind, uint64_t* number);
  void ReportLeaks(const Profile& profile) const;

  JemallocConf conf_;
  std::string prefix_;
  bool gdump_ = false;
  uint64_t sequence_ = 0;
  uint64_t interval_dumps_ = 0;
  uint64_t manual_dumps_ = 0;
  uint64_t growth_dumps_ = 0;
  uint64_t interval_base_ = 0;  // bytes allocated at the last of these
  uint64_t highest_ = 0;        // live bytes
};

// By malloc_message, if the program has set it, otherwise to standard error.
void JemallocMessage(const std::string& text);

}  // namespace heapgauge::compat
