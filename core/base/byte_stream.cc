#include "core/base/byte_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/file.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::string_view bytes) : rest_(bytes) {}

  Result<size_t> Read(char* buffer, size_t size) override {
    const size_t n = std::min(size, rest_.size());
    if (n > 0) std::memcpy(buffer, rest_.data(), n);
    rest_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view rest_;
};

class DescriptorStream final : public ByteStream {
 public:
  DescriptorStream(int fd, bool owned, std::string name)
      : fd_(fd), owned_(owned), name_(std::move(name)) {}
  DescriptorStream(const DescriptorStream&) = delete;
  DescriptorStream& operator=(const DescriptorStream&) = delete;
  ~DescriptorStream() override {
    if (owned_) close(fd_);
  }

  Result<size_t> Read(char* buffer, size_t size) override {
    for (;;) {
      const ssize_t n = read(fd_, buffer, size);
      if (n >= 0) {
        offset_ += static_cast<uint64_t>(n);
        return static_cast<size_t>(n);
      }
      if (errno == EINTR) continue;
      if (errno == EAGAIN) {  // a pipe whose writer takes its time
        struct pollfd waiting {
          fd_, POLLIN, 0
        };
        poll(&waiting, 1, -1);
        continue;
      }
      Error error =
          SystemError("cannot read " + name_ + " at byte " + std::to_string(offset_), errno);
      error.offset = offset_;
      return tl::unexpected<Error>(std::move(error));
    }
  }

 private:
  int fd_;
  bool owned_;
  std::string name_;
  uint64_t offset_ = 0;
};

}  // namespace

std::unique_ptr<ByteStream> StreamOf(std::string_view bytes) {
  return std::make_unique<MemoryStream>(bytes);
}

Result<std::unique_ptr<ByteStream>> OpenStream(const std::string& path) {
  const bool standard = path == "-";
  const std::string name = standard ? "standard input" : "'" + Printable(path) + "'";
  // Not blocking: a named pipe that nobody writes to would never open. It reads as empty instead.
  const int fd =
      standard ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return tl::unexpected<Error>(SystemError("cannot open " + name, errno));
  std::unique_ptr<ByteStream> stream = std::make_unique<DescriptorStream>(fd, !standard, name);
  struct stat st {};
  if (fstat(fd, &st) != 0) {
    return tl::unexpected<Error>(SystemError("cannot read " + name, errno));
  }
  if (S_ISDIR(st.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, name + " is a directory, a profile is needed");
  }
  if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, name + " is a device, a profile is needed");
  }
  return stream;
}

}  // namespace heapgauge
