#include "core/source/object_code.h"

#include <elf.h>

#include <algorithm>
#include <string_view>

#include "core/elf/symbols.h"
#include "core/os/file_stamp.h"
#include "core/symbolize/demangle_names.h"
#include "core/symbolize/module_files.h"

namespace heapgauge {
namespace {

struct RawSymbol {
  uint64_t start = 0;
  uint64_t size = 0;
  const char* name = nullptr;  // in the ELF file's string table
};

// The functions of .symtab, or else of .dynsym, by address.
std::vector<RawSymbol> Functions(ElfFile* elf) {
  std::vector<RawSymbol> result;
  VisitSymbols(elf, SymbolSection(*elf), [&](size_t, const Elf64_Sym& symbol, const char* name) {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF) return;
    if (symbol.st_value == 0 || name == nullptr) return;
    result.push_back({symbol.st_value, symbol.st_size, name});
  });
  std::stable_sort(result.begin(), result.end(),
                   [](const RawSymbol& a, const RawSymbol& b) { return a.start < b.start; });
  return result;
}

// The form of the name that matches, or "".
std::string MatchingName(const std::string& name, const Regex& regex) {
  if (regex.Matches(name)) return name;
  if (!name.starts_with("_Z") && !name.starts_with("_R")) return "";
  for (const auto mode : {DemangleMode::kFull, DemangleMode::kTemplates, DemangleMode::kDefault}) {
    std::string readable = DemangledName(name, mode);
    if (regex.Matches(readable)) return readable;
  }
  return "";
}

}  // namespace

std::vector<uint64_t> ObjectCode::AddressesIn(ModuleId module) const {
  constexpr size_t kEnough = 10000;
  std::vector<uint64_t> addresses;
  for (const Location& location : profile_.locations) {
    if (location.module != module || addresses.size() == kEnough) continue;
    addresses.push_back(location.lookup_address());
  }
  return addresses;
}

const ObjectCode::File& ObjectCode::Open(ModuleId id) {
  const auto [at, added] = files_.try_emplace(id);
  File& file = at->second;
  if (!added) return file;
  const Module& module = profile_.modules[id];
  SymbolizeOptions options;
  if (profile_.recording.state == RecordingState::kLive) options.pid = profile_.recording.pid;
  StampList stamps;
  std::string note;
  auto elf = OpenForeignModule(module, "", options, &stamps, &note);
  if (!elf) {
    file.error = elf.error().message;
    return file;
  }
  file.elf = *std::move(elf);
  file.bias =
      module.load_bias_known ? module.load_bias : FindLoadBias(*file.elf, module, AddressesIn(id));
  return file;
}

std::vector<CodeSymbol> ObjectCode::FindSymbols(ElfFile* elf, const Regex& regex,
                                                uint64_t address) {
  const std::vector<RawSymbol> functions = Functions(elf);
  std::vector<CodeSymbol> result;
  for (size_t begin = 0, end = 0; begin < functions.size(); begin = end) {
    CodeSymbol symbol;
    symbol.start = functions[begin].start;
    uint64_t size = 0;
    std::vector<std::string> names;
    for (end = begin; end < functions.size() && functions[end].start == symbol.start; ++end) {
      size = std::max(size, functions[end].size);
      names.emplace_back(functions[end].name);
    }
    // Code without a size (assembly) reaches to the next function.
    if (size == 0) size = end < functions.size() ? functions[end].start - symbol.start : 1;
    symbol.last = symbol.start + size - 1;
    if (address != 0 && address >= symbol.start && address <= symbol.last) {
      symbol.names = std::move(names);
    } else {
      for (const std::string& name : names) {
        std::string match = MatchingName(name, regex);
        if (match.empty()) continue;
        symbol.names.push_back(std::move(match));
        break;
      }
    }
    if (!symbol.names.empty()) result.push_back(std::move(symbol));
  }
  return result;
}

}  // namespace heapgauge
