// Memory of a copy of a program that hands it out through two pipes (agent/leaks/serve_memory.h).
//
// Read() is thread-safe, one at a time. What the other side says is treated as hostile: it can give
// wrong bytes, or none, and a wait is bounded.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/result.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

class ServedMemoryImage final : public MemoryImage {
 public:
  // Makes the pipes PATH.ask and PATH.say, for `user` alone.
  static Result<std::unique_ptr<ServedMemoryImage>> Open(const std::string& path, uid_t user);
  ~ServedMemoryImage() override;
  ServedMemoryImage(const ServedMemoryImage&) = delete;
  ServedMemoryImage& operator=(const ServedMemoryImage&) = delete;

  size_t Read(uint64_t address, size_t size, void* to) const override;

 private:
  ServedMemoryImage() = default;
  size_t ReadPart(uint64_t address, size_t size, char* to) const;

  std::string ask_path_;
  std::string say_path_;
  int ask_ = -1;
  int say_ = -1;
  mutable std::mutex mutex_;
  mutable bool broken_ = false;
};

}  // namespace heapgauge::leaks
