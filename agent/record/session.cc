#include "agent/record/session.h"

#include "agent/sys/os_memory.h"
#include "agent/sys/syscall.h"
#include "agent/table/atomic_file.h"
#include "agent/table/sample_filter.h"
#include "agent/unwind/rule_cache.h"

namespace heapgauge::agent {

void Tables::Start() {
  labels.Start(os::RandomSeed());
  pool_live.HoldPools();
}

void Tables::CopyTo(const GaugeFile& from, GaugeFile* to) {
  modules.CopyTo(to);
  stacks.CopyTo(from, to);
  labels.CopyTo(to);
  live.CopyTo(to);
  pool_live.CopyTo(to);
  mappings.CopyTo(to);
}

void Tables::Prepare() {
  live.Prepare();
  stacks.Prepare();
  labels.Prepare();
}

size_t Tables::private_bytes() const {
  return live.private_bytes() + pool_live.private_bytes() + stacks.private_bytes() +
         labels.private_bytes() + mappings.private_bytes() + sizeof hg_filter +
         sizeof hg_pool_filter;
}

bool Session::Start(const Settings& settings, StartInChild* start_in_child, size_t own_bytes) {
  if (!life_.Start()) return false;
  os::ReadLink("/proc/self/exe", exe_, sizeof exe_);
  path_.Remember(settings, exe_[0] != '\0' ? exe_ : "unknown");
  tables_.Start();
  start_in_child_ = start_in_child;
  own_bytes_ = own_bytes;
  start_ns_ = os::MonotonicNs();
  process_ = os::ProcessId();
  return true;
}

bool Session::CreateFile() {
  if (path_.Create(&file_, process_) == 0) return true;
  life_.Settle(false);
  return false;
}

GaugeFile* Session::CreateChildsFile() {
  tables_.modules.Unlock();
  walkers_.TakeAllBack();
  forks_.fetch_add(1);
  process_ = os::ProcessId();
  if (path_.Create(&new_file_, process_) != 0) return nullptr;
  ranges_published_.store(0);
  return &new_file_;
}

void Session::SwitchToChildsFile() {
  file_.MoveTo(&parent_file_);
  new_file_.MoveTo(&file_);
  if (tracer_.tracing()) tracer_.StartInChild(process_);
  // A stub may be about to read the parent's control word: its segment stays mapped.
  parent_file_.DetachAllButHeader();
}

bool Session::BecomeReady() {
  if (!life_.Begin()) return false;
  // A child that is not to be traced has nothing to record.
  const bool untraced = tracer_.tracing() && !tracer_.FollowsFork();
  const bool started = !untraced && start_in_child_();
  if (!started) tracer_.GoUntraced();
  life_.Settle(started);
  return started;
}

Session::Site Session::FindSite(const Registers& caller, uint64_t now_ns, uint16_t flags,
                                uint16_t labels, wire::Loss* loss, const Statistics* statistics) {
  tables_.modules.CheckGone(&file_);
  WalkerPool::Lease* lease = walkers_.Take(&hg_thread, caller.sp, now_ns);
  if (lease == nullptr) {
    *loss = wire::Loss::kNoRoom;
    return {};
  }
  const Stack stack = lease->walker.Walk(caller);
  Site site;
  site.stack = tables_.stacks.Intern(&file_, &tables_.modules, exe_, stack, loss, flags, labels);
  site.complete = stack.complete;
  site.may_ask = statistics != nullptr && statistics->MayAsk(stack);
  walkers_.GiveBack(lease);
  return site;
}

void Session::CheckModules() {
  if (OwnFile() != nullptr) tables_.modules.CheckAll(&file_);
}

void Session::OncePerTick() {
  tables_.modules.CheckAll(&file_);
  PublishMemoryNow();
}

void Session::PublishMemoryNow() {
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
  Put(header.agent_private_bytes,
      uint64_t{tables_.private_bytes() + walkers_.private_bytes() + tracer_.private_bytes() +
               sizeof(RuleCache) + own_bytes_});
}

bool Session::StartTracing(const TraceSettings& settings, void (*look_around)(void*, bool due)) {
  const Tracer::Record record{
      .life = life_,
      .file = &file_,
      .modules = &tables_.modules,
      .stacks = &tables_.stacks,
      .exe = exe_,
      .self = this,
      .make_ready = [](void* self) { return static_cast<Session*>(self)->Ready(); },
      .look_around = look_around};
  return tracer_.Start(settings, record, process_);
}

wire::Header* Session::LeakQuestions() {
  GaugeFile* const file = OwnFile();
  if (file == nullptr || !tracer_.CanAskAboutLeaks()) return nullptr;
  if (os::ProcessId() != process_) return nullptr;
  PublishMemory();  // whoever looks for pointers must know what is ours
  return file->header();
}

void Session::WantNoExitCheck() {
  if (GaugeFile* const file = OwnFile()) Put(file->header()->leaks.wants_exit_check, uint32_t{0});
}

}  // namespace heapgauge::agent
