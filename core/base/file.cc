#include "core/base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/base/text.h"

namespace heapgauge {

Error SystemError(const std::string& what, int errno_value) {
  ErrorCode code = ErrorCode::kIo;
  if (errno_value == ENOENT || errno_value == ENOTDIR) code = ErrorCode::kNotFound;
  if (errno_value == EACCES || errno_value == EPERM) code = ErrorCode::kPermission;
  return Error{code, what + ": " + std::strerror(errno_value), kNoOffset};
}

size_t MemorySource::ReadAt(uint64_t offset, void* buffer, size_t size) const {
  if (offset >= bytes_.size()) return 0;
  const size_t n = std::min<size_t>(size, bytes_.size() - static_cast<size_t>(offset));
  std::memcpy(buffer, bytes_.data() + offset, n);
  return n;
}

Result<File> File::Open(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0)
    return tl::unexpected<Error>(SystemError("cannot open '" + Printable(path) + "'", errno));
  File file(fd, path);
  struct stat st {};
  if (fstat(fd, &st) != 0) {
    return tl::unexpected<Error>(SystemError("cannot look at '" + Printable(path) + "'", errno));
  }
  if (!S_ISREG(st.st_mode)) {
    return Fail(ErrorCode::kNotRecognized, "'" + Printable(path) + "' is not a regular file");
  }
  return file;
}

Result<File> File::OpenForReading(const std::string& path) { return Open(path, O_RDONLY); }
Result<File> File::OpenForUpdate(const std::string& path) { return Open(path, O_RDWR); }

File::File(File&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = std::exchange(other.fd_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

File::~File() {
  if (fd_ >= 0) close(fd_);
}

uint64_t File::Size() const {
  struct stat st {};
  if (fstat(fd_, &st) != 0 || st.st_size < 0) return 0;
  return static_cast<uint64_t>(st.st_size);
}

size_t File::ReadAt(uint64_t offset, void* buffer, size_t size) const {
  size_t done = 0;
  while (done < size) {
    const ssize_t n = pread(fd_, static_cast<char*>(buffer) + done, size - done,
                            static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

Status File::WriteAt(uint64_t offset, const void* data, size_t size) const {
  size_t done = 0;
  while (done < size) {
    const ssize_t n = pwrite(fd_, static_cast<const char*>(data) + done, size - done,
                             static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return tl::unexpected<Error>(SystemError("cannot write '" + Printable(path_) + "'", errno));
    }
    done += static_cast<size_t>(n);
  }
  return {};
}

namespace {

// Within half a minute: whoever writes into a pipe may take a while, but not for ever.
bool IsReadableSoon(int fd) {
  constexpr int kLongestMs = 30'000;
  pollfd waiting{fd, POLLIN, 0};
  const int ready = poll(&waiting, 1, kLongestMs);
  if (ready == 0) errno = ETIMEDOUT;
  return ready > 0 || (ready < 0 && errno == EINTR);
}

}  // namespace

Result<std::string> ReadWholeFile(const std::string& path, size_t limit) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0)
    return tl::unexpected<Error>(SystemError("cannot open '" + Printable(path) + "'", errno));
  std::string text;
  char buffer[16384];
  while (text.size() < limit) {
    const ssize_t n = read(fd, buffer, std::min(sizeof buffer, limit - text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN && IsReadableSoon(fd)) continue;  // a pipe, as of <(command)
    if (n < 0) {
      const int error = errno;
      close(fd);
      return tl::unexpected<Error>(SystemError("cannot read '" + Printable(path) + "'", error));
    }
    if (n == 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return text;
}

Status WriteToDescriptor(int fd, std::string_view data, const std::string& name) {
  while (!data.empty()) {
    const ssize_t n = write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return tl::unexpected<Error>(SystemError("cannot write " + name, errno));
    data.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status WriteWholeFile(const std::string& path, std::string_view data) {
  HG_ASSIGN(PlacedFile file, PlacedFile::Create(path));
  HG_TRY(WriteToDescriptor(file.fd(), data, file.quoted()));
  return file.Place();
}

std::unique_ptr<ByteSource> OpenSource(const std::string& path) {
  auto file = File::OpenForReading(path);
  if (!file) return nullptr;
  return std::make_unique<File>(*std::move(file));
}

PlacedFile::PlacedFile(int fd, std::string path, std::string temporary)
    : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)) {}

PlacedFile::PlacedFile(PlacedFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")) {}

PlacedFile& PlacedFile::operator=(PlacedFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

Result<PlacedFile> PlacedFile::Create(const std::string& path) {
  const std::string quoted = "'" + Printable(path) + "'";
  struct stat st {};
  const bool exists = stat(path.c_str(), &st) == 0;
  if (exists && S_ISDIR(st.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, quoted + " is a directory, a file name is needed");
  }
  const bool direct = exists && !S_ISREG(st.st_mode);
  std::string temporary = direct ? "" : path + ".XXXXXX";
  const int fd = direct ? open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY)
                        : mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return tl::unexpected<Error>(SystemError("cannot write " + quoted, errno));
  return PlacedFile(fd, path, std::move(temporary));
}

PlacedFile::~PlacedFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

std::string PlacedFile::quoted() const { return "'" + Printable(path_) + "'"; }

Status PlacedFile::Place() {
  const bool closed = close(std::exchange(fd_, -1)) == 0;
  if (!closed || (!temporary_.empty() && rename(temporary_.c_str(), path_.c_str()) != 0)) {
    return tl::unexpected<Error>(SystemError("cannot write " + quoted(), errno));
  }
  temporary_.clear();
  return {};
}

}  // namespace heapgauge
