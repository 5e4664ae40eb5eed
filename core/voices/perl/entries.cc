#include "core/voices/perl/entries.h"

#include <fmt/format.h>

#include <unordered_set>

namespace heapgauge::perl {
namespace {

constexpr uint64_t kLargestAddress = 0x7fffffffffffffff;

// The address at the end of one of nm's full names, without leading zeros; false if there is none.
bool AddressMark(const std::string& full, std::string* address) {
  if (full.empty() || full.back() != '>') return false;
  const size_t start = full.rfind('<');
  if (start == std::string::npos || start + 2 >= full.size()) return false;
  const std::string text = full.substr(start + 1, full.size() - start - 2);
  if (text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) return false;
  const size_t digits = text.find_first_not_of('0');
  *address = digits == std::string::npos ? "" : text.substr(digits);
  return true;
}

// Frames that run other people's code, and would tie unrelated parts of a graph together.
bool IsCallbackRun(const std::string& name) {
  const size_t callback = name.find("Callback");
  return callback != std::string::npos && name.ends_with("::Run") &&
         callback + 8 <= name.size() - 5;
}

std::string FileOf(const std::string& place) {
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos || colon + 1 == place.size()) return place;
  if (place.find_first_not_of("0123456789", colon + 1) != std::string::npos) return place;
  return place.substr(0, colon);
}

}  // namespace

Entries::Entries(SessionState* state, const Options& options)
    : state_(state),
      options_(options),
      by_address_(options.report == Report::kList || options.report == Report::kWeblist ||
                  options.report == Report::kDisasm),
      by_pc_(state->pcs.size()),
      known_(state->pcs.size()) {
  std::unordered_map<std::string, const std::string*> seen;
  std::unordered_set<std::string> ambiguous;
  std::string address;
  for (const Pc& pc : state->pcs) {
    if (pc.symbols.empty()) continue;
    const Symbol& symbol = pc.symbols[0];
    if (!AddressMark(symbol.full, &address)) continue;
    const auto [it, is_new] = seen.try_emplace(symbol.name, &symbol.full);
    if (!is_new && *it->second != symbol.full) ambiguous.insert(symbol.name);
  }
  if (ambiguous.empty()) return;
  for (const Pc& pc : state->pcs) {
    if (pc.symbols.empty()) continue;
    const Symbol& symbol = pc.symbols[0];
    if (ambiguous.contains(symbol.name) && AddressMark(symbol.full, &address)) {
      unique_names_.try_emplace(symbol.full, symbol.name + "@" + address);
    }
  }
}

EntryId Entries::Intern(std::string name) {
  const auto [it, is_new] = ids_.try_emplace(std::move(name), static_cast<EntryId>(names_.size()));
  if (is_new) names_.push_back(it->first);
  return it->second;
}

std::vector<EntryId> Entries::EntriesOf(PcId id, PcId callee) {
  std::vector<EntryId> result;
  const Pc& pc = state_->pcs[id];
  const std::string key = pc.key();
  if (by_address_) {
    result.push_back(Intern(key));
    return result;
  }
  const SymbolList unknown = {{key, "", key}};
  const SymbolList& symbols = pc.symbols.empty() ? unknown : pc.symbols;
  for (size_t i = symbols.size(); i-- > 0;) {
    const Symbol& symbol = symbols[i];
    std::string name = symbol.name;
    const auto unique = unique_names_.find(symbol.full);
    if (unique != unique_names_.end()) name = unique->second;
    if (i > 0) name += " (inline)";
    if (IsCallbackRun(name)) {
      known_[id] = 2;
      const std::string caller = callee == kNone ? "0" : state_->pcs[callee].key();
      const auto [it, is_new] = state_->callback_ids.try_emplace(
          caller, static_cast<int>(state_->callback_ids.size()) + 1);
      name = fmt::format("Run#{}", it->second);
    }
    const std::string& place = symbol.place;
    const bool with_address = options_.tool == Tool::kGooglePprof && options_.show_addresses;
    std::string entry;
    switch (options_.grain) {
      case Grain::kAddresses:
        entry = key + " " + name + " " + place;
        break;
      case Grain::kLines:
        entry = name == "??" && place == "??:0" ? key : name + " " + place;
        if (with_address && entry != key) entry += " (" + key + ")";
        break;
      case Grain::kFunctions:
        entry = name == "??" ? key : name;
        if (with_address && entry != key) entry += " (" + key + ")";
        break;
      case Grain::kFiles:
        entry = place == "??:0" || place.empty() ? key : FileOf(place);
        break;
    }
    if (!entry.empty()) result.push_back(Intern(std::move(entry)));
  }
  return result;
}

void Entries::Translate(std::span<const PcId> stack, std::vector<EntryId>* out) {
  out->clear();
  for (size_t i = 0; i < stack.size(); ++i) {
    const PcId pc = stack[i];
    if (state_->pcs[pc].address > kLargestAddress) continue;
    if (known_[pc] == 0) {
      known_[pc] = 1;
      by_pc_[pc] = EntriesOf(pc, i > 0 ? stack[i - 1] : kNone);
    } else if (known_[pc] == 2) {
      by_pc_[pc] = EntriesOf(pc, i > 0 ? stack[i - 1] : kNone);
    }
    out->insert(out->end(), by_pc_[pc].begin(), by_pc_[pc].end());
  }
}

Figures Count(const Stacks& stacks, Entries* entries) {
  Figures figures;
  std::vector<uint32_t> last_seen;
  std::vector<EntryId> path;
  for (size_t i = 0; i < stacks.size(); ++i) {
    entries->Translate(stacks.stack(i), &path);
    figures.flat.resize(entries->size());
    figures.cum.resize(entries->size());
    figures.is_present.resize(entries->size());
    last_seen.resize(entries->size(), kNone);
    if (path.empty()) continue;
    const double value = stacks.values[i];
    figures.flat[path[0]] += value;
    figures.total += value;
    for (const EntryId id : path) {
      if (last_seen[id] == i) continue;
      last_seen[id] = static_cast<uint32_t>(i);
      figures.cum[id] += value;
      figures.is_present[id] = true;
    }
  }
  return figures;
}

}  // namespace heapgauge::perl
