#include "core/gauge/bus_guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

namespace heapgauge::trace {
namespace {

// Read by the signal handler: nothing but atomics.
struct Range {
  std::atomic<uintptr_t> start{0};  // 0: not in use
  std::atomic<size_t> size{0};
  std::atomic<bool> needed{false};
};
Range g_ranges[BusGuard::kMaxGuards];
std::atomic<uintptr_t> g_page_bytes{4096};

void OnBusError(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Range& range : g_ranges) {
    const uintptr_t start = range.start.load(std::memory_order_acquire);
    if (start == 0 || address < start || address - start >= range.size.load()) continue;
    const uintptr_t page = address & ~(g_page_bytes.load() - 1);
    void* const zeros =
        mmap(reinterpret_cast<void*>(page), g_page_bytes.load(), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    range.needed.store(true);
    return;
  }
  signal(SIGBUS, SIG_DFL);  // the instruction runs again and ends us
}

void InstallOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    g_page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, nullptr);
  });
}

}  // namespace

BusGuard::BusGuard(void* start, size_t size) {
  InstallOnce();
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  for (int i = 0; i < kMaxGuards; ++i) {
    if (g_ranges[i].start.load() != 0) continue;
    g_ranges[i].size = size;
    g_ranges[i].needed = false;
    g_ranges[i].start.store(reinterpret_cast<uintptr_t>(start), std::memory_order_release);
    index_ = i;
    return;
  }
}

BusGuard::~BusGuard() {
  if (index_ >= 0) g_ranges[index_].start.store(0, std::memory_order_release);
}

BusGuard::BusGuard(BusGuard&& other) noexcept : index_(std::exchange(other.index_, -1)) {}

BusGuard& BusGuard::operator=(BusGuard&& other) noexcept {
  std::swap(index_, other.index_);
  return *this;
}

bool BusGuard::was_needed() const { return index_ >= 0 && g_ranges[index_].needed.load(); }

}  // namespace heapgauge::trace
