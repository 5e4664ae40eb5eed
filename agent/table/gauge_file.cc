#include "agent/table/gauge_file.h"

#include <errno.h>

#include <cstring>

#include "agent/sys/os.h"
#include "agent/sys/syscall.h"
#include "agent/sys/text.h"

namespace heapgauge::agent {
namespace {

constexpr uint64_t kSegment = wire::kSegmentBytes;

std::atomic_ref<uint32_t> DirectoryAt(wire::Header* header, uint32_t index) {
  auto* directory = reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(header) + wire::kHeaderBytes);
  return std::atomic_ref<uint32_t>(directory[index]);
}

}  // namespace

int GaugeFile::Create(const char* path) {
  if (!CopyText(path_, path)) return -ENAMETOOLONG;
  const int fd = os::CreateFile(path);
  if (fd < 0) return fd;
  int result = os::FileIdentity(fd, &device_, &inode_) ? os::Reserve(fd, 0, kSegment) : -EIO;
  if (result == 0) {
    header_ = static_cast<wire::Header*>(os::MapShared(fd, 0, kSegment, nullptr));
    if (header_ == nullptr) result = -ENOMEM;
  }
  os::Close(fd);
  if (result != 0) {
    os::Unlink(path);
    return result;
  }
  segment_count_ = 1;
  spare_count_ = 0;
  growing_.store(0);
  retry_at_ns_.store(0);
  last_mapped_ = reinterpret_cast<char*>(header_);
  DirectoryAt(header_, 0).store(wire::DirectoryWord(wire::SegmentKind::kHeader, 0));
  std::atomic_ref(header_->segment_count).store(1);
  return 0;
}

void GaugeFile::DetachAllButHeader() {
  for (auto& kind : segments_) {
    for (auto& segment : kind) {
      if (char* mapped = segment.exchange(nullptr)) os::Unmap(mapped, kSegment);
    }
  }
  for (uint32_t i = 0; i < spare_count_; ++i) os::Unmap(spare_[i], kSegment);
  spare_count_ = 0;
  header_ = nullptr;
}

void GaugeFile::MoveTo(GaugeFile* into) {
  into->header_ = header_;
  into->spare_count_ = 0;
  for (uint32_t kind = 0; kind < wire::kSegmentKinds; ++kind) {
    for (uint32_t i = 0; i < kMaxOrdinals; ++i) {
      // Most places are empty, and writing zeros would touch their pages.
      if (segments_[kind][i].load(std::memory_order_relaxed) == nullptr) continue;
      into->segments_[kind][i].store(segments_[kind][i].exchange(nullptr));
    }
  }
  for (uint32_t i = 0; i < spare_count_; ++i) os::Unmap(spare_[i], kSegment);
  spare_count_ = 0;
  header_ = nullptr;
}

char* GaugeFile::Segment(wire::SegmentKind kind, uint32_t ordinal, wire::Loss* loss) {
  if (ordinal >= kMaxOrdinals) {
    *loss = wire::Loss::kTableFull;
    return nullptr;
  }
  std::atomic<char*>& place = segments_[static_cast<uint32_t>(kind)][ordinal];
  // A few microseconds: as long as another thread takes to grow, and no more.
  for (int spins = 0; spins < 20'000; ++spins) {
    char* segment = place.load(std::memory_order_acquire);
    if (segment != nullptr) return segment;
    uint32_t idle = 0;
    if (growing_.compare_exchange_strong(idle, 1)) {
      segment = place.load(std::memory_order_acquire);
      if (segment == nullptr) segment = Grow(kind, ordinal);
      if (segment != nullptr) place.store(segment, std::memory_order_release);
      growing_.store(0, std::memory_order_release);
      *loss = wire::Loss::kNoRoom;
      return segment;
    }
    arch::Pause();
  }
  *loss = wire::Loss::kBusy;
  return nullptr;
}

int GaugeFile::OpenAgain() {
  const int fd = os::OpenFile(path_);
  if (fd < 0) return fd;
  uint64_t device, inode;
  if (os::FileIdentity(fd, &device, &inode) && device == device_ && inode == inode_) return fd;
  os::Close(fd);
  return -ESTALE;
}

char* GaugeFile::Grow(wire::SegmentKind kind, uint32_t ordinal) {
  uint32_t index;
  char* segment;
  if (spare_count_ > 0) {
    --spare_count_;
    segment = spare_[spare_count_];
    index = spare_index_[spare_count_];
  } else {
    if (SyscallsFrozen() || segment_count_ >= wire::kMaxSegments) return nullptr;
    const uint64_t now = os::MonotonicNs();
    if (now < retry_at_ns_.load(std::memory_order_relaxed)) return nullptr;
    index = segment_count_;
    const int fd = OpenAgain();
    segment = nullptr;
    if (fd >= 0) {
      if (os::Reserve(fd, index * kSegment, kSegment) == 0) {
        // Right behind the last one if that is free, so that the kernel keeps them as one mapping.
        segment = static_cast<char*>(
            os::MapShared(fd, index * kSegment, kSegment, last_mapped_ + kSegment));
      }
      os::Close(fd);
    }
    if (segment == nullptr) {
      retry_at_ns_.store(now + kRetryNs, std::memory_order_relaxed);
      return nullptr;
    }
    last_mapped_ = segment;
    ++segment_count_;
  }
  DirectoryAt(header_, index).store(wire::DirectoryWord(kind, ordinal), std::memory_order_release);
  std::atomic_ref<uint32_t> published(header_->segment_count);
  if (published.load(std::memory_order_relaxed) < index + 1) {
    published.store(index + 1, std::memory_order_release);
  }
  return segment;
}

void GaugeFile::ReserveSpare() {
  uint32_t idle = 0;
  if (!open() || !growing_.compare_exchange_strong(idle, 1)) return;
  const int fd = OpenAgain();
  while (fd >= 0 && spare_count_ < kSpareSegments && segment_count_ < wire::kMaxSegments) {
    if (os::Reserve(fd, segment_count_ * kSegment, kSegment) != 0) break;
    void* segment = os::MapShared(fd, segment_count_ * kSegment, kSegment, nullptr);
    if (segment == nullptr) break;
    spare_[spare_count_] = static_cast<char*>(segment);
    spare_index_[spare_count_++] = segment_count_++;
  }
  if (fd >= 0) os::Close(fd);
  growing_.store(0, std::memory_order_release);
}

}  // namespace heapgauge::agent
