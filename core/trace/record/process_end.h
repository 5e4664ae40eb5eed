// How a process ended that is not our child, and that did not tell: by itself, or by a signal. Its
// parent has taken that away when we look, mostly; the kernel tells it all the same to those who
// hold a descriptor of the process, from Linux 6.15 on. Before, one has to come while nobody has
// waited for it.
//
// One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/gauge/owner_process.h"

namespace heapgauge::trace {

class ProcessEnd {
 public:
  ProcessEnd() = default;
  // While it runs; of one that is gone nothing will be known.
  explicit ProcessEnd(const OwnerProcess& process);
  ~ProcessEnd();
  ProcessEnd(ProcessEnd&& other) noexcept { *this = std::move(other); }
  ProcessEnd& operator=(ProcessEnd&& other) noexcept {
    std::swap(process_, other.process_);
    std::swap(fd_, other.fd_);
    return *this;
  }

  // As waitpid tells it. Nothing: it runs, or that is not known.
  std::optional<int> wait_status() const;

 private:
  OwnerProcess process_;
  int fd_ = -1;
};

}  // namespace heapgauge::trace
