// GET api/v1/processes: every process that the host serves, with what it holds now.

#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "endpoint/api/api.h"

namespace heapgauge::endpoint::api {
namespace {

constexpr size_t kMost = 200;

Json ProcessJson(Process* process) {
  Json json = {{"pid", process->pid()}};
  const auto profile = process->Take(Moment::kNow);
  if (!profile) {
    json["error"] = profile.error().message;
    return json;
  }
  const Recording& r = (*profile)->recording;
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
  return json;
}

Result<std::string> AnswerProcesses(const Call& call, const Filter& /*filter*/) {
  Json list = Json::Array();
  size_t count = 0;
  for (const auto& process : call.processes.List()) {
    if (++count > kMost) break;
    list.Add(ProcessJson(process.get()));
  }
  return Json{{"processes", std::move(list)}}.Line();
}

}  // namespace

const Resource kProcessesResource = {"api/v1/processes", {}, AnswerProcesses};

}  // namespace heapgauge::endpoint::api
