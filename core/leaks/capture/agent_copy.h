// Asks the agent of a program for a copy of it, and reads the memory that this hands out.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/result.h"
#include "core/leaks/capture/process_memory_image.h"
#include "core/leaks/scan/memory_image.h"

namespace heapgauge::leaks {

// Memory of a copy of a program that hands it out through two pipes (agent/leaks/own_copy.cc).
//
// Read() is thread-safe, one at a time. What the other side says is treated as hostile: it can give
// wrong bytes, or none, and a wait is bounded.
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

// The other end of agent/leaks/own_copy.h: asks the agent of a program for a copy of it, and reads
// that. For programs that may not be traced, such as in containers without CAP_SYS_PTRACE.
//
// The copy is made when the program next takes a sample. Its memory is read as that of any other
// process; where the kernel refuses even that, the copy hands it out through pipes that are made
// beside the gauge file.
//
// The gauge file is treated as hostile: a process that it names and that cannot be the copy is left
// alone. One asker at a time; the last one wins. image() may
// be read by any thread.
class AgentCopy {
 public:
  struct Options {
    int timeout_ms = 10'000;    // for the next sample of the program
    bool read_directly = true;  // false: by pipes, in any case
  };
  // A signal that ends this process while it waits (Ctrl-C) does so once the request is taken back,
  // so that the program makes no copy which nobody looks at; and so does the end of the wait. If
  // this process is killed, a lock on the gauge file goes with it, and the agent knows by that.
  static Result<std::unique_ptr<AgentCopy>> Ask(uint32_t process, const std::string& gauge_path,
                                                const Options& options);
  // Ends the copy.
  ~AgentCopy();
  AgentCopy(const AgentCopy&) = delete;
  AgentCopy& operator=(const AgentCopy&) = delete;

  uint32_t memory_process() const { return copy_; }
  const MemoryImage& image() const { return *image_; }
  // The one that forked; its stack holds its registers.
  const std::vector<CapturedThread>& threads() const { return threads_; }
  // CLOCK_MONOTONIC before the program was asked. The first sample after it makes the copy, so that
  // blocks which were sampled earlier are in the copy, and only these.
  uint64_t asked_ns() const { return asked_ns_; }
  uint64_t pause_ns() const { return pause_ns_; }
  // The copy lives for a bounded time: what was read after its end is not memory.
  bool alive() const;

 private:
  AgentCopy(File file, uint32_t process) : file_(std::move(file)), process_(process) {}
  Status Request(int timeout_ms, const std::function<bool()>& is_cancelled);
  void Announce(uint32_t requests) const;
  Status OpenImage(const Options& options);

  File file_;
  uint32_t process_;
  uint32_t request_ = 0;
  uint32_t copy_ = 0;  // as we number it
  uint64_t copy_start_ticks_ = 0;
  uint64_t asked_ns_ = 0;
  uint64_t pause_ns_ = 0;
  std::vector<CapturedThread> threads_;
  std::unique_ptr<MemoryImage> image_;
};

}  // namespace heapgauge::leaks
