// libFuzzer target: any bytes as an HTTP request, head and chunked body, as they come in one piece
// and in two, with the guards that look at a head.
//
//   build/bin/request_fuzz -max_len=8192 corpus/

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "endpoint/http/access.h"
#include "endpoint/http/request_parser.h"

namespace {

using heapgauge::endpoint::ChunkDecoder;
using heapgauge::endpoint::HeadParser;

constexpr size_t kMostHead = 4096;
constexpr size_t kMostBody = 1000;

bool HasControls(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

void CheckHead(const heapgauge::endpoint::RequestHead& head) {
  if (head.path.empty() || (head.path[0] != '/' && head.path != "*")) __builtin_trap();
  if (HasControls(head.method) || HasControls(head.path) || HasControls(head.query)) {
    __builtin_trap();
  }
  if (head.headers.size() > HeadParser::kMostFields) __builtin_trap();
  for (const auto& [name, value] : head.headers) {
    if (name.empty() || HasControls(name) || HasControls(value)) __builtin_trap();
  }
  if (head.chunked && head.content_length != 0) __builtin_trap();
  Refuse(head, {});
  Refuse(head, {.token = "0123456789abcdef"});
}

// The body, or nothing if it is wrong or not all there; in two pieces, cut at `cut`.
std::optional<std::string> Chunked(std::string_view input, size_t cut) {
  ChunkDecoder decoder(kMostBody);
  std::string body;
  cut = cut > input.size() ? input.size() : cut;
  std::string_view first = input.substr(0, cut);
  const ChunkDecoder::State state = decoder.Decode(&first, &body);
  if (body.size() > kMostBody) __builtin_trap();
  if (state == ChunkDecoder::State::kDone) return body;
  if (state != ChunkDecoder::State::kMore) return {};
  std::string_view rest = input.substr(cut - first.size());
  if (decoder.Decode(&rest, &body) != ChunkDecoder::State::kDone) return {};
  if (body.size() > kMostBody) __builtin_trap();
  return body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = size == 0 ? 0 : data[size - 1] * size / 256;

  HeadParser whole(kMostHead);
  HeadParser pieces(kMostHead);
  const HeadParser::State state = whole.Parse(input);
  HeadParser::State again = pieces.Parse(input.substr(0, cut));
  if (again == HeadParser::State::kMore) again = pieces.Parse(input);
  // Taken in pieces it is the same request, or wrong in the same way.
  if (again != state) __builtin_trap();
  if (state == HeadParser::State::kDone) {
    if (whole.size() > kMostHead || whole.size() != pieces.size()) __builtin_trap();
    CheckHead(whole.head());
    if (Chunked(input.substr(whole.size()), size) != Chunked(input.substr(whole.size()), cut)) {
      __builtin_trap();
    }
  }
  if (state == HeadParser::State::kBad && whole.status() < 400) __builtin_trap();
  Chunked(input, cut);
  return 0;
}
