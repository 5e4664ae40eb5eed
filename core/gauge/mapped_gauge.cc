#include "core/gauge/mapped_gauge.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "core/base/text.h"
#include "core/gauge/gauge_layout.h"

namespace heapgauge::trace {
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
