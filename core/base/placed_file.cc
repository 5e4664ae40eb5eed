#include "core/base/placed_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/base/file.h"
#include "core/base/text.h"

namespace heapgauge {

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
