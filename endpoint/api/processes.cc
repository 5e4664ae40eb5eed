// GET api/v1/processes: every process that the host serves, with what it holds now.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"
#include "endpoint/api/process_source.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr size_t kMostProcesses = 200;
constexpr uint64_t kRateNs = 10'000'000'000;

// Bytes per second that were allocated in the last few seconds; nothing if there are no two points
// of time.
std::optional<double> AllocationRate(const std::vector<TimelinePoint>& points) {
  if (points.size() < 2) return {};
  const TimelinePoint& last = points.back();
  size_t first = points.size() - 2;
  while (first > 0 && points[first].time_ns + kRateNs > last.time_ns) --first;
  const TimelinePoint& begin = points[first];
  // After a reset it counts anew.
  if (last.time_ns <= begin.time_ns || last.allocated_bytes < begin.allocated_bytes) return {};
  return static_cast<double>(last.allocated_bytes - begin.allocated_bytes) * 1e9 /
         static_cast<double>(last.time_ns - begin.time_ns);
}

// Whether it can be asked to change or dump, else why not.
void AddPermissions(Process* process, Json* json) {
  const Status change = process->MayChange();
  (*json)["may_change"] = change.has_value();
  if (!change) (*json)["why_no_change"] = change.error().message;
  const Status dump = process->MayDump();
  (*json)["may_dump"] = dump.has_value();
  if (!dump) (*json)["why_no_dump"] = dump.error().message;
}

Json ProcessJson(Process* process) {
  Json json = {{"pid", process->pid()}};
  const auto profile = process->Take(Moment::kNow);
  if (!profile) {
    json["error"] = profile.error().message;
    return json;
  }
  const RecordingFacts& r = (*profile)->recording;
  HeapFigures total;
  for (const HeapFigures& row : FiguresOfRows(**profile)) total.Add(row);
  total.live_bytes = OrNothingSampled(total.live_bytes, r);
  json["name"] = r.name();
  json["program"] = r.program;
  json["command_line"] = r.command_line;
  json["state"] = StateName(r.state);
  json["state_text"] = StateText(r);
  json["active"] = r.active;
  json["live_bytes"] = EstimateJson(total.live_bytes);
  json["live_objects"] = total.live_objects;
  json["allocated_bytes"] = EstimateJson(total.allocated_bytes);
  json["samples"] = r.samples;
  json["live_samples"] = r.live_samples;
  json["lost_samples"] = r.lost_samples();
  json["interval"] = r.interval;
  json["interval_in_force"] = r.interval_in_force;
  json["start_unix_ns"] = r.start_unix_ns;
  json["duration_ns"] = r.duration_ns;
  json["forked_ns"] = r.began_ns();
  if (const auto rate = AllocationRate((*profile)->timeline)) json["allocation_rate"] = *rate;
  if (const auto resident = process->ResidentBytes()) json["resident_bytes"] = *resident;
  AddPermissions(process, &json);
  return json;
}

Result<std::string> AnswerProcesses(const Call& call, const Filter& /*filter*/) {
  Json list = Json::Array();
  size_t count = 0;
  for (const auto& process : call.processes.List()) {
    if (++count > kMostProcesses) break;
    Json json = ProcessJson(process.get());
    json["source"] = call.sources.IdOf(process->pid());
    list.Add(std::move(json));
  }
  return Json{{"processes", std::move(list)}}.Line();
}

}  // namespace

const Resource kProcessesResource = {"api/v1/processes", {}, AnswerProcesses};

// POST api/v1/control: change how a process is sampled, or have it dump: the buttons of the page.
//
//   curl -X POST 'http://127.0.0.1:9710/api/v1/control?pid=4242&action=sample&bytes=64K'

namespace {

constexpr std::array<std::string_view, 3> kControlParameters = {"pid", "action", "bytes"};

struct Done {
  bool seen = true;  // the process has noticed it
  std::string file;  // of a dump
};

Result<Done> Act(Process* process, std::string_view action, const std::string& bytes) {
  Done done;
  if (action == "enable" || action == "disable") {
    HG_ASSIGN(done.seen, process->SetActive(action == "enable"));
  } else if (action == "reset") {
    HG_ASSIGN(done.seen, process->Reset());
  } else if (action == "dump") {
    HG_ASSIGN(done.file, process->Dump());
  } else if (action == "sample") {
    HG_ASSIGN(const uint64_t interval, ParseSize(bytes));
    HG_ASSIGN(done.seen, process->SetInterval(interval));
  } else {
    return Fail(ErrorCode::kInvalidArgument,
                "action is one of: enable, disable, sample, reset, dump");
  }
  return done;
}

Result<std::string> Control(const Call& call) {
  for (const auto& [name, value] : call.parameters) {
    if (std::find(kControlParameters.begin(), kControlParameters.end(), name) ==
        kControlParameters.end()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "there is no parameter " + Printable(name) + " here");
    }
  }
  HG_ASSIGN(const uint64_t pid, NumberOf(call, "pid", 1, 0xffffffff, 0));
  const std::shared_ptr<Process> process =
      pid == 0 ? call.process : call.processes.Find(static_cast<uint32_t>(pid));
  if (process == nullptr) {
    return Fail(ErrorCode::kNotFound, "pid names no process that is served here");
  }
  const std::string_view action = call.Parameter("action").value_or("");
  HG_ASSIGN(const Done done,
            Act(process.get(), action, std::string(call.Parameter("bytes").value_or(""))));
  Json json = {{"pid", process->pid()}, {"action", action}, {"seen", done.seen}};
  if (!done.file.empty()) {
    json["file"] = done.file;
    if (auto dump = process->OfDump(done.file)) {
      json["source"] = call.sources.AddDump(
          std::make_shared<ProcessSource>(std::move(dump), Printable(BaseName(done.file))));
    }
  }
  return json.Line();
}

}  // namespace

// The router has refused pages of other sites.
Reply HandleControl(const Call& call) {
  auto text = Control(call);
  return text ? JsonReply(*std::move(text)) : JsonFailure(text.error());
}

}  // namespace heapgauge::endpoint::api
