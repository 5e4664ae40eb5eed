#include "agent/table/gauge_file.h"

#include <errno.h>

#include <cstring>

#include "agent/sys/os.h"
#include "agent/sys/os_memory.h"
#include "agent/sys/text.h"

namespace heapgauge::agent {
namespace {

constexpr uint64_t kSegment = wire::kSegmentBytes;

std::atomic_ref<uint32_t> DirectoryAt(wire::Header* header, uint32_t index) {
  auto* directory =
      reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(header) + wire::kHeaderBytes);
  return std::atomic_ref<uint32_t>(directory[index]);
}

// Marks a spare's place while a thread is at it.
char* TakenMark() {
  static char mark;
  return &mark;
}

}  // namespace

int GaugeFile::Create(const char* path) {
  if (!CopyText(path_, path)) return -ENAMETOOLONG;
  const int fd = os::CreateFile(path);
  if (fd < 0) return fd;
  int result = os::FileIdentity(fd, &device_, &inode_) ? os::Reserve(fd, 0, kSegment) : -EIO;
  if (result == 0) {
    header_ = static_cast<wire::Header*>(
        os::MapSharedFirst(fd, kSegment, size_t{wire::kMaxSegments} * kSegment));
    if (header_ == nullptr) result = -ENOMEM;
  }
  os::Close(fd);
  if (result != 0) {
    os::Unlink(path);
    return result;
  }
  segment_count_.store(1);
  growing_.store(0);
  retry_at_ns_.store(0);
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
  header_ = nullptr;
}

void GaugeFile::MoveTo(GaugeFile* into) {
  into->device_ = device_;
  into->inode_ = inode_;
  into->will_be_filled_ = will_be_filled_;
  into->segment_count_.store(segment_count_.load());
  into->growing_.store(0);
  into->spare_reserved_.store(spare_reserved_.load());
  into->retry_at_ns_.store(retry_at_ns_.load());
  CopyText(into->path_, path_);
  for (uint32_t kind = 0; kind < wire::kSegmentKinds; ++kind) {
    for (uint32_t i = 0; i < kMaxOrdinals; ++i) {
      // Most places are empty, and writing zeros would touch their pages.
      char* segment = segments_[kind][i].load(std::memory_order_relaxed);
      if (segment == nullptr && into->segments_[kind][i].load() == nullptr) continue;
      into->segments_[kind][i].store(segment);
      segments_[kind][i].store(nullptr);
    }
  }
  for (uint32_t index; char* spare = TakeSpare(&index);) os::Unmap(spare, kSegment);
  into->header_ = header_;
  header_ = nullptr;
}

char* GaugeFile::Segment(wire::SegmentKind kind, uint32_t ordinal, wire::Loss* loss) {
  if (ordinal >= kMaxOrdinals) {
    *loss = wire::Loss::kTableFull;
    return nullptr;
  }
  std::atomic<char*>& place = segments_[static_cast<uint32_t>(kind)][ordinal];
  for (int spins = 0; spins < 500; ++spins) {
    if (char* segment = place.load(std::memory_order_acquire)) return segment;
    if (growing_.load(std::memory_order_relaxed) == 0) break;
    arch::Pause();
  }
  growing_.fetch_add(1, std::memory_order_relaxed);
  uint32_t index;
  char* fresh = Make(&index);
  char* segment = nullptr;
  if (fresh == nullptr) {
    *loss = wire::Loss::kNoRoom;
    segment = place.load(std::memory_order_acquire);  // perhaps another thread had more luck
  } else if (place.compare_exchange_strong(segment, fresh)) {
    Announce(index, kind, ordinal);
    segment = fresh;
  } else if (!KeepSpare(fresh, index)) {
    os::Unmap(fresh, kSegment);
  }
  growing_.fetch_sub(1, std::memory_order_relaxed);
  return segment;
}

char* GaugeFile::MakeSegment(wire::SegmentKind kind, uint32_t ordinal) {
  uint32_t index;
  char* segment = Make(&index);
  if (segment != nullptr) Announce(index, kind, ordinal);
  return segment;
}

void GaugeFile::Announce(uint32_t index, wire::SegmentKind kind, uint32_t ordinal) {
  DirectoryAt(header_, index).store(wire::DirectoryWord(kind, ordinal), std::memory_order_release);
  RaiseTo(header_->segment_count, index + 1);
}

