// Whether a thread of this process sleeps in the kernel: by that a test knows that a server waits,
// and does not have to measure time.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace heapgauge::endpoint {

class ThreadState {
 public:
  // Reading needs no descriptor but the one that this opens.
  explicit ThreadState(pid_t thread)
      : fd_(open(("/proc/self/task/" + std::to_string(thread) + "/status").c_str(),
                 O_RDONLY | O_CLOEXEC)) {}
  ~ThreadState() {
    if (fd_ >= 0) close(fd_);
  }
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;

  bool IsAsleep() const { return Field("State:").starts_with("S"); }
  // How often the thread has waited in the kernel, as opposed to being preempted.
  uint64_t Sleeps() const {
    return std::strtoull(Field("\nvoluntary_ctxt_switches:").c_str(), nullptr, 10);
  }

 private:
  // The rest of the line behind a name, without leading blanks.
  std::string Field(const std::string& name) const {
    char text[4096];
    const ssize_t got = pread(fd_, text, sizeof text, 0);
    std::string rest(text, got > 0 ? static_cast<size_t>(got) : 0);
    const size_t at = rest.find(name);
    if (at == std::string::npos) return "";
    rest.erase(0, at + name.size());
    rest.erase(0, rest.find_first_not_of(" \t"));
    return rest.substr(0, rest.find('\n'));
  }

  int fd_;
};

}  // namespace heapgauge::endpoint
