#include "core/voices/perl/image.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "core/symbolize/debug_files.h"
#include "core/voices/perl/names.h"

namespace heapgauge::perl {
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
