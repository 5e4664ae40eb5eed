// Leak checks of programs whose every block is known, because they are recorded (`run --leaks`).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/leaks/scan/check.h"
#include "core/leaks/scan/known_blocks.h"
#include "core/trace/record/leak_watch.h"
#include "core/trace/record/process_recorder.h"

namespace heapgauge::leaks {

// The live blocks of a program that is being recorded, with their stacks: what a leak check of it
// starts from.
//
// Memory is that of the blocks, and of the stacks that they have. Tables are read out of the gauge
// file and checked as everything in it.
//
// As of the last event that was read. The recorder's thread. Of a forked child these are the blocks
// that it has allocated itself. `exact` is left false if events were lost.
KnownBlocks ExactBlocks(trace::ProcessRecorder* recorder);

struct ExactCheckOptions {
  uint32_t heuristics = ~0u;  // as ScanOptions has them
  // The text about blocks that a scope has left, which the program is given to show. May be empty.
  std::function<std::string(const Check&)> scope_report;
};

// Leak checks of programs whose every block is known, because they are recorded (`run --leaks`): at
// their end, while they stand still and wait for it, and where they ask for one in between.
//
// A program that ends by a signal asks for nothing: of that one is known what it never freed, and
// not what was lost.
//
// Look and Ended are called by the recorder's thread, the rest after that has ended.
class ExactChecks final : public trace::LeakWatch {
 public:
  explicit ExactChecks(ExactCheckOptions options) : options_(std::move(options)) {}

  trace::LeakAnswer Look(trace::ProcessRecorder* recorder, const trace::LeakQuestion& question,
                         const trace::HeapUsage& usage) override;
  void Ended(trace::ProcessRecorder* recorder, RecordingState state,
             const trace::HeapUsage& usage) override;

  // Of the programs that have ended, in that order.
  std::vector<Check>& checks() { return checks_; }

 private:
  ExactCheckOptions options_;
  std::vector<Check> checks_;
  // The check at the end of a program that has not gone yet, by its recorder.
  std::map<const trace::ProcessRecorder*, Check> at_exit_;
  std::map<const trace::ProcessRecorder*, std::vector<std::string>> reports_;  // files of scopes
};

// Where a program finds the text about one of its scopes: a file beside its gauge file.
std::string ScopeReportPath(const std::string& gauge_path, uint32_t number);

}  // namespace heapgauge::leaks
