// --symbols, and what the tools tell while they read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/number_in.h"
#include "core/base/regex.h"
#include "core/voices/perl/report.h"
#include "core/voices/perl/stacks.h"

namespace heapgauge::perl {
namespace {

// A line of /proc/PID/maps that maps code of a file.
bool ParseMapping(std::string_view line, Module* module) {
  static const Regex kFull(
      R"((?i)^([a-f0-9]{1,16})-([a-f0-9]{1,16})\s+..x.\s+([a-f0-9]{1,16})\s+\S+:\S+\s+\d+\s+(/.*\S)\s*$)",
      RegexOver::kText);
  static const Regex kBrief(R"(^\s*([a-f0-9]{1,16})-([a-f0-9]{1,16}):\s*(\S+\.so(?:\.\d+)*))",
                            RegexOver::kText);
  std::string_view start, end, path;
  std::string_view offset = "0";
  if (!kFull.Matches(line, &start, &end, &offset, &path) &&
      !kBrief.Matches(line, &start, &end, &path)) {
    return false;
  }
  module->start = *NumberIn<uint64_t>(start, 16);
  module->end = *NumberIn<uint64_t>(end, 16);
  module->offset = *NumberIn<uint64_t>(offset, 16);
  module->path = std::string(path);
  return true;
}

}  // namespace

Status WriteSymbols(std::string_view input, const Options& options,
                    const SymbolizeOptions& symbolize, TextSink* out, TextSink* err) {
  static const Regex kAddress(R"((?i)\b0x([0-9a-f]+)\b)", RegexOver::kText);
  (void)err;
  Profile profile;
  std::vector<uint64_t> addresses;
  while (!input.empty()) {
    const size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    std::string_view digits;
    Module module;
    if (kAddress.Matches(line, &digits)) {
      addresses.push_back(std::strtoull(std::string(digits).c_str(), nullptr, 16));
    } else if (ParseMapping(line, &module)) {
      profile.modules.push_back(std::move(module));
    }
  }
  auto state = MakeSession(std::move(profile), nullptr, options, symbolize);
  std::vector<PcId> ids;
  for (const uint64_t address : addresses) {
    const auto [it, is_new] =
        state->pc_ids.try_emplace(address, static_cast<PcId>(state->pcs.size()));
    if (is_new) state->pcs.push_back({address, {}});
    ids.push_back(it->second);
  }
  NamePcs(0, state.get());
  for (const PcId id : ids) {
    const Pc& pc = state->pcs[id];
    const bool known = !pc.symbols.empty() && !pc.symbols[0].name.empty();
    HG_TRY(out->Write((known ? pc.symbols[0].name : "??") + "\n"));
  }
  return {};
}

std::string Announcement(std::string_view first_line) {
  static const Regex kHeader(
      R"(^heap profile:\s*(\d+):\s+(\d+)\s+\[\s*(\d+):\s+(\d+)\](?:\s*@\s*([^/]*)(?:/(\d+))?)?)",
      RegexOver::kText);
  std::string_view n1, s1, n2, s2, type, rate;
  while (first_line.ends_with('\n') || first_line.ends_with('\r')) first_line.remove_suffix(1);
  if (!kHeader.Matches(first_line, &n1, &s1, &n2, &s2, &type, &rate)) return "";
  int version = 0;
  double adjustment = rate.empty() ? 0 : std::strtod(std::string(rate).c_str(), nullptr);
  if (type.empty()) {
    version = n1 == n2 && s1 == s2 ? 1 : 0;
  } else if (type != "heapprofile" && type.find("heap") != std::string_view::npos) {
    version = type.find("_v2") != std::string_view::npos ? 2 : 1;
    if (version == 1) adjustment /= 2;
  }
  if (version == 0) return "";
  std::string text = adjustment == 0
                         ? "Adjusting heap profiles for 1-in-128KB sampling rate\n"
                         : fmt::format("Adjusting heap profiles for 1-in-{:.0f} sampling rate\n",
                                       std::trunc(adjustment));
  if (version == 2) text += "Heap version 2\n";
  return text;
}

}  // namespace heapgauge::perl
