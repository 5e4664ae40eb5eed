// The private memory of a program that cannot be made to fork, saved to memory of ours while it
// stands still. What a copy would share with it anyway is read from the program later: files, and
// memory that is shared with other processes.
//
//   auto saved = SavedMemory::Prepare(process, longest_ns);    // the program runs
//   (*saved)->Save();                                          // it stands still
//   ...it may go on, and the memory can be read
//
// The program waits for nothing but the copying: memory of ours is there before it is stopped. How
// long that takes is estimated from the speed of this machine; what would take longer than
// `longest_ns` is refused, and given up if it takes twice as long. We need as much memory as is
// saved, and are offered to the kernel's OOM killer first as long as this lives.
//
// Reading is thread-safe, the rest is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/address_range.h"
#include "core/base/file.h"
#include "core/base/result.h"
#include "core/leaks/capture/process_memory_image.h"
#include "core/leaks/scan/memory_image.h"
#include "core/os/memory_maps.h"

namespace heapgauge::leaks {

class SavedMemory final : public MemoryImage {
 public:
  // Fails with one line that says how long it would take, or that there is no room.
  static Result<std::unique_ptr<SavedMemory>> Prepare(uint32_t process, uint64_t longest_ns);
  ~SavedMemory() override;
  SavedMemory(const SavedMemory&) = delete;
  SavedMemory& operator=(const SavedMemory&) = delete;

  // REQUIRES: the process does not run. Fails if it takes too long.
  Status Save();

  // As they were when it was saved. The page map knows of private memory only.
  const Smaps& smaps() const { return smaps_; }
  std::unique_ptr<ByteSource> PageMap() const;
  uint64_t saved_bytes() const { return used_; }

  void SetReadable(std::vector<AddressRange> ranges) { live_.SetReadable(std::move(ranges)); }
  size_t Read(uint64_t address, size_t size, void* to) const override;
  uint64_t NextReadable(uint64_t address, uint64_t end) const override;

 private:
  struct Part {
    AddressRange range;
    size_t at = 0;  // in buffer_
  };

  SavedMemory(uint32_t process, uint64_t longest_ns);
  Status Reserve(uint64_t bytes);
  Status SaveMapping(const MappingUsage& mapping, const ByteSource& page_map);
  Status SaveRange(const AddressRange& range);
  Status InTime() const;
  // The first one that ends behind the address.
  std::vector<Part>::const_iterator PartBehind(uint64_t address) const;

  const uint32_t process_;
  const uint64_t longest_ns_;
  uint64_t deadline_ns_ = 0;
  ProcessMemoryImage live_;
  Smaps smaps_;
  char* buffer_ = nullptr;
  size_t capacity_ = 0;
  size_t used_ = 0;
  std::vector<Part> parts_;          // by address
  std::vector<AddressRange> empty_;  // memory of no file: what was not saved of it is zero; merged
  std::string own_oom_score_;        // as it was; "" if it was not changed
};

}  // namespace heapgauge::leaks
