#include "compat/common/watcher.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>

#include "compat/common/agent_link.h"
#include "core/base/threads.h"

namespace heapgauge::compat {
namespace {

pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
__attribute__((tls_model("initial-exec"))) thread_local int depth = 0;

constexpr uint64_t kLongestWaitNs = 2'000'000'000;
constexpr size_t kMostClients = 4;

std::atomic<WatchClient*> clients[kMostClients];
std::atomic<uint32_t> client_count{0};
std::atomic<uint32_t> asked{0};     // looks that were asked for
std::atomic<uint32_t> answered{0};  // of these, done
std::atomic<pid_t> thread_of{0};    // process that has the thread
std::atomic<bool> missed{false};    // a mark was passed by somebody who was at work here

void Sleep(std::atomic<uint32_t>* word, uint32_t value, uint64_t ns) {
  timespec timeout{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAIT_PRIVATE, value,
          ns == UINT64_MAX ? nullptr : &timeout, nullptr, 0);
}

void WakeAll(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
          nullptr, 0);
}

void Told();

wire::Marks ArmAgent() {
  wire::Marks nearest;
  for (uint32_t i = 0; i < client_count.load(std::memory_order_acquire); ++i) {
    const wire::Marks wanted = clients[i].load()->marks();
    nearest.allocated = std::min(nearest.allocated, wanted.allocated);
    nearest.freed = std::min(nearest.freed, wanted.freed);
    nearest.live = std::min(nearest.live, wanted.live);
  }
  AgentLink::Get().Watch(&Told, nearest);
  return nearest;
}

uint64_t NextDue() {
  uint64_t due = WatchClient::kNever;
  for (uint32_t i = 0; i < client_count.load(std::memory_order_acquire); ++i) {
    due = std::min(due, clients[i].load()->due_ns());
  }
  return due;
}

void* Run(void*) {
  uint32_t seen = answered.load();
  for (;;) {
    uint64_t wait = UINT64_MAX;
    const uint32_t now_asked = asked.load(std::memory_order_acquire);
    {
      const Working working;
      const uint64_t due = NextDue();
      const uint64_t now = MonotonicNs();
      if (now_asked != seen || now >= due) {
        const wire::Marks totals = AgentLink::Get().Totals();
        for (uint32_t i = 0; i < client_count.load(std::memory_order_acquire); ++i) {
          clients[i].load()->Look(totals);
        }
        ArmAgent();
        seen = now_asked;
        answered.store(now_asked, std::memory_order_release);
        WakeAll(&answered);
        continue;
      }
      if (due != WatchClient::kNever) wait = due - now;
    }
    Sleep(&asked, now_asked, wait);
  }
  return nullptr;
}

bool HasThread() {
  const pid_t here = getpid();
  pid_t owner = thread_of.load();
  if (owner == here) return true;
  if (!thread_of.compare_exchange_strong(owner, here)) return owner == here;
  const Working working;
  answered.store(asked.load());
  pthread_t thread;
  bool started = false;
  {
    const BlockedSignals blocked;
    started = pthread_create(&thread, nullptr, &Run, nullptr) == 0;
  }
  if (started) {
    pthread_setname_np(thread, "heapgauge");
    pthread_detach(thread);
  } else {
    thread_of.store(0);
  }
  return started;
}

// The agent's word that a mark was passed, in the thread that did so.
void Told() {
  if (Working::now()) return missed.store(true);
  if (!HasThread()) return;
  const int saved = errno;
  const uint32_t mine = asked.fetch_add(1, std::memory_order_acq_rel) + 1;
  WakeAll(&asked);
  const uint64_t end = MonotonicNs() + kLongestWaitNs;
  for (;;) {
    const uint32_t done = answered.load(std::memory_order_acquire);
    if (static_cast<int32_t>(done - mine) >= 0) break;
    const uint64_t now = MonotonicNs();
    if (now >= end) break;
    Sleep(&answered, done, end - now);
  }
  errno = saved;
}

}  // namespace

uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

Watcher& Watcher::Get() {
  static Watcher watcher;
  return watcher;
}

void Watcher::Add(WatchClient* client) {
  const uint32_t at = client_count.load();
  if (at >= kMostClients) return;
  clients[at].store(client);
  client_count.store(at + 1, std::memory_order_release);
}

void Watcher::Arm() {
  if (client_count.load() == 0) return;
  missed.store(false);
  const wire::Marks marks = ArmAgent();
  const bool by_figures = marks.allocated != wire::Marks::kNever ||
                          marks.freed != wire::Marks::kNever || marks.live != wire::Marks::kNever;
  const bool by_time = NextDue() != WatchClient::kNever;
  if (!by_figures && !by_time) return;
  if (Start() && by_time) Wake();
}

bool Watcher::Start() { return HasThread(); }

void Watcher::Wake() {
  asked.fetch_add(1, std::memory_order_acq_rel);
  WakeAll(&asked);
}

void Watcher::Catch() {
  if (missed.exchange(false)) ArmAgent();
}

Working::Working() {
  // The child's thread has another number than the one that locked it.
  static const int once =
      pthread_atfork([] { pthread_mutex_lock(&lock); }, [] { pthread_mutex_unlock(&lock); },
                     [] { lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; });
  static_cast<void>(once);
  if (depth++ == 0) AgentLink::Get().ExcludeThread(true);
  pthread_mutex_lock(&lock);
}

Working::~Working() {
  if (depth == 1) Watcher::Get().Catch();
  pthread_mutex_unlock(&lock);
  if (--depth == 0) AgentLink::Get().ExcludeThread(false);
}

bool Working::now() { return depth != 0; }

}  // namespace heapgauge::compat
