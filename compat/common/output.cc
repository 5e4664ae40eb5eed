#include "compat/common/output.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace heapgauge::compat {
namespace {

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

void Say(std::string_view text) {
  const int saved = errno;
  WriteAll(STDERR_FILENO, text);
  errno = saved;
}

bool WriteFile(const std::string& path, std::string_view text) {
  const int saved = errno;
  const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0644);
  bool done = false;
  if (fd >= 0) {
    done = WriteAll(fd, text);
    done = close(fd) == 0 && done;
  }
  errno = saved;
  return done;
}

void* NextFunction(const char* name) { return dlsym(RTLD_NEXT, name); }

}  // namespace heapgauge::compat
