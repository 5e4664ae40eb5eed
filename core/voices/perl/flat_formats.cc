// Reports that list stacks or calls as they are: collapsed, callgrind, raw, and --stacks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/voices/perl/writers.h"

namespace heapgauge::perl {
namespace {

constexpr std::string_view kNoPlace = "??:0";

bool IsNoPlace(const std::string& place, Tool tool) {
  return place == "?" || (tool == Tool::kGooglePprof && place == ":0");
}

// "file:line:function" of the function that an address belongs to.
std::string LocationOf(const Pc& pc, Tool tool) {
  if (pc.symbols.empty()) return "??:0:unknown";
  const Symbol& symbol = pc.symbols[0];
  std::string place = IsNoPlace(symbol.place, tool) ? std::string(kNoPlace) : symbol.place;
  return place + ":" + symbol.name;
}

std::string Whole(double value) { return fmt::format("{:.0f}", std::trunc(value) + 0.0); }

// Names of collapsed stacks, the innermost first.
void AppendNames(const Pc& pc, std::vector<std::string>* names) {
  if (pc.symbols.empty()) {
    names->push_back(pc.key());
    return;
  }
  for (size_t i = pc.symbols.size(); i-- > 0;) {
    const Symbol& symbol = pc.symbols[i];
    std::string name = symbol.full;
    if (name == "??") {
      name = IsNoPlace(symbol.place, Tool::kGooglePprof) ? std::string(kNoPlace) : symbol.place;
    }
    names->push_back(i > 0 ? name + "[inline]" : name);
  }
}

// Calls and their figures, by "file:line:caller -> file:line:callee".
class Calls {
 public:
  explicit Calls(const ReportInput& input) : input_(input) {
    for (size_t i = 0; i < input.stacks.size(); ++i) {
      const double value = input.stacks.values[i];
      if (input.options.tool == Tool::kJeprof) {
        AddFunctions(input.stacks.stack(i), value);
      } else {
        AddInlined(input.stacks.stack(i), value);
      }
    }
  }
  const std::unordered_map<std::string, double>& sums() const { return sums_; }

 private:
  void AddFunctions(std::span<const PcId> stack, double value) {
    std::string callee =
        stack.empty() ? "??:0:unknown" : LocationOf(input_.state->pcs[stack[0]], Tool::kJeprof);
    sums_[callee] += value;
    for (size_t i = 1; i < stack.size(); ++i) {
      std::string caller = LocationOf(input_.state->pcs[stack[i]], Tool::kJeprof);
      sums_[caller + " -> " + callee] += value;
      callee = std::move(caller);
    }
  }

  // google-pprof goes through the inlined calls, but counts them as if there were none: of n
  // addresses, n-2 calls are seen.
  void AddInlined(std::span<const PcId> stack, double value) {
    std::vector<std::string> places;
    for (const PcId id : stack) {
      const Pc& pc = input_.state->pcs[id];
      if (pc.symbols.empty()) places.emplace_back("??:0:unknown");
      for (size_t i = pc.symbols.size(); i-- > 0;) {
        const Symbol& symbol = pc.symbols[i];
        std::string place =
            IsNoPlace(symbol.place, Tool::kGooglePprof) ? std::string(kNoPlace) : symbol.place;
        place += ":" + symbol.name;
        if (i > 0) place += "[inline]";
        places.push_back(std::move(place));
      }
    }
    if (places.empty()) places.emplace_back("??:0:unknown");
    sums_[places[0]] += value;
    for (size_t i = 1; i + 1 < stack.size(); ++i) {
      sums_[places[i] + " -> " + places[i - 1]] += value;
    }
  }

  const ReportInput& input_;
  std::unordered_map<std::string, double> sums_;
};

// Writes a name, which stays where it is, once and its number from then on, as callgrind files may.
class Names {
 public:
  std::string Line(std::string_view key, std::string_view name) {
    if (name.size() <= 3) return fmt::format("{}={}\n", key, name);
    const auto [it, is_new] = numbers_.try_emplace(name, numbers_.size() + 1);
    return is_new ? fmt::format("{}=({}) {}\n", key, it->second, name)
                  : fmt::format("{}=({})\n", key, it->second);
  }

