#include "core/formats/symbolized/symbolized_reader.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

constexpr const char* kNames =
    "--- symbol\n"
    "binary=/usr/bin/program\n"
    "0x0000000000001004 Outer--Middle--_ZN1a1bEi\n"
    "0x2005 Exact\n"
    "0x9999 Unused\n"
    "---\n";

Result<Profile> Read(const std::string& text) {
  const auto stream = StreamOf(text);
  auto profile = ReadSymbolized(stream.get(), "x.prof", {});
  if (profile) {
    const Status status = profile->Check();
    EXPECT_TRUE(status) << status.error().message;
  }
  return profile;
}

std::string Names(const Profile& profile, LocationId id) {
  const Location& location = profile.locations[id];
  std::string text;
  for (uint32_t i = 0; i < location.frame_count; ++i) {
    const Frame& frame = profile.frames[location.first_frame + i];
    text += profile.functions[frame.function].name + (frame.inlined ? "<" : "|");
  }
  return text;
}

TEST(SymbolizedReader, NamesLocationsOfAHeapProfile) {
  const auto p = Read(std::string(kNames) +
                      "--- heap\n"
                      "heap profile: 1: 10 [ 0: 0] @ heapprofile\n"
                      "1: 10 [0: 0] @ 0x1005 0x2005 0x3005\n"
                      "MAPPED_LIBRARIES:\n"
                      "1000-4000 r-xp 00000000 00:00 0 /usr/bin/program\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(Names(*p, 0), "a::b(int)<Middle<Outer|") << "innermost first, one below the address";
  EXPECT_EQ(Names(*p, 1), "Exact|") << "the address itself";
  EXPECT_EQ(Names(*p, 2), "");
  EXPECT_EQ(p->recording.program, "/usr/bin/program");
  EXPECT_TRUE(p->modules[0].has_functions);
  EXPECT_TRUE(p->modules[0].has_inlines);
  EXPECT_EQ(p->functions.size(), 4u);
}

TEST(SymbolizedReader, ReadsEveryKindBehindTheNames) {
  const auto jemalloc =
      Read(std::string(kNames) +
           "--- heap\nheap_v2/1\n  t*: 1: 10 [0: 0]\n@ 0x1005\n  t*: 1: 10 [0: 0]\n");
  ASSERT_TRUE(jemalloc) << jemalloc.error().message;
  EXPECT_EQ(jemalloc->value(0, 1), 10);
  EXPECT_EQ(Names(*jemalloc, 0), "a::b(int)<Middle<Outer|");
  const auto growth =
      Read(std::string(kNames) +
           "--- growth\nheap profile: 1: 10 [ 1: 10] @ growthz\n1: 10 [1: 10] @ 0x1005\n");
  ASSERT_TRUE(growth) << growth.error().message;
  const auto contention =
      Read(std::string(kNames) + "--- contention\nsampling period = 1\n10 2 @ 0x1005\n");
  ASSERT_TRUE(contention) << contention.error().message;
  EXPECT_EQ(contention->value(0, 0), 2);
  std::string cpu = std::string(kNames) + "--- profile\n";
  for (const uint64_t word : {0, 3, 0, 10000, 0, 5, 2, 0x1004, 0x2006, 0, 1, 0}) {
    cpu.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  const auto profile = Read(cpu);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->value(0, 0), 5);
  EXPECT_EQ(Names(*profile, 0), "a::b(int)<Middle<Outer|") << "the innermost address is exact";
}

TEST(SymbolizedReader, SaysWhereSomethingIsWrong) {
  EXPECT_EQ(Read("--- symbol\n0x1 a\n").error().message,
            "symbolized profile: x.prof: line 2: the file ends amid its names");
  EXPECT_EQ(Read("--- symbol\n---\n").error().message,
            "symbolized profile: x.prof: line 2: there is no profile behind the names");
  EXPECT_NE(Read("--- symbol\n---\nhello\n").error().message.find("line 3: no profile of a known"),
            std::string::npos);
  EXPECT_NE(Read("--- symbol\n---\n--- heap\nheap profile: x\n")
                .error()
                .message.find("gperftools heap profile: x.prof: line 4"),
            std::string::npos);
}

TEST(SymbolizedReader, ToleratesOddNames) {
  const auto p = Read(
      "--- symbol\n0x1004 ----\n0x2004 a--\n0xzz x\n0x11111111111111111 y\nfoo=bar\n---\n"
      "heap profile: 1: 10 [ 0: 0] @ heapprofile\n1: 10 [0: 0] @ 0x1005 0x2005\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(Names(*p, 0), "");
  EXPECT_EQ(Names(*p, 1), "a|");
}

}  // namespace
}  // namespace heapgauge
