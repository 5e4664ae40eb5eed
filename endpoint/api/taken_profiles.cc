// GET api/v1/snapshots: the profiles that are kept of each process, newest first; of one process if
// `source` names it. POST takes a new one:
//
//   curl -X POST 'http://127.0.0.1:9710/api/v1/snapshots?source=4242'
//
// Each is a source: source=snapshot-... in any request. They are those of the hotspots pages.

#include "core/base/text.h"
#include "core/fold/functions.h"
#include "core/report/report_json.h"
#include "core/report/views/exports.h"
#include "endpoint/api/api.h"
#include "endpoint/api/sources.h"
#include "endpoint/base/kept_profiles.h"

namespace heapgauge::endpoint::api {
namespace {

Json SnapshotJson(const KeptProfile& kept) {
  const Source::Facts facts = FactsOf(kept);
  return {{"id", facts.id},
          {"title", facts.title},
          {"pid", kept.pid},
          {"name", kept.recording.name()},
          {"type", kept.type},
          {"taken_unix_ns", kept.unix_ns},
          {"live_bytes", EstimateJson(kept.live_bytes)},
          {"allocated_bytes", EstimateJson(kept.allocated_bytes)},
          {"samples", kept.recording.samples},
          {"live_samples", kept.recording.live_samples}};
}

Result<std::string> AnswerSnapshots(const Call& call, const Filter& filter) {
  uint32_t pid = 0;
  if (!filter.source.empty()) {
    HG_ASSIGN(const auto opened, OpenedOf(call, filter));
    pid = opened->source().facts().pid;
  }
  Json list = Json::Array();
  for (const auto& kept : call.kept.List()) {
    if (pid == 0 || kept->pid == pid) list.Add(SnapshotJson(*kept));
  }
  return Json{{"most", call.limits.kept_profiles}, {"snapshots", std::move(list)}}.Line();
}

// The process behind a source; of a snapshot the one that it was taken of.
Result<std::shared_ptr<Process>> ProcessOf(const Call& call, const Filter& filter) {
  HG_ASSIGN(const auto opened, OpenedOf(call, filter));
  if (auto process = opened->source().process()) return process;
  const Source::Facts facts = opened->source().facts();
  if (facts.taken_unix_ns != 0) {
    if (auto process = call.processes.Find(facts.pid)) return process;
    return Fail(ErrorCode::kNotFound,
                "process " + std::to_string(facts.pid) + " is not there any more");
  }
  return Fail(
      ErrorCode::kInvalidArgument,
      "'" + Printable(facts.title) + "' is no process: only of one a new profile can be taken");
}

Result<std::string> TakeNew(const Call& call) {
  HG_ASSIGN(const Filter filter, ParseFilter(call.parameters, {}));
  HG_ASSIGN(const auto process, ProcessOf(call, filter));
  HG_ASSIGN(const auto profile, process->TakeWithNames(Moment::kNow));
  HG_ASSIGN(const auto kept, call.kept.Keep(process->pid(), "heap", profile));
  return SnapshotJson(*kept).Line();
}

}  // namespace

const Resource kSnapshotsResource = {kSnapshotsPath, {}, AnswerSnapshots};

// The router has refused pages of other sites.
Reply HandleNewSnapshot(const Call& call) {
  auto text = TakeNew(call);
  return text ? JsonReply(*std::move(text)) : JsonFailure(text.error());
}

// GET api/v1/export: the profile that the filter leaves as a file for other tools, the same bytes
// as the command of that name writes.
//
//   curl -OJ 'http://127.0.0.1:9710/api/v1/export?source=server.hgt&at=peak&format=pprof'

namespace {

constexpr std::string_view kExportParameters[] = {"format"};

// "server.hgt" and ".pb.gz" make "server.pb.gz". Only letters that mean nothing in a header or a
// file system.
std::string FileName(const std::string& title, std::string_view ending) {
  constexpr size_t kMost = 80;
  std::string name;
  for (const char c : BaseName(title)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || ((c == '.' || c == '-' || c == '_') && !name.empty())) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    if (name.size() == kMost) break;
  }
  for (const std::string_view known : {".hgt", ".hg", ".pb.gz", ".gz", ".txt", ".heap"}) {
    if (name.size() > known.size() && name.ends_with(known)) {
      name.erase(name.size() - known.size());
      break;
    }
  }
  return (name.empty() ? "heap" : name) + std::string(ending);
}

Result<Response> Export(const Call& call) {
  if (call.request.is_cross_site()) {
    return Fail(ErrorCode::kPermission, "a page of another site may not ask for this");
  }
  HG_ASSIGN(const Filter filter, ParseFilter(call.parameters, kExportParameters));
  HG_ASSIGN(const ExportFormat format,
            FindExportFormat(call.Parameter("format").value_or("pprof")));
  HG_ASSIGN(const Looked looked, LookAt(call, filter));
  const Profile& profile = *looked.subject->profile();
  ExportOptions options;
  options.filter = {filter.focus, filter.ignore};
  HG_ASSIGN(options.sort, ChooseSort(filter.sort, profile));
  options.granularity = filter.granularity;
  options.names = filter.names;
  options.notes = profile.notes;
  StringSink sink;
  HG_TRY(WriteExport(profile, format, options, &sink));
  const std::string name = FileName(looked.opened->source().facts().title, format.ending);
  return Response{200,
                  {{"Content-Type", std::string(format.media_type)},
                   {"Content-Disposition", "attachment; filename=\"" + name + "\""},
                   {"Cache-Control", "no-cache, max-age=0"},
                   {"X-Content-Type-Options", "nosniff"}},
                  sink.Take()};
}

}  // namespace

std::span<const std::string_view> ExportParameters() { return kExportParameters; }

Reply HandleExport(const Call& call) {
  auto response = Export(call);
  return response ? *std::move(response) : JsonFailure(response.error());
}

}  // namespace heapgauge::endpoint::api
