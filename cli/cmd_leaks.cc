// leaks: what a program has lost, and what it holds that grows.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/leak_check.h"
#include "cli/progress_line.h"
#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/gauge/gauge_directory.h"
#include "core/gauge/owner_process.h"
#include "core/leaks/scan/owner_path.h"
#include "core/leaks/verdict/check_file.h"
#include "core/leaks/verdict/check_process.h"
#include "core/os/process.h"
#include "core/recording/recording.h"
#include "core/report/views/leak_owners.h"

namespace heapgauge::cli {
namespace {

struct LeaksCommand {
  LeakOptions leaks;
  std::vector<std::string> sources;
  std::string pick;
  bool asks_who = false;  // --who-points-at is given
  bool no_memory = false;
  double may_stop = 0.1;  // seconds
};

// What is about the report that --who-points-at stands in place of.
Status CheckWhoPointsAt(const LeakOptions& options) {
  if (options.who_points_at.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "--who-points-at needs an address (0x...) or a regular expression for functions");
  }
  const LeakOptions usual;
  const char* const given = options.sarif                                    ? "--sarif"
                            : options.xtree                                  ? "--xtree"
                            : options.valgrind_style                         ? "--valgrind-style"
                            : options.generate != usual.generate             ? "--gen-suppressions"
                            : !options.since.empty()                         ? "--since"
                            : options.error_exitcode != usual.error_exitcode ? "--error-exitcode"
                            : !options.error_kinds.empty() ? "--errors-for-leak-kinds"
                            : !options.show_kinds.empty()  ? "--show-leak-kinds"
                                                           : nullptr;
  if (given == nullptr) return {};
  return Fail(ErrorCode::kInvalidArgument,
              std::string(given) + " does not go with --who-points-at");
}

// The number of a process that has said goodbye and is still there, in destructors that run after
// the agent's; 0 if it is not.
uint32_t EndingAs(const GaugeOwner& owner) {
  if (owner.ended_ns == 0 || owner.is_copy) return 0;
  const uint32_t pid = FindRunningOwner(owner).process.pid;
  return pid != 0 && ProcessMapsFile(pid, owner.path) == true ? pid : 0;
}

Result<leaks::Check> Take(const LeaksCommand& command, const LeakSetup& setup,
                          const std::string& path, leaks::PointersTo* pointers) {
  const auto owner = ReadOwner(path);
  const uint32_t pid = owner && !WasReplaced(*owner) ? RunningAs(*owner) : 0;
  if (const uint32_t ending = owner && !command.no_memory ? EndingAs(*owner) : 0; ending != 0) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("process {} is ending, and its memory cannot be looked at any more: "
                            "heapgauge leaks --no-memory {} tells what its gauge file knows",
                            ending, ending));
  }
  if (command.no_memory && pid != 0) {
    // The samples of a program that is traced tell nothing.
    HG_ASSIGN(const std::string meant, MeantTrace(path, command.pick));
    return leaks::CheckFile(meant);
  }
  if (pid == 0) return leaks::CheckFile(path);
  leaks::CheckOptions options;
  options.gauge_path = path;
  options.may_stop_ns = static_cast<uint64_t>(command.may_stop * 1e9);
  options.scan.heuristics = setup.heuristics;
  options.scan.progress = command.leaks.report.quiet ? nullptr : BeginProgress();
  if (const auto address = AskedAddress(command.leaks.who_points_at)) {
    // Called by CheckProcess, after `address` has gone out of scope.
    options.with_memory = [address = *address, pointers](const leaks::MemoryImage& image,
                                                         const leaks::Check& check) {
      const uint32_t number = FindBlock(check.known, address);
      if (number == leaks::kNoBlock) return;
      const leaks::KnownBlock& block = check.known.blocks[number];
      constexpr size_t kPointers = 100;
      *pointers = FindPointersTo(image, check,
                                 {block.address, block.address + std::max<uint64_t>(block.size, 1)},
                                 kPointers);
    };
  }
  return leaks::CheckProcess(pid, options);
}

