#include "core/voices/perl/image.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <unordered_map>

#include "core/elf/symbols.h"
#include "core/symbolize/module_files.h"
#include "core/voices/perl/names.h"

namespace heapgauge::perl {
namespace {

constexpr std::string_view kSeparator = "_fini";

template <typename T>
bool ReadAt(Bytes bytes, size_t offset, T* value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof *value) return false;
  std::memcpy(value, bytes.data() + offset, sizeof *value);
  return true;
}

const char* TextAt(Bytes strings, size_t offset) {
  if (strings.empty() || strings.back() != 0 || offset >= strings.size()) return "";
  return reinterpret_cast<const char*>(strings.data()) + offset;
}

// Versions by their number in .gnu.version, as nm puts them behind a name: "@@V1", or "@V1" if it
// is another file that defines it (a variable that the linker copied).
std::unordered_map<uint16_t, std::string> VersionNames(ElfFile* elf) {
  std::unordered_map<uint16_t, std::string> names;
  int steps = 1 << 18;  // real files have hundreds
  const auto* defined = elf->FindType(SHT_GNU_verdef);
  if (defined != nullptr && defined->link < elf->sections().size()) {
    const Bytes bytes = elf->Contents(*defined);
    const Bytes strings = elf->Contents(elf->sections()[defined->link]);
    Elf64_Verdef entry;
    for (size_t at = 0; steps-- > 0 && ReadAt(bytes, at, &entry); at += entry.vd_next) {
      Elf64_Verdaux aux;
      if ((entry.vd_flags & VER_FLG_BASE) == 0 && ReadAt(bytes, at + entry.vd_aux, &aux)) {
        names[entry.vd_ndx] = std::string("@@") + TextAt(strings, aux.vda_name);
      }
      if (entry.vd_next == 0) break;
    }
  }
  const auto* needed = elf->FindType(SHT_GNU_verneed);
  if (needed != nullptr && needed->link < elf->sections().size()) {
    const Bytes bytes = elf->Contents(*needed);
    const Bytes strings = elf->Contents(elf->sections()[needed->link]);
    Elf64_Verneed entry;
    for (size_t at = 0; steps-- > 0 && ReadAt(bytes, at, &entry); at += entry.vn_next) {
      Elf64_Vernaux aux;
      size_t aux_at = at + entry.vn_aux;
      for (unsigned i = 0; i < entry.vn_cnt && steps-- > 0 && ReadAt(bytes, aux_at, &aux); ++i) {
        names[aux.vna_other & 0x7fff] = std::string("@") + TextAt(strings, aux.vna_name);
        if (aux.vna_next == 0) break;
        aux_at += aux.vna_next;
      }
      if (entry.vn_next == 0) break;
    }
  }
  return names;
}

bool IsCode(const ElfFile& elf, uint32_t section) {
  return section < elf.sections().size() && (elf.sections()[section].flags & SHF_EXECINSTR) != 0;
}

}  // namespace

std::vector<RawSymbol> ReadSymbols(ElfFile* elf, bool dynamic) {
  std::vector<RawSymbol> symbols;
  const auto* table = elf->FindType(dynamic ? SHT_DYNSYM : SHT_SYMTAB);
  Bytes versions;
  std::unordered_map<uint16_t, std::string> version_names;
  if (const auto* section = dynamic ? elf->FindType(SHT_GNU_versym) : nullptr) {
    versions = elf->Contents(*section);
    version_names = VersionNames(elf);
  }
  VisitSymbols(elf, table, [&](size_t i, const Elf64_Sym& entry, const char* name) {
    if (i == 0 || entry.st_shndx == SHN_UNDEF) return;
    RawSymbol symbol;
    symbol.name = name != nullptr ? name : "";
    symbol.value = entry.st_value;
    symbol.size = entry.st_size;
    symbol.section = entry.st_shndx;
    symbol.type = ELF64_ST_TYPE(entry.st_info);
    symbol.binding = ELF64_ST_BIND(entry.st_info);
    symbol.visibility = ELF64_ST_VISIBILITY(entry.st_other);
    uint16_t version = 0;
    if (!symbol.name.empty() && ReadAt(versions, i * sizeof version, &version)) {
      const auto it = version_names.find(version & 0x7fff);
      if (it != version_names.end()) {
        symbol.version = it->second;
        // One that new programs are not bound to.
        if ((version & 0x8000) != 0 && symbol.version.starts_with("@@")) symbol.version.erase(0, 1);
      }
    }
    symbols.push_back(std::move(symbol));
  });
  return symbols;
}

