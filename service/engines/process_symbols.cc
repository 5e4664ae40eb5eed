#include "service/engines/process_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "core/elf/symbols.h"

namespace heapgauge::engines {
namespace {

struct Object {
  std::string path;
  uint64_t bias = 0;
  std::vector<std::pair<uint64_t, uint64_t>> code;  // in memory

  bool HasCode(uint64_t address) const {
    return std::any_of(code.begin(), code.end(), [address](const auto& range) {
      return address >= range.first && address < range.second;
    });
  }
};

std::vector<Object> LoadedObjects() {
  std::vector<Object> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto* list = static_cast<std::vector<Object>*>(out);
        Object object;
        // The program comes first, without a name.
        const bool named = info->dlpi_name != nullptr && info->dlpi_name[0] != '\0';
        object.path = named ? info->dlpi_name : list->empty() ? "/proc/self/exe" : "";
        object.bias = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
          object.code.emplace_back(info->dlpi_addr + header.p_vaddr,
                                   info->dlpi_addr + header.p_vaddr + header.p_memsz);
        }
        list->push_back(std::move(object));
        return 0;
      },
      &objects);
  return objects;
}

// Ours define some of these names themselves, to answer in their place (compat/).
bool IsOurs(void* address) {
  const void* marker = dlsym(RTLD_DEFAULT, "heapgauge_compat_version");
  if (marker == nullptr) return false;
  Dl_info ours{};
  Dl_info theirs{};
  return dladdr(marker, &ours) != 0 && dladdr(address, &theirs) != 0 &&
         ours.dli_fbase == theirs.dli_fbase;
}

}  // namespace

ProcessSymbols::ProcessSymbols(const std::vector<std::string>& names) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    LookInDynamicTables(name);
    if (!found_.contains(name)) missing.push_back(name);
  }
  if (!missing.empty()) LookInFiles(missing);
}

void* ProcessSymbols::Find(const std::string& name) const {
  const auto at = found_.find(name);
  return at == found_.end() ? nullptr : at->second;
}

void ProcessSymbols::LookInDynamicTables(const std::string& name) {
  void* address = dlsym(RTLD_DEFAULT, name.c_str());
  if (address != nullptr && !IsOurs(address)) found_.emplace(name, address);
}

void ProcessSymbols::LookInFiles(const std::vector<std::string>& names) {
  const std::unordered_set<std::string_view> wanted(names.begin(), names.end());
  for (const Object& object : LoadedObjects()) {
    if (object.path.empty()) continue;
    auto file = ElfFile::Open(object.path);
    if (!file) continue;
    VisitSymbols(file->get(), (*file)->FindType(SHT_SYMTAB),
                 [&](size_t, const Elf64_Sym& symbol, const char* name) {
                   if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
                     return;
                   if (name == nullptr || !wanted.contains(name)) return;
                   const uint64_t address = object.bias + symbol.st_value;
                   if (!object.HasCode(address)) return;  // the file is not the one that was loaded
                   void* const function = reinterpret_cast<void*>(address);
                   if (!IsOurs(function)) found_.emplace(std::string(name), function);
                 });
  }
}

}  // namespace heapgauge::engines
