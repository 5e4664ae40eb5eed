#include "service/engines/statistics_engines.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/file.h"

namespace heapgauge::engines {

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

}  // namespace heapgauge::engines
