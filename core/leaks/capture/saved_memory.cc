#include "core/leaks/capture/saved_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "core/base/text.h"
#include "core/os/process.h"
#include "core/os/process_memory.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kPageSize = 4096;
constexpr uint64_t kPagePresent = uint64_t{1} << 63;
constexpr uint64_t kPageSwapped = uint64_t{1} << 62;
constexpr uint64_t kPageOfFile = uint64_t{1} << 61;
constexpr uint64_t kPagesAtOnce = 32 * 1024;
// At once: some milliseconds, after which it is seen whether there is time left.
constexpr uint64_t kPieceBytes = uint64_t{8} << 20;
constexpr uint64_t kHugePage = uint64_t{2} << 20;
// What it may grow by until it is stopped.
constexpr uint64_t kSlackBytes = uint64_t{16} << 20;
constexpr uint64_t kTrialBytes = uint64_t{32} << 20;
constexpr const char* kOomScore = "/proc/self/oom_score_adj";

bool IsHugeTlb(const MappingUsage& m) { return m.name.starts_with("/anon_hugepage"); }

bool IsSaved(const MappingUsage& m) { return m.readable && !m.shared && !m.name.starts_with("[v"); }

uint64_t BytesToSave(const Smaps& smaps) {
  uint64_t bytes = 0;
  for (const MappingUsage& m : smaps.mappings) {
    if (IsSaved(m)) bytes += IsHugeTlb(m) ? m.size() : m.anonymous + m.swapped;
  }
  return bytes;
}

// What the machine and our own control group have left.
uint64_t AvailableBytes() {
  const HostMemory host = ReadHostMemory();
  uint64_t available = host.total != 0 ? host.available : ~uint64_t{0};
  if (const auto group = ReadCgroupMemory(static_cast<uint32_t>(getpid()));
      group && group->has_limit()) {
    available = std::min(available, group->available());
  }
  return available;
}

bool WriteOomScore(std::string_view score) {
  const int fd = open(kOomScore, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, score.data(), score.size()) == static_cast<ssize_t>(score.size());
  close(fd);
  return written;
}

// Memory that is there: nobody has to wait for it later.
void FillWithPages(char* start, size_t size) {
  if (madvise(start, size, MADV_POPULATE_WRITE) == 0) return;
  for (size_t at = 0; at < size; at += kPageSize) static_cast<volatile char*>(start)[at] = 0;
}

char* MapMemory(size_t size) {
  void* const start = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  madvise(start, size, MADV_HUGEPAGE);
  return static_cast<char*>(start);
}

// How fast this machine copies from process to process; in nanoseconds for each byte, 0 unknown.
double CopyingTime() {
  char* const bytes = MapMemory(2 * kTrialBytes);
  if (bytes == nullptr) return 0;
  // The pages of a program are small as a rule, and each has to be found.
  madvise(bytes, kTrialBytes, MADV_NOHUGEPAGE);
  FillWithPages(bytes, 2 * kTrialBytes);
  const iovec from{bytes, kTrialBytes};
  const iovec to{bytes + kTrialBytes, kTrialBytes};
  const uint64_t begin_ns = MonotonicNow();
  const ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  const uint64_t took_ns = MonotonicNow() - begin_ns;
  munmap(bytes, 2 * kTrialBytes);
  return got > 0 ? static_cast<double>(took_ns) / static_cast<double>(got) : 0;
}

std::string TimeText(double ns) {
  return ns < 1e9 ? fmt::format("{:.0f} ms", ns / 1e6) : fmt::format("{:.1f} s", ns / 1e9);
}

// One who may not do it for as long as it takes is told what would be enough, with some room.
Error TakesTooLong(uint64_t bytes, double estimate_ns, uint64_t longest_ns) {
  return {ErrorCode::kUnsupported,
          fmt::format("it would have to stand still for about {} while {} of its memory are read, "
                      "and may for {} (--may-stop {:.1f} allows it)",
                      TimeText(estimate_ns), FormatBytes(static_cast<double>(bytes)),
                      TimeText(static_cast<double>(longest_ns)),
                      std::ceil(estimate_ns * 1.3 / 1e8) / 10)};
}

