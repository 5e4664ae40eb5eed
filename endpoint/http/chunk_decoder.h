// A body in chunks, taken apart as it arrives. As strict as the head: CR LF, sizes in hexadecimal
// of at most 8 digits, extensions ignored but short, trailers ignored but bounded.
//
// Owned by one thread. Memory: none but what is appended to the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heapgauge::endpoint {

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
