#include "agent/sys/symbol_search.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "agent/sys/os_memory.h"

extern "C" void* __tls_get_addr(void*);  // a function of the dynamic linker's

namespace heapgauge::agent {
namespace {

uint32_t GnuHash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

// The dynamic symbols of one object, by its GNU hash table. Every object that this linker makes has
// one; an object with only the old table (none is known among allocators) is passed over.
class SymbolTable {
 public:
  SymbolTable(uintptr_t bias, const ElfW(Dyn) * dynamic) : bias_(bias) {
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
      switch (dynamic->d_tag) {
        case DT_SYMTAB:
          symbols_ = At<const ElfW(Sym)*>(dynamic->d_un.d_ptr);
          break;
        case DT_STRTAB:
          strings_ = At<const char*>(dynamic->d_un.d_ptr);
          break;
        case DT_GNU_HASH:
          hash_ = At<const uint32_t*>(dynamic->d_un.d_ptr);
          break;
        default:
          break;
      }
    }
  }

  void* Find(const char* name, unsigned type = STT_FUNC) const {
    const ElfW(Sym)* symbol = FindSymbol(name, type);
    return symbol == nullptr ? nullptr : reinterpret_cast<void*>(bias_ + symbol->st_value);
  }

  const ElfW(Sym) * FindSymbol(const char* name, unsigned type = STT_FUNC) const {
    if (symbols_ == nullptr || strings_ == nullptr || hash_ == nullptr) return nullptr;
    const uint32_t buckets = hash_[0];
    const uint32_t first = hash_[1];
    const uint32_t bloom_words = hash_[2];
    if (buckets == 0 || bloom_words == 0) return nullptr;
    const auto* bloom = reinterpret_cast<const ElfW(Addr)*>(hash_ + 4);
    const auto* bucket = reinterpret_cast<const uint32_t*>(bloom + bloom_words);
    const uint32_t* chain = bucket + buckets;
    const uint32_t hash = GnuHash(name);
    for (uint32_t i = bucket[hash % buckets]; i >= first; ++i) {
      const uint32_t entry = chain[i - first];
      if ((entry | 1) == (hash | 1) && Defines(i, name, type)) return &symbols_[i];
      if ((entry & 1) != 0) break;
    }
    return nullptr;
  }

 private:
  // glibc relocates these entries in place, the vDSO's stay relative.
  template <typename T>
  T At(ElfW(Addr) value) const {
    return reinterpret_cast<T>(value >= bias_ ? value : value + bias_);
  }

  bool Defines(uint32_t i, const char* name, unsigned type) const {
    const ElfW(Sym)& symbol = symbols_[i];
    const unsigned bind = ELF64_ST_BIND(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) return false;
    if (ELF64_ST_TYPE(symbol.st_info) != type) return false;
    if (bind != STB_GLOBAL && bind != STB_WEAK) return false;
    return strcmp(strings_ + symbol.st_name, name) == 0;
  }

