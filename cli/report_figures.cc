#include "cli/report_figures.h"

#include "core/analysis/measures.h"
#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

Result<SortKey> SortFor(const ReportOptions& options, const Profile& profile) {
  const Measures m = MeasuresOf(profile);
  if (options.sort.empty()) {
    const size_t type = profile.sample_types.empty() ? kNone : profile.DefaultType();
    if (m.has_allocated() && type == m.allocated) return SortKey::kAllocated;
    if (m.has_objects() && type == m.objects) return SortKey::kCount;
    return SortKey::kLive;
  }
  const SortKey key = KeyOf(options.sort);
  const bool known = key == SortKey::kLive || (key == SortKey::kAllocated && m.has_allocated()) ||
                     (key == SortKey::kCount && m.has_objects()) ||
                     (key == SortKey::kAge && !profile.blocks.empty());
  // What a program has not allocated yet is nothing to complain about.
  if (known || (key == SortKey::kAge && profile.recording.pid != 0)) return key;
  std::string types;
  for (const SampleType& type : profile.sample_types) {
    types += (types.empty() ? "" : ", ") + Printable(type.name);
  }
  return Fail(ErrorCode::kInvalidArgument, "this profile cannot be sorted by " + options.sort +
                                               ": it has " +
                                               (types.empty() ? "no sample types" : types));
}

}  // namespace

Result<Sorted> LoadSorted(const ReportOptions& options) {
  Sorted sorted;
  HG_ASSIGN(sorted.loaded, Load(options));
  Profile& profile = sorted.loaded.profile;
  if (!options.type.empty()) HG_TRY(ChooseType(options.type, &profile));
  EstimateFromPeriod(&profile);
  HG_ASSIGN(sorted.sort, SortFor(options, profile));
  return sorted;
}

Result<Selected> LoadSelected(const ReportOptions& options) {
  Selected selected;
  HG_ASSIGN(static_cast<Sorted&>(selected), LoadSorted(options));
  selected.granularity = GranularityOf(options.granularity);
  HG_ASSIGN(selected.rows,
            SelectRows(selected.profile(), {options.focus, options.ignore}, selected.granularity));
  return selected;
}

size_t TypeOf(const Profile& profile, SortKey sort) {
  const Measures m = MeasuresOf(profile);
  if (sort == SortKey::kAllocated && m.has_allocated()) return m.allocated;
  if (sort == SortKey::kCount && m.has_objects()) return m.objects;
  return m.main;
}

void AddCsv(Command sub, ReportOptions* options) {
  sub.Flag("--csv", &options->csv, "as CSV, for spreadsheets and scripts");
}

}  // namespace heapgauge::cli
