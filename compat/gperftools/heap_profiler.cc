#include "compat/gperftools/heap_profiler.h"

#include <fmt/format.h>
#include <glob.h>
#include <gperftools/heap-profiler.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "compat/common/agent_link.h"
#include "compat/common/output.h"
#include "compat/common/watcher.h"
#include "core/base/encode.h"
#include "core/base/sinks.h"
#include "core/fold/merge.h"
#include "core/formats/heap_text/heap_text.h"

namespace heapgauge::compat {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

std::string Megabytes(uint64_t bytes) { return fmt::format("{} MB", bytes >> 20); }

std::string ExitReason(uint64_t live) {
  if (live >= (1 << 20)) return fmt::format("Exiting, {} in use", Megabytes(live));
  if (live >= (1 << 10)) return fmt::format("Exiting, {} kB in use", live >> 10);
  return fmt::format("Exiting, {} bytes in use", live);
}

}  // namespace

HeapProfiler& HeapProfiler::Get() {
  static auto* const profiler = new HeapProfiler();
  return *profiler;
}

HeapProfiler::HeapProfiler()
    : settings_(ReadHeapProfilerSettings([](const char* name) { return secure_getenv(name); })) {}

void HeapProfiler::Print(int64_t level, const std::string& text) const {
  if (level <= settings_.verbose) Say(text);
}

void HeapProfiler::StartFromEnvironment() {
  // The real one has read it as well.
  if (NextFunction("HeapProfilerStart") != nullptr) return;
  if (settings_.prefix.empty()) {
    // gperftools' sampler, without its profiler.
    if (settings_.sample_parameter != 0) AgentLink::Get().SetInterval(settings_.sample_parameter);
    return;
  }
  const Working working;
  std::string prefix = settings_.prefix;
  if (settings_.use_pid) prefix += fmt::format("_{}", getpid());
  // Programs that this one executes would write over its files.
  setenv("HEAPPROFILE_USE_PID", "1", 1);
  if (settings_.signal != 0) CatchSignal();
  if (settings_.log_mmap) {
    Print(0, "HEAP_PROFILE_MMAP_LOG has no effect here; HEAPGAUGE_MMAP=1 records mappings\n");
  }
  if (settings_.cleanup) {
    prefix_ = prefix;
    RemoveOldFiles();
  }
  Start(prefix.c_str());
}

void HeapProfiler::CatchSignal() {
  struct sigaction before {};
  struct sigaction action {};
  action.sa_handler = [](int) {
    HeapProfiler::Get().signalled_.store(true);
    Watcher::Get().Wake();
  };
  action.sa_flags = SA_RESTART;
  if (sigaction(settings_.signal, nullptr, &before) != 0 ||
      (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)) {
    Say(fmt::format("Signal {} already in use\n", settings_.signal));
    return;
  }
  if (sigaction(settings_.signal, &action, nullptr) != 0) {
    Say(fmt::format("Failed to set signal. Perhaps signal number {} is invalid\n",
                    settings_.signal));
    return;
  }
  Print(0, fmt::format("Using signal {} as heap profiling switch\n", settings_.signal));
  Watcher::Get().Start();
}

void HeapProfiler::RemoveOldFiles() const {
  const std::string pattern = WithBackslashes(prefix_, "\\*?[") + ".*.heap";
  glob_t found{};
  if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      Print(1, fmt::format("Removing old heap profile {}\n", found.gl_pathv[i]));
      unlink(found.gl_pathv[i]);
    }
  }
  globfree(&found);
}

void HeapProfiler::Start(const char* prefix) {
  const Working working;
  if (running_.load() || prefix == nullptr) return;
  AgentLink& agent = AgentLink::Get();
  if (!agent.available()) {
    Say("heapgauge: no agent, so nothing is tracked (LD_PRELOAD=libheapgauge.so)\n");
    return;
  }
  Print(0, "Starting tracking the heap\n");
  prefix_ = prefix;
  process_ = getpid();
  was_active_ = agent.active();
  old_interval_ = agent.interval();
  if (settings_.sample_parameter != 0) {
    agent.SetInterval(settings_.sample_parameter);
  } else if (secure_getenv("HEAPGAUGE_SAMPLE") == nullptr) {
    agent.SetInterval(kInterval);
  }
  agent.Reset();
  agent.SetActive(true);
  dump_allocated_ = dump_freed_ = high_water_ = 0;
  dump_ns_ = MonotonicNs();
  time_passed_ = false;
  running_.store(true);
  if (!added_) Watcher::Get().Add(this);
  added_ = true;
  Watcher::Get().Arm();
}

void HeapProfiler::Stop() {
  const Working working;
  if (!running_.exchange(false)) return;
  AgentLink& agent = AgentLink::Get();
  agent.SetActive(was_active_);
  if (old_interval_ != 0) agent.SetInterval(old_interval_);
  Watcher::Get().Arm();
}

