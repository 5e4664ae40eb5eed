// jemalloc's own profiler and statistics through mallctl, whichever prefix its functions were built
// with (mallctl, je_mallctl, Rust's _rjem_mallctl).
//
// A dump goes into a file in memory, so nothing is written to disk and no path is needed. Threads:
// one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "endpoint/base/engine.h"
#include "service/engines/process_symbols.h"

namespace heapgauge::engines {

class JemallocEngine final : public endpoint::Engine {
 public:
  static std::vector<std::string> Names();
  // Null if there is no jemalloc.
  static std::unique_ptr<endpoint::Engine> Make(const ProcessSymbols& symbols);

  std::string_view name() const override { return "jemalloc"; }
  State state() override;
  Result<std::string> TakeHeap() override;
  // Only with prof_accum:true, when the same profile has what was ever allocated.
  Result<std::string> TakeGrowth() override;
  Status SetActive(bool active) override;
  // To the nearest power of two. Forgets what was sampled so far, as jemalloc can do no other.
  Status SetInterval(uint64_t bytes) override;
  Status Reset() override;
  Result<std::string> Statistics(const std::string& options) override;
  std::vector<std::pair<std::string, uint64_t>> Figures() override;

 private:
  using Control = int(const char*, void*, size_t*, void*, size_t);
  using PrintStatistics = void(void (*)(void*, const char*), void*, const char*);

  JemallocEngine(std::string prefix, Control* control, PrintStatistics* print)
      : prefix_(std::move(prefix)), control_(control), print_(print) {}
  template <typename Value>
  bool Read(const char* name, Value* value) const;
  std::string WhyNot() const;
  Status Need() const;
  Status ResetTo(const size_t* lg_sample);

  std::string prefix_;
  Control* control_;
  PrintStatistics* print_;  // may be null
};

}  // namespace heapgauge::engines
