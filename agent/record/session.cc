#include "agent/record/session.h"

#include <errno.h>

#include <cstddef>

#include "agent/sys/os.h"
#include "agent/sys/os_memory.h"
#include "agent/sys/text.h"
#include "agent/table/gauge_file.h"
#include "agent/table/sample_filter.h"
#include "agent/unwind/rule_lookup.h"

namespace heapgauge::agent {
namespace {

using PathText = FixedText<1024>;

// Did this very process make the file, before it executed its present program?
bool IsOurOwn(const char* path) {
  wire::Header header;
  char* bytes = reinterpret_cast<char*>(&header);
  constexpr size_t kEnough = offsetof(wire::Header, start_realtime_ns);
  if (os::ReadWhole(path, bytes, kEnough + 1) < static_cast<long>(kEnough)) return false;
  const uint64_t ticks = os::ProcessStartTicks();
  return header.pid == os::ProcessId() && ticks != 0 && header.process_start_ticks == ticks;
}

int CreateAt(const char* path, GaugeFile* file) {
  const int result = file->Create(path);
  if (result != -EEXIST) return result;
  const bool move_old = IsOurOwn(path);
  for (uint64_t n = 1; n < 1000; ++n) {
    PathText numbered;
    numbered.Add(path).Add('.').Add(n);
    if (numbered.cut()) return -ENAMETOOLONG;
    if (!move_old) {
      const int created = file->Create(numbered.c_str());
      if (created != -EEXIST) return created;
    } else if (os::RenameToNew(path, numbered.c_str()) == 0) {
      return file->Create(path);
    }
  }
  return -EEXIST;
}

// Copies a path, made absolute: the program may change its directory before a child needs it.
template <size_t kBytes>
bool CopyPath(char (&field)[kBytes], const char* path) {
  FixedText<kBytes> text;
  if (path[0] != '/' && path[0] != '\0') {
    char current[kBytes];
    if (os::CurrentDirectory(current, sizeof current) <= 0) return false;
    text.Add(current).Add('/');
  }
  text.Add(path);
  return CopyText(field, text.c_str()) && !text.cut();
}

}  // namespace

void GaugePath::Remember(const Settings& settings, const char* exe) {
  usable_ = CopyPath(directory_, settings.directory);
  usable_ = CopyPath(runtime_directory_, settings.runtime_directory) && usable_;
  usable_ = CopyPath(out_file_, settings.out_file) && usable_;
  CopyText(name_, BaseName(exe));
  out_pid_ = settings.out_pid;
}

int GaugePath::CreateIn(const char* directory, GaugeFile* file, uint32_t pid) const {
  const int ready = os::EnsureDirectory(directory, os::EffectiveUserId());
  if (ready != 0) return ready;
  PathText path;
  path.Add(directory).Add('/').Add(name_).Add('.').Add(uint64_t{pid}).Add(".hg");
  return path.cut() ? -ENAMETOOLONG : CreateAt(path.c_str(), file);
}

int GaugePath::Create(GaugeFile* file, uint32_t pid) const {
  if (!usable_) return -ENAMETOOLONG;
  if (out_file_[0] != '\0') {
    PathText path;
    path.Add(out_file_);
    if (pid != out_pid_) path.Add('.').Add(uint64_t{pid});
    return path.cut() ? -ENAMETOOLONG : CreateAt(path.c_str(), file);
  }
  if (directory_[0] != '\0') return CreateIn(directory_, file, pid);
  int result = -ENOENT;
  if (runtime_directory_[0] == '/') {
    PathText path;
    path.Add(runtime_directory_).Add("/heapgauge");
    result = path.cut() ? -ENAMETOOLONG : CreateIn(path.c_str(), file, pid);
    if (result == 0) return 0;
  }
  for (const char* base : {"/dev/shm/heapgauge-", "/tmp/heapgauge-"}) {
    PathText path;
    path.Add(base).Add(uint64_t{os::EffectiveUserId()});
    result = CreateIn(path.c_str(), file, pid);
    if (result == 0) return 0;
  }
  return result;
}

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
