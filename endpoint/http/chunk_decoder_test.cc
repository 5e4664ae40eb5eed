#include "endpoint/http/request_parser.h"

#include <gtest/gtest.h>

namespace heapgauge::endpoint {
namespace {

using ChunkState = ChunkDecoder::State;

ChunkState Decode(std::string_view text, std::string* body, std::string* rest = nullptr) {
  ChunkDecoder decoder(100);
  const ChunkState state = decoder.Decode(&text, body);
  if (rest != nullptr) *rest = text;
  return state;
}

TEST(ChunkDecoder, PutsChunksTogether) {
  std::string body;
  std::string rest;
  EXPECT_EQ(Decode("3\r\nabc\r\n0a;x=\"y\"\r\n0123456789\r\n00\r\nT: v\r\n\r\nGET", &body, &rest),
            ChunkState::kDone);
  EXPECT_EQ(body, "abc0123456789");
  EXPECT_EQ(rest, "GET");
}

TEST(ChunkDecoder, ComesToTheSameByteByByte) {
  const std::string text = "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  ChunkDecoder decoder(100);
  std::string pending;
  std::string body;
  for (size_t i = 0; i < text.size(); ++i) {
    pending += text[i];
    std::string_view view = pending;
    const ChunkState state = decoder.Decode(&view, &body);
    EXPECT_EQ(state, i + 1 == text.size() ? ChunkState::kDone : ChunkState::kMore) << i;
    pending = std::string(view);
  }
  EXPECT_EQ(body, "abcde");
}

TEST(ChunkDecoder, RefusesWhatIsMalformed) {
  for (const char* text : {"\r\n", "x\r\n", "-1\r\n", "0x3\r\nabc\r\n", " 3\r\nabc\r\n",
                           "3 \r\nabc\r\n", "3\nabc\r\n", "3\r\nabcd\r\n", "3\r\nabc\n",
                           "000000003\r\nabc\r\n", "3;\x01\r\nabc\r\n", "0\r\nT\n\r\n"}) {
    std::string body;
    EXPECT_EQ(Decode(text, &body), ChunkState::kBad) << text;
  }
  std::string body;
  EXPECT_EQ(Decode("3;" + std::string(300, 'x'), &body), ChunkState::kBad);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 100; ++i) trailers += "T: " + std::string(100, 'x') + "\r\n";
  EXPECT_EQ(Decode(trailers, &body), ChunkState::kBad);
}

TEST(ChunkDecoder, RefusesMoreThanItMay) {
  std::string body;
  EXPECT_EQ(Decode("65\r\n", &body), ChunkState::kTooLarge);
  EXPECT_EQ(Decode("ffffffff\r\n", &body), ChunkState::kTooLarge);
  const std::string fifty(50, 'x');
  EXPECT_EQ(Decode("32\r\n" + fifty + "\r\n33\r\n", &body), ChunkState::kTooLarge);
}

}  // namespace
}  // namespace heapgauge::endpoint