// The page map of a program as it was: pages that were saved are in memory.
class SavedPageMap final : public ByteSource {
 public:
  explicit SavedPageMap(std::vector<AddressRange> touched) : touched_(std::move(touched)) {}
  uint64_t Size() const override { return ~uint64_t{0}; }
  size_t ReadAt(uint64_t offset, void* buffer, size_t size) const override {
    const size_t count = size / sizeof(uint64_t);
    std::memset(buffer, 0, size);
    const uint64_t first = offset / sizeof(uint64_t) * kPageSize;
    const uint64_t end = first + count * kPageSize;
    auto it = std::upper_bound(touched_.begin(), touched_.end(), first,
                               [](uint64_t at, const AddressRange& r) { return at < r.end; });
    for (; it != touched_.end() && it->start < end; ++it) {
      const uint64_t last = std::min(it->end, end);
      for (uint64_t at = std::max(it->start, first); at < last; at += kPageSize) {
        std::memcpy(static_cast<char*>(buffer) + (at - first) / kPageSize * sizeof(uint64_t),
                    &kPagePresent, sizeof kPagePresent);
      }
    }
    return size;
  }

 private:
  std::vector<AddressRange> touched_;
};

}  // namespace

SavedMemory::SavedMemory(uint32_t process, uint64_t longest_ns)
    : process_(process), longest_ns_(longest_ns), live_(process) {}

SavedMemory::~SavedMemory() {
  if (buffer_ != nullptr) munmap(buffer_, capacity_);
  if (!own_oom_score_.empty()) (void)WriteOomScore(own_oom_score_);
}

Result<std::unique_ptr<SavedMemory>> SavedMemory::Prepare(uint32_t process, uint64_t longest_ns) {
  std::unique_ptr<SavedMemory> saved(new SavedMemory(process, longest_ns));
  const uint64_t begin_ns = MonotonicNow();
  HG_ASSIGN(const Smaps smaps, ReadSmaps(ProcessDirectory(process) + "/smaps"));
  const uint64_t listing_ns = MonotonicNow() - begin_ns;
  const uint64_t bytes = BytesToSave(smaps);
  const double estimate_ns =
      static_cast<double>(bytes) * CopyingTime() + static_cast<double>(listing_ns);
  if (estimate_ns > static_cast<double>(longest_ns)) {
    return tl::unexpected(TakesTooLong(bytes, estimate_ns, longest_ns));
  }
  HG_TRY(saved->Reserve(bytes));
  return saved;
}

Status SavedMemory::Reserve(uint64_t bytes) {
  const Error no_room{ErrorCode::kUnsupported,
                      fmt::format("there is no room for {} of its memory",
                                  FormatBytes(static_cast<double>(bytes)))};
  if (bytes > AvailableBytes() / 2) return tl::unexpected(no_room);
  // The program may be in the same control group, and must not be killed for memory of ours.
  if (auto score = ReadWholeFile(kOomScore, 16); score && WriteOomScore("1000")) {
    own_oom_score_ = *std::move(score);
  }
  const uint64_t likely = bytes + bytes / 16 + kSlackBytes;
  capacity_ = (likely + bytes / 2) / kHugePage * kHugePage + kHugePage;
  buffer_ = MapMemory(capacity_);
  if (buffer_ == nullptr) return tl::unexpected(no_room);
  FillWithPages(buffer_, likely / kPageSize * kPageSize);
  return {};
}

Status SavedMemory::InTime() const {
  if (MonotonicNow() <= deadline_ns_) return {};
  return Fail(ErrorCode::kUnsupported,
              fmt::format("it was let go after {}, before all of its memory was read: the machine "
                          "is busy, try again or see --may-stop",
                          TimeText(2 * static_cast<double>(longest_ns_))));
}

Status SavedMemory::Save() {
  deadline_ns_ = MonotonicNow() + 2 * longest_ns_;
  const std::string directory = ProcessDirectory(process_);
  HG_ASSIGN(smaps_, ReadSmaps(directory + "/smaps"));
  HG_ASSIGN(const File page_map, File::OpenForReading(directory + "/pagemap"));
  for (const MappingUsage& m : smaps_.mappings) {
    if (!IsSaved(m)) continue;
    if (m.inode == 0) empty_.push_back({m.start, m.end});
    if (m.anonymous == 0 && m.swapped == 0 && !IsHugeTlb(m)) continue;
    HG_TRY(SaveMapping(m, page_map));
  }
  empty_ = Merged(std::move(empty_));
  return {};
}

