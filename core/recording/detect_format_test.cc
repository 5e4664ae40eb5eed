#include <gtest/gtest.h>

#include "core/formats/pprof/testing/proto_builder.h"
#include "core/recording/read_profile.h"

namespace heapgauge {
namespace {

TEST(DetectFormat, GoesByTheContents) {
  const auto words = [](std::initializer_list<uint64_t> list) {
    std::string bytes;
    for (const uint64_t word : list) bytes.append(reinterpret_cast<const char*>(&word), 8);
    return bytes;
  };
  EXPECT_EQ(DetectFormat(testing::EverythingProto()), ProfileFormat::kPprof);
  EXPECT_EQ(DetectFormat("HGAUGE\r\n and so on"), ProfileFormat::kGauge);
  EXPECT_EQ(DetectFormat(std::string(100, '\0')), ProfileFormat::kGauge) << "not finished yet";
  EXPECT_EQ(DetectFormat("heap profile: 1: 2 [3: 4] @ heapprofile\n"), ProfileFormat::kHeapText);
  EXPECT_EQ(DetectFormat("\n# by hand\nheap profile:   1: 2 [ 3: 4] @ heap_v2/1\n"),
            ProfileFormat::kHeapText);
  EXPECT_EQ(DetectFormat("heap_v2/524288\n  t*: 1: 2 [0: 0]\n"), ProfileFormat::kJemalloc);
  EXPECT_EQ(DetectFormat("--- symbol\nbinary=/bin/x\n"), ProfileFormat::kSymbolized);
  EXPECT_EQ(DetectFormat("--- contentionz 1 ---\n"), ProfileFormat::kLegacyText);
  EXPECT_EQ(DetectFormat("goroutine profile: total 12\n"), ProfileFormat::kLegacyText);
  EXPECT_EQ(DetectFormat(words({0, 3, 0, 10000, 0, 1})), ProfileFormat::kLegacyCpu);
  EXPECT_EQ(DetectFormat("v 10400 3\nX ./server\n"), ProfileFormat::kHeaptrack);
  EXPECT_EQ(DetectFormat("{\"dhatFileVersion\":2\n,\"mode\":\"heap\""), ProfileFormat::kDhat);
  EXPECT_EQ(DetectFormat("main;f;g 12\n"), ProfileFormat::kCollapsed);
  EXPECT_EQ(DetectFormat("v 12\nw;x 3\n"), ProfileFormat::kHeaptrack) << "a lone v is not a name";
  EXPECT_EQ(DetectFormat("main 12.5"), ProfileFormat::kCollapsed);
  EXPECT_EQ(DetectFormat("main;" + std::string(4091, 'x')), ProfileFormat::kCollapsed);
}

TEST(DetectFormat, OtherFilesAreNotProfiles) {
  for (const char* text : {"", "hello", "#!/bin/sh\necho hello\n", "{\"a\": 1}\n",
                           "\x7f"
                           "ELF\x02"}) {
    EXPECT_EQ(DetectFormat(text), ProfileFormat::kUnknown) << text;
  }
}

TEST(ReadProfile, ReadsAProtobufFromAnyStream) {
  const std::string bytes = testing::EverythingProto();
  const auto profile = ReadProfile(StreamOf(bytes), "x.pb");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->rows.size(), 3u);
}

TEST(ReadProfile, SaysThatAFileIsNoProfile) {
  EXPECT_EQ(ReadProfile(StreamOf(""), "x").error().message, "x: the file is empty");
  EXPECT_EQ(ReadProfile(StreamOf("hello"), "x").error().message,
            "x: byte 0: this is no profile of a format that is known here");
  EXPECT_EQ(ReadProfile(StreamOf("HGAUGE\r\n"), "x").error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace heapgauge
