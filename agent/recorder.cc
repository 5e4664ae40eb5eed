#include "agent/recorder.h"

#include <cstring>

#include "agent/sample/poisson.h"
#include "agent/sys/os.h"
#include "agent/sys/syscall.h"
#include "agent/sys/text.h"
#include "agent/table/atomic_file.h"
#include "agent/table/sample_filter.h"
#include "agent/table/timeline.h"
#include "agent/unwind/rule_cache.h"
#include "agent/version.h"

namespace {
const heapgauge::wire::Control no_control{};
}  // namespace

uint32_t hg_seen_generation = 0;
const uint32_t* hg_control_word = &no_control.generation;
std::atomic<uint8_t> hg_filter[1 << HG_FILTER_BITS];
std::atomic<uint8_t> hg_pool_filter[1 << HG_POOL_FILTER_BITS];

namespace heapgauge::agent {

constinit Recorder recorder{};

namespace {

uint64_t Whole(double value) { return value > 0 ? static_cast<uint64_t>(value + 0.5) : 0; }

// Adds to a private sum and shows the new value, rounded, in the file.
void AddAndShow(std::atomic<double>* sum, double amount, uint64_t& shown) {
  Put(shown, Whole(sum->fetch_add(amount, std::memory_order_relaxed) + amount));
}

}  // namespace

bool Recorder::Start(const Settings& settings, const AllocatorIdentity& allocator) {
  if (!life_.Start()) return false;
  os::ReadLink("/proc/self/exe", exe_, sizeof exe_);
  path_.Remember(settings, exe_[0] != '\0' ? exe_ : "unknown");
  sampler_.Start(settings.seed);
  labels_.Start(os::RandomSeed());
  pool_live_.HoldPools();
  sampler_.SetInterval(settings.interval);
  sampler_.SetMaxPerSecond(settings.max_samples_per_second);
  sampler_.SetActive(settings.active && !settings.trace.on);
  start_monotonic_ns_ = os::MonotonicNs();
  process_ = os::ProcessId();
  if (path_.Create(&file_, process_) != 0) {
    life_.Settle(false);
    return false;
  }
  wire::Header& header = *file_.header();
  FillHeader(&header, settings, allocator, exe_);
  PublishSampler(&header);
  header.control.interval = sampler_.interval();
  header.start_realtime_ns = os::RealtimeNs();
  header.start_monotonic_ns = start_monotonic_ns_;
  memcpy(header.magic, wire::kMagic, sizeof header.magic);
  hg_control_word = &header.control.generation;
  dumper_.Start(settings.dump, exe_, file_.path(), start_monotonic_ns_);
  life_.Settle(true);
  return true;
}

void Recorder::FillHeader(wire::Header* out, const Settings& settings,
                          const AllocatorIdentity& allocator, const char* exe) {
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
  CopyText(header.exe, exe);
  const long length =
      os::ReadWhole("/proc/self/cmdline", header.command_line, sizeof header.command_line);
  header.command_line_bytes = length > 0 ? static_cast<uint32_t>(length) : 0;
  header.follows_exec = settings.follow_exec;
  header.hooks_mappings = settings.record_mappings;
  header.recorder_pid = settings.trace.recorder_pid;
  header.control.active = settings.active && !settings.trace.on;
  header.control.max_samples_per_second = settings.max_samples_per_second;
}

void Recorder::PublishSampler(wire::Header* header) const {
  Put(header->active, uint32_t{sampler_.active()});
  Put(header->interval, sampler_.interval());
  Put(header->interval_in_force, sampler_.interval_in_force());
}

void Recorder::End() {
  GaugeFile* file = OwnFile();
  if (file == nullptr) return;
  Put(file->header()->ended_ns, Now());
  if (dumper_.armed()) dumper_.AtExit(file, live_bytes_.load(), os::MonotonicNs());
}

void Recorder::EndAtOnce() {
  GaugeFile* file = OwnFile();
  if (file == nullptr || SyscallsFrozen() || os::ProcessId() != process_) return;
  Put(file->header()->ended_ns, Now());
}

void Recorder::ConsiderDump() {
  GaugeFile* file = OwnFile();
  if (file != nullptr) dumper_.Consider(file, live_bytes_.load(), os::MonotonicNs());
}

void Recorder::NoteRefused(uint64_t size) {
  GaugeFile* file = OwnFile();
  if (file == nullptr || !dumper_.armed()) return;
  dumper_.Request(file, live_bytes_.load(), os::MonotonicNs(), size);
}

// The file, if it is this process's own.
GaugeFile* Recorder::OwnFile() {
  return life_.has_started() && life_.is_ready() ? &file_ : nullptr;
}

bool Recorder::Ready() {
  if (!life_.has_started()) return false;
  if (life_.is_ready()) return true;
  if (!life_.Begin()) return false;
  // A child that is not to be traced has nothing to tell.
  const bool untraced = tracer_.tracing() && !tracer_.FollowsFork();
  const bool started = !untraced && StartInChild();
  if (!started) tracer_.GoUntraced();
  life_.Settle(started);
  return started;
}

bool Recorder::StartInChild() {
  // The other threads of the parent are not here, whatever they were doing.
  modules_.Unlock();
  walkers_.TakeAllBack();
  following_.Unlock();
  copy_.Forget();
  writing_statistics_.Unlock();
  statistics_wanted_.store(0);
  statistics_given_.store(0);
  peak_.Forget();
  sampler_.Reseed();
  forks_.fetch_add(1);

  process_ = os::ProcessId();
  if (path_.Create(&new_file_, process_) != 0) {
    sampler_.SetActive(false);
    hg_seen_generation = *hg_control_word;  // nothing to wake up for
    return false;
  }
  wire::Header& header = *new_file_.header();
  const wire::Header& parent = *file_.header();
  Settings settings;
  settings.active = sampler_.active();
  settings.max_samples_per_second = parent.control.max_samples_per_second;
  settings.follow_exec = parent.follows_exec != 0;
  settings.record_mappings = parent.hooks_mappings != 0;
  settings.trace.recorder_pid = tracer_.recorder_pid();
  FillHeader(&header, settings,
             {static_cast<wire::Allocator>(parent.allocator), parent.allocator_path}, exe_);
  PublishSampler(&header);
  header.control.interval = sampler_.interval();
  header.start_monotonic_ns = start_monotonic_ns_;
  header.start_realtime_ns = parent.start_realtime_ns;
  header.reset_ns = reset_ns_.load();
  header.forked = 1;
  resets_seen_ = resets_ = 0;
  ranges_published_.store(0);
  allocated_objects_.store(0);
  freed_objects_.store(0);
  modules_.CopyTo(&new_file_);
  stacks_.CopyTo(file_, &new_file_);
  labels_.CopyTo(&new_file_);
  live_.CopyTo(&new_file_);
  pool_live_.CopyTo(&new_file_);
  mappings_.CopyTo(&new_file_);
  uint64_t samples = 0;
  live_.ForEach([&](const wire::LiveRecord&) { ++samples; });
  header.totals.live_samples = samples;
  header.totals.live_bytes = live_bytes_.load();
  header.totals.live_objects = Whole(live_objects_.load());
  memcpy(header.magic, wire::kMagic, sizeof header.magic);
  hg_seen_generation = 0;
  hg_control_word = &header.control.generation;
  file_.MoveTo(&parent_file_);
  new_file_.MoveTo(&file_);
  if (tracer_.tracing()) tracer_.StartInChild(process_);
  // A stub may be about to read the parent's control word: its segment stays mapped.
  parent_file_.DetachAllButHeader();
  if (dumper_.armed()) dumper_.StartInChild(live_bytes_.load(), os::MonotonicNs());
  return true;
}

void Recorder::RecordLoss(wire::Loss why, uint64_t size, uint64_t interval) {
  GaugeFile* file = OwnFile();
  if (file == nullptr) return;
  wire::Totals& totals = file->header()->totals;
  AddTo(totals.lost[static_cast<uint32_t>(why)], 1);
  AddTo(totals.lost_bytes, Whole(WeightOf(size, interval).bytes));
}

uint32_t Recorder::CurrentThread() {
  ThreadState& thread = hg_thread;
  const uint32_t process = forks_.load(std::memory_order_relaxed);
  if (thread.thread_id == 0 || thread.process != process) {
    thread.thread_id = os::ThreadId();
    thread.process = process;
  }
  return thread.thread_id;
}

Recorder::Site Recorder::FindSite(const Registers& caller, uint64_t now_ns, uint16_t flags,
                                  uint16_t labels, wire::Loss* loss) {
  modules_.CheckGone(&file_);
  WalkerPool::Lease* lease = walkers_.Take(&hg_thread, caller.sp, now_ns);
  if (lease == nullptr) {
    *loss = wire::Loss::kNoRoom;
    return {};
  }
  const Stack stack = lease->walker.Walk(caller);
  Site site;
  site.stack = stacks_.Intern(&file_, &modules_, exe_, stack, loss, flags, labels);
  site.complete = stack.complete;
  site.may_ask = statistics_wanted_.load(std::memory_order_relaxed) !=
                     statistics_given_.load(std::memory_order_relaxed) &&
                 MayAskAllocator(stack);
  walkers_.GiveBack(lease);
  return site;
}

void Recorder::RecordAllocation(const Block& block, const Registers& caller) {
  if (!Ready()) return;
  FollowControl();
  if (!sampler_.active()) return;
  const uint64_t now_ns = os::MonotonicNs();
  ThreadState& thread = hg_thread;
  CurrentThread();
  wire::Loss loss = wire::Loss::kNoRoom;
  const Site site = FindSite(caller, now_ns, 0, thread.labels, &loss);
  if (site.stack == 0) return RecordLoss(loss, block.size, block.interval);

  // A block that was freed without our knowledge had the same address.
  wire::LiveRecord record;
  if (TakeOut(block.address, &record)) CountFree(record);

  const uint64_t since_start = now_ns - start_monotonic_ns_;
  record = wire::LiveRecord{.state = 0,
                            .address = block.address,
                            .size = block.size,
                            .interval = block.interval,
                            .birth_ns = since_start,
                            .usable = block.usable,
                            .stack = site.stack,
                            .thread = thread.thread_id,
                            .flags = block.flags,
                            .function = static_cast<uint32_t>(block.function)};
  const Weight weight = WeightOf(block.size, block.interval);
  const uint64_t bytes = Whole(weight.bytes);
  if (!live_.Add(&file_, record, &loss)) return RecordLoss(loss, block.size, block.interval);

  stacks_.CountAllocation(&file_, site.stack, block.size, weight);
  wire::Totals& totals = file_.header()->totals;
  AddTo(totals.samples, 1);
  AddTo(totals.live_samples, 1);
  AddTo(totals.live_bytes, bytes);
  AddTo(totals.allocated_bytes, bytes);
  AddAndShow(&live_objects_, weight.objects, totals.live_objects);
  AddAndShow(&allocated_objects_, weight.objects, totals.allocated_objects);
  if (!site.complete) AddTo(totals.truncated_walks, 1);
  const uint64_t live_bytes = live_bytes_.fetch_add(bytes) + bytes;

  const uint64_t in_force = sampler_.interval_in_force();
  sampler_.NoteSample(now_ns);
  if (in_force != sampler_.interval_in_force()) PublishSampler(file_.header());
  peak_.TakeIfHigher(&file_, live_, live_bytes, Whole(live_objects_.load()), since_start,
                     reset_ns_.load());
  if (TickIfDue(&file_, since_start)) OncePerTick();
  if (dumper_.armed()) {
    dumper_.CountAllocation(block.size, bytes);
    dumper_.Consider(&file_, live_bytes, now_ns);
  }
  if (ranges_published_.load(std::memory_order_relaxed) != os::PrivateRangesVersion()) {
    PublishMemory();
  }
  if (site.may_ask) TakeStatistics(since_start);
  watch_.CountAllocation(bytes);
}

// Not if a signal handler may have interrupted the allocator, nor from within it: it would wait
// for itself.
bool Recorder::MayAskAllocator(const Stack& stack) const {
  if (questions_.statistics == nullptr || !stack.complete) return false;
  for (uint32_t i = 0; i < stack.count; ++i) {
    const WalkedFrame& frame = stack.frames[i];
    if ((frame.flags & (kFrameExactPc | kFrameRestorer)) != 0) return false;
    if (questions_.is_inside != nullptr && questions_.is_inside(frame.pc)) return false;
  }
  return true;
}

void Recorder::TakeStatistics(uint64_t since_start) {
  wire::AllocatorStatistics fresh;
  const uint32_t wanted = statistics_wanted_.load(std::memory_order_relaxed);
  if (!writing_statistics_.Lock()) return;
  if (wanted != statistics_given_.load(std::memory_order_relaxed)) {
    statistics_given_.store(wanted, std::memory_order_relaxed);
    if (!questions_.statistics(&fresh)) fresh = {};
    // No use of `state` as it is in the file, but that it be odd while the rest changes.
    wire::AllocatorStatistics& shown = file_.header()->statistics;
    const uint64_t state = uint64_t{wanted} * 2;
    std::atomic_ref(shown.state).store(state + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    Put(shown.time_ns, since_start);
    Put(shown.mapped_bytes, fresh.mapped_bytes);
    Put(shown.resident_bytes, fresh.resident_bytes);
    Put(shown.in_use_bytes, fresh.in_use_bytes);
    Put(shown.free_bytes, fresh.free_bytes);
    Put(shown.cached_bytes, fresh.cached_bytes);
    Put(shown.metadata_bytes, fresh.metadata_bytes);
    Put(shown.arenas, fresh.arenas);
    Put(shown.requests, wanted);
    Put(shown.mask, fresh.mask);
    std::atomic_ref(shown.state).store(state + 2, std::memory_order_release);
  }
  writing_statistics_.Unlock();
}

void Recorder::OncePerTick() {
  modules_.CheckAll(&file_);
  PublishMemory();
}

// What a sample does each time and, if it is due, at a tick.
void Recorder::LookAround(bool due) {
  FollowControl();
  if (due) modules_.CheckAll(&file_);
  if (due || ranges_published_.load(std::memory_order_relaxed) != os::PrivateRangesVersion()) {
    PublishMemory();
  }
}

// How much memory the agent has, and where.
void Recorder::PublishMemory() {
  ranges_published_.store(os::PrivateRangesVersion(), std::memory_order_relaxed);
  os::PrivateRange ranges[wire::kMaxAgentRanges] = {};
  const uint32_t count = os::PrivateRanges(ranges, wire::kMaxAgentRanges);
  const uint32_t shown = count < wire::kMaxAgentRanges ? count : wire::kMaxAgentRanges;
  wire::Header& header = *file_.header();
  for (uint32_t i = 0; i < shown; ++i) {
    Put(header.agent_ranges[i].start, ranges[i].start);
    Put(header.agent_ranges[i].end, ranges[i].end);
  }
  Put(header.agent_range_count, shown);
  Put(header.agent_ranges_lost, count - shown);
  Put(file_.header()->agent_private_bytes,
      uint64_t{live_.private_bytes() + pool_live_.private_bytes() + stacks_.private_bytes() +
               labels_.private_bytes() + walkers_.private_bytes() + mappings_.private_bytes() +
               tracer_.private_bytes() + sizeof hg_filter + sizeof hg_pool_filter +
               sizeof(RuleCache) + sizeof *this});
}

bool Recorder::TakeOut(uintptr_t address, wire::LiveRecord* record) {
  return live_.Remove(OwnFile(), address, record);
}

void Recorder::CountFree(const wire::LiveRecord& record) {
  if (record.birth_ns < reset_ns_.load(std::memory_order_relaxed)) return;
  const Weight weight = WeightOf(record.size, record.interval);
  const uint64_t bytes = Whole(weight.bytes);
  live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  if (dumper_.armed()) dumper_.CountFree(record.size, bytes);
  uint64_t not_shown;
  GaugeFile* file = OwnFile();
  AddAndShow(&live_objects_, -weight.objects,
             file == nullptr ? not_shown : file->header()->totals.live_objects);
  if (file == nullptr) return watch_.CountFree(bytes);
  wire::Totals& totals = file->header()->totals;
  SubtractFrom(totals.live_samples, 1);
  SubtractFrom(totals.live_bytes, bytes);
  if ((record.flags & wire::kLiveInherited) == 0) {  // else it was not allocated here
    stacks_.CountFree(file, record.stack, weight);
    AddTo(totals.samples_freed, 1);
    AddTo(totals.freed_bytes, bytes);
    AddAndShow(&freed_objects_, weight.objects, totals.freed_objects);
  }
  watch_.CountFree(bytes);
}

void Recorder::PutBack(const wire::LiveRecord& record) {
  GaugeFile* file = OwnFile();
  wire::Loss loss;
  if (file == nullptr || !live_.Add(file, record, &loss)) CountFree(record);
}

bool Recorder::StartTracing(const TraceSettings& settings) {
  const Tracer::Record record{
      .life = life_,
      .file = &file_,
      .modules = &modules_,
      .stacks = &stacks_,
      .exe = exe_,
      .self = this,
      .make_ready = [](void* self) { return static_cast<Recorder*>(self)->Ready(); },
      .look_around = [](void* self, bool due) { static_cast<Recorder*>(self)->LookAround(due); }};
  return tracer_.Start(settings, record, process_);
}

wire::Header* Recorder::LeakQuestions() {
  GaugeFile* const file = OwnFile();
  if (file == nullptr || !tracer_.CanAskAboutLeaks()) return nullptr;
  if (os::ProcessId() != process_) return nullptr;
  if (ranges_published_.load(std::memory_order_relaxed) != os::PrivateRangesVersion()) {
    PublishMemory();  // whoever looks for pointers must know what is ours
  }
  return file->header();
}

void Recorder::WantNoExitCheck() {
  if (GaugeFile* const file = OwnFile()) Put(file->header()->leaks.wants_exit_check, uint32_t{0});
}

void Recorder::CheckModules() {
  if (OwnFile() != nullptr) modules_.CheckAll(&file_);
}

void Recorder::PrepareForOtherRights(bool other_root) {
  if (SyscallsFrozen()) return;
  if ((other_root || path_.is_given()) && (sampler_.active() || tracer_.tracing())) Ready();
  if (GaugeFile* file = OwnFile()) file->ReserveSpareOnce();
}

void Recorder::PrepareForSeccomp(bool strict) {
  // A forked child that has told nothing yet has no file, and could make none later.
  if (!SyscallsFrozen() && (sampler_.active() || tracer_.tracing())) Ready();
  if (OwnFile() == nullptr) return;
  if (hg_thread.thread_id == 0) hg_thread.thread_id = os::ThreadId();
  dumper_.WaitForEnd();
  file_.ReserveSpare();
  tracer_.PrepareForSeccomp(strict);
  live_.Prepare();
  stacks_.Prepare();
  labels_.Prepare();
}

}  // namespace heapgauge::agent
