#include "core/symbolize/module_names.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/symbolize/module_files.h"

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

namespace {

std::string OptionsKey(const SymbolizeOptions& options) {
  std::string key = options.debuginfod != nullptr ? "debuginfod" : "";
  for (const auto* dirs : {&options.extra_debug_dirs, &options.debug_dirs}) {
    for (const std::string& dir : *dirs) key += ":" + dir;
  }
  return key;
}

// Which addresses to look up in files. What may be out of date is looked up again as a whole:
// saving only what is asked for now would lose the rest.
std::vector<uint64_t> ToLookUp(const CachedNames& kept, const std::vector<uint64_t>& asked) {
  std::vector<uint64_t> wanted;
  if (kept.current) {
    std::set_difference(asked.begin(), asked.end(), kept.addresses.begin(), kept.addresses.end(),
                        std::back_inserter(wanted));
  } else {
    std::set_union(asked.begin(), asked.end(), kept.addresses.begin(), kept.addresses.end(),
                   std::back_inserter(wanted));
  }
  return wanted;
}

// What is known after a look-up: of each address the fresh names, and those that were kept where
// there are no fresh ones.
void Combine(const CachedNames& kept, const std::vector<uint64_t>& looked_up, FrameLists fresh,
             CachedNames* all) {
  for (size_t a = 0, b = 0; a < kept.addresses.size() || b < looked_up.size();) {
    const bool has_kept =
        b == looked_up.size() || (a < kept.addresses.size() && kept.addresses[a] <= looked_up[b]);
    const bool has_fresh =
        a == kept.addresses.size() || (b < looked_up.size() && looked_up[b] <= kept.addresses[a]);
    all->addresses.push_back(has_kept ? kept.addresses[a] : looked_up[b]);
    all->frames.push_back(has_fresh && (!has_kept || !fresh[b].empty()) ? std::move(fresh[b])
                                                                        : kept.frames[a]);
    if (has_kept) ++a;
    if (has_fresh) ++b;
  }
}

void Answer(const CachedNames& known, const std::vector<uint64_t>& addresses, FrameLists* found) {
  found->resize(addresses.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    const auto* frames = known.Find(addresses[i]);
    if (frames != nullptr) (*found)[i] = *frames;
  }
}

}  // namespace

Status FindModuleNames(const Module& module, const SymbolizeOptions& options,
                       const std::vector<uint64_t>& addresses, ModuleNames* names) {
  const std::string key = OptionsKey(options);
  auto loaded = LoadNames(options.cache_dir, module.build_id, key);
  if (loaded) names->kept = std::move(*loaded);
  const CachedNames& kept = names->kept;
  names->has_dwarf = kept.has_dwarf;
  names->has_symtab = kept.has_symtab;
  const std::vector<uint64_t> wanted = ToLookUp(kept, addresses);
  if (wanted.empty()) {
    Answer(kept, addresses, &names->found);
    return {};
  }
  auto symbols = ModuleSymbols::Open(module, options, &names->stamps);
  if (!symbols) {
    if (!loaded) return tl::unexpected<Error>(symbols.error());
    Answer(kept, addresses, &names->found);
    names->no_file_reason = symbols.error().message;
    return {};
  }
  names->symbols = std::move(*symbols);
  names->has_dwarf = names->symbols->has_dwarf();
  names->has_symtab = names->symbols->has_symtab();
  CachedNames all;
  Combine(kept, wanted, names->symbols->LookUp(wanted), &all);
  Answer(all, addresses, &names->found);
  // What debuginfod does not have today it may have tomorrow.
  const bool final = options.debuginfod == nullptr || names->has_dwarf;
  if (!final || options.cache_dir.empty()) return {};
  all.build_id = module.build_id;
  all.options = key;
  all.has_dwarf = names->has_dwarf;
  all.has_symtab = names->has_symtab;
  all.stamps = names->stamps.stamps();
  SaveNames(options.cache_dir, all);
  return {};
}

}  // namespace heapgauge
