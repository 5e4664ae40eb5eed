// Lines of a text format, out of a stream, one at a time.
//
// Lines are handed out where they stand in the buffer: nothing is copied, and a profile of
// gigabytes needs no more memory than its longest line. Keeps count of lines, so that every error
// of a text format can say where it was noticed, in the same words.
//
// Single-threaded. The stream must outlive the reader; a line is valid until the next call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/byte_stream.h"
#include "core/base/result.h"

namespace heapgauge {

class LineReader {
 public:
  // Stacks of Profile::kMaxDepth addresses fit.
  static constexpr size_t kMaxLine = size_t{4} << 20;

  // `format` and `name` (of the file) are for messages.
  LineReader(ByteStream* stream, std::string format, std::string name);

  // Goes to the next line; false at the end. A line is too long: an error.
  Result<bool> Next();
  // The next call of Next() stays at this line.
  void PutBack() { put_back_ = true; }

  // Without "\n" or "\r\n".
  std::string_view line() const { return line_; }
  // From 1; 0 before the first.
  uint64_t number() const { return number_; }

  // Bytes that follow the current line, for formats that go on in binary. 0 at the end.
  Result<size_t> Read(char* buffer, size_t size);

  // From here on messages speak of another format: files that carry one inside.
  void set_format(std::string format) { format_ = std::move(format); }
  const std::string& format() const { return format_; }
  const std::string& name() const { return name_; }

  // "format: name: line 7: what"
  tl::unexpected<Error> Fail(ErrorCode code, std::string_view what) const;
  // Something is wrong in the current line, which is quoted.
  tl::unexpected<Error> FailInLine(std::string_view what) const;

 private:
  Result<bool> Refill();

  ByteStream* stream_;
  std::string format_;
  std::string name_;
  std::vector<char> buffer_;
  size_t begin_ = 0;  // of what is not consumed
  size_t end_ = 0;
  bool at_end_ = false;
  bool put_back_ = false;
  uint64_t number_ = 0;
  std::string_view line_;
};

}  // namespace heapgauge
