#include "service/engines/google_tcmalloc_engine.h"

#include <algorithm>
#include <cstring>

namespace heapgauge::engines {
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
