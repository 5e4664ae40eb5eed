#include "core/base/read_ahead.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace heapgauge {
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
