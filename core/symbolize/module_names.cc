#include "core/symbolize/module_names.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heapgauge {
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
