#include "cli/report_figures.h"

#include <algorithm>

#include "cli/progress_line.h"
#include "cli/tell_user.h"
#include "core/fold/measures.h"
#include "core/report/value_text.h"

namespace heapgauge::cli {
namespace {

Status ChooseFigures(const ReportOptions& options, Sorted* sorted) {
  Profile& profile = sorted->loaded.profile;
  if (!options.type.empty()) HG_TRY(ChooseType(options.type, &profile));
  EstimateFromPeriod(&profile);
  HG_ASSIGN(sorted->sort, ChooseSort(options.sort, profile));
  return {};
}

}  // namespace

Result<Sorted> LoadSorted(const ReportOptions& options, FrameCache* cache, Recording* opened) {
  Sorted sorted;
  HG_ASSIGN(sorted.loaded, Load(options, cache, opened));
  if (const Status chosen = ChooseFigures(options, &sorted); !chosen) {
    return tl::unexpected<Error>(About(sorted.loaded.sources, chosen.error()));
  }
  return sorted;
}

Result<Selected> LoadSelected(const ReportOptions& options, Recording* opened) {
  Selected selected;
  HG_ASSIGN(static_cast<Sorted&>(selected), LoadSorted(options, nullptr, opened));
  selected.granularity = GranularityOf(options.granularity);
  HG_ASSIGN(selected.rows,
            SelectRows(selected.profile(), {options.focus, options.ignore}, selected.granularity));
  return selected;
}

void TellShrunk(const Profile& profile, const std::vector<bool>& rows, size_t type) {
  if (type >= profile.sample_types.size()) return;
  double shrunk = 0;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (rows[row]) shrunk += std::min(0.0, profile.estimate(row, type).value);
  }
  if (shrunk == 0) return;
  EndProgress();
  TellUser("heapgauge: stacks that shrank are left out: {}\n",
           FormatChange(shrunk, profile.sample_types[type].unit));
}

void AddCsv(Command sub, Option json, ReportOptions* options) {
  sub.Flag("--csv", &options->csv, "as CSV, for spreadsheets and scripts").Excludes(json);
}

}  // namespace heapgauge::cli