int GaugeFile::OpenAgain() const {
  const int fd = os::OpenFile(path_);
  if (fd < 0) return fd;
  uint64_t device, inode;
  if (os::FileIdentity(fd, &device, &inode) && device == device_ && inode == inode_) return fd;
  os::Close(fd);
  return -ESTALE;
}

// A mapped segment that is in nobody's hands, and its index in the file; nullptr if none can be
// had.
char* GaugeFile::Make(uint32_t* index) {
  if (char* spare = TakeSpare(index)) return spare;
  if (SyscallsFrozen()) return nullptr;
  const uint64_t now = os::MonotonicNs();
  if (now < retry_at_ns_.load(std::memory_order_relaxed)) return nullptr;
  char* segment = MakeOnDisk(index);
  if (segment == nullptr) retry_at_ns_.store(now + kRetryNs, std::memory_order_relaxed);
  return segment;
}

char* GaugeFile::MakeOnDisk(uint32_t* index) {
  const int fd = OpenAgain();
  if (fd >= 0) {
    char* segment = MakeIn(fd, index);
    os::Close(fd);
    return segment;
  }
  if (fd != -EMFILE && fd != -ENFILE) return nullptr;
  struct Order {
    GaugeFile* file;
    uint32_t* index;
    char* made;
  } order{this, index, nullptr};
  const auto make = [](void* given) {
    auto* wanted = static_cast<Order*>(given);
    const int spare = wanted->file->OpenAgain();
    if (spare >= 0) wanted->made = wanted->file->MakeIn(spare, wanted->index);
  };
  if (fd == -EMFILE) os::RunWithSpareDescriptor(make, &order);
  if (order.made == nullptr) AddTo(header_->growths_without_descriptor, 1);
  return order.made;
}

// In the file that is open as `fd`.
char* GaugeFile::MakeIn(int fd, uint32_t* index) {
  // The index first, so that no two threads reserve the same place. One that fails stays a hole.
  void* segment = nullptr;
  *index = segment_count_.load(std::memory_order_relaxed);
  while (*index < wire::kMaxSegments &&
         !segment_count_.compare_exchange_weak(*index, *index + 1, std::memory_order_relaxed)) {
  }
  if (*index < wire::kMaxSegments) {
    if (os::Reserve(fd, *index * kSegment, kSegment) == 0) {
      // As they lie in the file, so that the kernel keeps them as one mapping.
      char* const place = reinterpret_cast<char*>(header_) + uint64_t{*index} * kSegment;
      segment = os::MapShared(fd, *index * kSegment, kSegment, place);
    }
    if (segment != nullptr) {
      if (will_be_filled_) os::PrepareForWriting(segment, kSegment);
    } else {
      uint32_t mine = *index + 1;  // give the place back if no other thread went on behind it
      segment_count_.compare_exchange_strong(mine, *index, std::memory_order_relaxed);
    }
  }
  return static_cast<char*>(segment);
}

bool GaugeFile::KeepSpare(char* segment, uint32_t index) {
  for (Spare& spare : spares_) {
    char* none = nullptr;
    // A place in use by another thread for a moment: no matter, there are others.
    if (spare.segment.load(std::memory_order_relaxed) != nullptr) continue;
    if (!spare.segment.compare_exchange_strong(none, TakenMark())) continue;
    spare.index.store(index, std::memory_order_relaxed);
    spare.segment.store(segment, std::memory_order_release);
    return true;
  }
  return false;
}

char* GaugeFile::TakeSpare(uint32_t* index) {
  for (Spare& spare : spares_) {
    char* segment = spare.segment.load(std::memory_order_acquire);
    if (segment == nullptr || segment == TakenMark()) continue;
    if (!spare.segment.compare_exchange_strong(segment, TakenMark())) continue;
    *index = spare.index.load(std::memory_order_relaxed);
    spare.segment.store(nullptr, std::memory_order_release);
    return segment;
  }
  return nullptr;
}

void GaugeFile::ReserveSpare() {
  constexpr uint32_t kWanted = 24;
  for (uint32_t i = 0; open() && i < kWanted; ++i) {
    uint32_t index;
    char* segment = MakeOnDisk(&index);
    if (segment == nullptr) return;
    if (!KeepSpare(segment, index)) return os::Unmap(segment, kSegment);
  }
}

}  // namespace heapgauge::agent
