#include "core/leaks/capture/process_memory_image.h"

#include <sys/uio.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/os/process.h"

namespace heapgauge::leaks {

ProcessMemoryImage::ProcessMemoryImage(uint32_t process) : thread_(process) {
  if (const auto info = ReadProcess(process)) thread_ = info->thread;
  auto memory = File::OpenForReading("/proc/" + std::to_string(thread_) + "/mem");
  if (memory) memory_ = *std::move(memory);
}

size_t ProcessMemoryImage::Read(uint64_t address, size_t size, void* to) const {
  const iovec local{to, size};
  const iovec remote{reinterpret_cast<void*>(address), size};
  const ssize_t got = process_vm_readv(static_cast<pid_t>(thread_), &local, 1, &remote, 1, 0);
  const size_t done = got < 0 ? 0 : static_cast<size_t>(got);
  if (done == size || !memory_) return done;
  // No use asking for what is not there at all.
  if (!readable_.empty() && FindRange(readable_, address + done) == nullptr) return done;
  return done + memory_->ReadAt(address + done, static_cast<char*>(to) + done, size - done);
}

uint64_t ProcessMemoryImage::NextReadable(uint64_t address, uint64_t end) const {
  constexpr uint64_t kPage = 4096;
  const uint64_t next = std::min((address / kPage + 1) * kPage, end);
  if (readable_.empty()) return next;
  const auto it = std::upper_bound(readable_.begin(), readable_.end(), next,
                                   [](uint64_t at, const AddressRange& r) { return at < r.end; });
  if (it == readable_.end()) return end;
  return std::min(std::max(it->start, next), end);
}

namespace {

constexpr uint64_t kInMemory = uint64_t{1} << 63;
constexpr uint64_t kSwappedOut = uint64_t{1} << 62;
constexpr uint64_t kWindowPages = 32 * 1024;
// Small holes are read along: that is quicker than one read more.
constexpr uint64_t kSmallHole = 8 * TouchedPages::kPage;

}  // namespace

TouchedPages::TouchedPages(std::unique_ptr<ByteSource> page_map, uint64_t budget)
    : source_(std::move(page_map)), budget_(budget) {}

std::vector<AddressRange> TouchedPages::In(uint64_t start, uint64_t end, Others others) {
  std::vector<AddressRange> touched;
  if (end <= start) return touched;
  const uint64_t bridge = others == Others::kHolesToo ? kSmallHole : 0;
  const auto add = [&](uint64_t from, uint64_t to) {
    from = std::max(from, start);
    to = std::min(to, end);
    if (!touched.empty() && from - touched.back().end <= bridge) {
      touched.back().end = to;
    } else {
      touched.push_back({from, to});
    }
  };
  const uint64_t last = (end - 1) / kPage;
  std::vector<uint64_t> window;
  for (uint64_t page = start / kPage; page <= last;) {
    const uint64_t pages = std::min({kWindowPages, last - page + 1, budget_});
    size_t got = 0;
    if (source_ != nullptr && pages != 0) {
      budget_ -= pages;
      window.resize(pages);
      got = source_->ReadAt(page * sizeof(uint64_t), window.data(), pages * sizeof(uint64_t)) /
            sizeof(uint64_t);
    }
    if (got == 0) {
      if (others == Others::kNone) {
        unknown_bytes_ += end - std::max(page * kPage, start);
      } else {
        add(page * kPage, end);
      }
      break;
    }
    for (size_t i = 0; i < got; ++i) {
      if ((window[i] & (kInMemory | kSwappedOut)) != 0) {
        add((page + i) * kPage, (page + i + 1) * kPage);
      }
    }
    page += got;
  }
  return touched;
}

}  // namespace heapgauge::leaks