std::string NmTable::Entry::FullName() const {
  std::string text = BinutilsName(name) + version;
  if (tagged) text += fmt::format("<{:016x}>", start);
  return text;
}

NmTable::NmTable(ElfFile* elf) {
  for (const bool dynamic : {false, true}) {
    std::vector<RawSymbol> symbols = ReadSymbols(elf, dynamic);
    std::erase_if(symbols, [](const RawSymbol& symbol) {
      return symbol.type == STT_SECTION || symbol.type == STT_FILE || symbol.name.empty();
    });
    std::sort(symbols.begin(), symbols.end(), [](const RawSymbol& a, const RawSymbol& b) {
      return a.value != b.value ? a.value < b.value : a.name < b.name;
    });
    for (RawSymbol& symbol : symbols) {
      if (!entries_.empty() && entries_.back().start == symbol.value) {
        // Of several names for one place the last that is plain code counts.
        const bool is_text = symbol.binding != STB_WEAK && symbol.binding != STB_GNU_UNIQUE &&
                             symbol.type != STT_GNU_IFUNC && IsCode(*elf, symbol.section);
        if (!is_text) continue;
        entries_.back().name = std::move(symbol.name);
        entries_.back().version = std::move(symbol.version);
        entries_.back().tagged = false;
        continue;
      }
      has_separator_ = has_separator_ || symbol.name == kSeparator;
      if (!entries_.empty()) entries_.back().end = symbol.value;
      Entry entry;
      entry.start = entry.end = symbol.value;
      entry.name = std::move(symbol.name);
      entry.version = std::move(symbol.version);
      entries_.push_back(std::move(entry));
    }
    if (!entries_.empty()) return;
  }
}

const NmTable::Entry* NmTable::Find(uint64_t address) const {
  const auto it = std::upper_bound(
      entries_.begin(), entries_.empty() ? entries_.end() : entries_.end() - 1, address,
      [](uint64_t value, const Entry& entry) { return value < entry.end; });
  if (it == entries_.end() || address >= it->end) return nullptr;
  return &*it;
}

NearestSymbols::NearestSymbols(ElfFile* elf) {
  for (uint32_t i = 1; i < elf->sections().size(); ++i) {
    const ElfFile::SectionHeader& section = elf->sections()[i];
    if ((section.flags & SHF_ALLOC) == 0 || section.size == 0) continue;
    if ((section.flags & SHF_TLS) != 0 && section.type == SHT_NOBITS) continue;
    sections_.push_back({section.address, section.address + section.size, i});
  }
  std::vector<RawSymbol> symbols = ReadSymbols(elf, false);
  if (symbols.empty()) symbols = ReadSymbols(elf, true);
  names_.emplace_back();
  uint32_t file = 0;
  bool symbol_seen = false;
  bool file_after_symbol = false;
  for (RawSymbol& symbol : symbols) {
    if (symbol.type == STT_FILE) {
      file = static_cast<uint32_t>(names_.size());
      names_.push_back(std::move(symbol.name));
      file_after_symbol = file_after_symbol || symbol_seen;
      continue;
    }
    if (symbol.type == STT_SECTION || symbol.type == STT_OBJECT || symbol.type == STT_TLS ||
        symbol.type == STT_COMMON || symbol.section >= SHN_LORESERVE) {
      continue;
    }
    const bool local = symbol.binding == STB_LOCAL;
    if (symbol.size == 0 && local && symbol.type == STT_NOTYPE && symbol.visibility == STV_HIDDEN) {
      continue;
    }
    Symbol entry;
    entry.section = symbol.section;
    entry.start = symbol.value;
    entry.order = static_cast<uint32_t>(symbols_.size());
    entry.size = std::max<uint64_t>(symbol.size, 1);
    entry.is_function = symbol.type == STT_FUNC;
    entry.is_typed = symbol.type != STT_NOTYPE;
    entry.name = static_cast<uint32_t>(names_.size());
    entry.file = local || !file_after_symbol ? file : 0;
    names_.push_back(std::move(symbol.name));
    symbols_.push_back(entry);
    symbol_seen = true;
  }
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    return std::tie(a.section, a.start, a.order) < std::tie(b.section, b.start, b.order);
  });
}

uint32_t NearestSymbols::SectionOf(uint64_t address) const {
  for (const Section& section : sections_) {
    if (address >= section.start && address < section.end) return section.index;
  }
  return 0;
}

