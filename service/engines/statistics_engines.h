// Allocators without a profiler that can be asked: they answer with figures and statistics.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "endpoint/base/engine.h"
#include "service/engines/process_symbols.h"

namespace heapgauge::engines {

// What engines without a profiler have in common: they answer with figures, and say why there is no
// profile.

class StatisticsEngine : public endpoint::Engine {
 public:
  State state() override {
    State state;
    state.why_not = why_not();
    state.version = version();
    return state;
  }
  Result<std::string> TakeHeap() override { return Fail(ErrorCode::kUnsupported, why_not()); }
  Result<std::string> TakeGrowth() override { return Fail(ErrorCode::kUnsupported, why_not()); }
  Status SetActive(bool) override { return Fail(ErrorCode::kUnsupported, why_not()); }
  Status SetInterval(uint64_t) override { return Fail(ErrorCode::kUnsupported, why_not()); }
  Status Reset() override { return Fail(ErrorCode::kUnsupported, why_not()); }

 protected:
  virtual std::string why_not() const = 0;
  virtual std::string version() const = 0;
};

// The statistics of glibc's own malloc: mallinfo2 and malloc_info.
//
// They are taken from libc itself, since other allocators define functions of these names. Where
// another allocator serves the program glibc's heap stays empty, and there is no such engine.
// Threads: one at a time; glibc locks its arenas one after another meanwhile.

class GlibcEngine final : public StatisticsEngine {
 public:
  static std::unique_ptr<endpoint::Engine> Make();

  std::string_view name() const override { return "glibc"; }
  Result<std::string> Statistics(const std::string& options) override;
  std::vector<std::pair<std::string, uint64_t>> Figures() override;

 protected:
  std::string why_not() const override;
  std::string version() const override;

 private:
  using Figures2 = struct mallinfo2();
  using Print = int(int, FILE*);

  GlibcEngine(Figures2* figures, Print* print) : figures_(figures), print_(print) {}

  Figures2* figures_;
  Print* print_;  // may be null
};

// mimalloc's statistics. It has no profiler of its own.
//
// Threads: one at a time; statistics of other threads are as they last handed them over.

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

// Google's own tcmalloc (not gperftools'), as far as it can be asked without being compiled with
// it: numbers and statistics through the functions with C names behind its MallocExtension.
//
// There is no profile. Its snapshot is an object with virtual functions and an absl::FunctionRef,
// neither of which has a layout that may be relied on; programs with this allocator hand out their
// profiles themselves. The agent sees them if it is loaded.
//
// Threads: one at a time.

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
