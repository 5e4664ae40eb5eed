// GET api/v1/snapshots: the profiles that are kept of each process, newest first; of one process if
// `source` names it. POST takes a new one:
//
//   curl -X POST 'http://127.0.0.1:9710/api/v1/snapshots?source=4242'
//
// Each is a source: source=snapshot-... in any request. They are those of the hotspots pages.

#include "core/base/text.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"
#include "endpoint/api/snapshot_source.h"
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

}  // namespace heapgauge::endpoint::api
