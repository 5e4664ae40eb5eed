#include "core/elf/symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace heapgauge {

bool SymbolTable::Wants(int type) const {
  if (of_ == Of::kVariables) return type == STT_OBJECT || type == STT_COMMON;
  return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

void SymbolTable::AddFrom(ElfFile* elf) {
  const ElfFile::SectionHeader* table = SymbolSection(*elf);
  if (table == nullptr || table->link >= elf->sections().size()) return;
  complete_ = complete_ || table->type == SHT_SYMTAB;
  symbols_.reserve(symbols_.size() + elf->Contents(*table).size() / sizeof(Elf64_Sym) / 2);
  VisitSymbols(elf, table, [this](size_t, const Elf64_Sym& symbol, const char* name) {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if (!Wants(type) || name == nullptr || *name == 0) return;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || symbol.st_value == 0) return;
    const int binding = ELF64_ST_BIND(symbol.st_info);
    uint32_t rank = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
    if (type == STT_NOTYPE) rank += 4;  // labels in assembly, only if there is nothing else
    if (name[0] == '_' && name[1] == '_') rank += 1;  // of aliases, the name that people know
    symbols_.push_back({symbol.st_value, symbol.st_value + symbol.st_size, rank, name});
  });
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

const char* SymbolTable::Find(uint64_t address, uint64_t* offset) const {
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](uint64_t value, const Symbol& symbol) { return value < symbol.start; });
  if (after == symbols_.begin()) return nullptr;
  const Symbol& symbol = *(after - 1);
  if (address >= symbol.end) return nullptr;
  *offset = address - symbol.start;
  return symbol.name;
}

}  // namespace heapgauge
