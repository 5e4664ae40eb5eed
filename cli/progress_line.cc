#include "cli/progress_line.h"

#include <unistd.h>

#include <chrono>
#include <memory>

#include "cli/terminal.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/threads.h"

namespace heapgauge::cli {

namespace {

std::unique_ptr<ProgressLine>& TheLine() {
  static std::unique_ptr<ProgressLine> line;
  return line;
}

}  // namespace

ProgressSink* BeginProgress() {
  if (TheLine() == nullptr) TheLine() = std::make_unique<ProgressLine>(STDERR_FILENO);
  return TheLine().get();
}

void EndProgress() { TheLine().reset(); }

std::string ProgressText(const std::string& what, uint64_t done, uint64_t total,
                         const std::string& unit, size_t width, bool utf8) {
  std::string text = Printable(what) + (utf8 ? " \u2026" : " ...");
  if (total != 0) {
    text += " " + FormatCount(static_cast<double>(done)) + " of " +
            FormatCount(static_cast<double>(total)) + " " + unit;
  }
  return CutTo(text, width);
}

ProgressLine::ProgressLine(int fd) : fd_(fd) {
  if (isatty(fd_) != 1) return;
  const BlockedSignals blocked;  // who works holds them back while it has to
  thread_ = std::thread([this] { Run(); });
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void ProgressLine::Report(std::string_view what, uint64_t done, uint64_t total,
                          std::string_view unit) {
  if (!thread_.joinable()) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  what_ = what;
  unit_ = unit;
  part_ = done;
  total_ = total;
}

void ProgressLine::Run() {
  constexpr auto kQuiet = std::chrono::seconds(1);
  constexpr auto kStep = std::chrono::milliseconds(100);
  std::unique_lock<std::mutex> lock(mutex_);
  if (ended_.wait_for(lock, kQuiet, [this] { return done_; })) return;
  const Terminal terminal = DescribeTerminal(fd_);
  std::string drawn;
  do {
    // The last column stays free: a full line would wrap.
    std::string text = what_.empty() ? ""
                                     : ProgressText(what_, part_, total_, unit_, terminal.width - 1,
                                                    terminal.look.utf8);
    if (text == drawn) continue;
    drawn = std::move(text);
    static_cast<void>(WriteToDescriptor(fd_, "\r" + drawn + "\033[K", "standard error"));
  } while (!ended_.wait_for(lock, kStep, [this] { return done_; }));
  static_cast<void>(WriteToDescriptor(fd_, "\r\033[K", "standard error"));
}

}  // namespace heapgauge::cli
