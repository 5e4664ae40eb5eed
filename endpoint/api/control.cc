// POST api/v1/control: change how a process is sampled, or have it dump: the buttons of the page.
//
//   curl -X POST 'http://127.0.0.1:9710/api/v1/control?pid=4242&action=sample&bytes=64K'

#include <algorithm>
#include <array>
#include <string>

#include "core/base/text.h"
#include "endpoint/api/api.h"
#include "endpoint/api/process_source.h"

namespace heapgauge::endpoint::api {
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
