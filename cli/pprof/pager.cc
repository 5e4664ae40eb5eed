#include "cli/pprof/pager.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "cli/cli.h"
#include "cli/terminal.h"

namespace heapgauge::cli {

Status PagerSink::Write(std::string_view text) {
  if (closed_) return Fail(ErrorCode::kUnavailable, "the pager was left");
  lines_ += static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  pending_ += text;
  if (pager_ == nullptr) {
    if (lines_ < DescribeTerminal(STDOUT_FILENO).height) return {};
    const char* chosen = std::getenv("PAGER");
    std::fflush(stdout);
    pager_ = popen(chosen != nullptr && *chosen != '\0' ? chosen : "less -R", "w");
    if (pager_ == nullptr) {
      lines_ = 0;
      PrintOut(pending_);
      pending_.clear();
      return {};
    }
  }
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  closed_ = std::fwrite(pending_.data(), 1, pending_.size(), pager_) != pending_.size();
  std::signal(SIGPIPE, before);
  pending_.clear();
  if (closed_) return Fail(ErrorCode::kUnavailable, "the pager was left");
  return {};
}

void PagerSink::Finish() {
  if (pager_ != nullptr) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    pclose(pager_);
    std::signal(SIGPIPE, before);
    pager_ = nullptr;
  } else if (!pending_.empty()) {
    PrintOut(pending_);
  }
  pending_.clear();
}

}  // namespace heapgauge::cli
