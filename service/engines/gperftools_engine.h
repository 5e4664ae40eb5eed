// gperftools' tcmalloc through its own functions: the exact heap profiler (HeapProfilerStart and
// its like), the sampler behind MallocExtension, and its properties.
//
// Which profile it gives: that of the heap profiler if it runs, otherwise that of the sampler if
// TCMALLOC_SAMPLE_PARAMETER switched it on. The profiler needs a prefix for files that it writes by
// itself; started from here it gets a private directory, which goes when it is stopped. Member
// functions of MallocExtension are called by their names, not through its table of virtual
// functions, whose order depends on the version; the name also tells which std::string it was built
// with.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "endpoint/base/engine.h"
#include "service/engines/process_symbols.h"

namespace heapgauge::engines {

class GperftoolsEngine final : public endpoint::Engine {
 public:
  static std::vector<std::string> Names();
  static std::unique_ptr<endpoint::Engine> Make(const ProcessSymbols& symbols);
  ~GperftoolsEngine() override;

  std::string_view name() const override { return "tcmalloc"; }
  State state() override;
  Result<std::string> TakeHeap() override;
  Result<std::string> TakeGrowth() override;
  // The heap profiler, which records every call: slow.
  Status SetActive(bool active) override;
  Status SetInterval(uint64_t bytes) override;
  // Stops the profiler and starts it anew, which is how it forgets.
  Status Reset() override;
  Result<std::string> Statistics(const std::string& options) override;
  std::vector<std::pair<std::string, uint64_t>> Figures() override;

 private:
  struct Functions {
    void (*start)(const char*) = nullptr;
    void (*stop)() = nullptr;
    void (*dump)(const char*) = nullptr;
    int (*is_running)() = nullptr;
    char* (*take)() = nullptr;
    int (*property)(const char*, size_t*) = nullptr;
    void (*statistics)(char*, int) = nullptr;
    const char* (*version)(int*, int*, const char**) = nullptr;
    void* (*instance)() = nullptr;
    void (*sample)(void*, std::string*) = nullptr;
    void (*growth)(void*, std::string*) = nullptr;

    bool can_profile() const { return start && stop && is_running && take; }
  };

  explicit GperftoolsEngine(const Functions& functions) : functions_(functions) {}
  bool running() const { return functions_.can_profile() && functions_.is_running() != 0; }
  Result<std::string> TakeExact();
  Result<std::string> TakeFromFile();
  // With `function` of MallocExtension.
  Result<std::string> TakeText(void (*function)(void*, std::string*), const char* what);
  void RemoveDirectory();

  Functions functions_;
  std::string directory_;  // ours, while we run the profiler
};

}  // namespace heapgauge::engines