// The dumps that are named, or all of a directory if they are of one run. Fewer than two: no
// series.
Result<std::vector<std::string>> FilesOf(const LeaksCommand& command) {
  std::vector<std::string> paths;
  std::error_code ignored;
  if (command.sources.size() == 1 && command.pick.empty() &&
      std::filesystem::is_directory(command.sources.front(), ignored)) {
    HG_ASSIGN(paths, ListGaugeFiles(command.sources.front()));
    const auto first = paths.empty() ? Result<GaugeOwner>(GaugeOwner()) : ReadOwner(paths.front());
    const bool one_run =
        paths.size() > 1 && first && std::all_of(paths.begin(), paths.end(), [&](const auto& path) {
          const auto owner = ReadOwner(path);
          return owner && owner->pid == first->pid &&
                 owner->start_realtime_ns == first->start_realtime_ns;
        });
    if (one_run) return paths;
    paths.clear();
  }
  for (const std::string& source : command.sources) {
    if (source == "-") {
      return Fail(
          ErrorCode::kInvalidArgument,
          "leaks does not read standard input: gauge files and traces are read by position; "
          "name the file");
    }
    HG_TRY(CheckWhole(source, "ask heapgauge top " + ShellWord(source) + " what was live then"));
    HG_ASSIGN(std::string path, LocateFile(source, command.pick));
    if (command.sources.size() > 1 && FormatAt(path) == ProfileFormat::kTrace) {
      return Fail(
          ErrorCode::kInvalidArgument,
          fmt::format("'{}' is a trace, which has its whole past in it: several files are for "
                      "dumps of one run; heapgauge diff compares traces",
                      Printable(path)));
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

int Leaks(const LeaksCommand& command) {
  if (command.asks_who) {
    if (const Status status = CheckWhoPointsAt(command.leaks); !status) {
      return FailWith(status.error());
    }
  }
  auto setup = ReadLeakOptions(command.leaks);
  if (!setup) return FailWith(setup.error());
  const auto paths = FilesOf(command);
  if (!paths) return FailWith(paths.error());
  std::string path = paths->front();
  if (paths->size() > 1) {
    auto series = leaks::ReadDumpSeries(*paths);
    if (!series) return FailWith(series.error());
    path = series->paths.back();
    setup->dumps = *std::move(series);
  }
  leaks::PointersTo pointers;
  auto check = Take(command, *setup, path, &pointers);
  if (!check) return FailWith(check.error());
  if (command.asks_who) {
    return ShowOwners(*std::move(check), *std::move(setup), command.leaks, pointers);
  }
  return ShowCheck(*std::move(check), *std::move(setup), command.leaks);
}

void DescribeLeaks(Command sub, Action* action) {
  auto command = std::make_shared<LeaksCommand>();
  sub.Footer(R"(
Of a running program: its threads are stopped for some milliseconds while it is copied (copy on write), and
the copy is searched for pointers to the blocks that are known. The kinds are memcheck's:

  definitely lost  no pointer to the block is left: a leak
  indirectly lost  only lost blocks point to it: goes with them
  possibly lost    only pointers to its middle, or in memory of which nobody knows whether it is in use
  still reachable  the program can get at it; it is a leak all the same if it only grows (SUSPECTS)

Blocks are sampled: "37 of 40 sampled blocks" says how sure it is, and a leak of a few blocks is not seen.
heapgauge run --leaks -- CMD knows every block, and checks at the end.
Of a file: what was never freed, its age, and whether it grows.

Exit code 1 if something is definitely lost, or possibly lost where all blocks are known
(--errors-for-leak-kinds, --error-exitcode); 0 if not, or if memory was not looked at.

Examples:
  heapgauge leaks 4242                                  is the server leaking?
  heapgauge leaks --show-leak-kinds all -n 5 4242       what else does it hold?
  heapgauge leaks --who-points-at Cache::Insert 4242    who keeps it?
  heapgauge leaks --json -o now.json 4242               keep it; an hour later:
  heapgauge leaks --since now.json --increased 4242     what has grown since?
  heapgauge leaks --gen-suppressions all -o known.supp 4242     leaks to live with
  heapgauge leaks --suppressions known.supp 4242
  heapgauge leaks server.4242.hg                        it was killed; what grew?
  heapgauge leaks dumps/server.4242.*.hg                what grew from dump to dump?)");
  sub.Add("SOURCE", &command->sources,
          "PID, gauge file, trace, or directory; several dumps of one run, or a directory of them: "
          "the last is checked, and growth told from all")
      .Required();
  sub.Add("--pick", &command->pick, "which file of a directory: newest or oldest")
      .OneOf({"newest", "oldest"});
  const Option who =
      sub.Add("--who-points-at", &command->leaks.who_points_at,
              "in place of the report: the way from a root of the program to a block, by its "
              "address (0x..., or decimal as in the JSON), or to those that functions allocate "
              "(regular expression)");
  sub.Flag("--no-memory", &command->no_memory,
           "leave the program alone: tell only what its gauge file knows");
  sub.Add("--may-stop", &command->may_stop,
          "seconds that a program which cannot be copied (seccomp) may stand still for while its "
          "memory is read")
      .Between(0, 600);
  AddLeakOutputOptions(sub, &command->leaks);
  AddLeakOptions(sub, &command->leaks);
  sub.OnChosen([=] {
    command->asks_who = who.given();
    *action = [=] { return Leaks(*command); };
  });
}

}  // namespace

const CommandEntry kLeaksCommand = {"leaks", "what is lost for good, and what only grows",
                                    DescribeLeaks};

}  // namespace heapgauge::cli
