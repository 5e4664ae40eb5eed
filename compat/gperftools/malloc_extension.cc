// The C++ class of gperftools/malloc_extension.h, defined by way of the real header so that its
// table of virtual functions is the one programs were compiled with. Where tcmalloc itself is in
// the process, instance() gives its object.
//
// Texts go into the caller's std::string by the program's own libstdc++, if it has one: what that
// allocated must be what the program's operator delete takes back.
#pragma GCC visibility push(default)
#include <gperftools/malloc_extension.h>
#pragma GCC visibility pop

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "compat/common/output.h"
#include "compat/gperftools/extension.h"

namespace extension = heapgauge::compat::extension;

namespace {

std::atomic<MallocExtension*> registered{nullptr};

void Append(const std::string& text, std::string* out) {
  using Function = std::string&(std::string*, const char*, size_t);
  static auto* const append = reinterpret_cast<Function*>(
      dlsym(RTLD_DEFAULT, "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm"));
  if (append != nullptr) {
    append(out, text.data(), text.size());
  } else {
    out->append(text);
  }
}

}  // namespace

SysAllocator::~SysAllocator() = default;
MallocExtension::~MallocExtension() = default;
void MallocExtension::Initialize() {}

MallocExtension* MallocExtension::instance() {
  static auto* const real =
      heapgauge::compat::NextAs<MallocExtension*()>("_ZN15MallocExtension8instanceEv");
  if (real != nullptr) return real();
  static auto* const ours = new MallocExtension();
  MallocExtension* const theirs = registered.load();
  return theirs != nullptr ? theirs : ours;
}
void MallocExtension::Register(MallocExtension* implementation) {
  static auto* const real =
      heapgauge::compat::NextAs<void(MallocExtension*)>("_ZN15MallocExtension8RegisterEPS_");
  if (real != nullptr) return real(implementation);
  registered.store(implementation);
}

bool MallocExtension::VerifyAllMemory() { return true; }
bool MallocExtension::VerifyNewMemory(const void*) { return true; }
bool MallocExtension::VerifyArrayNewMemory(const void*) { return true; }
bool MallocExtension::VerifyMallocMemory(const void*) { return true; }
bool MallocExtension::MallocMemoryStats(int* blocks, size_t* total,
                                        int histogram[kMallocHistogramSize]) {
  return extension::MemoryStatistics(blocks, total, histogram, kMallocHistogramSize);
}
void MallocExtension::GetStats(char* buffer, int buffer_length) {
  if (buffer_length <= 0) return;
  const std::string text = extension::Statistics();
  const size_t size = std::min(text.size(), static_cast<size_t>(buffer_length) - 1);
  std::memcpy(buffer, text.data(), size);
  buffer[size] = '\0';
}
void MallocExtension::GetHeapSample(MallocExtensionWriter* writer) {
  Append(extension::HeapSample(), writer);
}
void MallocExtension::GetHeapGrowthStacks(MallocExtensionWriter* writer) {
  Append(extension::GrowthStacks(), writer);
}
void MallocExtension::Ranges(void*, RangeFunction) {}
bool MallocExtension::GetNumericProperty(const char* property, size_t* value) {
  return extension::GetProperty(property, value);
}
bool MallocExtension::SetNumericProperty(const char* property, size_t value) {
  return extension::SetProperty(property, value);
}
void MallocExtension::MarkThreadIdle() {}
void MallocExtension::MarkThreadBusy() {}
SysAllocator* MallocExtension::GetSystemAllocator() { return nullptr; }
void MallocExtension::SetSystemAllocator(SysAllocator*) {}
void MallocExtension::ReleaseToSystem(size_t) { extension::Release(); }
void MallocExtension::ReleaseFreeMemory() { extension::Release(); }
void MallocExtension::SetMemoryReleaseRate(double) {}
double MallocExtension::GetMemoryReleaseRate() { return -1; }  // it is not known
size_t MallocExtension::GetEstimatedAllocatedSize(size_t size) {
  return extension::EstimatedSize(size);
}
size_t MallocExtension::GetAllocatedSize(const void* p) { return extension::SizeOf(p); }
MallocExtension::Ownership MallocExtension::GetOwnership(const void*) { return kUnknownOwnership; }
void MallocExtension::GetFreeListSizes(std::vector<FreeListInfo>*) {}
void** MallocExtension::ReadStackTraces(int* sample_period) {
  *sample_period = 0;
  return nullptr;
}
void** MallocExtension::ReadHeapGrowthStackTraces() { return nullptr; }
size_t MallocExtension::GetThreadCacheSize() { return 0; }
void MallocExtension::MarkThreadTemporarilyIdle() {}
