// The C functions of gperftools/malloc_extension_c.h. Where tcmalloc itself is in the process, they
// go to it.
#include <gperftools/malloc_extension_c.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "compat/common/output.h"
#include "compat/gperftools/extension.h"

#define HG_EXPORT extern "C" __attribute__((visibility("default")))
// Calls the real function of that name, if there is one, and returns.
#define HG_STEP_ASIDE(name, ...)                                                \
  do {                                                                          \
    static auto* const real = heapgauge::compat::NextAs<decltype(name)>(#name); \
    if (real != nullptr) return real(__VA_ARGS__);                              \
  } while (false)

namespace extension = heapgauge::compat::extension;

HG_EXPORT int MallocExtension_VerifyAllMemory() {
  HG_STEP_ASIDE(MallocExtension_VerifyAllMemory);
  return 1;
}
HG_EXPORT int MallocExtension_VerifyNewMemory(const void* p) {
  HG_STEP_ASIDE(MallocExtension_VerifyNewMemory, p);
  return 1;
}
HG_EXPORT int MallocExtension_VerifyArrayNewMemory(const void* p) {
  HG_STEP_ASIDE(MallocExtension_VerifyArrayNewMemory, p);
  return 1;
}
HG_EXPORT int MallocExtension_VerifyMallocMemory(const void* p) {
  HG_STEP_ASIDE(MallocExtension_VerifyMallocMemory, p);
  return 1;
}
HG_EXPORT int MallocExtension_MallocMemoryStats(int* blocks, size_t* total,
                                                int histogram[kMallocExtensionHistogramSize]) {
  HG_STEP_ASIDE(MallocExtension_MallocMemoryStats, blocks, total, histogram);
  return extension::MemoryStatistics(blocks, total, histogram, kMallocExtensionHistogramSize) ? 1
                                                                                              : 0;
}
HG_EXPORT void MallocExtension_GetStats(char* buffer, int buffer_length) {
  HG_STEP_ASIDE(MallocExtension_GetStats, buffer, buffer_length);
  if (buffer_length <= 0) return;
  const std::string text = extension::Statistics();
  const size_t size = std::min(text.size(), static_cast<size_t>(buffer_length) - 1);
  std::memcpy(buffer, text.data(), size);
  buffer[size] = '\0';
}
HG_EXPORT int MallocExtension_GetNumericProperty(const char* property, size_t* value) {
  HG_STEP_ASIDE(MallocExtension_GetNumericProperty, property, value);
  return extension::GetProperty(property, value) ? 1 : 0;
}
HG_EXPORT int MallocExtension_SetNumericProperty(const char* property, size_t value) {
  HG_STEP_ASIDE(MallocExtension_SetNumericProperty, property, value);
  return extension::SetProperty(property, value) ? 1 : 0;
}
HG_EXPORT void MallocExtension_MarkThreadIdle() { HG_STEP_ASIDE(MallocExtension_MarkThreadIdle); }
HG_EXPORT void MallocExtension_MarkThreadBusy() { HG_STEP_ASIDE(MallocExtension_MarkThreadBusy); }
HG_EXPORT void MallocExtension_MarkThreadTemporarilyIdle() {
  HG_STEP_ASIDE(MallocExtension_MarkThreadTemporarilyIdle);
}
HG_EXPORT void MallocExtension_ReleaseToSystem(size_t bytes) {
  HG_STEP_ASIDE(MallocExtension_ReleaseToSystem, bytes);
  extension::Release();
}
HG_EXPORT void MallocExtension_ReleaseFreeMemory() {
  HG_STEP_ASIDE(MallocExtension_ReleaseFreeMemory);
  extension::Release();
}
HG_EXPORT size_t MallocExtension_GetEstimatedAllocatedSize(size_t size) {
  HG_STEP_ASIDE(MallocExtension_GetEstimatedAllocatedSize, size);
  return extension::EstimatedSize(size);
}
HG_EXPORT size_t MallocExtension_GetAllocatedSize(const void* p) {
  HG_STEP_ASIDE(MallocExtension_GetAllocatedSize, p);
  return extension::SizeOf(p);
}
HG_EXPORT size_t MallocExtension_GetThreadCacheSize() {
  HG_STEP_ASIDE(MallocExtension_GetThreadCacheSize);
  return 0;
}
HG_EXPORT MallocExtension_Ownership MallocExtension_GetOwnership(const void* p) {
  HG_STEP_ASIDE(MallocExtension_GetOwnership, p);
  return MallocExtension_kUnknownOwnership;
}
