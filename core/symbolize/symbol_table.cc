#include "core/symbolize/symbol_table.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>

namespace heapgauge {

void SymbolTable::AddFrom(Elf* elf) {
  Elf_Scn* chosen = nullptr;
  GElf_Shdr chosen_header{};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const bool full = header.sh_type == SHT_SYMTAB;
    if (!full && (header.sh_type != SHT_DYNSYM || chosen != nullptr)) continue;
    chosen = section;
    chosen_header = header;
    if (full) break;
  }
  if (chosen == nullptr || chosen_header.sh_entsize == 0) return;
  Elf_Data* data = elf_getdata(chosen, nullptr);
  if (data == nullptr) return;
  const size_t count =
      std::min<size_t>(chosen_header.sh_size / chosen_header.sh_entsize, size_t{1} << 26);
  symbols_.reserve(symbols_.size() + count / 2);
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol{};
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) continue;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) continue;
    const char* name = elf_strptr(elf, chosen_header.sh_link, symbol.st_name);
    if (name == nullptr || *name == 0) continue;
    const int binding = GELF_ST_BIND(symbol.st_info);
    uint32_t rank = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
    if (type == STT_NOTYPE) rank += 4;  // labels in assembly, only if there is nothing else
    if (name[0] == '_' && name[1] == '_') rank += 1;  // of aliases, the name that people know
    symbols_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, rank, name});
  }
}

void SymbolTable::Finish() {
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    if (a.start != b.start) return a.start < b.start;
    if (a.rank != b.rank) return a.rank < b.rank;
    return std::strcmp(a.name, b.name) < 0;
  });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Symbol& a, const Symbol& b) { return a.start == b.start; }),
                 symbols_.end());
  // A symbol without a size (assembly) reaches to the next one, within reason.
  constexpr uint64_t kMaxSizeless = 4096;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i].end != symbols_[i].start) continue;
    const uint64_t next = i + 1 < symbols_.size() ? symbols_[i + 1].start : ~uint64_t{0};
    symbols_[i].end = std::min(next, symbols_[i].start + kMaxSizeless);
  }
}

const char* SymbolTable::Find(uint64_t address) const {
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](uint64_t value, const Symbol& symbol) { return value < symbol.start; });
  if (after == symbols_.begin()) return nullptr;
  const Symbol& symbol = *(after - 1);
  return address < symbol.end ? symbol.name : nullptr;
}

}  // namespace heapgauge
