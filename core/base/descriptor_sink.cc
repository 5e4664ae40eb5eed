#include "core/base/descriptor_sink.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "core/base/file.h"

namespace heapgauge {
namespace {

constexpr size_t kPiece = 64 << 10;

}  // namespace

Status DescriptorSink::Write(std::string_view text) {
  if (!failed_) return failed_;
  if (pending_.size() + text.size() < kPiece) {
    pending_ += text;
    return {};
  }
  HG_TRY(Flush(pending_));
  pending_.clear();
  if (text.size() >= kPiece) return Flush(text);
  pending_ = text;
  return {};
}

Status DescriptorSink::Finish() {
  if (failed_ && !pending_.empty()) {
    (void)Flush(pending_);
    pending_.clear();
  }
  return closed_ ? Status() : failed_;
}

Status DescriptorSink::Flush(std::string_view text) {
  if (text.empty()) return {};
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  while (!text.empty()) {
    const ssize_t n = write(fd_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      closed_ = errno == EPIPE;
      failed_ = tl::unexpected<Error>(SystemError("cannot write " + name_, errno));
      break;
    }
    text.remove_prefix(static_cast<size_t>(n));
  }
  std::signal(SIGPIPE, before);
  return failed_;
}

}  // namespace heapgauge