  uintptr_t bias_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  const uint32_t* hash_ = nullptr;
};

struct Range {
  uintptr_t start = UINTPTR_MAX;
  uintptr_t end = 0;
  const ElfW(Dyn) * dynamic = nullptr;
};

Range RangeOf(uintptr_t bias, const ElfW(Phdr) * headers, size_t count) {
  Range range;
  for (size_t i = 0; i < count; ++i) {
    const uintptr_t at = bias + headers[i].p_vaddr;
    if (headers[i].p_type == PT_LOAD) {
      if (at < range.start) range.start = at;
      if (at + headers[i].p_memsz > range.end) range.end = at + headers[i].p_memsz;
    } else if (headers[i].p_type == PT_DYNAMIC) {
      range.dynamic = reinterpret_cast<const ElfW(Dyn)*>(at);
    }
  }
  return range;
}

struct Search {
  uintptr_t self;
  const char* const* names;
  Definition* definitions;
  size_t count;
  bool behind;  // the object that holds `self` was passed
};

// Looks into one object; true once everything is found.
bool SearchObject(Search* search, uintptr_t bias, const Range& range, const char* path) {
  if (!search->behind) {
    search->behind = range.start <= search->self && search->self < range.end;
    return false;
  }
  if (range.dynamic == nullptr) return false;
  const SymbolTable symbols(bias, range.dynamic);
  bool missing = false;
  for (size_t i = 0; i < search->count; ++i) {
    Definition& definition = search->definitions[i];
    if (definition.address != nullptr) continue;
    const ElfW(Sym)* symbol = symbols.FindSymbol(search->names[i]);
    if (symbol == nullptr) {
      missing = true;
      continue;
    }
    definition.address = reinterpret_cast<void*>(bias + symbol->st_value);
    definition.bytes = symbol->st_size;
    definition.start = range.start;
    definition.end = range.end;
    definition.path = path;
  }
  return !missing;
}

int SearchLoaded(dl_phdr_info* info, size_t, void* argument) {
  const Range range = RangeOf(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
  return SearchObject(static_cast<Search*>(argument), info->dlpi_addr, range, info->dlpi_name);
}

void* FindIn(uintptr_t address, const char* name, unsigned type) {
  LoadedObject object;
  if (!ObjectAt(address, &object)) return nullptr;
  const ProgramHeaders headers = HeadersOf(object);
  const Range range = RangeOf(object.load_bias, headers.first, headers.count);
  if (range.dynamic == nullptr) return nullptr;
  return SymbolTable(object.load_bias, range.dynamic).Find(name, type);
}

}  // namespace

void FindNext(const void* self, const char* const* names, Definition* definitions, size_t count) {
  Search search{reinterpret_cast<uintptr_t>(self), names, definitions, count, false};
  dl_iterate_phdr(SearchLoaded, &search);
}

void FindNextAtStart(const void* self, const char* const* names, Definition* definitions,
                     size_t count) {
  Search search{reinterpret_cast<uintptr_t>(self), names, definitions, count, false};
  for (const link_map* map = FirstObject(); map != nullptr; map = map->l_next) {
    LoadedObject object;
    if (!ObjectAt(reinterpret_cast<uintptr_t>(map->l_ld), &object)) continue;
    const Range range{object.start, object.end, map->l_ld};
    if (SearchObject(&search, map->l_addr, range, map->l_name)) return;
  }
}

void* FindInLibc(const char* name) {
  for (const link_map* map = FirstObject(); map != nullptr; map = map->l_next) {
    const SymbolTable symbols(map->l_addr, map->l_ld);
    if (symbols.Find("gnu_get_libc_version") != nullptr) return symbols.Find(name);
  }
  return nullptr;
}

bool BindOwnSymbol(const char* name, const void* target) {
  LoadedObject self;
  if (!ObjectAt(reinterpret_cast<uintptr_t>(&BindOwnSymbol), &self)) return false;
  const ProgramHeaders headers = HeadersOf(self);
  const Range range = RangeOf(self.load_bias, headers.first, headers.count);
  if (range.dynamic == nullptr) return false;
  auto* symbol =
      const_cast<ElfW(Sym)*>(SymbolTable(self.load_bias, range.dynamic).FindSymbol(name));
  if (symbol == nullptr) return false;
  const os::WritablePages writable(symbol, sizeof *symbol);
  if (!writable.ok()) return false;
  if (target == nullptr) {
    symbol->st_value = 0;
    symbol->st_shndx = SHN_UNDEF;
  } else {
    symbol->st_value = reinterpret_cast<uintptr_t>(target) - self.load_bias;
  }
  return true;
}

void* FindIn(uintptr_t address, const char* name) { return FindIn(address, name, STT_FUNC); }

void* FindInLinker(const char* name) {
  return FindIn(reinterpret_cast<uintptr_t>(&__tls_get_addr), name, STT_OBJECT);
}

const link_map* FirstObject() {
  const void* own = FindInLinker("_r_debug");
  return (own != nullptr ? static_cast<const r_debug*>(own) : &_r_debug)->r_map;
}

}  // namespace heapgauge::agent
