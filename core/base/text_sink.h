// Where reports go. They are written piece by piece, so that one of gigabytes does not have to be
// in memory.
//
// A sink is owned by one thread at a time.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace heapgauge {

class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual Status Write(std::string_view text) = 0;
};

class StringSink final : public TextSink {
 public:
  Status Write(std::string_view text) override {
    text_ += text;
    return {};
  }
  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace heapgauge
