// Collects small pieces of a report before they go to its sink, and a few ways in which Go's fmt
// writes that C++'s does not: widths are counted in characters, whatever their width on a screen.
//
// Owned by one thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/sinks.h"

namespace heapgauge::pprof {

class TextBuffer {
 public:
  explicit TextBuffer(TextSink* sink) : sink_(sink) { text_.reserve(kSize + 4096); }

  std::string& text() { return text_; }
  // Hands on what there is, once there is enough of it.
  Status FlushIfFull() { return text_.size() < kSize ? Status() : Flush(); }
  Status Flush() {
    HG_TRY(sink_->Write(text_));
    text_.clear();
    return {};
  }

 private:
  static constexpr size_t kSize = 64 << 10;
  TextSink* sink_;
  std::string text_;
};

// How many characters of UTF-8 there are.
inline size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

// The first `count` of them.
inline std::string FirstCharacters(std::string_view text, size_t count) {
  size_t end = 0;
  while (end < text.size() && CountCharacters(text.substr(0, end + 1)) <= count) ++end;
  return std::string(text.substr(0, end));
}

// Appends `text` with as many spaces before it as make it `width` characters long.
inline void AppendRight(std::string_view text, size_t width, std::string* out) {
  const size_t length = CountCharacters(text);
  if (length < width) out->append(width - length, ' ');
  *out += text;
}

}  // namespace heapgauge::pprof
