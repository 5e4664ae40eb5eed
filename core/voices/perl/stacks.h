// A profile as the perl tools see it: addresses with their symbols, and stacks of these addresses
// with one figure each.
//
// The innermost address of a stack is taken as it is and the others one byte before (they return
// behind a call); each value that comes out is an address of its own, with names of its own.
//
// Plain data and functions over them; linear in the frames of all stacks. Single-threaded.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/model/profile.h"
#include "core/voices/perl/image.h"
#include "core/voices/perl/names.h"
#include "core/voices/perl/options.h"

namespace heapgauge::perl {

using PcId = uint32_t;

// Stacks one after the other, innermost address first.
struct Stacks {
  std::vector<PcId> pcs;
  std::vector<uint32_t> ends;  // of each stack in `pcs`
  std::vector<double> values;

  size_t size() const { return values.size(); }
  std::span<const PcId> stack(size_t i) const {
    const uint32_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span<const PcId>(pcs).subspan(begin, ends[i] - begin);
  }
  void Add(std::span<const PcId> stack, double value);
  double Total() const;
};

// A file and where it was loaded. The program comes once more at the end, for addresses that no
// mapping holds.
struct Library {
  Module module;
  uint64_t bias = 0;  // address in memory minus address in the file
  bool is_rest = false;
  std::unique_ptr<Image> image;  // null: not opened or not there
};

struct Pc {
  uint64_t address = 0;
  SymbolList symbols;  // empty: nobody knows
  std::string key() const { return HexKey(address); }
  // The function's short name, or the address.
  std::string name() const { return symbols.empty() ? key() : symbols[0].name; }
};

struct StackRow {
  std::string thread;  // "" if the row belongs to none
  // Figures: objects and bytes in use, objects and bytes allocated; or of the profile's kind.
  std::vector<double> values;
};

struct SessionState {
  Options options;
  SymbolizeOptions symbolize;
  std::string program;     // as titles show it
  bool has_names = false;  // the profile brought its names, and there is no program to look at
  Kind kind = Kind::kHeap;
  std::vector<std::string> types;  // names of the figures of a row
  std::vector<Pc> pcs;
  std::unordered_map<uint64_t, PcId> pc_ids;
  Stacks stacks;  // values are not used; rows has them
  std::vector<StackRow> rows;
  Stacks base;
  std::vector<StackRow> base_rows;
  bool has_base = false;
  std::vector<Library> libraries;
  std::unordered_map<std::string, int> callback_ids;  // of frames that are kept apart by caller
};

std::unique_ptr<SessionState> MakeSession(Profile profile, const Profile* base,
                                          const Options& options,
                                          const SymbolizeOptions& symbolize);

// Gives names to the addresses from `first` on.
void NamePcs(PcId first, SessionState* state);

// Stacks of a thread ("": of all) with the figure that the options ask for, less the base.
Stacks SelectStacks(const SessionState& state, const Options& options, const std::string& thread);

// Stacks that are equal become one.
Stacks MergeEqual(const Stacks& stacks);

// Leaves out frames of allocators and signal handlers, then what --retain and --exclude say. Tells
// on `err` what the tools tell.
Result<Stacks> RemoveUninteresting(const SessionState& state, const Options& options, Stacks stacks,
                                   std::string* err);

// Stacks with an address, name or place that matches (`wanted`), or those without.
Result<Stacks> FilterByPattern(const SessionState& state, const Stacks& stacks,
                               const std::string& pattern, bool wanted);

}  // namespace heapgauge::perl
