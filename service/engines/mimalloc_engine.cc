#include "service/engines/mimalloc_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace heapgauge::engines {
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

}  // namespace heapgauge::engines
