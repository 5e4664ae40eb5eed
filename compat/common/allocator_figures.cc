#include "compat/common/allocator_figures.h"

#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/file.h"
#include "core/base/text.h"

namespace heapgauge::compat {
namespace {

// From libc itself: other allocators define functions of these names.
template <typename Function>
Function* InLibc(const char* name) {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return nullptr;
  void* function = dlsym(libc, name);
  dlclose(libc);
  return reinterpret_cast<Function*>(function);
}

size_t ResidentOfProcess() {
  const Result<std::string> text = ReadWholeFile("/proc/self/statm", 256);
  if (!text) return SIZE_MAX;
  const size_t blank = text->find(' ');
  if (blank == std::string::npos) return SIZE_MAX;
  const size_t pages = std::strtoull(text->c_str() + blank, nullptr, 10);
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::optional<AllocatorFigures> AskAllocator() {
  static auto* const ask = InLibc<struct mallinfo2()>("mallinfo2");
  if (ask == nullptr) return std::nullopt;
  const struct mallinfo2 now = ask();
  if (now.arena == 0 && now.hblkhd == 0) return std::nullopt;  // another one serves the program
  AllocatorFigures figures;
  figures.allocated = now.uordblks + now.hblkhd;
  figures.mapped = now.arena + now.hblkhd;
  figures.free = now.fordblks;
  figures.releasable = now.keepcost;
  figures.resident = std::min(figures.mapped, ResidentOfProcess());
  return figures;
}

bool ReleaseFreeMemory() {
  static auto* const trim = InLibc<int(size_t)>("malloc_trim");
  return trim != nullptr && AskAllocator().has_value() && trim(0) != 0;
}

}  // namespace heapgauge::compat
