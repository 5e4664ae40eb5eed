#include "core/voices/perl/writers.h"

#include <fmt/format.h>
#include <fmt/printf.h>

#include <algorithm>
#include <cmath>
#include <map>
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

// The call graph in dot's language.

namespace {

constexpr double kLargestWeight = 100000;

struct Edge {
  uint32_t from = 0;  // numbers of nodes, from 1
  uint32_t to = 0;
  double value = 0;
};

// A name on several lines: blanks and scopes begin a new one.
std::string NodeLabel(const std::string& name) {
  std::string label;
  for (size_t i = 0; i < name.size();) {
    if (std::isspace(static_cast<unsigned char>(name[i])) != 0) {
      while (i < name.size() && std::isspace(static_cast<unsigned char>(name[i])) != 0) ++i;
      label += "\\n";
    } else if (name.compare(i, 2, "::") == 0) {
      label += "\\n";
      i += 2;
    } else {
      label += name[i++];
    }
  }
  return label;
}

class Graph {
 public:
  Graph(const ReportInput& input, TextSink* out)
      : input_(input), options_(input.options), out_(out), entries_(input.state, input.options) {}

  Status Write(TextSink* err) {
    figures_ = Count(input_.stacks, &entries_);
    node_limit_ = std::trunc(options_.node_fraction * figures_.total);
    edge_limit_ = std::trunc(options_.edge_fraction * figures_.total);
    ChooseNodes();
    if (nodes_.empty()) return Fail(ErrorCode::kNotFound, "No nodes to print");
    if (node_limit_ > 0 || edge_limit_ > 0) {
      HG_TRY(err->Write(fmt::format("Dropping nodes with <= {} {}; edges with <= {} abs({})\n",
                                    input_.Figure(node_limit_), input_.units(),
                                    input_.Figure(edge_limit_), input_.units())));
    }
    HG_TRY(WriteHead());
    for (size_t i = 0; i < nodes_.size(); ++i) HG_TRY(WriteNode(i));
    HG_TRY(WriteEdges());
    return out_->Write("}\n");
  }

 private:
  void ChooseNodes() {
    for (EntryId id = 0; id < entries_.size(); ++id) {
      if (figures_.is_present[id]) nodes_.push_back(id);
    }
    std::sort(nodes_.begin(), nodes_.end(), [&](EntryId a, EntryId b) {
      const double x = std::abs(figures_.cum[a]);
      const double y = std::abs(figures_.cum[b]);
      return x != y ? x > y : entries_.name(a) < entries_.name(b);
    });
    const auto most = static_cast<size_t>(std::max<int64_t>(options_.node_count, 0));
    if (nodes_.size() > most) nodes_.resize(most);
    while (!nodes_.empty() && std::abs(figures_.cum[nodes_.back()]) <= node_limit_) {
      nodes_.pop_back();
    }
    numbers_.assign(entries_.size(), 0);
    for (size_t i = 0; i < nodes_.size(); ++i) numbers_[nodes_[i]] = static_cast<uint32_t>(i + 1);
  }

  Status WriteHead() {
    std::string text = fmt::format("digraph \"{}; {} {}\" {{\n", options_.program,
                                   input_.Figure(input_.total), input_.units());
    if (options_.report == Report::kPdf) text += "size=\"8,11\"\n";
    text += "node [width=0.375,height=0.25];\n";
    text += fmt::format(
        "Legend [shape=box,fontsize=24,shape=plaintext,label=\"{}\\lTotal {}: {}\\lFocusing on: "
        "{}\\lDropped nodes with <= {} abs({})\\lDropped edges with <= {} {}\\l\"];\n",
        options_.program, input_.units(), input_.Figure(input_.total),
        input_.Figure(figures_.total), input_.Figure(node_limit_), input_.units(),
        input_.Figure(edge_limit_), input_.units());
    return out_->Write(text);
  }

  Status WriteNode(size_t index) {
    const EntryId id = nodes_[index];
    const double flat = figures_.flat[id];
    const double cum = figures_.cum[id];
    const double total = figures_.total;
    double size = 8;
    if (total > 0) size = 8 + 50.0 * std::sqrt(std::abs(flat * 1.0 / total));
    std::string extra;
    if (flat != cum) {
      extra = fmt::format("\\rof {} ({})", input_.Figure(cum), Percent(cum, total));
    }
    const char* style = "";
    if (options_.heapcheck && flat > 0) style = ",style=filled,fillcolor=gray";
    if (options_.heapcheck && flat < 0) style = ",peripheries=3";
    return out_->Write(
        fmt::format("N{} [label=\"{}\\n{} ({}){}\\r\",shape=box,fontsize={:.1f}{}];\n", index + 1,
                    NodeLabel(entries_.name(id)), input_.Figure(flat), Percent(flat, total), extra,
                    size, style));
  }

  // Edges between nodes that are shown, the largest first.
  std::vector<Edge> CollectEdges() {
    std::map<std::pair<uint32_t, uint32_t>, double> sums;
    std::vector<EntryId> path;
    for (size_t i = 0; i < input_.stacks.size(); ++i) {
      entries_.Translate(input_.stacks.stack(i), &path);
      for (size_t j = 1; j < path.size(); ++j) {
        const uint32_t from = numbers_[path[j]];
        const uint32_t to = numbers_[path[j - 1]];
        if (from != 0 && to != 0) sums[{from, to}] += input_.stacks.values[i];
      }
    }
    std::vector<Edge> edges;
    for (const auto& [ends, value] : sums) edges.push_back({ends.first, ends.second, value});
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge& a, const Edge& b) { return a.value > b.value; });
    return edges;
  }

  Status WriteEdges() {
    std::vector<int64_t> in(nodes_.size() + 1);
    std::vector<int64_t> out(nodes_.size() + 1);
    for (const Edge& edge : CollectEdges()) {
      // A first edge to a node is needed to reach it.
      const bool keep = in[edge.to] == 0 ||
                        (std::abs(edge.value) > edge_limit_ &&
                         out[edge.from] < options_.max_degree && in[edge.to] < options_.max_degree);
      if (!keep) continue;
      ++out[edge.from];
      ++in[edge.to];
      const double total = figures_.total;
      double width = std::min(std::abs(total != 0 ? 3 * (edge.value / total) : 0), 1.0) * 2;
      if (width < 1 && (options_.report == Report::kWeb || options_.report == Report::kSvg)) {
        width = 1;  // thinner lines do not show in pictures of this format
      }
      const double weight = std::min(std::pow(std::abs(edge.value), 0.7), kLargestWeight);
      const bool inlined = entries_.name(nodes_[edge.to - 1]).find("(inline)") != std::string::npos;
      HG_TRY(out_->Write(
          fmt::format("N{} -> N{} [label={}, weight={:.0f}, style=\"setlinewidth({:.6f}){}\"];\n",
                      edge.from, edge.to, input_.Figure(edge.value), std::trunc(weight), width,
                      inlined ? ",dashed" : "")));
    }
    return {};
  }

  const ReportInput& input_;
  const Options& options_;
  TextSink* out_;
  Entries entries_;
  Figures figures_;
  double node_limit_ = 0;
  double edge_limit_ = 0;
  std::vector<EntryId> nodes_;
  std::vector<uint32_t> numbers_;  // by entry; 0: not shown
};

}  // namespace

Status WriteDot(const ReportInput& input, TextSink* out, TextSink* err) {
  return Graph(input, out).Write(err);
}

}  // namespace heapgauge::perl
