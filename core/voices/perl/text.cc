#include <fmt/format.h>

#include <algorithm>

#include "core/voices/perl/writers.h"

namespace heapgauge::perl {
namespace {

// What stands at the end of a line. Entries that are bare addresses show what little is known.
std::string Label(const SessionState& state, const Options& options, const std::string& name) {
  if (name.size() != 16) return name;
  uint64_t address = 0;
  for (const char c : name) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return name;
    address = address << 4 | static_cast<uint64_t>(digit);
  }
  const auto it = state.pc_ids.find(address);
  if (it == state.pc_ids.end() || state.pcs[it->second].symbols.empty()) return name;
  const Symbol& symbol = state.pcs[it->second].symbols[0];
  const std::string known = symbol.name + " " + symbol.place;
  return options.grain == Grain::kAddresses ? name + " " + known : known;
}

// "Leak of ... allocated from:" for each stack of google-pprof's --stacks.
Status WriteLeaks(const ReportInput& input, TextSink* out) {
  const SessionState& state = *input.state;
  const auto type = [&](std::string_view a, std::string_view b) {
    for (size_t i = 0; i < state.types.size(); ++i) {
      if (state.types[i] == a || state.types[i] == b) return i;
    }
    return state.types.size();
  };
  const size_t objects = type("inuse_objects", "objects");
  const size_t bytes = type("inuse_space", "space");
  if (objects == state.types.size() || bytes == state.types.size()) return {};
  struct Leak {
    const StackRow* row;
    std::span<const PcId> stack;
  };
  std::vector<Leak> leaks;
  for (size_t i = 0; i < state.rows.size(); ++i) {
    leaks.push_back({&state.rows[i], state.stacks.stack(i)});
  }
  for (size_t i = 0; i < state.base_rows.size(); ++i) {
    leaks.push_back({&state.base_rows[i], state.base.stack(i)});
  }
  if (leaks.empty()) return {};
  std::stable_sort(leaks.begin(), leaks.end(), [&](const Leak& a, const Leak& b) {
    return a.row->values[bytes] > b.row->values[bytes];
  });
  for (const Leak& leak : leaks) {
    HG_TRY(out->Write(fmt::format("Leak of {} bytes in {} objects allocated from:\n",
                                  PerlNumber(leak.row->values[bytes]),
                                  PerlNumber(leak.row->values[objects]))));
    for (size_t i = 0; i < leak.stack.size(); ++i) {
      const Pc& pc = state.pcs[leak.stack[i]];
      // The innermost address is not brought to 16 digits, so the tool does not find its name.
      std::string key = i == 0 ? fmt::format("{:x}", pc.address) : pc.key();
      const bool known = !pc.symbols.empty() && key.size() == 16;
      HG_TRY(out->Write(fmt::format(
          "\t@ {} {}\n", key,
          known ? pc.symbols[0].name + " " + pc.symbols[0].place : std::string("unknown"))));
    }
  }
  return out->Write("\n");
}

}  // namespace

Status WriteText(const ReportInput& input, TextSink* out) {
  const Options& options = input.options;
  Entries entries(input.state, options);
  const Figures figures = Count(input.stacks, &entries);
  if (options.tool == Tool::kGooglePprof && options.stacks) HG_TRY(WriteLeaks(input, out));
  std::vector<EntryId> order;
  for (EntryId id = 0; id < entries.size(); ++id) {
    if (figures.is_present[id]) order.push_back(id);
  }
  const std::vector<double>& key = options.cum ? figures.cum : figures.flat;
  std::sort(order.begin(), order.end(), [&](EntryId a, EntryId b) {
    return key[a] != key[b] ? key[a] > key[b] : entries.name(a) < entries.name(b);
  });
  double running = 0;
  int64_t lines = 0;
  for (const EntryId id : order) {
    if (options.line_limit >= 0 && lines > 0 && lines >= options.line_limit) break;
    ++lines;
    const double flat = figures.flat[id];
    const double cum = figures.cum[id];
    running += flat;
    if (flat == 0 && cum == 0) continue;
    HG_TRY(out->Write(fmt::format("{:>8} {:>6} {:>6} {:>8} {:>6} {}\n", input.Figure(flat),
                                  Percent(flat, figures.total), Percent(running, figures.total),
                                  input.Figure(cum), Percent(cum, figures.total),
                                  Label(*input.state, options, entries.name(id)))));
  }
  return {};
}

}  // namespace heapgauge::perl
