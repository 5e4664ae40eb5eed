// userver's jemalloc handler: POST /service/jemalloc/prof/COMMAND, and the shorter /prof/COMMAND.
//
// Success is "OK\n". Unlike userver's own, what went wrong is not a 200: an unknown command is 404,
// a bad parameter 400, what cannot be done in this state 409. enable and disable may be repeated,
// as with mallctl. ?engine=jemalloc drives the allocator's own profiler where the host has it.

#include <fmt/format.h>

#include <mutex>

#include "core/base/text.h"
#include "core/report/recording_text.h"
#include "core/report/views/memory.h"
#include "endpoint/base/engine.h"
#include "endpoint/base/kept_profiles.h"
#include "endpoint/base/route.h"

namespace heapgauge::endpoint {
namespace {

constexpr uint64_t kMostInterval = uint64_t{1} << 40;

// What the commands need: the engine that was asked for, or the native profiler if it is null.
struct Target {
  const Call& call;
  Engine* engine;
};

Response Ok() { return PlainText(200, "OK\n"); }

Response Done(const Status& status) { return status ? Ok() : FailureOf(status.error()); }
Response Done(const Result<bool>& seen) {
  if (!seen) return FailureOf(seen.error());
  Response response = Ok();
  // An idle process looks when it allocates again.
  if (!*seen) response.headers.emplace_back("X-Heapgauge-Pending", "until the next sample");
  return response;
}

Status CanProfile(Engine* engine) {
  const Engine::State state = engine->state();
  if (state.can_profile) return {};
  return Fail(ErrorCode::kUnavailable,
              std::string(engine->name()) + " cannot profile: " + state.why_not);
}

Response Switch(const Target& target, bool active) {
  if (target.engine == nullptr) return Done(target.call.process->SetActive(active));
  const std::lock_guard lock(EngineLock());
  if (const Status can = CanProfile(target.engine); !can) return FailureOf(can.error());
  return Done(target.engine->SetActive(active));
}

Response Enable(const Target& target) { return Switch(target, true); }
Response Disable(const Target& target) { return Switch(target, false); }

Response Reset(const Target& target) {
  if (target.engine == nullptr) return Done(target.call.process->Reset());
  const std::lock_guard lock(EngineLock());
  if (const Status can = CanProfile(target.engine); !can) return FailureOf(can.error());
  return Done(target.engine->Reset());
}

Response Sample(const Target& target) {
  const auto text = target.call.Parameter("bytes");
  const auto bytes = ParseSize(text.value_or(""));
  if (!text || text->size() > 20 || !bytes || *bytes == 0 || *bytes > kMostInterval) {
    return ErrorText(400,
                     "sample needs ?bytes=N, the mean bytes between samples: 1 to 1T, such as "
                     "524288 or 512K");
  }
  if (target.engine == nullptr) return Done(target.call.process->SetInterval(*bytes));
  const std::lock_guard lock(EngineLock());
  if (const Status can = CanProfile(target.engine); !can) return FailureOf(can.error());
  return Done(target.engine->SetInterval(*bytes));
}

Response Dump(const Target& target) {
  const Call& call = target.call;
  const auto profile = TakeNamed(call, Wanted::kHeap);
  if (!profile) return FailureOf(profile.error());
  const auto kept = call.kept.Keep(call.process->pid(), "heap", *profile);
  std::string where;
  if (kept) {
    where = fmt::format("id: {}\nfetch: {}/hotspots/heap?view={}&display_type=proto\n", (*kept)->id,
                        PrefixOf(call), (*kept)->id);
  }
  if (target.engine != nullptr) {
    if (!kept) return FailureOf(kept.error());
    return PlainText(200, "OK\npath: none, the engine's dump is kept in memory\n" + where);
  }
  const auto path = call.process->Dump();
  if (path) return PlainText(200, "OK\npath: " + Printable(*path) + "\n" + where);
  // The directory is at fault, not the profile: it can be fetched all the same.
  Response failure = FailureOf(path.error());
  failure.body += where;
  return failure;
}

std::string StateLines(const RecordingFacts& r) {
  return fmt::format(
      " prof.active: {}\n prof.interval: {}\n prof.interval_in_force: {}\n prof.samples: {}\n"
      " prof.lost_samples: {}\n",
      r.active, r.interval, r.interval_in_force, r.samples, r.lost_samples());
}

std::string StateLines(Engine* engine) {
  const Engine::State state = engine->state();
  std::string lines =
      fmt::format(" prof.active: {}\n prof.interval: {}\n", state.active, state.interval);
  if (!state.can_profile) lines += " prof.why_not: " + Printable(state.why_not) + "\n";
  return lines;
}

Response ProfStatus(const Target& target) {
  if (target.engine != nullptr) {
    const std::lock_guard lock(EngineLock());
    return PlainText(200, StateLines(target.engine));
  }
  const auto facts = target.call.process->Facts();
  return facts ? PlainText(200, StateLines(*facts)) : FailureOf(facts.error());
}

Response Stat(const Target& target) {
  if (target.engine != nullptr) {
    const std::lock_guard lock(EngineLock());
    auto statistics = target.engine->Statistics("");
    if (!statistics) return FailureOf(statistics.error());
    return PlainText(200, StateLines(target.engine) + *statistics);
  }
  const auto facts = target.call.process->Facts();
  if (!facts) return FailureOf(facts.error());
  std::string text = fmt::format("{}  pid {}  {}\n", NameOf(*facts), facts->pid, StateText(*facts));
  text += StateLines(*facts);
  if (const auto survey = target.call.process->Memory()) {
    text += "\n" + MemoryText(*survey, {});
  } else {
    text += "\nmemory: " + Printable(survey.error().message) + "\n";
  }
  return PlainText(200, std::move(text));
}

Response BackgroundThreads(const Target& /*target*/) {
  return ErrorText(400,
                   "background threads are jemalloc's own; heapgauge only watches, and the process "
                   "sets them by MALLOC_CONF=background_thread:true or mallctl");
}

struct Command {
  std::string_view name;
  Response (*run)(const Target&);
  bool takes_bytes = false;
  bool takes_count = false;
};
constexpr Command kCommands[] = {
    {"enable", Enable},
    {"disable", Disable},
    {"dump", Dump},
    {"stat", Stat},
    {"status", ProfStatus},
    {"reset", Reset},
    {"sample", Sample, true},
    {"bg_threads_set_max", BackgroundThreads, false, true},
    {"bg_threads_enable", BackgroundThreads},
    {"bg_threads_disable", BackgroundThreads},
};

Reply Prof(const Call& call) {
  for (const Command& command : kCommands) {
    if (command.name != call.rest) continue;
    auto refused = command.takes_bytes   ? RefuseOthers(call, {"bytes", "engine"})
                   : command.takes_count ? RefuseOthers(call, {"count", "engine"})
                                         : RefuseOthers(call, {"engine"});
    if (refused) return *std::move(refused);
    const auto engine = call.ChosenEngine();
    if (!engine) return FailureOf(engine.error());
    return command.run({call, *engine});
  }
  std::string names;
  for (const Command& command : kCommands) {
    names += names.empty() ? "" : ", ";
    names += command.name;
  }
  return ErrorText(404, "Unsupported command; there are " + names);
}

constexpr Route kUserverRoutes[] = {
    {"service/jemalloc/prof/", "POST, PUT", Prof},
    {"prof/", "POST, PUT", Prof, true,
     "POST enable, disable, dump, stat, status, reset, sample?bytes=N: control, as userver has it"},
};

}  // namespace

std::span<const Route> UserverRoutes() { return kUserverRoutes; }

}  // namespace heapgauge::endpoint
