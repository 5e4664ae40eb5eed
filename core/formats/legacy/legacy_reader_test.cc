#include <gtest/gtest.h>

#include "core/formats/legacy/legacy_cpu_reader.h"
#include "core/formats/legacy/legacy_text_reader.h"

namespace heapgauge {
namespace {

Result<Profile> Checked(Result<Profile> profile) {
  if (profile) {
    const Status status = profile->Check();
    EXPECT_TRUE(status) << status.error().message;
  }
  return profile;
}

Result<Profile> ReadText(const std::string& text) {
  const auto stream = StreamOf(text);
  return Checked(ReadLegacyText(stream.get(), "x.prof", {}));
}

Result<Profile> ReadBinary(const std::string& bytes) {
  const auto stream = StreamOf(bytes);
  return Checked(ReadLegacyCpu(stream.get(), "x.prof", {}));
}

std::vector<uint64_t> Stack(const Profile& profile, RowId row) {
  std::vector<LocationId> stack;
  profile.StackOf(row, &stack);
  std::vector<uint64_t> addresses;
  for (const LocationId id : stack) addresses.push_back(profile.locations[id].lookup_address());
  return addresses;
}

TEST(LegacyTextReader, ReadsContention) {
  const auto p = ReadText(
      "--- contentionz 1 ---\n"
      "cycles/second = 2000000000\n"
      "sampling period = 10\n"
      "ms since reset = 5\n"
      "discarded samples = x\n"
      "  1000 3 @ 0x1001 0x2001\n"
      "# comment\n"
      "  7 1 @ 0x1001\n"
      "--- Memory map: ---\n"
      "1000-3000: /bin/x\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->sample_types[1].name, "delay");
  EXPECT_EQ(p->values, (std::vector<int64_t>{30, 5000, 10, 35}));
  EXPECT_EQ(p->duration_ns, 5000000);
  EXPECT_EQ(p->period, 10);
  EXPECT_EQ(Stack(*p, 0), (std::vector<uint64_t>{0x1000, 0x2000}));
  EXPECT_EQ(p->modules[0].path, "/bin/x");
  EXPECT_NE(p->drop_frames.find("MutexLock"), std::string::npos);
}

TEST(LegacyTextReader, ReadsMutexProfilesOfGo) {
  const auto p = ReadText("--- mutex:\ncycles/second=1000000000\nsampling period=1\n5 1 @ 0x10\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->values, (std::vector<int64_t>{1, 5}));
}

TEST(LegacyTextReader, ReadsCountsOfGo) {
  const auto p =
      ReadText("goroutine profile: total 3\n2 @ 0x11 0x21\n#\t0x10\tmain.f\n\n1 @ 0x31\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->sample_types[0].name, "goroutine");
  EXPECT_EQ(p->values, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(Stack(*p, 0), (std::vector<uint64_t>{0x10, 0x20}));
}

TEST(LegacyTextReader, ReadsThreads) {
  const auto p = ReadText(
      "--- threadz 1 ---\n"
      "for people\n"
      "--- Thread 7f12 (name: main/12) stack: ---\n"
      "  PC: 0x100 f\n"
      "  0x100 0x201\n"
      "--- Thread 7f13 (name: other/13) stack: ---\n"
      "  [same as previous thread]\n"
      "--- Thread 7f14 (name: third/14) stack: ---\n"
      "  0x300 0x401\n"
      "--- Memory map: ---\n"
      "100-1000: /bin/x\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->values, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(Stack(*p, 0), (std::vector<uint64_t>{0x100, 0x200}))
      << "the innermost twice counts once";
  EXPECT_EQ(Stack(*p, 1), (std::vector<uint64_t>{0x300, 0x400})) << "the innermost is exact";
}

TEST(LegacyTextReader, SaysWhereSomethingIsWrong) {
  EXPECT_EQ(ReadText("hello\n").error().message,
            "contention or thread profile: x.prof: line 1: not the header of a known kind of "
            "profile: \"hello\"");
  EXPECT_FALSE(ReadText(""));
  EXPECT_FALSE(ReadText("--- contention:\n1 x @ 0x1\n"));
  EXPECT_FALSE(ReadText("--- contention:\nfoo = 1\n"));
  EXPECT_FALSE(ReadText("--- contention:\nsampling period = x\n"));
  EXPECT_FALSE(ReadText("--- contentionz 1 ---\nformat = java\n"));
  EXPECT_FALSE(ReadText("goroutine profile: total 1\nx @ 0x1\n"));
  EXPECT_FALSE(ReadText("goroutine profile: total 1\n1 @ 0x11111111111111111\n"));
  EXPECT_TRUE(
      ReadText("--- contention:\nsampling period = 9223372036854775807\n"
               "9223372036854775807 9223372036854775807 @ 0x1\n"));
}

std::string Words(std::initializer_list<uint64_t> words, size_t size, bool big) {
  std::string bytes;
  for (const uint64_t word : words) {
    for (size_t i = 0; i < size; ++i) {
      bytes += static_cast<char>(word >> 8 * (big ? size - 1 - i : i));
    }
  }
  return bytes;
}

TEST(LegacyCpuReader, ReadsAllSizesAndOrdersOfWords) {
  for (const size_t size : {4, 8}) {
    for (const bool big : {false, true}) {
      const auto p = ReadBinary(
          Words({0, 3, 0, 10000, 0, 5, 2, 0x1004, 0x2006, 1, 1, 0x1008, 0, 1, 0}, size, big) +
          "1000-3000 r-xp 00000000 00:00 0 /bin/x\n");
      ASSERT_TRUE(p) << p.error().message;
      EXPECT_EQ(p->period, 10000000);
      EXPECT_EQ(p->values, (std::vector<int64_t>{5, 50000000, 1, 10000000}));
      EXPECT_EQ(Stack(*p, 0), (std::vector<uint64_t>{0x1004, 0x2005}));
      EXPECT_EQ(p->modules[0].path, "/bin/x");
    }
  }
}

TEST(LegacyCpuReader, DropsFramesOfTheSignalHandler) {
  const auto p = ReadBinary(Words(
      {0, 3, 0, 1, 0, 1, 3, 0x10, 0x99, 0x20, 1, 4, 0x30, 0x99, 0x30, 0x41, 0, 1, 0}, 8, false));
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(Stack(*p, 0), (std::vector<uint64_t>{0x10, 0x1f}));
  EXPECT_EQ(Stack(*p, 1), (std::vector<uint64_t>{0x30, 0x40})) << "and the innermost told twice";
}

TEST(LegacyCpuReader, SaysWhereSomethingIsWrong) {
  EXPECT_FALSE(ReadBinary(""));
  EXPECT_EQ(ReadBinary(std::string(40, 'x')).error().message,
            "binary CPU profile: x.prof: byte 40: not the header of a CPU profile");
  EXPECT_EQ(ReadBinary(Words({0, 3, 0, 1, 0, 5, uint64_t{1} << 40}, 8, false)).error().message,
            "binary CPU profile: x.prof: byte 56: a stack has 1099511627776 frames");
  const std::string whole = Words({0, 3, 0, 1, 0, 5, 2, 1, 2, 0, 1, 0}, 8, false);
  for (size_t size = 0; size < whole.size(); ++size) ReadBinary(whole.substr(0, size));
}

}  // namespace
}  // namespace heapgauge