// Whether `next`, at the same place, is preferred to `now`.
bool NearestSymbols::Better(const Symbol& now, const Symbol& next, uint64_t address) {
  if (now.start + now.size <= address) return next.size > now.size;
  if (next.start + next.size <= address) return false;
  if (now.is_function != next.is_function) return next.is_function;
  if (now.is_typed != next.is_typed) return next.is_typed;
  return next.size < now.size;
}

NearestSymbols::Answer NearestSymbols::Find(uint64_t address) const {
  const uint32_t section = SectionOf(address);
  const auto after = std::upper_bound(
      symbols_.begin(), symbols_.end(), address, [&](uint64_t value, const Symbol& symbol) {
        return section != symbol.section ? section < symbol.section : value < symbol.start;
      });
  if (section == 0 || after == symbols_.begin() || (after - 1)->section != section) return {};
  const Symbol* best = nullptr;
  auto it = after;
  const uint64_t start = (after - 1)->start;
  while (it != symbols_.begin() && (it - 1)->section == section && (it - 1)->start == start) --it;
  for (; it != after; ++it) {
    if (best == nullptr || Better(*best, *it, address)) best = &*it;
  }
  return {&names_[best->name], best->start, best->file == 0 ? nullptr : &names_[best->file]};
}

const std::string* NearestSymbols::ShortestAlias(uint64_t start) const {
  const uint32_t section = SectionOf(start);
  auto it = std::lower_bound(
      symbols_.begin(), symbols_.end(), start, [&](const Symbol& symbol, uint64_t value) {
        return symbol.section != section ? symbol.section < section : symbol.start < value;
      });
  const std::string* shortest = nullptr;
  for (; it != symbols_.end() && it->section == section && it->start == start; ++it) {
    const std::string& name = names_[it->name];
    if (shortest == nullptr || name.size() < shortest->size()) shortest = &name;
  }
  return shortest;
}

namespace {

constexpr std::string_view kUnknown = "??";

bool IsLinkerName(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("_R");
}

// The copy of a file with debug information that is kept under the file's own path.
std::string DebugCopy(const std::string& path, const SymbolizeOptions& symbolize) {
  if (!path.starts_with('/')) return "";
  for (const std::string& dir : symbolize.debug_dirs) {
    for (const char* suffix : {"", ".debug"}) {
      std::string copy = dir + path + suffix;
      if (access(copy.c_str(), R_OK) == 0) return copy;
    }
  }
  return "";
}

// Tells one inlined call, or function, from the others: what it is and where it was called from.
std::string InstanceOf(const std::vector<SourceFrame>& frames, size_t at, uint64_t function) {
  std::string key = fmt::format("{:x} {}", function, frames[at].system_name);
  for (size_t i = at + 1; i < frames.size(); ++i) {
    key += fmt::format("\n{} {}:{}", frames[i].system_name, frames[i].file, frames[i].line);
  }
  return key;
}

}  // namespace

Image::Image(const Options& options, std::unique_ptr<ElfFile> file)
    : options_(options), path_(file->path()), file_(std::move(file)), nm_(file_.get()) {
  const ElfFile::SectionHeader* text = file_->Find(".text");
  if (text != nullptr) code_offset_ = text->address - text->offset;
}

std::unique_ptr<Image> Image::Open(const Module& module, const Options& options,
                                   const SymbolizeOptions& symbolize) {
  StampList stamps;
  auto opened = OpenModule(module, symbolize, &stamps);
  // Text formats do not tell which build it was.
  if (!opened && module.build_id.empty()) opened = ElfFile::Open(module.path);
  if (!opened) return nullptr;
  const std::string copy = DebugCopy(module.path, symbolize);
  if (!copy.empty()) {
    auto debug = ElfFile::Open(copy);
    if (debug) opened = std::move(debug);
  }
  std::unique_ptr<Image> image(new Image(options, *std::move(opened)));
  ElfFile* dwarf_file = image->file_.get();
  image->table_.AddFrom(dwarf_file);
  if (!dwarf_file->has_dwarf()) {
    image->debug_file_ = OpenDebugFile(*image->file_, symbolize, &image->stamps_);
    if (image->debug_file_ != nullptr) {
      dwarf_file = image->debug_file_.get();
      image->table_.AddFrom(dwarf_file);
    }
  }
  image->table_.Finish();
  image->nearest_ = std::make_unique<NearestSymbols>(dwarf_file);
  if (dwarf_file->has_dwarf()) {
    image->alt_file_ = OpenAltFile(dwarf_file, symbolize, &image->stamps_);
    image->dwarf_ =
        std::make_unique<DwarfLookup>(dwarf_file, image->alt_file_.get(),
                                      symbolize.extra_debug_dirs, image->table_, &image->stamps_);
  }
  return image;
}

