#include "core/leaks/capture/served_memory_image.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/file.h"
#include "core/base/text.h"

namespace heapgauge::leaks {
namespace {

constexpr size_t kPart = 1 << 20;
constexpr int kWaitMs = 5'000;

// A pipe of our own, whatever was there before. Both ends are ours, so that opening it never waits.
Result<int> MakePipe(const std::string& path, uid_t user) {
  unlink(path.c_str());
  const auto failed = [&](int error) {
    return tl::unexpected(SystemError("cannot make '" + Printable(path) + "'", error));
  };
  if (mkfifo(path.c_str(), 0600) != 0) return failed(errno);
  const int fd = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  const bool is_theirs =
      fd >= 0 && (user == geteuid() || fchown(fd, user, static_cast<gid_t>(-1)) == 0);
  if (!is_theirs) {
    const int error = errno;
    if (fd >= 0) close(fd);
    unlink(path.c_str());
    return failed(error);
  }
  // Larger pipes need fewer turns.
  fcntl(fd, F_SETPIPE_SZ, 1 << 20);
  return fd;
}

bool ReadAll(int fd, char* to, size_t size) {
  while (size > 0) {
    pollfd wait{fd, POLLIN, 0};
    const int ready = poll(&wait, 1, kWaitMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready != 1) return false;
    const ssize_t got = read(fd, to, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<ServedMemoryImage>> ServedMemoryImage::Open(const std::string& path,
                                                                   uid_t user) {
  std::unique_ptr<ServedMemoryImage> image(new ServedMemoryImage);
  image->ask_path_ = path + ".ask";
  image->say_path_ = path + ".say";
  // The copy looks for the first one first.
  HG_ASSIGN(image->say_, MakePipe(image->say_path_, user));
  HG_ASSIGN(image->ask_, MakePipe(image->ask_path_, user));
  return image;
}

ServedMemoryImage::~ServedMemoryImage() {
  if (ask_ >= 0) {
    close(ask_);
    unlink(ask_path_.c_str());
  }
  if (say_ >= 0) {
    close(say_);
    unlink(say_path_.c_str());
  }
}

size_t ServedMemoryImage::ReadPart(uint64_t address, size_t size, char* to) const {
  const uint64_t question[2] = {address, size};
  uint64_t bytes = 0;
  if (write(ask_, question, sizeof question) != sizeof question ||
      !ReadAll(say_, reinterpret_cast<char*>(&bytes), sizeof bytes) || bytes > size ||
      !ReadAll(say_, to, bytes)) {
    // It is not known any more where an answer begins.
    broken_ = true;
    return 0;
  }
  return bytes;
}

size_t ServedMemoryImage::Read(uint64_t address, size_t size, void* to) const {
  const std::lock_guard lock(mutex_);
  size_t done = 0;
  while (done < size && !broken_) {
    const size_t part = std::min(size - done, kPart);
    const size_t got = ReadPart(address + done, part, static_cast<char*>(to) + done);
    done += got;
    if (got < part) break;
  }
  return done;
}

}  // namespace heapgauge::leaks
