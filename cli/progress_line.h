// One line on a terminal that says what takes so long, and disappears when it is done. Nothing is
// shown for work of less than a second, nor where standard error is not a terminal.
//
// A thread of its own draws, ten times a second at the most, so that a single long step is seen as
// well. Report() only notes.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/sinks.h"

namespace heapgauge::cli {

// "reading names of libLLVM-14.so.1 … 12,000 of 37,000 addresses", in `width` columns at the most.
std::string ProgressText(const std::string& what, uint64_t done, uint64_t total,
                         const std::string& unit, size_t width, bool utf8);

class ProgressLine : public ProgressSink {
 public:
  // Draws on `fd` if that is a terminal.
  explicit ProgressLine(int fd);
  ~ProgressLine() override;  // wipes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Report(std::string_view what, uint64_t done, uint64_t total, std::string_view unit) override;

 private:
  void Run();

  const int fd_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::string what_;
  std::string unit_;
  uint64_t part_ = 0;
  uint64_t total_ = 0;
  std::thread thread_;  // not running where nothing is to be drawn
};

// The line of this process, on standard error: begun where long work begins, ended before anything
// else is printed. Both may be called at any time.
ProgressSink* BeginProgress();
void EndProgress();

}  // namespace heapgauge::cli
