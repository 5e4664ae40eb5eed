#include "agent/hooks/came_by_preload.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

#include "agent/sys/environment.h"
#include "agent/sys/symbol_search.h"

namespace heapgauge::agent {
namespace {

constexpr char kName[] = "libheapgauge.so";

// Whether an object names us among the libraries that it needs.
[[maybe_unused]] bool Needs(const link_map* map) {
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_STRTAB) continue;
    // glibc relocates it in place, but not in the vDSO.
    const uintptr_t at = entry->d_un.d_ptr;
    strings = reinterpret_cast<const char*>(at >= map->l_addr ? at : at + map->l_addr);
  }
  if (strings == nullptr) return false;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED) continue;
    const char* needed = strings + entry->d_un.d_val;
    const char* slash = strrchr(needed, '/');
    const char* base = slash == nullptr ? needed : slash + 1;
    if (strncmp(base, kName, sizeof kName - 1) == 0) return true;
  }
  return false;
}

}  // namespace

bool CameByPreload(char** environment) {
  if (environment == nullptr) return true;
  if (strstr(EnvironmentValue(environment, "LD_PRELOAD"), kName) != nullptr) return true;
#ifndef HG_LINKED_IN
  for (const link_map* map = FirstObject(); map != nullptr; map = map->l_next) {
    if (map->l_ld != nullptr && Needs(map)) return false;
  }
  return true;
#else
  return false;
#endif
}

}  // namespace heapgauge::agent
