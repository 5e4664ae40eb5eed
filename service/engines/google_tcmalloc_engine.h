// Google's own tcmalloc (not gperftools'), as far as it can be asked without being compiled with
// it: numbers and statistics through the functions with C names behind its MallocExtension.
//
// There is no profile. Its snapshot is an object with virtual functions and an absl::FunctionRef,
// neither of which has a layout that may be relied on; programs with this allocator hand out their
// profiles themselves. The agent sees them if it is loaded.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/engines/process_symbols.h"
#include "service/engines/statistics_engine.h"

namespace heapgauge::engines {

class GoogleTcmallocEngine final : public StatisticsEngine {
 public:
  static std::vector<std::string> Names();
  static std::unique_ptr<endpoint::Engine> Make(const ProcessSymbols& symbols);

  std::string_view name() const override { return "tcmalloc"; }
  Result<std::string> Statistics(const std::string& options) override;
  std::vector<std::pair<std::string, uint64_t>> Figures() override;

 protected:
  std::string why_not() const override;
  std::string version() const override { return "google/tcmalloc"; }

 private:
  using Property = bool(const char*, size_t, size_t*);
  using Print = int(char*, int);

  GoogleTcmallocEngine(Property* property, Print* print) : property_(property), print_(print) {}

  Property* property_;
  Print* print_;  // may be null
};

}  // namespace heapgauge::engines
