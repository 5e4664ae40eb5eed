#include "core/symbolize/module_symbols.h"

#include "core/symbolize/debug_files.h"

namespace heapgauge {
namespace {

bool IsMangled(std::string_view name) { return name.starts_with("_Z") || name.starts_with("_R"); }

}  // namespace

Result<std::unique_ptr<ModuleSymbols>> ModuleSymbols::Open(const Module& module,
                                                           const SymbolizeOptions& options,
                                                           StampList* stamps) {
  auto symbols = std::make_unique<ModuleSymbols>();
  HG_ASSIGN(symbols->file_, OpenModule(module, options, stamps));
  ElfFile* dwarf_file = symbols->file_.get();
  symbols->table_.AddFrom(dwarf_file);
  if (!dwarf_file->has_dwarf()) {
    symbols->debug_file_ = OpenDebugFile(*symbols->file_, options, stamps);
    dwarf_file = symbols->debug_file_.get();
    if (dwarf_file != nullptr) symbols->table_.AddFrom(dwarf_file);
  }
  if (!symbols->table_.complete()) {
    symbols->mini_ = OpenMiniDebugInfo(symbols->file_.get());
    if (symbols->mini_ != nullptr) symbols->table_.AddFrom(symbols->mini_.get());
  }
  symbols->table_.Finish();
  if (dwarf_file != nullptr && dwarf_file->has_dwarf()) {
    symbols->alt_file_ = OpenAltFile(dwarf_file, options, stamps);
    symbols->dwarf_ = std::make_unique<DwarfLookup>(
        dwarf_file, symbols->alt_file_.get(), options.extra_debug_dirs, symbols->table_, stamps);
  }
  return symbols;
}

FrameLists ModuleSymbols::LookUp(const std::vector<uint64_t>& addresses) {
  FrameLists results;
  if (dwarf_ != nullptr) results = dwarf_->LookUp(addresses);
  results.resize(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    std::vector<SourceFrame>& frames = results[i];
    if (!frames.empty() && IsMangled(frames.back().system_name)) continue;
    const char* name = table_.Find(addresses[i]);
    if (!frames.empty() && !frames.back().system_name.empty()) {
      // Compilers leave the linker's name out for functions of unnamed namespaces. The symbol has
      // it, which keeps overloads apart; ".cold" and other marks of parts are not the function's.
      if (name == nullptr) continue;
      if (!IsMangled(name)) {
        frames.back().name = {};  // a C function, or main
        continue;
      }
      const std::string_view whole = name;
      frames.back().system_name = whole.substr(0, whole.find('.'));
      continue;
    }
    if (name == nullptr) {
      frames.clear();  // a line without a function helps nobody
      continue;
    }
    if (frames.empty()) frames.emplace_back();
    frames.back().system_name = name;
  }
  return results;
}

}  // namespace heapgauge
