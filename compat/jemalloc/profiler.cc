#include "compat/jemalloc/profiler.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "compat/common/agent_link.h"
#include "compat/common/output.h"
#include "compat/common/watcher.h"
#include "core/base/sinks.h"
#include "core/formats/jemalloc/jemalloc.h"
#include "wire/gauge_format.h"

// The program's own definitions of these go before, as with jemalloc.
extern "C" {
__attribute__((visibility("default"), weak)) const char* malloc_conf = nullptr;
__attribute__((visibility("default"), weak)) const char* malloc_conf_2_conf_harder = nullptr;
__attribute__((visibility("default"), weak)) void (*malloc_message)(void*, const char*) = nullptr;
}

namespace heapgauge::compat {
namespace {

template <typename Value>
Value Variable(const char* name) {
  auto* found = static_cast<Value*>(dlsym(RTLD_DEFAULT, name));
  return found != nullptr ? *found : Value{};
}

std::string Plural(uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

void JemallocMessage(const std::string& text) {
  using Function = void (*)(void*, const char*);
  if (auto function = Variable<Function>("malloc_message")) {
    function(nullptr, text.c_str());
  } else {
    Say(text);
  }
}

JemallocProfiler& JemallocProfiler::Get() {
  static auto* const profiler = new JemallocProfiler();
  return *profiler;
}

void JemallocProfiler::StartFromConf() {
  if (NextFunction("mallctl") != nullptr) return;  // the real one is here
  const Working working;
  std::vector<std::string> problems;
  const auto add = [&](const char* text) {
    if (text != nullptr) conf_.Add(text, &problems);
  };
  add(Variable<const char*>("malloc_conf"));
  char link[PATH_MAX + 1];
  const ssize_t length = readlink("/etc/malloc.conf", link, PATH_MAX);
  if (length > 0) {
    link[length] = '\0';
    add(link);
  }
  add(secure_getenv("MALLOC_CONF"));
  add(Variable<const char*>("malloc_conf_2_conf_harder"));
  conf_.Settle(&problems);
  for (const std::string& problem : problems) JemallocMessage(problem + "\n");
  if (!conf_.prof) return;
  AgentLink& agent = AgentLink::Get();
  if (!agent.available()) {
    JemallocMessage("heapgauge: no agent, so there is no profile (LD_PRELOAD=libheapgauge.so)\n");
    conf_.prof = false;
    return;
  }
  prefix_ = conf_.prof_prefix;
  gdump_ = conf_.prof_gdump;
  // The default is the agent's own; it may have been asked for another in its own words.
  if (conf_.lg_prof_sample != JemallocConf().lg_prof_sample ||
      secure_getenv("HEAPGAUGE_SAMPLE") == nullptr) {
    agent.SetInterval(std::min(uint64_t{1} << conf_.lg_prof_sample, wire::kMaxIntervalBytes));
  }
  agent.SetActive(conf_.prof_active);
  Watcher::Get().Add(this);
  Watcher::Get().Arm();
}

bool JemallocProfiler::active() const { return conf_.prof && AgentLink::Get().active(); }

void JemallocProfiler::SetActive(bool active) {
  const Working working;
  if (conf_.prof) AgentLink::Get().SetActive(active);
}

void JemallocProfiler::SetGdump(bool gdump) {
  const Working working;
  gdump_ = gdump;
  highest_ = AgentLink::Get().Totals().live;
  Watcher::Get().Arm();
}

uint64_t JemallocProfiler::lg_sample() const {
  const uint64_t interval = conf_.prof ? AgentLink::Get().interval() : 0;
  return interval == 0 ? 0 : static_cast<uint64_t>(std::bit_width(interval) - 1);
}

void JemallocProfiler::Reset(int64_t lg_sample) {
  const Working working;
  AgentLink& agent = AgentLink::Get();
  if (lg_sample >= 0) {
    const uint64_t lg = std::min<uint64_t>(static_cast<uint64_t>(lg_sample), 63);
    agent.SetInterval(std::min(uint64_t{1} << lg, wire::kMaxIntervalBytes));
  }
  agent.Reset();
  interval_base_ = highest_ = 0;
  Watcher::Get().Arm();
}

void JemallocProfiler::SetPrefix(const std::string& prefix) {
  const Working working;
  prefix_ = prefix;
}

Result<Profile> JemallocProfiler::Take() const {
  HG_ASSIGN(Profile profile, AgentLink::Get().Read());
  if (conf_.prof_accum) return profile;
  // jemalloc does not know then what was ever allocated.
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    for (const size_t type : {kAllocObjects, kAllocSpace}) {
      profile.value(row, type) = 0;
      const size_t at = row * profile.sample_types.size() + type;
      if (at < profile.estimates.size()) profile.estimates[at] = Estimate{};
    }
  }
  return profile;
}

std::string JemallocProfiler::NextName(char kind, int64_t number) {
  const std::string count = number < 0 ? "" : std::to_string(number);
  return fmt::format("{}.{}.{}.{}{}.heap", prefix_, getpid(), sequence_++, kind, count);
}

bool JemallocProfiler::WriteTo(const std::string& path, const Profile& profile) const {
  StringSink sink;
  return WriteJemalloc(profile, {}, &sink) && WriteFile(path, sink.text());
}

bool JemallocProfiler::DumpNow(char kind, uint64_t* number) {
  if (prefix_.empty()) return false;
  const Result<Profile> profile = Take();
  return profile && WriteTo(NextName(kind, static_cast<int64_t>((*number)++)), *profile);
}

bool JemallocProfiler::Dump(const char* path) {
  const Working working;
  bool done = false;
  if (path == nullptr) {
    done = DumpNow('m', &manual_dumps_);
  } else if (const Result<Profile> profile = Take()) {
    done = WriteTo(path, *profile);
  }
  Watcher::Get().Arm();
  return done;
}

wire::Marks JemallocProfiler::marks() {
  wire::Marks marks;
  if (!conf_.prof || prefix_.empty()) return marks;
  if (conf_.lg_prof_interval >= 0) {
    marks.allocated = interval_base_ + (uint64_t{1} << conf_.lg_prof_interval);
  }
  if (gdump_) marks.live = highest_ + std::max(kGrowth, highest_ / 32);
  return marks;
}

void JemallocProfiler::Look(const wire::Marks& totals) {
  const wire::Marks due = marks();
  if (totals.allocated >= due.allocated) {
    const uint64_t interval = uint64_t{1} << conf_.lg_prof_interval;
    interval_base_ += (totals.allocated - interval_base_) / interval * interval;
    DumpNow('i', &interval_dumps_);
  }
  if (totals.live >= due.live) {
    highest_ = totals.live;
    DumpNow('u', &growth_dumps_);
  }
}

void JemallocProfiler::ReportLeaks(const Profile& profile) const {
  uint64_t contexts = 0;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (profile.value(row, kInuseObjects) > 0) ++contexts;
  }
  const auto bytes = static_cast<uint64_t>(profile.Total(kInuseSpace).value + 0.5);
  const auto objects = static_cast<uint64_t>(profile.Total(kInuseObjects).value + 0.5);
  if (bytes == 0) return;
  JemallocMessage(fmt::format("<jemalloc>: Leak approximation summary: ~{}, ~{}, >= {}\n",
                              Plural(bytes, "byte"), Plural(objects, "object"),
                              Plural(contexts, "context")));
  JemallocMessage("<jemalloc>: Run jeprof on dump output for leak detail\n");
  if (!conf_.prof_leak_error) return;
  JemallocMessage("<jemalloc>: Exiting with error code because memory leaks were detected\n");
  std::fflush(nullptr);  // what the program has printed
  _exit(1);
}

void JemallocProfiler::AtExit() {
  if (!conf_.prof || !conf_.prof_final) return;
  const Working working;
  if (prefix_.empty()) return;
  const Result<Profile> profile = Take();
  if (!profile) return;
  WriteTo(NextName('f', -1), *profile);
  if (conf_.prof_leak) ReportLeaks(*profile);
}

}  // namespace heapgauge::compat
