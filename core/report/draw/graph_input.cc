#include "core/report/draw/graph_input.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/fold/allocation_frames.h"
#include "core/fold/measures.h"
#include "core/voices/pprof/prune.h"

namespace heapgauge {
namespace {

// Functions get the names that reports show. Those that differ still do: labels see to it.
void NameAsInReports(Names names, Profile* profile) {
  const std::vector<std::string> frame_names = FrameNames(*profile, Granularity::kFunctions, names);
  for (size_t i = 0; i < profile->frames.size(); ++i) {
    profile->functions[profile->frames[i].function].name = frame_names[i];
  }
}

// Sizes of blocks, which text profiles and Go's have on every row, would be more boxes in a graph
// than there are functions.
void DropSizes(Profile* profile) {
  for (RowId row = 0; row < profile->rows.size(); ++row) {
    const std::span<const Label> labels = profile->LabelsOf(row);
    const bool sizes = std::all_of(labels.begin(), labels.end(), [&](const Label& label) {
      return label.is_number() && profile->strings[label.key] == "bytes";
    });
    if (sizes) profile->rows[row].labels = kNone;
  }
}

// The program comes first in pprof's words; gauge files have modules as they were met.
void PutProgramFirst(Profile* profile) {
  std::vector<Module>& modules = profile->modules;
  const auto program = std::find_if(modules.begin(), modules.end(), [&](const Module& module) {
    return module.path == profile->recording.program;
  });
  if (program == modules.end() || program == modules.begin()) return;
  const auto at = static_cast<ModuleId>(program - modules.begin());
  std::swap(modules[0], modules[at]);
  for (Location& location : profile->locations) {
    if (location.module == 0 || location.module == at) {
      location.module = location.module == 0 ? at : 0;
    }
  }
}

}  // namespace

Result<pprof::ReportInput> PrepareGraph(Profile profile, pprof::ReportRequest request, size_t type,
                                        Names names) {
  if (type >= profile.sample_types.size()) {
    return Fail(ErrorCode::kCorrupt, "the profile has no sample types");
  }
  PutProgramFirst(&profile);
  request.config.sample_index = std::to_string(type);
  // Programs read it, which have no use for rounded megabytes.
  if (request.kind == pprof::ReportKind::kCallgrind) {
    request.config.unit = profile.sample_types[type].unit;
  }
  if (request.kind != pprof::ReportKind::kRaw) {
    const bool own_list = !profile.drop_frames.empty();
    if (!own_list && MeasuresOf(profile).is_memory) {
      profile.drop_frames = AllocationFunctionRegex();
    }
    HG_TRY(pprof::RemoveUninteresting(&profile));
    NameAsInReports(names, &profile);
    DropSizes(&profile);
  }
  return pprof::Prepare(std::move(profile), request);
}

}  // namespace heapgauge
