#include "compat/jemalloc/controls.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "compat/common/agent_link.h"
#include "compat/common/allocator_figures.h"
#include "compat/common/watcher.h"
#include "compat/jemalloc/profiler.h"

namespace heapgauge::compat {
namespace {

using Call = ControlCall;

JemallocProfiler& Profiler() { return JemallocProfiler::Get(); }
const JemallocConf& Conf() { return Profiler().conf(); }

// ---- the rules of mallctl ----

template <typename Value>
int Read(const Call& call, Value value) {
  if (call.old_value == nullptr || call.old_size == nullptr) return 0;
  if (*call.old_size != sizeof value) {
    *call.old_size = std::min(*call.old_size, sizeof value);
    std::memcpy(call.old_value, &value, *call.old_size);
    return EINVAL;
  }
  std::memcpy(call.old_value, &value, sizeof value);
  return 0;
}

template <typename Value>
int ReadOnly(const Call& call, Value value) {
  if (call.new_value != nullptr || call.new_size != 0) return EPERM;
  return Read(call, value);
}

// What is to be written, or nothing; EINVAL if it has the wrong size.
template <typename Value>
int Written(const Call& call, std::optional<Value>* value) {
  if (call.new_value == nullptr) return 0;
  if (call.new_size != sizeof(Value)) return EINVAL;
  Value copy;
  std::memcpy(&copy, call.new_value, sizeof copy);
  *value = copy;
  return 0;
}

bool WantsToRead(const Call& call) { return call.old_value != nullptr || call.old_size != nullptr; }

// Reads the old value, and writes a new one if there is one.
template <typename Value, typename Setter>
int ReadWrite(const Call& call, Value old, const Setter& set) {
  std::optional<Value> value;
  if (const int error = Written(call, &value)) return error;
  if (value) set(*value);
  return Read(call, old);
}

template <auto Member>
int Option(const Call& call) {
  return ReadOnly(call, Conf().*Member);
}

template <bool kValue>
int Constant(const Call& call) {
  return ReadOnly(call, kValue);
}

// ---- the profiler ----

// A switch that is off and stays so.
int OffForGood(const Call& call) {
  std::optional<bool> value;
  if (const int error = Written(call, &value)) return error;
  if (value.value_or(false)) return ENOENT;
  return Read(call, false);
}

int ProfActive(const Call& call) {
  if (!Profiler().enabled()) return OffForGood(call);
  return ReadWrite(call, Profiler().active(), [](bool active) { Profiler().SetActive(active); });
}

int ProfGdump(const Call& call) {
  if (!Profiler().enabled()) {
    return call.new_value != nullptr ? ENOENT : Read(call, false);
  }
  return ReadWrite(call, Profiler().gdump(), [](bool gdump) { Profiler().SetGdump(gdump); });
}

int ProfDump(const Call& call) {
  if (!Profiler().enabled()) return ENOENT;
  if (WantsToRead(call)) return EPERM;
  std::optional<const char*> path;
  if (const int error = Written(call, &path)) return error;
  return Profiler().Dump(path.value_or(nullptr)) ? 0 : EFAULT;
}

int ProfPrefix(const Call& call) {
  if (!Profiler().enabled()) return ENOENT;
  if (WantsToRead(call)) return EPERM;
  std::optional<const char*> prefix;
  if (const int error = Written(call, &prefix)) return error;
  if (!prefix || *prefix == nullptr) return EFAULT;
  Profiler().SetPrefix(*prefix);
  return 0;
}

int ProfReset(const Call& call) {
  if (!Profiler().enabled()) return ENOENT;
  if (WantsToRead(call)) return EPERM;
  std::optional<size_t> lg_sample;
  if (const int error = Written(call, &lg_sample)) return error;
  Profiler().Reset(lg_sample ? static_cast<int64_t>(std::min<size_t>(*lg_sample, 63)) : -1);
  return 0;
}

int ProfInterval(const Call& call) {
  const int64_t lg = Profiler().enabled() ? Conf().lg_prof_interval : -1;
  return ReadOnly(call, lg < 0 ? uint64_t{0} : uint64_t{1} << lg);
}

int ProfLgSample(const Call& call) { return ReadOnly(call, size_t{Profiler().lg_sample()}); }

int ProfPrefixOption(const Call& call) { return ReadOnly(call, Conf().prof_prefix.c_str()); }

int LgProfSample(const Call& call) { return ReadOnly(call, size_t{Conf().lg_prof_sample}); }

int LgProfInterval(const Call& call) {
  return ReadOnly(call, static_cast<ssize_t>(Conf().lg_prof_interval));
}

bool thread_active_init = true;

int ThreadActiveInit(const Call& call) {
  if (!Profiler().enabled()) {
    return call.new_value != nullptr ? ENOENT : Read(call, false);
  }
  // New threads are profiled; the agent has no switch for that. What was written can be read.
  return ReadWrite(call, thread_active_init, [](bool active) { thread_active_init = active; });
}

// ---- threads ----

thread_local bool this_thread_is_out = false;
thread_local char thread_name[192] = "";

int ThreadProfActive(const Call& call) {
  if (!Profiler().enabled()) {
    return call.new_value != nullptr ? ENOENT : Read(call, false);
  }
  return ReadWrite(call, !this_thread_is_out, [](bool active) {
    if (active != this_thread_is_out) return;
    AgentLink::Get().ExcludeThread(!active);
    this_thread_is_out = !active;
  });
}

int ThreadProfName(const Call& call) {
  if (!Profiler().enabled()) return ENOENT;
  if (call.new_value == nullptr) return Read(call, static_cast<const char*>(thread_name));
  if (WantsToRead(call)) return EPERM;
  std::optional<const char*> name;
  if (const int error = Written(call, &name)) return error;
  if (*name == nullptr) return EFAULT;
  for (const char* c = *name; *c != '\0'; ++c) {
    const auto byte = static_cast<unsigned char>(*c);
    if ((byte < 0x20 && byte != '\t') || byte > 0x7e) return EFAULT;
  }
  const size_t size = strnlen(*name, sizeof thread_name - 1);
  std::memcpy(thread_name, *name, size);
  thread_name[size] = '\0';
  AgentLink::Get().NameThread(thread_name);
  return 0;
}

// ---- figures ----

uint64_t epoch = 1;
std::optional<AllocatorFigures> figures;  // of that epoch

int Epoch(const Call& call) {
  const Working working;
  std::optional<uint64_t> written;
  if (const int error = Written(call, &written)) return error;
  if (written) {
    figures = AskAllocator();
    ++epoch;
  }
  return Read(call, epoch);
}

template <auto Member>
int Figure(const Call& call) {
  const Working working;
  if (!figures) figures = AskAllocator();
  if (!figures) return ENOENT;
  return ReadOnly(call, (*figures).*Member);
}

// Pages with blocks in them: all but what lies free at the top.
int Active(const Call& call) {
  const Working working;
  if (!figures) figures = AskAllocator();
  if (!figures) return ENOENT;
  return ReadOnly(call, figures->mapped - std::min(figures->mapped, figures->releasable));
}

int Retained(const Call& call) { return ReadOnly(call, size_t{0}); }

int Purge(const Call& call) {
  if (WantsToRead(call) || call.new_value != nullptr) return EPERM;
  const Working working;
  ReleaseFreeMemory();
  return 0;
}

int Nothing(const Call&) { return 0; }

int Page(const Call& call) { return ReadOnly(call, static_cast<size_t>(sysconf(_SC_PAGESIZE))); }
int OneArena(const Call& call) { return ReadOnly(call, 1u); }
int ThreadArena(const Call& call) {
  return ReadWrite(call, 0u, [](unsigned) {});
}
// jemalloc's interface, and who has it.
int Version(const Call& call) {
  return ReadOnly(call, static_cast<const char*>("5.3.0-0-gheapgauge"));
}
int TimeResolution(const Call& call) { return ReadOnly(call, static_cast<const char*>("default")); }
int NoRecent(const Call& call) { return ReadOnly(call, ssize_t{0}); }
int NoConf(const Call& call) { return ReadOnly(call, static_cast<const char*>("")); }

}  // namespace

const std::vector<MallctlControl>& Controls() {
  using Conf = JemallocConf;
  static const auto* const controls = new std::vector<MallctlControl>{
      {"version", Version},
      {"epoch", Epoch},
      {"background_thread", OffForGood},
      {"config.cache_oblivious", Constant<false>},
      {"config.debug", Constant<false>},
      {"config.fill", Constant<false>},
      {"config.lazy_lock", Constant<false>},
      {"config.malloc_conf", NoConf},
      {"config.opt_safety_checks", Constant<false>},
      {"config.prof", Constant<true>},
      {"config.prof_libgcc", Constant<false>},
      {"config.prof_libunwind", Constant<false>},
      {"config.stats", Constant<true>},
      {"config.utrace", Constant<false>},
      {"config.xmalloc", Constant<false>},
      {"opt.abort", Constant<false>},
      {"opt.abort_conf", Constant<false>},
      {"opt.prof", Option<&Conf::prof>},
      {"opt.prof_prefix", ProfPrefixOption},
      {"opt.prof_active", Option<&Conf::prof_active>},
      {"opt.prof_thread_active_init", Option<&Conf::prof_thread_active_init>},
      {"opt.lg_prof_sample", LgProfSample},
      {"opt.prof_accum", Option<&Conf::prof_accum>},
      {"opt.lg_prof_interval", LgProfInterval},
      {"opt.prof_gdump", Option<&Conf::prof_gdump>},
      {"opt.prof_final", Option<&Conf::prof_final>},
      {"opt.prof_leak", Option<&Conf::prof_leak>},
      {"opt.prof_leak_error", Option<&Conf::prof_leak_error>},
      {"opt.prof_sys_thread_name", Option<&Conf::prof_sys_thread_name>},
      {"opt.prof_stats", Constant<false>},
      {"opt.prof_time_resolution", TimeResolution},
      {"opt.prof_recent_alloc_max", NoRecent},
      {"prof.active", ProfActive},
      {"prof.dump", ProfDump},
      {"prof.gdump", ProfGdump},
      {"prof.interval", ProfInterval},
      {"prof.lg_sample", ProfLgSample},
      {"prof.prefix", ProfPrefix},
      {"prof.reset", ProfReset},
      {"prof.thread_active_init", ThreadActiveInit},
      {"thread.prof.active", ThreadProfActive},
      {"thread.prof.name", ThreadProfName},
      {"thread.arena", ThreadArena},
      {"thread.idle", Nothing},
      {"thread.tcache.flush", Nothing},
      {"arena.*.purge", Purge},
      {"arena.*.decay", Purge},
      {"arenas.narenas", OneArena},
      {"arenas.page", Page},
      {"stats.allocated", Figure<&AllocatorFigures::allocated>},
      {"stats.active", Active},
      {"stats.resident", Figure<&AllocatorFigures::resident>},
      {"stats.mapped", Figure<&AllocatorFigures::mapped>},
      {"stats.retained", Retained},
  };
  return *controls;
}

const ControlTable& Names() {
  static const auto* const table = [] {
    std::vector<std::string_view> names;
    for (const MallctlControl& control : Controls()) names.push_back(control.name);
    return new ControlTable(names);
  }();
  return *table;
}

}  // namespace heapgauge::compat
