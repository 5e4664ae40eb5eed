// mimalloc's statistics. It has no profiler of its own.
//
// Threads: one at a time; statistics of other threads are as they last handed them over.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/engines/process_symbols.h"
#include "service/engines/statistics_engine.h"

namespace heapgauge::engines {

class MimallocEngine final : public StatisticsEngine {
 public:
  static std::vector<std::string> Names();
  static std::unique_ptr<endpoint::Engine> Make(const ProcessSymbols& symbols);

  std::string_view name() const override { return "mimalloc"; }
  Result<std::string> Statistics(const std::string& options) override;
  std::vector<std::pair<std::string, uint64_t>> Figures() override;

 protected:
  std::string why_not() const override;
  std::string version() const override;

 private:
  struct Functions {
    int (*version)() = nullptr;
    void (*print)(void (*)(const char*, void*), void*) = nullptr;
    void (*process_info)(size_t*, size_t*, size_t*, size_t*, size_t*, size_t*, size_t*,
                         size_t*) = nullptr;
  };
  explicit MimallocEngine(const Functions& functions) : functions_(functions) {}

  Functions functions_;
};

}  // namespace heapgauge::engines
