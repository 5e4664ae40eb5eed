#include "service/engines/engines.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "endpoint/base/engine.h"
#include "service/engines/gperftools_engine.h"
#include "service/engines/jemalloc_engine.h"
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

std::unique_ptr<endpoint::Engine> GlibcEngine::Make() {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return nullptr;
  auto* figures = reinterpret_cast<Figures2*>(dlsym(libc, "mallinfo2"));
  auto* print = reinterpret_cast<Print*>(dlsym(libc, "malloc_info"));
  dlclose(libc);  // it stays: the process lives on it
  if (figures == nullptr) return nullptr;
  const struct mallinfo2 now = figures();
  if (now.arena == 0 && now.hblkhd == 0) return nullptr;
  return std::unique_ptr<endpoint::Engine>(new GlibcEngine(figures, print));
}

std::string GlibcEngine::why_not() const {
  return "glibc's malloc has no profiler; use engine=native";
}

std::string GlibcEngine::version() const { return gnu_get_libc_version(); }

Result<std::string> GlibcEngine::Statistics(const std::string&) {
  if (print_ == nullptr) return Fail(ErrorCode::kUnsupported, "this libc has no malloc_info");
  char* text = nullptr;
  size_t size = 0;
  FILE* stream = open_memstream(&text, &size);
  if (stream == nullptr) return tl::unexpected(SystemError("cannot take statistics", errno));
  const int error = print_(0, stream);
  std::fclose(stream);
  std::string result(text, size);
  std::free(text);
  if (error != 0) return Fail(ErrorCode::kUnavailable, "malloc_info failed");
  return result;
}

std::vector<std::pair<std::string, uint64_t>> GlibcEngine::Figures() {
  const struct mallinfo2 now = figures_();
  return {{"allocated", now.uordblks + now.hblkhd},
          {"mapped", now.arena + now.hblkhd},
          // All that the heaps hold and nobody has: between blocks, and at the top.
          {"cached", now.fordblks},
          {"releasable", now.keepcost},
          {"fragmentation", now.fordblks - now.keepcost}};
}

namespace {

constexpr size_t kMostStatistics = size_t{1} << 20;

void Append(const char* more, void* text) noexcept {
  auto* out = static_cast<std::string*>(text);
  const size_t room = kMostStatistics - std::min(out->size(), kMostStatistics);
  out->append(more, strnlen(more, room));
}

}  // namespace

std::vector<std::string> MimallocEngine::Names() {
  return {"mi_version", "mi_stats_print_out", "mi_process_info"};
}

std::unique_ptr<endpoint::Engine> MimallocEngine::Make(const ProcessSymbols& symbols) {
  Functions f;
  f.version = symbols.FindAs<int()>("mi_version");
  f.print = symbols.FindAs<void(void (*)(const char*, void*), void*)>("mi_stats_print_out");
  f.process_info =
      symbols.FindAs<void(size_t*, size_t*, size_t*, size_t*, size_t*, size_t*, size_t*, size_t*)>(
          "mi_process_info");
  if (f.version == nullptr || f.print == nullptr) return nullptr;
  return std::unique_ptr<endpoint::Engine>(new MimallocEngine(f));
}

std::string MimallocEngine::why_not() const {
  return "mimalloc has no profiler; use engine=native";
}

std::string MimallocEngine::version() const {
  const int version = functions_.version();  // 209: 2.0.9
  return fmt::format("{}.{}.{}", version / 100, version / 10 % 10, version % 10);
}

Result<std::string> MimallocEngine::Statistics(const std::string&) {
  std::string text;
  functions_.print(Append, &text);
  return text;
}

std::vector<std::pair<std::string, uint64_t>> MimallocEngine::Figures() {
  if (functions_.process_info == nullptr) return {};
  size_t resident = 0;
  size_t committed = 0;
  functions_.process_info(nullptr, nullptr, nullptr, &resident, nullptr, &committed, nullptr,
                          nullptr);
  // The resident set is that of the process; mimalloc does not count its own apart.
  return {{"active", committed}, {"resident of the process", resident}};
}

namespace {

constexpr const char* kProperty = "MallocExtension_Internal_GetNumericProperty";
constexpr const char* kPrint = "MallocExtension_Internal_GetStatsInPbtxt";
constexpr int kStatisticsSize = 3 << 20;

}  // namespace

std::vector<std::string> GoogleTcmallocEngine::Names() { return {kProperty, kPrint}; }

std::unique_ptr<endpoint::Engine> GoogleTcmallocEngine::Make(const ProcessSymbols& symbols) {
  auto* property = symbols.FindAs<Property>(kProperty);
  if (property == nullptr) return nullptr;
  return std::unique_ptr<endpoint::Engine>(
      new GoogleTcmallocEngine(property, symbols.FindAs<Print>(kPrint)));
}

std::string GoogleTcmallocEngine::why_not() const {
  return "the snapshot of google's tcmalloc can only be taken by code compiled with it; use "
         "engine=native";
}

Result<std::string> GoogleTcmallocEngine::Statistics(const std::string&) {
  if (print_ == nullptr) {
    return Fail(ErrorCode::kUnsupported, "this tcmalloc cannot tell its statistics as text");
  }
  std::string text(kStatisticsSize, '\0');
  print_(text.data(), kStatisticsSize);
  text.resize(strnlen(text.data(), text.size()));
  return text;
}

std::vector<std::pair<std::string, uint64_t>> GoogleTcmallocEngine::Figures() {
  std::vector<std::pair<std::string, uint64_t>> figures;
  const auto add = [&](const char* as, const char* property) {
    size_t value = 0;
    if (property_(property, std::strlen(property), &value)) figures.emplace_back(as, value);
    return value;
  };
  add("allocated", "generic.current_allocated_bytes");
  add("resident", "generic.physical_memory_used");
  add("metadata", "tcmalloc.metadata_bytes");
  add("mapped", "generic.heap_size");
  add("retained", "tcmalloc.pageheap_unmapped_bytes");
  add("free pages", "tcmalloc.pageheap_free_bytes");
  add("fragmentation", "tcmalloc.external_fragmentation_bytes");
  return figures;
}

std::vector<std::unique_ptr<endpoint::Engine>> FindEngines() {
  std::vector<std::string> names;
  for (const auto& list : {JemallocEngine::Names(), GperftoolsEngine::Names(),
                           GoogleTcmallocEngine::Names(), MimallocEngine::Names()}) {
    names.insert(names.end(), list.begin(), list.end());
  }
  const ProcessSymbols symbols(names);
  std::vector<std::unique_ptr<endpoint::Engine>> engines;
  const auto add = [&engines](std::unique_ptr<endpoint::Engine> engine) {
    if (engine != nullptr) engines.push_back(std::move(engine));
  };
  add(JemallocEngine::Make(symbols));
  auto tcmalloc = GperftoolsEngine::Make(symbols);
  add(tcmalloc != nullptr ? std::move(tcmalloc) : GoogleTcmallocEngine::Make(symbols));
  add(MimallocEngine::Make(symbols));
  add(GlibcEngine::Make());
  return engines;
}

}  // namespace heapgauge::engines
