#include "agent/record/recorder.h"

#include <cstring>

#include "agent/record/version.h"
#include "agent/sys/os.h"
#include "agent/sys/text.h"
#include "agent/sys/thread_state.h"
#include "agent/table/gauge_file.h"

namespace heapgauge::agent {
namespace {

constinit Dumper dumper{};

}  // namespace

constinit Session session{};
constinit Samples samples(session, dumper);
constinit ControlFollower control(session, samples);
constinit ProgramLabels labels(session, samples);
constinit Mappings mappings(session);

namespace {

constexpr size_t kOwnBytes = sizeof session + sizeof dumper + sizeof samples + sizeof control +
                             sizeof labels + sizeof mappings;

void FillHeader(wire::Header* out, const Settings& settings, const AllocatorIdentity& allocator) {
  wire::Header& header = *out;
  wire::DescribeLayout(&header);
  header.pid = os::ProcessId();
  header.parent_pid = os::ParentProcessId();
  header.uid = os::EffectiveUserId();
  header.process_start_ticks = os::ProcessStartTicks();
  header.pid_namespace = os::PidNamespace();
  header.allocator = static_cast<uint32_t>(allocator.kind);
  CopyText(header.allocator_path, allocator.path);
  CopyText(header.agent_version, kAgentVersion);
  CopyText(header.exe, session.exe());
  const long length =
      os::ReadWhole("/proc/self/cmdline", header.command_line, sizeof header.command_line);
  header.command_line_bytes = length > 0 ? static_cast<uint32_t>(length) : 0;
  header.follows_exec = settings.follow_exec;
  header.hooks_mappings = settings.record_mappings;
  header.recorder_pid = settings.trace.recorder_pid;
  header.control.active = settings.active && !settings.trace.on;
  header.control.max_samples_per_second = settings.max_samples_per_second;
  header.start_monotonic_ns = session.start_ns();
}

// As a parent with this header was told.
Settings SettingsOf(const wire::Header& parent) {
  Settings settings;
  settings.active = samples.sampler().active();
  settings.max_samples_per_second = parent.control.max_samples_per_second;
  settings.follow_exec = parent.follows_exec != 0;
  settings.record_mappings = parent.hooks_mappings != 0;
  settings.trace.recorder_pid = session.tracer().recorder_pid();
  return settings;
}

// The other threads of the parent are not here, whatever they were doing.
bool StartInChild() {
  control.ForgetThreads();
  samples.ForgetThreads();
  GaugeFile* const file = session.CreateChildsFile();
  if (file == nullptr) {
    control.FailInChild();
    return false;
  }
  wire::Header& header = *file->header();
  const wire::Header& parent = *session.file().header();
  FillHeader(&header, SettingsOf(parent),
             {static_cast<wire::Allocator>(parent.allocator), parent.allocator_path});
  header.start_realtime_ns = parent.start_realtime_ns;
  header.forked = 1;
  session.CopyTables();
  samples.ShowInherited(&header);
  memcpy(header.magic, wire::kMagic, sizeof header.magic);
  control.StartInChild(header);
  session.SwitchToChildsFile();
  samples.StartDumpsInChild();
  return true;
}

// What a sample does each time and, if it is due, at a tick.
void LookAround(void*, bool due) {
  control.Follow();
  if (due) {
    session.OncePerTick();
  } else {
    session.PublishMemory();
  }
}

bool IsRecording() { return samples.sampler().active() || session.tracer().tracing(); }

}  // namespace

bool StartRecording(const Settings& settings, const AllocatorIdentity& allocator) {
  if (!session.Start(settings, &StartInChild, kOwnBytes)) return false;
  samples.Start(settings);
  if (!session.CreateFile()) return false;
  wire::Header& header = *session.file().header();
  FillHeader(&header, settings, allocator);
  samples.PublishSampler(&header);
  header.control.interval = samples.sampler().interval();
  header.start_realtime_ns = os::RealtimeNs();
  memcpy(header.magic, wire::kMagic, sizeof header.magic);
  ControlFollower::ReadFrom(header);
  samples.StartDumps(settings);
  session.HasStarted();
  return true;
}

bool StartTracing(const TraceSettings& settings) {
  return session.StartTracing(settings, &LookAround);
}

void EndRecording() {
  GaugeFile* file = session.OwnFile();
  if (file == nullptr) return;
  Put(file->header()->ended_ns, session.Now());
  samples.DumpAtExit();
}

void EndRecordingAtOnce() {
  GaugeFile* file = session.OwnFile();
  if (file == nullptr || SyscallsFrozen() || os::ProcessId() != session.process()) return;
  Put(file->header()->ended_ns, session.Now());
}

bool CanAskForCheck() { return !SyscallsFrozen() && LeakQuestions() != nullptr; }

void PrepareForOtherRights(bool other_root) {
  if (SyscallsFrozen()) return;
  if ((other_root || session.path_is_given()) && IsRecording()) session.Ready();
  if (GaugeFile* file = session.OwnFile()) file->ReserveSpareOnce();
}

void PrepareForSeccomp(bool strict) {
  // A forked child that has recorded nothing yet has no file, and could make none later.
  if (!SyscallsFrozen() && IsRecording()) session.Ready();
  GaugeFile* const file = session.OwnFile();
  if (file == nullptr) return;
  if (hg_thread.thread_id == 0) hg_thread.thread_id = os::ThreadId();
  samples.WaitForDump();
  file->ReserveSpare();
  session.tracer().PrepareForSeccomp(strict);
  session.tables().Prepare();
}

}  // namespace heapgauge::agent
