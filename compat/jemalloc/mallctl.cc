// mallctl and its two relatives. Where jemalloc itself is in the process, they go to it.
#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "compat/common/agent_link.h"
#include "compat/common/output.h"
#include "compat/common/watcher.h"
#include "compat/jemalloc/controls.h"

#define HG_EXPORT extern "C" __attribute__((visibility("default")))

using heapgauge::compat::Controls;
using heapgauge::compat::Names;
using heapgauge::compat::NextAs;
using heapgauge::compat::Working;

HG_EXPORT int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value,
                      size_t new_size) noexcept {
  static auto* const real = NextAs<decltype(mallctl)>("mallctl");
  if (real != nullptr) return real(name, old_value, old_size, new_value, new_size);
  const Working working;
  const auto found = Names().Find(name);
  if (!found) return ENOENT;
  return Controls()[*found].call({old_value, old_size, new_value, new_size});
}

HG_EXPORT int mallctlnametomib(const char* name, size_t* mib, size_t* length) noexcept {
  static auto* const real = NextAs<decltype(mallctlnametomib)>("mallctlnametomib");
  if (real != nullptr) return real(name, mib, length);
  const Working working;
  const auto found = Names().MibOf(name);
  if (!found) return ENOENT;
  *length = std::min(*length, found->size());
  std::copy_n(found->begin(), *length, mib);
  return 0;
}

HG_EXPORT int mallctlbymib(const size_t* mib, size_t length, void* old_value, size_t* old_size,
                           void* new_value, size_t new_size) noexcept {
  static auto* const real = NextAs<decltype(mallctlbymib)>("mallctlbymib");
  if (real != nullptr) return real(mib, length, old_value, old_size, new_value, new_size);
  const Working working;
  const auto found = Names().FindMib(mib, length);
  if (!found) return ENOENT;
  return Controls()[*found].call({old_value, old_size, new_value, new_size});
}
