// Which figure of a profile a report is about: --type and --sort, for profiles of any kind.
//
// Single-threaded.
#pragma once

#include <cstddef>
#include <vector>

#include "cli/report_source.h"
#include "core/fold/sort_choice.h"

namespace heapgauge::cli {

struct Sorted {
  Loaded loaded;
  SortKey sort = SortKey::kLive;

  const Profile& profile() const { return loaded.profile; }
};

// Loads the profile, with the sample type that the options ask for as its default one. Fails if it
// has no such type, or nothing to sort by as asked. The rest is as in Load.
Result<Sorted> LoadSorted(const ReportOptions& options, FrameCache* cache = nullptr,
                          Recording* opened = nullptr);

// The same with the rows that --focus and --ignore leave.
struct Selected : Sorted {
  Granularity granularity = Granularity::kFunctions;
  std::vector<bool> rows;
};
Result<Selected> LoadSelected(const ReportOptions& options, Recording* opened = nullptr);

// For formats that have no place for less than nothing: says on standard error how much the stacks
// lost that they leave out, those of a change that shrank. Nothing if there are none.
void TellShrunk(const Profile& profile, const std::vector<bool>& rows, size_t type);

// --csv
void AddCsv(Command sub, Option json, ReportOptions* options);

}  // namespace heapgauge::cli
