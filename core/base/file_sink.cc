#include "core/base/file_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "core/base/file.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

std::string Quoted(const std::string& path) { return "'" + Printable(path) + "'"; }

}  // namespace

FileSink::FileSink(int fd, std::string path, std::string temporary)
    : fd_(fd), path_(std::move(path)), temporary_(std::move(temporary)), sink_(fd, Quoted(path_)) {}

Result<std::unique_ptr<FileSink>> FileSink::Create(const std::string& path) {
  const auto failed = [&] {
    return tl::unexpected<Error>(SystemError("cannot write " + Quoted(path), errno));
  };
  struct stat st {};
  if (stat(path.c_str(), &st) == 0 && !S_ISREG(st.st_mode)) {
    if (S_ISDIR(st.st_mode)) {
      return Fail(ErrorCode::kInvalidArgument,
                  Quoted(path) + " is a directory, a file name is needed");
    }
    const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return failed();
    return std::unique_ptr<FileSink>(new FileSink(fd, path, ""));
  }
  std::string temporary = path + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return failed();
  return std::unique_ptr<FileSink>(new FileSink(fd, path, temporary));
}

FileSink::~FileSink() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status FileSink::Finish() {
  Status status = sink_.Finish();
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0 && status) {
    status = tl::unexpected<Error>(SystemError("cannot write " + Quoted(path_), errno));
  }
  if (!status || temporary_.empty()) return status;
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    return tl::unexpected<Error>(SystemError("cannot write " + Quoted(path_), errno));
  }
  temporary_.clear();
  return {};
}

}  // namespace heapgauge
