#include "cli/leak_output.h"

#include "cli/cli.h"
#include "cli/progress_line.h"
#include "cli/report_source.h"
#include "cli/symbol_options.h"
#include "core/leaks/leak_kinds.h"
#include "core/leaks/suspects.h"

namespace heapgauge::cli {

int ShowCheck(leaks::Check check, LeakSetup setup, const LeakOptions& options) {
  ProgressSink* progress = options.report.quiet ? nullptr : BeginProgress();
  LeaksSubject subject;
  subject.notes = check.known.profile.notes;
  const std::vector<std::string> names =
      NameLocations(options.report.symbols, &check.known.profile, progress).notes;
  subject.notes.insert(subject.notes.end(), names.begin(), names.end());
  if (!setup.error_kinds_given) {
    // Of samples, what only memory of unknown blocks points to is no news.
    setup.report.error_kinds = leaks::Bit(leaks::Kind::kDefinite);
    if (check.known.exact) setup.report.error_kinds |= leaks::Bit(leaks::Kind::kPossible);
  }
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
    subject.suspects = &suspects;
  }
  int written = kDone;
  if (options.report.json) {
    written = DeliverBy(options.report,
                        [&](TextSink* out) { return WriteLeaksJson(subject, setup.report, out); });
  } else if (options.sarif) {
    written = Deliver(options.report, LeaksSarif(subject, setup.report));
  } else {
    written = Deliver(options.report, LeaksText(subject, setup.report));
  }
  if (written != kDone) return written;
  return CountLeakErrors(subject, setup.report).records != 0 ? options.error_exitcode : kDone;
}

}  // namespace heapgauge::cli