std::string Image::Place(std::string_view file, uint32_t line) const {
  std::string text(file.empty() ? kUnknown : file);
  text += ':';
  if (line == 0) {
    text += options_.tool == Tool::kGooglePprof ? '0' : '?';
    return text;
  }
  text += fmt::format("{}", line);
  return text;
}

// Innermost first, as addr2line prints them. `name` of the result stays empty.
SymbolList Image::FromAddr2line(uint64_t address, const std::vector<SourceFrame>& frames,
                                KnownNames* known) const {
  const NearestSymbols::Answer nearest = nearest_->Find(address);
  SymbolList list;
  if (frames.empty() || frames[0].system_name.empty()) {
    if (nearest.name == nullptr && frames.empty()) {
      list.push_back({"", "??:0", std::string(kUnknown)});
      return list;
    }
    Symbol symbol;
    symbol.full = nearest.name == nullptr ? kUnknown : BinutilsName(*nearest.name);
    if (!frames.empty()) {
      symbol.place = Place(frames[0].file, frames[0].line);
    } else {
      // A file of no name is one to addr2line.
      symbol.place = Place(nearest.file == nullptr ? kUnknown : *nearest.file, 0);
      if (nearest.file != nullptr && nearest.file->empty()) symbol.place.erase(0, kUnknown.size());
    }
    list.push_back(std::move(symbol));
    return list;
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    const SourceFrame& frame = frames[i];
    Symbol symbol;
    symbol.place = Place(frame.file, frame.line);
    symbol.full = BinutilsName(std::string(frame.system_name));
    if (frame.file.ends_with(".S") && !frame.inlined) {
      const std::string* alias = nearest_->ShortestAlias(nearest.start);
      if (alias != nullptr && alias->size() < symbol.full.size()) symbol.full = *alias;
    }
    // In other languages than C++ the plain name is the linker's.
    if (!IsLinkerName(frame.system_name) && !frame.name.empty()) {
      const std::string instance = InstanceOf(frames, i, nearest.start);
      const auto it = known->find(instance);
      if (it != known->end()) {
        symbol.full = it->second;
      } else if (i == 0) {
        const std::string plain = symbol.full;
        if (nearest.name != nullptr) symbol.full = BinutilsName(*nearest.name);
        const bool same = !frame.inlined && nearest.name != nullptr &&
                          nearest.name->find('.') == std::string::npos;
        known->emplace(instance, same ? symbol.full : plain);
      }
    }
    list.push_back(std::move(symbol));
  }
  return list;
}

const std::string& Image::Short(const std::string& full) {
  const auto [it, is_new] = short_names_.try_emplace(full);
  if (is_new) it->second = ShortFunctionName(full, options_);
  return it->second;
}

std::vector<SymbolList> Image::Map(const std::vector<uint64_t>& addresses,
                                   const std::vector<uint64_t>& keys) {
  FrameLists frames(addresses.size());
  if (dwarf_ != nullptr) frames = dwarf_->LookUp(addresses);
  frames.resize(addresses.size());
  std::vector<SymbolList> results(addresses.size());
  KnownNames known;
  for (size_t i = 0; i < addresses.size(); ++i) {
    SymbolList list = FromAddr2line(addresses[i], frames[i], &known);
    if (!nm_.has_separator()) list.resize(1);
    // nm's answer.
    const NmTable::Entry* entry = nm_.Find(addresses[i]);
    std::string nm_full;
    if (entry != nullptr) {
      nm_full = entry->FullName();
    } else if (!nm_.entries().empty()) {
      nm_full = "0x" + HexKey(keys[i]);
    }
    for (Symbol& symbol : list) {
      symbol.name = Short(symbol.full);
      if (nm_full.empty()) continue;
      if (symbol.full == kUnknown || nm_full.starts_with(symbol.name)) {
        symbol.full = nm_full;
        symbol.name = Short(nm_full);
      }
    }
    std::reverse(list.begin(), list.end());
    results[i] = std::move(list);
  }
  return results;
}

}  // namespace heapgauge::perl
