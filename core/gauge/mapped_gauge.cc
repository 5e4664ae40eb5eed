#include "core/gauge/mapped_gauge.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

#include "core/base/text.h"
#include "core/gauge/gauge_layout.h"

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

Result<MappedGauge> MappedGauge::Open(const std::string& path) {
  HG_ASSIGN(File file, File::OpenForUpdate(path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path));
  static_cast<void>(layout);
  // All that it may ever have, at once: address space costs nothing, and what lies beyond its
  // present end is not touched.
  void* const base = mmap(nullptr, kMapBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
  if (base == MAP_FAILED) {
    return tl::unexpected<Error>(SystemError("cannot map '" + Printable(path) + "'", errno));
  }
  MappedGauge gauge(std::move(file), static_cast<uint8_t*>(base));
  gauge.Refresh();
  return gauge;
}

MappedGauge::MappedGauge(File file, uint8_t* base)
    : file_(std::move(file)), base_(base), guard_(base, kMapBytes) {}

MappedGauge::~MappedGauge() {
  if (base_ != nullptr) munmap(base_, kMapBytes);
}

MappedGauge::MappedGauge(MappedGauge&& other) noexcept
    : file_(std::move(other.file_)),
      base_(std::exchange(other.base_, nullptr)),
      guard_(std::move(other.guard_)),
      seen_segments_(other.seen_segments_),
      unfinished_(std::move(other.unfinished_)),
      segments_(std::move(other.segments_)) {}

MappedGauge& MappedGauge::operator=(MappedGauge&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(base_, other.base_);
  std::swap(guard_, other.guard_);
  std::swap(seen_segments_, other.seen_segments_);
  std::swap(unfinished_, other.unfinished_);
  std::swap(segments_, other.segments_);
  return *this;
}

void MappedGauge::Refresh() {
  const uint32_t count = std::min(LoadShared(header().segment_count), wire::kMaxSegments);
  if (count <= seen_segments_ && unfinished_.empty()) return;
  const uint64_t size = file_.Size();
  const auto* const words = reinterpret_cast<const uint32_t*>(base_ + wire::kHeaderBytes);
  std::vector<uint32_t> again;
  const auto look = [&](uint32_t index) {
    const uint32_t word = LoadShared(words[index]);
    const uint32_t kind = wire::DirectoryKind(word);
    const uint32_t ordinal = wire::DirectoryOrdinal(word);
    if (kind == 0 || (uint64_t{index} + 1) * wire::kSegmentBytes > size) {
      again.push_back(index);
      return;
    }
    if (kind >= wire::kSegmentKinds || ordinal >= wire::kMaxSegments) return;
    std::vector<uint32_t>& list = segments_[kind];
    if (list.size() <= ordinal) list.resize(ordinal + 1);
    if (list[ordinal] == 0) list[ordinal] = index;
  };
  for (const uint32_t index : unfinished_) look(index);
  for (; seen_segments_ < count; ++seen_segments_) look(seen_segments_);
  unfinished_ = std::move(again);
}

void MappedGauge::Beat() {
  std::atomic_ref<uint32_t>(control().beat).fetch_add(1, std::memory_order_relaxed);
}

void MappedGauge::TellReleased() {
  std::atomic_ref<uint32_t>(control().releases).fetch_add(1);
  if (LoadShared(control().waiting) == 0) return;
  syscall(SYS_futex, &control().releases, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void MappedGauge::TellOver() {
  auto& header = *reinterpret_cast<wire::Header*>(base_);
  std::atomic_ref<uint32_t>(header.trace_over).store(1);
  TellReleased();  // so they look
}

}  // namespace heapgauge::trace
