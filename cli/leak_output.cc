#include "cli/leak_output.h"

#include <algorithm>

#include "cli/cli.h"
#include "cli/progress_line.h"
#include "cli/report_source.h"
#include "cli/symbol_options.h"
#include "core/leaks/scan/data_symbols.h"
#include "core/leaks/verdict/leak_kinds.h"
#include "core/leaks/verdict/suspects.h"
#include "core/report/views/leak_owners.h"

namespace heapgauge::cli {
namespace {

void AddNotes(const std::vector<std::string>& notes, std::vector<std::string>* all) {
  for (const std::string& note : notes) {
    if (std::find(all->begin(), all->end(), note) == all->end()) all->push_back(note);
  }
}

void NameStacks(const LeakOptions& options, leaks::Check* check) {
  ProgressSink* progress = options.report.quiet ? nullptr : BeginProgress();
  AddNotes(check->known.profile.notes, &check->notes);
  AddNotes(NameLocations(options.report.symbols, &check->known.profile, progress).notes,
           &check->notes);
}

}  // namespace

int ShowOwners(leaks::Check check, LeakSetup setup, const LeakOptions& options,
               const leaks::PointersTo& pointers) {
  NameStacks(options, &check);
  const leaks::LossRecords losses =
      leaks::MakeLossRecords(check, {setup.resolution, &setup.suppressions});
  LeaksSubject subject;
  subject.check = &check;
  subject.losses = &losses;
  SymbolizeOptions symbolize;
  symbolize.extra_debug_dirs = options.report.symbols.debug_paths;
  symbolize.pid = check.pid;
  leaks::DataSymbols symbols(check.roots, symbolize);
  auto owners = FindLeakOwners(subject, options.who_points_at, setup.report.limit, &symbols);
  if (!owners) return FailWith(owners.error());
  for (const leaks::PointerTo& pointer : pointers.pointers) {
    owners->front().pointers.push_back(DescribePlace(check, pointer.place, &symbols));
  }
  owners->front().pointer_count = pointers.count;
  if (options.report.json) return Deliver(options.report, LeakOwnersJson(subject, *owners));
  return Deliver(options.report,
                 LeakOwnersText(subject, setup.report, options.who_points_at, *owners));
}

int ShowCheck(leaks::Check check, LeakSetup setup, const LeakOptions& options) {
  LeaksSubject subject;
  NameStacks(options, &check);
  // Of samples, that only memory of unknown blocks points to one is no news.
  const uint32_t kinds = leaks::Bit(leaks::Kind::kDefinite) |
                         (check.known.exact ? leaks::Bit(leaks::Kind::kPossible) : 0);
  if (options.show_kinds.empty()) setup.report.show_kinds = kinds;
  if (options.error_kinds.empty()) setup.report.error_kinds = kinds;
  const leaks::LossRecords losses =
      leaks::MakeLossRecords(check, {setup.resolution, &setup.suppressions});
  leaks::Changes changes;
  subject.check = &check;
  subject.losses = &losses;
  subject.suppressions = &setup.suppressions;
  if (setup.earlier) {
    changes = leaks::CompareChecks(check, losses, *setup.earlier);
    subject.changes = &changes;
  }
  leaks::Suspects suspects;
  if (!check.at_exit) {
    suspects = leaks::FindSuspects(check);
    if (setup.dumps) leaks::AddDumpEvidence(*setup.dumps, check, &suspects);
    subject.suspects = &suspects;
  }
  int written = kDone;
  if (options.report.json) {
    written = DeliverBy(options.report,
                        [&](TextSink* out) { return WriteLeaksJson(subject, setup.report, out); });
  } else if (options.xtree) {
    written =
        DeliverBy(options.report, [&](TextSink* out) { return WriteLeaksXtree(subject, out); });
  } else if (options.sarif) {
    written = Deliver(options.report, LeaksSarif(subject, setup.report));
  } else if (setup.report.generate != GeneratedSuppressions::kNo && !options.valgrind_style &&
             !options.report.beside) {
    // They are for a file that is read again, so the report must not be in it.
    const std::string suppressions = LeakSuppressionsText(subject, setup.report);
    if (!options.report.quiet) {
      ReportOptions beside = options.report;
      beside.output.clear();
      beside.beside = true;
      setup.report.layout = Target(beside).layout();
      setup.report.generate = GeneratedSuppressions::kNo;
      Deliver(beside, LeaksText(subject, setup.report));
    }
    written = Deliver(options.report, suppressions);
  } else {
    written = Deliver(options.report, LeaksText(subject, setup.report));
  }
  if (written != kDone) return written;
  return CountLeakErrors(subject, setup.report).records != 0 ? options.error_exitcode : kDone;
}

}  // namespace heapgauge::cli
