#include "endpoint/http/chunk_decoder.h"

#include <algorithm>
#include <charconv>

namespace heapgauge::endpoint {

ChunkDecoder::State ChunkDecoder::SizeLine(std::string_view line) {
  const std::string_view extensions = line.substr(std::min(line.find(';'), line.size()));
  const bool is_text = std::all_of(extensions.begin(), extensions.end(),
                                   [](char c) { return c == '\t' || (c >= 0x20 && c < 0x7f); });
  line.remove_suffix(extensions.size());
  if (!is_text || line.empty() || line.size() > 8) return State::kBad;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), left_, 16);
  if (error != std::errc() || end != line.data() + line.size()) return State::kBad;
  if (left_ > most_bytes_ - got_) return State::kTooLarge;
  expect_ = left_ == 0 ? Expect::kTrailer : Expect::kData;
  return State::kMore;
}

ChunkDecoder::State ChunkDecoder::Decode(std::string_view* input, std::string* body) {
  while (true) {
    if (expect_ == Expect::kData) {
      const size_t take = static_cast<size_t>(std::min<uint64_t>(left_, input->size()));
      body->append(input->substr(0, take));
      input->remove_prefix(take);
      left_ -= take;
      got_ += take;
      if (left_ != 0) return State::kMore;
      expect_ = Expect::kDataEnd;
    }
    const size_t newline = input->find('\n');
    if (newline == std::string_view::npos) {
      const size_t most = expect_ == Expect::kDataEnd ? 1 : kMostLine;
      return input->size() > most ? State::kBad : State::kMore;
    }
    if (newline == 0 || newline > kMostLine || (*input)[newline - 1] != '\r') return State::kBad;
    const std::string_view line = input->substr(0, newline - 1);
    input->remove_prefix(newline + 1);
    if (expect_ == Expect::kDataEnd) {
      if (!line.empty()) return State::kBad;
      expect_ = Expect::kSize;
    } else if (expect_ == Expect::kTrailer) {
      if (line.empty()) return State::kDone;
      trailers_ += line.size();
      if (trailers_ > kMostTrailers) return State::kBad;
    } else if (const State state = SizeLine(line); state != State::kMore) {
      return state;
    }
  }
}

}  // namespace heapgauge::endpoint
