#include "core/report/views/exports.h"

#include <utility>

#include "core/fold/frames.h"
#include "core/fold/functions.h"
#include "core/fold/measures.h"
#include "core/formats/collapsed/collapsed.h"
#include "core/formats/heap_text/heap_text.h"
#include "core/formats/jemalloc/jemalloc.h"
#include "core/formats/pprof/pprof_writer.h"
#include "core/formats/speedscope/speedscope_writer.h"
#include "core/report/draw/drawn_graph.h"
#include "core/report/draw/flame.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"

namespace heapgauge {
namespace {

Result<std::vector<bool>> RowsOf(const Profile& profile, const ExportOptions& options) {
  return SelectRows(profile, options.filter, options.granularity);
}

Status WriteStacks(const Profile& profile, const ExportOptions& options, TextSink* out) {
  if (profile.sample_types.empty()) {
    return Fail(ErrorCode::kCorrupt, "the profile has no sample types");
  }
  HG_ASSIGN(const std::vector<bool> rows, RowsOf(profile, options));
  const auto names = FrameNames(profile, options.granularity, options.names);
  const bool join =
      options.granularity == Granularity::kFiles || options.granularity == Granularity::kModules;
  return WriteCollapsed(profile, TypeOf(profile, options.sort), rows, names, join, out);
}

Status WriteForSpeedscope(const Profile& profile, const ExportOptions& options, TextSink* out) {
  SpeedscopeOptions speedscope;
  HG_ASSIGN(speedscope.selected, RowsOf(profile, options));
  speedscope.frame_names = FrameNames(profile, options.granularity, options.names);
  speedscope.shown = TypeOf(profile, options.sort);
  speedscope.exporter = options.writer;
  return WriteSpeedscope(profile, speedscope, out);
}

Status WriteJson(const Profile& profile, const ExportOptions& options, TextSink* out) {
  HG_ASSIGN(const std::vector<bool> rows, RowsOf(profile, options));
  return WriteProfileJson(profile, options.notes, rows, out);
}

Status WriteCallgrind(const Profile& profile, const ExportOptions& options, TextSink* out) {
  if (profile.sample_types.empty()) {
    return Fail(ErrorCode::kCorrupt, "the profile has no sample types");
  }
  pprof::ReportRequest request;
  request.kind = pprof::ReportKind::kCallgrind;
  request.config.focus = options.filter.focus;
  request.config.ignore = options.filter.ignore;
  HG_ASSIGN(
      const pprof::ReportInput input,
      PrepareGraph(profile, std::move(request), TypeOf(profile, options.sort), options.names));
  return pprof::WriteReport(input, out);
}

template <Status (*writer)(const Profile&, const TextWriteOptions&, TextSink*)>
Status WriteText(const Profile& profile, const ExportOptions& options, TextSink* out) {
  TextWriteOptions text;
  HG_ASSIGN(text.selected, RowsOf(profile, options));
  text.symbolized = true;  // it may be read where the binaries are not
  return writer(profile, text, out);
}

Status WriteFlame(const Profile& profile, const ExportOptions& options, TextSink* out) {
  TreeOptions flame = FlameOptions();
  flame.filter = options.filter;
  flame.sort = options.sort;
  flame.granularity = options.granularity;
  flame.names = options.names;
  HG_ASSIGN(const std::string svg, FlameSvg(profile, flame));
  return out->Write(svg);
}

struct Writer {
  ExportFormat format;
  Status (*write)(const Profile&, const ExportOptions&, TextSink*);
};
constexpr Writer kWriters[] = {
    {{"pprof", ".pb.gz", "application/octet-stream"}, WriteExplainedPprof},
    {{"collapsed", ".collapsed.txt", "text/plain; charset=utf-8"}, WriteStacks},
    {{"speedscope", ".speedscope.json", "application/json"}, WriteForSpeedscope},
    {{"callgrind", ".callgrind.out", "text/plain; charset=utf-8"}, WriteCallgrind},
    {{"gperftools", ".heap", "text/plain; charset=utf-8"}, WriteText<WriteHeapText>},
    {{"jemalloc", ".jemalloc.heap", "text/plain; charset=utf-8"}, WriteText<WriteJemalloc>},
    {{"json", ".profile.json", "application/json"}, WriteJson},
    {{"flame", ".flame.svg", "image/svg+xml"}, WriteFlame},
};

}  // namespace

std::span<const ExportFormat> ExportFormats() {
  static const std::vector<ExportFormat> all = [] {
    std::vector<ExportFormat> list;
    for (const Writer& writer : kWriters) list.push_back(writer.format);
    return list;
  }();
  return all;
}

Result<ExportFormat> FindExportFormat(std::string_view name) {
  std::string names;
  for (const Writer& writer : kWriters) {
    if (writer.format.name == name) return writer.format;
    names.append(names.empty() ? "" : ", ").append(writer.format.name);
  }
  return Fail(ErrorCode::kInvalidArgument, "format is one of: " + names);
}

Status WriteExport(const Profile& profile, const ExportFormat& format, const ExportOptions& options,
                   TextSink* out) {
  for (const Writer& writer : kWriters) {
    if (writer.format.name == format.name) return writer.write(profile, options, out);
  }
  return Fail(ErrorCode::kInvalidArgument, "there is no such format");
}

Status WriteExplainedPprof(const Profile& profile, const ExportOptions& options, TextSink* out) {
  PprofWriteOptions write;
  HG_ASSIGN(write.selected, SelectRows(profile, options.filter));
  write.comments.push_back("written by " + options.writer);
  const Measures measures = MeasuresOf(profile);
  const bool recorded = IsRecorded(profile.recording);
  if (recorded && measures.is_memory) {
    const bool allocated = measures.has_allocated() && profile.default_type == measures.allocated;
    write.comments.push_back(
        (allocated ? "allocated" : measures.name) + " " +
        LiveText(profile.Total(allocated ? measures.allocated : measures.main), profile.recording));
  }
  write.comments.insert(write.comments.end(), options.notes.begin(), options.notes.end());
  // Profiles by other tools say themselves what to leave out, and keep their empty stacks.
  if (recorded) {
    write.drop_frames = AllocationFunctionRegex();
    write.empty_stack = "(unknown stack)";
  }
  return WritePprof(profile, write, out);
}

}  // namespace heapgauge