Status SavedMemory::SaveMapping(const MappingUsage& mapping, const ByteSource& page_map) {
  std::vector<uint64_t> window;
  AddressRange touched{mapping.start, mapping.start};
  for (uint64_t at = mapping.start; at < mapping.end;) {
    HG_TRY(InTime());
    window.resize(std::min(kPagesAtOnce, (mapping.end - at) / kPageSize));
    const size_t got = page_map.ReadAt(at / kPageSize * sizeof(uint64_t), window.data(),
                                       window.size() * sizeof(uint64_t)) /
                       sizeof(uint64_t);
    if (got == 0) return Fail(ErrorCode::kUnsupported, "its page map cannot be read");
    for (size_t i = 0; i < got; ++i, at += kPageSize) {
      const bool is_its_own = mapping.inode == 0 || IsHugeTlb(mapping) ||
                              (window[i] & (kPageOfFile | kPageSwapped)) != kPageOfFile;
      if ((window[i] & (kPagePresent | kPageSwapped)) == 0 || !is_its_own) continue;
      if (touched.end != at) {
        HG_TRY(SaveRange(touched));
        touched.start = at;
      }
      touched.end = at + kPageSize;
    }
  }
  return SaveRange(touched);
}

Status SavedMemory::SaveRange(const AddressRange& range) {
  for (uint64_t at = range.start; at < range.end;) {
    HG_TRY(InTime());
    const uint64_t size = std::min(kPieceBytes, range.end - at);
    if (size > capacity_ - used_) {
      return Fail(ErrorCode::kUnsupported, "it grew too fast for its memory to be read");
    }
    const size_t got = live_.Read(at, size, buffer_ + used_) / kPageSize * kPageSize;
    if (got != 0) {
      if (!parts_.empty() && parts_.back().range.end == at) {
        parts_.back().range.end = at + got;
      } else {
        parts_.push_back({{at, at + got}, used_});
      }
      used_ += got;
    }
    // A page that cannot be read is skipped.
    at += got == size ? got : got + kPageSize;
  }
  return {};
}

std::unique_ptr<ByteSource> SavedMemory::PageMap() const {
  std::vector<AddressRange> touched;
  touched.reserve(parts_.size());
  for (const Part& part : parts_) touched.push_back(part.range);
  return std::make_unique<SavedPageMap>(std::move(touched));
}

std::vector<SavedMemory::Part>::const_iterator SavedMemory::PartBehind(uint64_t address) const {
  return std::upper_bound(parts_.begin(), parts_.end(), address,
                          [](uint64_t at, const Part& p) { return at < p.range.end; });
}

size_t SavedMemory::Read(uint64_t address, size_t size, void* to) const {
  size_t done = 0;
  while (done < size) {
    const uint64_t at = address + done;
    char* const out = static_cast<char*>(to) + done;
    const auto part = PartBehind(at);
    if (part != parts_.end() && part->range.start <= at) {
      const size_t count = std::min<uint64_t>(size - done, part->range.end - at);
      std::memcpy(out, buffer_ + part->at + (at - part->range.start), count);
      done += count;
      continue;
    }
    size_t count = size - done;
    if (part != parts_.end()) count = std::min<uint64_t>(count, part->range.start - at);
    if (const AddressRange* empty = FindRange(empty_, at)) {
      count = std::min<uint64_t>(count, empty->end - at);
      std::memset(out, 0, count);
      done += count;
      continue;
    }
    const auto next =
        std::upper_bound(empty_.begin(), empty_.end(), at,
                         [](uint64_t a, const AddressRange& r) { return a < r.start; });
    if (next != empty_.end()) count = std::min<uint64_t>(count, next->start - at);
    const size_t got = live_.Read(at, count, out);
    done += got;
    if (got != count) break;
  }
  return done;
}

uint64_t SavedMemory::NextReadable(uint64_t address, uint64_t end) const {
  return live_.NextReadable(address, end);
}

}  // namespace heapgauge::leaks