 private:
  std::unordered_map<std::string_view, size_t> numbers_;
};

struct Call {
  std::string_view caller_file, caller_line, caller;
  std::string_view callee_file, callee_line, callee;
  bool has_callee = false;
  double value = 0;
  const std::string* key = nullptr;
};

}  // namespace

Status WriteCollapsed(const ReportInput& input, TextSink* out) {
  const Stacks stacks = MergeEqual(input.stacks);
  std::vector<std::string> names;
  for (size_t i = 0; i < stacks.size(); ++i) {
    names.clear();
    for (const PcId pc : stacks.stack(i)) AppendNames(input.state->pcs[pc], &names);
    std::string line;
    for (size_t j = names.size(); j-- > 0;) {
      line += names[j];
      if (j != 0) line += ';';
    }
    HG_TRY(out->Write(line + " " + Whole(stacks.values[i]) + "\n"));
  }
  return {};
}

Status WriteStacks(const ReportInput& input, TextSink* out) {
  HG_TRY(out->Write("Stacks:\n\n"));
  const Stacks stacks = MergeEqual(input.stacks);
  for (size_t i = 0; i < stacks.size(); ++i) {
    std::string text = fmt::format("{:<8} ", Whole(stacks.values[i]));
    bool first = true;
    for (const PcId id : stacks.stack(i)) {
      const Pc& pc = input.state->pcs[id];
      if (!first) text += "\n         ";
      first = false;
      text += fmt::format("({}) {}", pc.key(), LocationOf(pc, input.options.tool));
    }
    HG_TRY(out->Write(text + "\n\n"));
  }
  return {};
}

Status WriteCallgrind(const ReportInput& input, TextSink* out) {
  // What the tools take a call apart with. Names end at a blank; a place without a line number
  // makes the expression match elsewhere, or not at all.
  static const Regex kPattern(R"(([^:]+):(\d+):([^ ]+)( -> ([^:]+):(\d+):(.+))?)");
  HG_TRY(out->Write("events: Hits\n\n"));
  const Calls calls(input);
  std::vector<Call> list;
  for (const auto& [key, value] : calls.sums()) {
    Call call;
    std::string_view rest;
    if (!kPattern.Matches(key, &call.caller_file, &call.caller_line, &call.caller, &rest,
                          &call.callee_file, &call.callee_line, &call.callee)) {
      continue;
    }
    call.has_callee = !rest.empty();
    call.value = value;
    call.key = &key;
    list.push_back(std::move(call));
  }
  std::sort(list.begin(), list.end(), [](const Call& a, const Call& b) {
    if (a.caller_file != b.caller_file) return a.caller_file < b.caller_file;
    const uint64_t x = NumberIn<uint64_t>(a.caller_line).value_or(~uint64_t{0});
    const uint64_t y = NumberIn<uint64_t>(b.caller_line).value_or(~uint64_t{0});
    return x != y ? x < y : *a.key < *b.key;
  });
  Names files;
  Names functions;
  for (const Call& call : list) {
    const std::string count = Whole(call.value);
    std::string text = files.Line("fl", call.caller_file) + functions.Line("fn", call.caller);
    if (call.has_callee) {
      text += files.Line("cfl", call.callee_file) + functions.Line("cfn", call.callee);
      text += fmt::format("calls={} {}\n", count, call.callee_line);
    }
    text += fmt::format("{} {}\n\n", call.caller_line, count);
    HG_TRY(out->Write(text));
  }
  return {};
}

namespace {

void AppendWord(uint64_t value, std::string* out) {
  for (int i = 0; i < 8; ++i) *out += static_cast<char>(value >> (8 * i) & 0xff);
}

// The binary format of CPU profiles.
Status WriteBinary(const Stacks& stacks, const SessionState& state, TextSink* out) {
  std::string text;
  for (const uint64_t word : {0, 3, 0, 1, 0}) AppendWord(word, &text);
  for (size_t i = 0; i < stacks.size(); ++i) {
    const auto stack = stacks.stack(i);
    if (stack.empty()) continue;
    AppendWord(static_cast<uint64_t>(static_cast<int64_t>(stacks.values[i])), &text);
    AppendWord(stack.size(), &text);
    for (const PcId pc : stack) AppendWord(state.pcs[pc].address, &text);
    HG_TRY(out->Write(text));
    text.clear();
  }
  return out->Write(text);
}

}  // namespace

Status WriteRaw(const ReportInput& input, TextSink* out) {
  const SessionState& state = *input.state;
  const bool jeprof = input.options.tool == Tool::kJeprof;
  HG_TRY(out->Write("--- symbol\nbinary=" + input.options.program + "\n"));
  std::vector<const Pc*> pcs;
  for (const Pc& pc : state.pcs) pcs.push_back(&pc);
  std::sort(pcs.begin(), pcs.end(),
            [](const Pc* a, const Pc* b) { return a->address < b->address; });
  for (const Pc* pc : pcs) {
    if (pc->symbols.empty()) continue;
    std::string line = "0x" + pc->key();
    const char* separator = " ";
    for (const Symbol& symbol : pc->symbols) {
      line += separator + symbol.full;
      separator = "--";
    }
    HG_TRY(out->Write(line + "\n"));
  }
  HG_TRY(out->Write("---\n"));
  const Stacks stacks = MergeEqual(input.stacks);
  if (!jeprof) {
    HG_TRY(out->Write("--- profile\n"));
    return WriteBinary(stacks, state, out);
  }
  // jeprof fails here: it can only pass on what a server sent. This is the same profile in a form
  // that it reads. Readers take a byte off all addresses but the innermost again.
  const std::string total = Whole(stacks.Total());
  HG_TRY(out->Write(
      fmt::format("--- heap\nheap profile: 1: {} [1: {}] @ heapprofile\n", total, total)));
  for (size_t i = 0; i < stacks.size(); ++i) {
    const std::string value = Whole(stacks.values[i]);
    std::string line = fmt::format("1: {} [1: {}] @", value, value);
    bool first = true;
    for (const PcId pc : stacks.stack(i)) {
      line += fmt::format(" 0x{:016x}", state.pcs[pc].address + (first ? 0 : 1));
      first = false;
    }
    HG_TRY(out->Write(line + "\n"));
  }
  return {};
}

}  // namespace heapgauge::perl
