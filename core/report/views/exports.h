// A profile as a file for other tools, by the name of the format: what the export menu of the web
// UI and `api/v1/export` offer. The bytes are those of the command of the same kind.
//
// Pure functions; written piece by piece where the format allows it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/fold/functions.h"
#include "core/model/profile.h"
#include "core/report/labels.h"

namespace heapgauge {

struct ExportFormat {
  std::string_view name;    // "pprof"
  std::string_view ending;  // of a file: ".pb.gz"
  std::string_view media_type;
};
std::span<const ExportFormat> ExportFormats();
// Fails with the names of all.
Result<ExportFormat> FindExportFormat(std::string_view name);

struct ExportOptions {
  RowFilter filter;
  SortKey sort = SortKey::kLive;  // of formats with one value
  Granularity granularity = Granularity::kFunctions;
  Names names = Names::kShort;
  std::vector<std::string> notes;
  std::string writer = "heapgauge";
};

Status WriteExport(const Profile& profile, const ExportFormat& format, const ExportOptions& options,
                   TextSink* out);

// pprof's format with what a reader should know among its comments: who wrote it, what was live
// with its range, notes.
Status WriteExplainedPprof(const Profile& profile, const ExportOptions& options, TextSink* out);

}  // namespace heapgauge
