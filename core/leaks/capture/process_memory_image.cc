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

}  // namespace heapgauge::leaks
