// What the commands that check for leaks share, `leaks` and `run --leaks`: their options (what
// counts, what is shown, and in which form), and the one way in which a check is shown. Options are
// named as memcheck names them where it has the same.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/report_options.h"
#include "core/base/result.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/scan/owner_path.h"
#include "core/leaks/verdict/check_file.h"
#include "core/leaks/verdict/earlier_check.h"
#include "core/leaks/verdict/loss_records.h"
#include "core/leaks/verdict/suppressions.h"
#include "core/report/views/leaks.h"

namespace heapgauge::cli {

struct LeakOptions {
  // Not given: 20, or all where scripts read them.
  static constexpr uint32_t kUsualLimit = UINT32_MAX;

  ReportOptions report;  // output, colour, names, symbols, json
  // "": definite, and possible where all blocks are known.
  std::string show_kinds;
  std::string error_kinds;
  int error_exitcode = 1;
  std::string resolution = "high";
  std::string heuristics = "all";
  std::vector<std::string> suppressions;
  // What is in them, once that was read: a pipe, as of <(command), can be read once.
  std::shared_ptr<const leaks::Suppressions> read_suppressions;
  std::string generate = "no";
  std::string since;
  bool only_new = false;
  bool increased = false;
  bool changed = false;
  uint32_t limit = kUsualLimit;
  uint32_t frames = 12;
  bool sarif = false;
  bool xtree = false;
  std::string who_points_at;  // an address or a function
  bool valgrind_style = false;
};

// What counts as a leak and what is shown of it.
void AddLeakOptions(Command sub, LeakOptions* options);
// -n, --frames, --json, --sarif, -o and the rest of where and how it is shown.
void AddLeakOutputOptions(Command sub, LeakOptions* options);

// The same, looked through, with the files that they name read: what can be wrong is known before a
// program is disturbed.
struct LeakSetup {
  LeaksOptions report;
  leaks::Resolution resolution = leaks::Resolution::kHigh;
  uint32_t heuristics = ~0u;  // for ScanOptions
  leaks::Suppressions suppressions;
  std::optional<leaks::EarlierCheck> earlier;
  std::optional<leaks::DumpSeries> dumps;  // of the same run, up to what is checked
};
Result<LeakSetup> ReadLeakOptions(const LeakOptions& options);

// Names the stacks of the check, and writes it as the options say. Where suppressions are asked for
// they are all that is written, and the report goes to standard error, unless it goes there anyway
// or has to look like memcheck's: then they are in it. The exit code: that of the options if there
// are errors, else kDone; kBadInput if it cannot be written.
int ShowCheck(leaks::Check check, LeakSetup setup, const LeakOptions& options);

// Shows who points at what the options ask for in its place. `pointers` are those to the block at
// an address that was asked for. kDone, or kBadInput if there is nothing to show.
int ShowOwners(leaks::Check check, LeakSetup setup, const LeakOptions& options,
               const leaks::PointersTo& pointers);

}  // namespace heapgauge::cli
