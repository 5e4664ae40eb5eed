#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/voices/perl/report.h"
#include "core/voices/perl/writers.h"

namespace heapgauge::perl {
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
