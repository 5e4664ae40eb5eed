// A request, taken apart as it arrives: its head (HeadParser), and its body in chunks
// (ChunkDecoder).
//
// Each is owned by one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "endpoint/base/message.h"

namespace heapgauge::endpoint {

// The head of an HTTP/1 request: request line and header fields.
struct RequestHead {
  std::string method;
  std::string path;       // as sent, starts with '/'; "*" for OPTIONS *
  std::string query;      // as sent
  std::string authority;  // of a target "http://authority/path"; else ""
  int minor = 1;          // HTTP/1.minor
  Headers headers;

  // What the fields say about the message.
  uint64_t content_length = 0;
  bool chunked = false;
  bool keep_alive = false;
  bool expects_continue = false;

  bool has_body() const { return chunked || content_length != 0; }
};

// Reads a head strictly and as it arrives, so that a request which can only be wrong is refused
// before it is complete.
//
// Strict on purpose: lines end in CR LF; no line is folded; no blank before a colon; one Host; one
// Content-Length of digits alone; never Content-Length and Transfer-Encoding together. Where two
// readers of one request could disagree on where it ends, it is an error. Messages are of fixed
// text: nothing of the request is repeated.
//
// Memory: at most twice the bytes of the head.
class HeadParser {
 public:
  static constexpr size_t kMostFields = 100;

  explicit HeadParser(size_t most_bytes) : most_bytes_(most_bytes) {}

  enum class State { kMore, kDone, kBad };
  // `input` is all that has come since the end of the last request; the next call gets the same and
  // more. Not to be called again after kDone or kBad.
  State Parse(std::string_view input);

  // After kDone.
  RequestHead& head() { return head_; }
  size_t size() const { return at_; }  // bytes of input that were the head

  // After kBad: the status to answer with, and one line for the client.
  int status() const { return status_; }
  const char* reason() const { return reason_; }

 private:
  State Bad(int status, const char* reason);
  bool RequestLine(std::string_view line);
  bool Target(std::string_view target);
  bool Field(std::string_view line);
  State Finish();
  bool Framing();

  size_t most_bytes_;
  size_t at_ = 0;  // where the next line starts
  bool has_request_line_ = false;
  RequestHead head_;
  int status_ = 0;
  const char* reason_ = "";
};

// Whether a comma-separated list, such as the value of Connection, has the word, in any case.
bool ListHas(std::string_view list, std::string_view word);

// A body in chunks, taken apart as it arrives. As strict as the head: CR LF, sizes in hexadecimal
// of at most 8 digits, extensions ignored but short, trailers ignored but bounded.
//
// Memory: none but what is appended to the body.
class ChunkDecoder {
 public:
  static constexpr size_t kMostLine = 256;       // a size and its extensions; one trailer
  static constexpr size_t kMostTrailers = 4096;  // all of them

  explicit ChunkDecoder(size_t most_bytes) : most_bytes_(most_bytes) {}

  enum class State { kMore, kDone, kBad, kTooLarge };
  // Takes what it can from the front of `input`, and appends the contents to `body`. What is not
  // taken has to be handed over again, with more behind it.
  State Decode(std::string_view* input, std::string* body);

 private:
  enum class Expect { kSize, kData, kDataEnd, kTrailer };
  State SizeLine(std::string_view line);

  size_t most_bytes_;
  Expect expect_ = Expect::kSize;
  uint64_t left_ = 0;  // of this chunk
  size_t trailers_ = 0;
  size_t got_ = 0;
};

}  // namespace heapgauge::endpoint
