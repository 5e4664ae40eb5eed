// How a profile becomes stacks of addresses with names.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/text.h"
#include "core/model/stacks.h"
#include "core/voices/perl/stacks.h"

namespace heapgauge::perl {
namespace {

Kind KindOf(const Profile& profile) {
  for (const SampleType& type : profile.sample_types) {
    if (type.name == "delay" || type.name == "contentions") return Kind::kContention;
    if (type.name == "cpu" || type.name == "wall") return Kind::kCpu;
  }
  return Kind::kHeap;
}

PcId AddPc(uint64_t address, SessionState* state) {
  const auto [it, is_new] =
      state->pc_ids.try_emplace(address, static_cast<PcId>(state->pcs.size()));
  if (is_new) state->pcs.push_back({address, {}});
  return it->second;
}

// Names that came with the profile.
SymbolList SymbolsOf(const Profile& profile, const Location& location, const Options& options) {
  SymbolList list;
  for (uint32_t i = location.frame_count; i-- > 0;) {
    const Frame& frame = profile.frames[location.first_frame + i];
    const Function& function = profile.functions[frame.function];
    Symbol symbol;
    // The tools take names of symbolized text as they are.
    const bool as_given = !location.exact && !function.system_name.empty();
    symbol.full = as_given ? function.system_name : function.name;
    symbol.name = ShortFunctionName(symbol.full, options);
    symbol.place = function.file.empty() ? "?" : function.file + ":" + std::to_string(frame.line);
    list.push_back(std::move(symbol));
  }
  return list;
}

std::string ThreadOf(const Profile& profile, RowId row) {
  for (const Label& label : profile.LabelsOf(row)) {
    if (profile.strings[label.key] != "thread") continue;
    return label.is_number() ? std::to_string(label.number) : profile.strings[label.text];
  }
  return "";
}

// Moves addresses of `profile`, which was taken in another run, to where the same files are in
// `other`. The tools compare bare addresses, which only works if nothing moved.
std::vector<uint64_t> AddressesIn(const Profile& profile, const Profile& other) {
  std::vector<uint64_t> shifts(profile.modules.size());
  for (size_t i = 0; i < profile.modules.size(); ++i) {
    const Module& module = profile.modules[i];
    for (const Module& candidate : other.modules) {
      if (candidate.path != module.path || candidate.offset != module.offset) continue;
      shifts[i] = candidate.start - module.start;
      break;
    }
  }
  std::vector<uint64_t> addresses;
  addresses.reserve(profile.locations.size());
  for (const Location& location : profile.locations) {
    addresses.push_back(location.address +
                        (location.module == kNone ? 0 : shifts[location.module]));
  }
  return addresses;
}

void AddRows(const Profile& profile, const std::vector<uint64_t>& addresses, SessionState* state,
             Stacks* stacks, std::vector<StackRow>* rows) {
  const Options& options = state->options;
  // jeprof takes a byte off every address of a CPU profile.
  const bool all_before = state->kind == Kind::kCpu && options.tool == Tool::kJeprof &&
                          std::any_of(profile.locations.begin(), profile.locations.end(),
                                      [](const Location& location) { return !location.exact; });
  const auto pc_of = [&](LocationId id, bool innermost) {
    const Location& location = profile.locations[id];
    bool as_it_is =
        location.exact || innermost || (state->has_names && options.tool == Tool::kGooglePprof);
    if (innermost && all_before) as_it_is = false;
    const uint64_t address = as_it_is ? addresses[id] : addresses[id] - 1;
    const PcId pc = AddPc(address, state);
    if (location.frame_count != 0 && state->pcs[pc].symbols.empty()) {
      state->pcs[pc].symbols = SymbolsOf(profile, location, options);
    }
    return pc;
  };
  // By location: as the innermost of a stack, and as a caller.
  std::vector<PcId> innermost(profile.locations.size(), kNone);
  std::vector<PcId> callers(profile.locations.size(), kNone);
  std::vector<PcId> stack;
  const auto visit = [&](size_t i, const std::vector<LocationId>& locations) {
    const auto row = static_cast<RowId>(i);
    stack.clear();
    for (size_t k = 0; k < locations.size(); ++k) {
      PcId& known = k == 0 ? innermost[locations[k]] : callers[locations[k]];
      if (known == kNone) known = pc_of(locations[k], k == 0);
      stack.push_back(known);
    }
    stacks->Add(stack, 0);
    StackRow out;
    out.thread = ThreadOf(profile, row);
    out.values.reserve(profile.sample_types.size());
    for (size_t type = 0; type < profile.sample_types.size(); ++type) {
      out.values.push_back(profile.estimates.empty() ? static_cast<double>(profile.value(row, type))
                                                     : profile.estimate(row, type).value);
    }
    rows->push_back(std::move(out));
  };
  WalkStacks(
      profile.nodes, 0, profile.rows.size(), [&](size_t row) { return profile.rows[row].leaf; },
      visit);
}

std::string RealPath(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string text = real;
  std::free(real);
  return text;
}

// --lib_prefix: the file under one of these directories, with as much of its path as there is.
std::string WithPrefix(const std::string& path, const Options& options) {
  if (options.lib_prefix.empty()) return path;
  std::string suffix = path;
  while (true) {
    for (const std::string_view prefix : PiecesOf(options.lib_prefix, ',')) {
      std::string candidate(prefix);
      while (candidate.ends_with('/')) candidate.pop_back();
      candidate += suffix;
      if (access(candidate.c_str(), F_OK) == 0) return candidate;
    }
    const size_t slash = suffix.find('/', 1);
    if (suffix.empty() || suffix[0] != '/' || slash == std::string::npos || slash == 1) {
      return path;
    }
    suffix.erase(0, slash);
  }
}

void FindLibraries(const Profile& profile, SessionState* state) {
  const std::string program =
      state->options.program.empty() ? "" : RealPath(state->options.program);
  bool program_seen = false;
  for (const Module& module : profile.modules) {
    if (!module.path.starts_with('/')) continue;
    Library library;
    library.module = module;
    library.module.path = WithPrefix(module.path, state->options);
    program_seen = program_seen || module.path == program;
    state->libraries.push_back(std::move(library));
  }
  if (program.empty()) return;
  // The tools find the program by its path alone. If it ran under another one, it is the first.
  if (!program_seen && !state->libraries.empty() &&
      state->libraries[0].module.path.find(".so") == std::string::npos) {
    state->libraries[0].module.path = program;
    state->libraries[0].module.build_id.clear();
  }
  Library rest;
  rest.module.path = program;
  rest.is_rest = true;
  state->libraries.push_back(std::move(rest));
}

}  // namespace

void NamePcs(PcId first, SessionState* state) {
  std::vector<PcId> order;
  for (PcId pc = first; pc < state->pcs.size(); ++pc) {
    if (state->pcs[pc].symbols.empty()) order.push_back(pc);
  }
  std::sort(order.begin(), order.end(),
            [&](PcId a, PcId b) { return state->pcs[a].address < state->pcs[b].address; });
  for (Library& library : state->libraries) {
    std::vector<PcId> members;
    std::vector<PcId> others;
    for (const PcId pc : order) {
      const uint64_t address = state->pcs[pc].address;
      const bool inside =
          library.is_rest || (address >= library.module.start && address <= library.module.end);
      (inside ? members : others).push_back(pc);
    }
    if (members.empty()) continue;
    order = std::move(others);
    if (library.image == nullptr) {
      library.image = Image::Open(library.module, state->options, state->symbolize);
      if (library.image != nullptr && !library.is_rest) {
        library.bias = library.module.start - library.module.offset - library.image->code_offset();
      }
    }
    std::vector<uint64_t> keys;
    std::vector<uint64_t> addresses;
    for (const PcId pc : members) {
      keys.push_back(state->pcs[pc].address);
      addresses.push_back(keys.back() - library.bias);
    }
    if (library.image == nullptr) continue;  // shown as addresses
    std::vector<SymbolList> found = library.image->Map(addresses, keys);
    for (size_t i = 0; i < members.size(); ++i) {
      state->pcs[members[i]].symbols = std::move(found[i]);
    }
  }
}

std::unique_ptr<SessionState> MakeSession(Profile profile, const Profile* base,
                                          const Options& options,
                                          const SymbolizeOptions& symbolize) {
  auto state = std::make_unique<SessionState>();
  state->options = options;
  state->symbolize = symbolize;
  state->kind = KindOf(profile);
  for (const SampleType& type : profile.sample_types) state->types.push_back(type.name);
  state->has_names =
      options.program.empty() &&
      std::any_of(profile.locations.begin(), profile.locations.end(),
                  [](const Location& location) { return location.frame_count != 0; });
  state->program = options.program.empty() ? profile.recording.program : options.program;
  AddRows(profile, AddressesIn(profile, profile), state.get(), &state->stacks, &state->rows);
  if (base != nullptr) {
    state->has_base = true;
    AddRows(*base, AddressesIn(*base, profile), state.get(), &state->base, &state->base_rows);
  }
  if (state->has_names) {
    for (Pc& pc : state->pcs) {
      const std::string address = "0x" + pc.key();
      if (pc.symbols.empty()) pc.symbols.push_back({address, "?", address});
    }
    return state;
  }
  FindLibraries(profile, state.get());
  NamePcs(0, state.get());
  return state;
}

}  // namespace heapgauge::perl
