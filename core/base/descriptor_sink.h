// A sink that writes to an open descriptor, such as standard output, in pieces of good size.
//
// A reader that goes away (| head) is not an error: closed() becomes true, Write() fails from then
// on so that whoever makes the text can stop, and Finish() is content. SIGPIPE is ignored only
// while a piece is written: programs that are started must find the signal as it was.
//
// Owned by one thread. The descriptor is not closed.
#pragma once

#include <string>
#include <string_view>

#include "core/base/text_sink.h"

namespace heapgauge {

class DescriptorSink final : public TextSink {
 public:
  // `name` is for messages: "standard output", "'heap.txt'".
  DescriptorSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  DescriptorSink(const DescriptorSink&) = delete;
  DescriptorSink& operator=(const DescriptorSink&) = delete;

  Status Write(std::string_view text) override;
  // Writes what is left. Must be called, whatever Write() said: it tells whether all went well.
  Status Finish();
  bool closed() const { return closed_; }

 private:
  Status Flush(std::string_view text);

  int fd_;
  std::string name_;
  std::string pending_;
  bool closed_ = false;
  Status failed_;
};

}  // namespace heapgauge
