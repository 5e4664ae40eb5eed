#include "core/base/byte_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

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

Result<std::string_view> PeekingStream::Peek(size_t size) {
  ahead_.erase(0, used_);
  used_ = 0;
  while (ahead_.size() < size) {
    const size_t had = ahead_.size();
    ahead_.resize(size);
    auto got = stream_->Read(ahead_.data() + had, size - had);
    ahead_.resize(had + (got ? *got : 0));
    if (!got) return tl::unexpected<Error>(std::move(got).error());
    if (*got == 0) break;
  }
  return std::string_view(ahead_).substr(0, size);
}

Result<size_t> PeekingStream::Read(char* buffer, size_t size) {
  if (used_ == ahead_.size()) return stream_->Read(buffer, size);
  const size_t n = std::min(size, ahead_.size() - used_);
  std::memcpy(buffer, ahead_.data() + used_, n);
  used_ += n;
  return n;
}

namespace {

constexpr size_t kPiece = 256 << 10;
constexpr size_t kPieces = 4;

class ReadAheadStream final : public ByteStream {
 public:
  explicit ReadAheadStream(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}
  ReadAheadStream(const ReadAheadStream&) = delete;
  ReadAheadStream& operator=(const ReadAheadStream&) = delete;
  ~ReadAheadStream() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  Result<size_t> Read(char* buffer, size_t size) override {
    if (direct_ < kPiece || alone_) {  // the first piece, or no thread could be had
      auto got = stream_->Read(buffer, std::min(size, kPiece));
      if (got) direct_ += *got;
      return got;
    }
    if (!thread_.joinable()) {
      try {
        thread_ = std::thread([this] { Run(); });
      } catch (const std::system_error&) {
        alone_ = true;
        return Read(buffer, size);
      }
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return filled_ > 0; });
    Piece& piece = pieces_[next_out_];
    lock.unlock();
    const size_t n = std::min(size, piece.size - used_);
    // Bytes before an error count. The end and errors stay, so that they are told again.
    if (n == 0 && !piece.status) return tl::unexpected<Error>(piece.status.error());
    if (n > 0) std::memcpy(buffer, piece.bytes.data() + used_, n);
    used_ += n;
    if (used_ == piece.size && piece.size > 0 && piece.status) {
      lock.lock();
      --filled_;
      lock.unlock();
      next_out_ = (next_out_ + 1) % kPieces;
      used_ = 0;
      changed_.notify_all();
    }
    return n;
  }

 private:
  struct Piece {
    std::vector<char> bytes;
    size_t size = 0;
    Status status;
  };

  void Run() {
    for (size_t next_in = 0;; next_in = (next_in + 1) % kPieces) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return stop_ || filled_ < kPieces; });
        if (stop_) return;
      }
      Piece& piece = pieces_[next_in];
      piece.bytes.resize(kPiece);
      piece.size = 0;
      bool last = false;
      while (piece.size < kPiece && !last) {
        auto got = stream_->Read(piece.bytes.data() + piece.size, kPiece - piece.size);
        if (!got) piece.status = tl::unexpected<Error>(std::move(got).error());
        piece.size += got ? *got : 0;
        last = !got || *got == 0;
      }
      // Bytes before the end go first; the next round finds the end again.
      const bool over = last && (piece.size == 0 || !piece.status);
      {
        const std::lock_guard lock(mutex_);
        ++filled_;
      }
      changed_.notify_all();
      if (over) return;
    }
  }

  std::unique_ptr<ByteStream> stream_;
  size_t direct_ = 0;
  bool alone_ = false;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Piece, kPieces> pieces_;
  size_t filled_ = 0;
  bool stop_ = false;
  size_t next_out_ = 0;  // the reader's alone
  size_t used_ = 0;      // of that piece
};

}  // namespace

std::unique_ptr<ByteStream> ReadAhead(std::unique_ptr<ByteStream> stream) {
  return std::make_unique<ReadAheadStream>(std::move(stream));
}

}  // namespace heapgauge
