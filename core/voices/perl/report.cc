// --symbols, and what the tools tell while they read.

#include "core/voices/perl/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/base/text.h"
#include "core/voices/perl/stacks.h"
#include "core/voices/perl/writers.h"

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
    const std::string_view line = TakeUntil(&input, '\n');
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

namespace {

Result<Stacks> Narrow(const ReportInput& input, const std::string& pattern, bool wanted,
                      Stacks stacks, TextSink* out) {
  HG_ASSIGN(stacks, FilterByPattern(*input.state, stacks, pattern, wanted));
  const double left = stacks.Total();
  HG_TRY(out->Write(fmt::format(
      "After {} '{}': {} {} of {} ({:.1f}%)\n", wanted ? "focusing on" : "ignoring", pattern,
      input.Figure(left), input.units(), input.Figure(input.total), left * 100.0 / input.total)));
  return stacks;
}

// The header of a command in the shell.
Status NarrowForShell(ReportInput* input, TextSink* out) {
  HG_TRY(out->Write(fmt::format("Total: {} {}\n", input->Figure(input->total), input->units())));
  const Options& options = input->options;
  if (!options.shell_focus.empty()) {
    HG_ASSIGN(input->stacks,
              Narrow(*input, options.shell_focus, true, std::move(input->stacks), out));
  }
  if (!options.shell_ignore.empty()) {
    HG_ASSIGN(input->stacks,
              Narrow(*input, options.shell_ignore, false, std::move(input->stacks), out));
  }
  return {};
}

bool IsPicture(Report report) {
  return report != Report::kText && report != Report::kList && report != Report::kDisasm;
}

Status WriteOne(SessionState* state, const Options& options, const std::string& thread,
                TextSink* out, TextSink* err) {
  ReportInput input;
  input.state = state;
  input.options = options;
  input.options.program = state->program;
  input.stacks = SelectStacks(*state, options, thread);
  input.total = input.stacks.Total();
  std::string told;
  HG_ASSIGN(input.stacks, RemoveUninteresting(*state, options, std::move(input.stacks), &told));
  if (!told.empty()) HG_TRY(err->Write(told));
  if (!options.focus.empty()) {
    HG_ASSIGN(input.stacks, FilterByPattern(*state, input.stacks, options.focus, true));
  }
  if (!options.ignore.empty()) {
    HG_ASSIGN(input.stacks, FilterByPattern(*state, input.stacks, options.ignore, false));
  }
  if (options.in_shell && options.report != Report::kCallgrind) {
    // Beside a graph or page, whose text goes on to a program.
    HG_TRY(NarrowForShell(&input, IsPicture(options.report) ? err : out));
  }
  switch (options.report) {
    case Report::kText:
      if (!options.in_shell) {
        if (input.total != 0) {
          HG_TRY(
              out->Write(fmt::format("Total{}: {} {}\n", thread.empty() ? "" : " (t" + thread + ")",
                                     input.Figure(input.total), input.units())));
        }
        if (options.tool == Tool::kGooglePprof && options.stacks) {
          HG_TRY(WriteStacks(input, out));
        }
      }
      return WriteText(input, out);
    case Report::kSymbols:
      return Fail(ErrorCode::kInvalidArgument, "--symbols takes no profile");
    case Report::kRaw:
      return WriteRaw(input, out);
    case Report::kCollapsed:
      return WriteCollapsed(input, out);
    case Report::kList:
    case Report::kWeblist:
      return WriteListing(input, out, err);
    case Report::kDisasm:
      return WriteDisassembly(input, out, err);
    case Report::kCallgrind:
      return WriteCallgrind(input, out);
    default:
      return WriteDot(input, out, err);
  }
}

// Threads of the profile in order.
std::vector<std::string> ThreadsOf(const SessionState& state) {
  std::set<std::pair<size_t, std::string>> threads;  // numbers: the longer is the larger
  for (const StackRow& row : state.rows) {
    if (!row.thread.empty()) threads.emplace(row.thread.size(), row.thread);
  }
  std::vector<std::string> names;
  for (const auto& [size, name] : threads) names.push_back(name);
  return names;
}

}  // namespace

Session::Session(Profile profile, std::optional<Profile> base, const Options& options,
                 const SymbolizeOptions& symbolize)
    : state_(MakeSession(std::move(profile), base ? &*base : nullptr, options, symbolize)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

Status Session::Write(const Options& options, TextSink* out, TextSink* err) {
  if (options.thread.empty()) return WriteOne(state_.get(), options, "", out, err);
  for (const std::string& thread : ThreadsOf(*state_)) {
    if (options.thread != "*" && options.thread != thread) continue;
    HG_TRY(WriteOne(state_.get(), options, thread, out, err));
  }
  return {};
}

Status WriteReport(const Profile& profile, const Profile* base, const Options& options,
                   const SymbolizeOptions& symbolize, TextSink* out, TextSink* err) {
  std::optional<Profile> other;
  if (base != nullptr) other = *base;
  return Session(profile, std::move(other), options, symbolize).Write(options, out, err);
}

const char* Units(const Profile& profile, const Options& options) {
  for (const SampleType& type : profile.sample_types) {
    if (type.name == "delay") return UnitsOf(Kind::kContention, options);
    if (type.name == "cpu") return UnitsOf(Kind::kCpu, options);
  }
  return UnitsOf(Kind::kHeap, options);
}

}  // namespace heapgauge::perl