Result<std::string> HeapProfiler::Write() const {
  TextWriteOptions options;
  options.rate = 1;  // figures as they are: readers do not scale them
  StringSink sink;
  const AgentLink& agent = AgentLink::Get();
  std::vector<Profile> profiles;
  if (!settings_.only_mmap) {
    HG_ASSIGN(Profile heap, agent.Read(ProfileKind::kHeap));
    profiles.push_back(std::move(heap));
  }
  if (settings_.only_mmap || settings_.with_mmap) {
    HG_ASSIGN(Profile mappings, agent.Read(ProfileKind::kMmap));
    mappings.sample_types = HeapSampleTypes();
    profiles.push_back(std::move(mappings));
  }
  HG_ASSIGN(const Profile profile, profiles.size() == 1 ? Result<Profile>(std::move(profiles[0]))
                                                        : MergeProfiles(std::move(profiles)));
  HG_TRY(WriteHeapText(profile, options, &sink));
  return sink.Take();
}

std::string HeapProfiler::Text() {
  const Working working;
  if (!running_.load()) return "";
  Result<std::string> text = Write();
  return text ? *std::move(text) : "";
}

void HeapProfiler::Dump(const char* reason) {
  const Working working;
  if (!running_.load()) return;
  DumpNow(reason != nullptr ? reason : "");
  Watcher::Get().Arm();
}

void HeapProfiler::DumpNow(const std::string& reason) {
  // A forked child must not write over its parent's files.
  std::string prefix = prefix_;
  if (getpid() != process_) prefix += fmt::format("_{}", getpid());
  const std::string path = fmt::format("{}.{:04}.heap", prefix, ++count_);
  Print(0, fmt::format("Dumping heap profile to {} ({})\n", path, reason));
  const Result<std::string> text = Write();
  if (!text || !WriteFile(path, *text)) {
    Say(fmt::format("Failed dumping heap profile to {}\n", path));
    if (!text) Say(text.error().message + "\n");
  }
  const wire::Marks totals = AgentLink::Get().Totals();
  dump_allocated_ = totals.allocated;
  dump_freed_ = totals.freed;
  dump_ns_ = MonotonicNs();
  time_passed_ = false;
  if (totals.live > high_water_) high_water_ = totals.live;
}

wire::Marks HeapProfiler::marks() {
  wire::Marks marks;
  if (!running_.load()) return marks;
  if (settings_.allocation_interval != 0) {
    marks.allocated = dump_allocated_ + settings_.allocation_interval;
  }
  if (settings_.deallocation_interval != 0) {
    marks.freed = dump_freed_ + settings_.deallocation_interval;
  }
  if (settings_.inuse_interval != 0) marks.live = high_water_ + settings_.inuse_interval + 1;
  if (time_passed_) marks.allocated = 0;
  return marks;
}

uint64_t HeapProfiler::due_ns() {
  if (!running_.load() || settings_.time_interval == 0 || time_passed_) return kNever;
  return dump_ns_ + settings_.time_interval * kSecond;
}

// In the order in which gperftools asks.
void HeapProfiler::Look(const wire::Marks& totals) {
  if (!running_.load()) return;
  const std::string in_use = Megabytes(totals.live) + " currently in use";
  if (signalled_.exchange(false)) {
    DumpNow("signal");
  } else if (settings_.allocation_interval != 0 &&
             totals.allocated >= dump_allocated_ + settings_.allocation_interval) {
    DumpNow(Megabytes(totals.allocated) + " allocated cumulatively, " + in_use);
  } else if (settings_.deallocation_interval != 0 &&
             totals.freed >= dump_freed_ + settings_.deallocation_interval) {
    DumpNow(Megabytes(totals.freed) + " freed cumulatively, " + in_use);
  } else if (settings_.inuse_interval != 0 &&
             totals.live > high_water_ + settings_.inuse_interval) {
    DumpNow(in_use);
  } else if (time_passed_) {
    DumpNow(fmt::format("{} sec since the last dump", (MonotonicNs() - dump_ns_) / kSecond));
  } else if (due_ns() <= MonotonicNs()) {
    time_passed_ = true;
  }
}

void HeapProfiler::AtExit() {
  const Working working;
  if (!running_.exchange(false)) return;
  DumpNow(ExitReason(AgentLink::Get().Totals().live));
  Watcher::Get().Arm();
}

}  // namespace heapgauge::compat

#define HG_EXPORT extern "C" __attribute__((visibility("default")))

using heapgauge::compat::HeapProfiler;
using heapgauge::compat::NextAs;

HG_EXPORT void HeapProfilerStart(const char* prefix) {
  if (auto* real = NextAs<void(const char*)>("HeapProfilerStart")) return real(prefix);
  HeapProfiler::Get().Start(prefix);
}

HG_EXPORT void HeapProfilerStop() {
  if (auto* real = NextAs<void()>("HeapProfilerStop")) return real();
  HeapProfiler::Get().Stop();
}

HG_EXPORT void HeapProfilerDump(const char* reason) {
  if (auto* real = NextAs<void(const char*)>("HeapProfilerDump")) return real(reason);
  HeapProfiler::Get().Dump(reason);
}

HG_EXPORT int IsHeapProfilerRunning() {
  if (auto* real = NextAs<int()>("IsHeapProfilerRunning")) return real();
  return HeapProfiler::Get().running() ? 1 : 0;
}

HG_EXPORT char* GetHeapProfile() {
  if (auto* real = NextAs<char*()>("GetHeapProfile")) return real();
  const heapgauge::compat::Working working;
  return strdup(HeapProfiler::Get().Text().c_str());
}
