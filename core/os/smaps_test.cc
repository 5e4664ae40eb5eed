#include "core/os/memory_maps.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

constexpr const char* kTwo =
    "55c6e3657000-55c6e3659000 r-xp 00001000 fe:00 247498                     /usr/bin/a b\n"
    "Size:                  8 kB\n"
    "Rss:                   4 kB\n"
    "Private_Clean:         4 kB\n"
    "VmFlags: rd ex mr mw me \n"
    "7f0000000000-7f0000100000 rw-p 00000000 00:00 0 \n"
    "Rss:                 512 kB\n"
    "Anonymous:           512 kB\n"
    "Private_Dirty:       500 kB\n"
    "Swap:                 16 kB\n"
    "LazyFree:             12 kB\n"
    "VmFlags: rd wr mr mw me nr wf \n";

Smaps Parse(std::string_view text, size_t piece) {
  SmapsParser parser;
  for (size_t at = 0; at < text.size(); at += piece) parser.Feed(text.substr(at, piece));
  return parser.Finish();
}

TEST(Smaps, ReadsMappingsInPiecesOfAnySize) {
  for (const size_t piece : {1, 7, 64, 100'000}) {
    const Smaps smaps = Parse(kTwo, piece);
    ASSERT_EQ(smaps.mappings.size(), 2u) << piece;
    const MappingUsage& file = smaps.mappings[0];
    EXPECT_EQ(file.name, "/usr/bin/a b");
    EXPECT_EQ(file.start, 0x55c6e3657000u);
    EXPECT_EQ(file.size(), 8192u);
    EXPECT_TRUE(file.executable);
    EXPECT_FALSE(file.writable);
    EXPECT_EQ(file.device_major, 0xfeu);
    EXPECT_EQ(file.inode, 247498u);
    EXPECT_EQ(file.clean(), 4096u);
    const MappingUsage& anonymous = smaps.mappings[1];
    EXPECT_TRUE(anonymous.is_anonymous());
    EXPECT_TRUE(anonymous.no_reserve);
    EXPECT_TRUE(anonymous.wiped_on_fork);
    EXPECT_EQ(anonymous.anonymous, 512u * 1024);
    EXPECT_EQ(anonymous.private_dirty, 500u * 1024);
    EXPECT_EQ(anonymous.lazily_freed, 12u * 1024);
    EXPECT_EQ(smaps.resident(), 516u * 1024);
    EXPECT_EQ(smaps.swapped(), 16u * 1024);
    EXPECT_EQ(smaps.damaged_lines, 0u);
  }
}

TEST(Smaps, LeavesOutWhatMakesNoSense) {
  const Smaps smaps = Parse(
      "zzz\n"
      "2000-1000 rw-p 0 00:00 0\n"
      "Rss: 4 kB\n"
      "1000-2000 rw-p 00000000 00:00 0\n"
      "Rss: 99999999999999999999999 kB\n"
      "Private_Dirty: 9999999999999999 kB\n"
      "1000-3000 rw-p 00000000 00:00 0\n"  // over the one before
      "4000-",
      1000);
  ASSERT_EQ(smaps.mappings.size(), 1u);
  EXPECT_EQ(smaps.mappings[0].resident, 0u);
  EXPECT_EQ(smaps.damaged_lines, 6u);
}

TEST(Smaps, CutsEndlessLinesAndGoesOn) {
  const std::string text = "1000-2000 rw-p 00000000 00:00 0 /" + std::string(100'000, 'x') + "\n" +
                           "3000-4000 rw-p 00000000 00:00 0 /y\nRss: 4 kB\n";
  const Smaps smaps = Parse(text, 4096);
  ASSERT_EQ(smaps.mappings.size(), 1u);
  EXPECT_EQ(smaps.mappings[0].name, "/y");
  EXPECT_EQ(smaps.damaged_lines, 1u);
}

TEST(Smaps, KeepsOnlySumsBeyondTheLargestNumber) {
  SmapsParser parser;
  char line[128];
  for (uint64_t i = 1; i <= SmapsParser::kMaxMappings + 10; ++i) {
    const int n = std::snprintf(line, sizeof line, "%lx-%lx rw-p 00000000 00:00 0\nRss: 4 kB\n",
                                i * 8192, i * 8192 + 4096);
    parser.Feed(std::string_view(line, static_cast<size_t>(n)));
  }
  const Smaps smaps = parser.Finish();
  EXPECT_EQ(smaps.mappings.size(), SmapsParser::kMaxMappings);
  EXPECT_EQ(smaps.not_listed, 10u);
  EXPECT_EQ(smaps.resident(), (SmapsParser::kMaxMappings + 10) * 4096);
}

TEST(Smaps, ReadsItsOwnProcess) {
  const auto smaps = ReadSmaps("/proc/self/smaps");
  ASSERT_TRUE(smaps.has_value()) << smaps.error().message;
  EXPECT_GT(smaps->mappings.size(), 10u);
  EXPECT_GT(smaps->resident(), 100'000u);
  EXPECT_FALSE(ReadSmaps("/proc/self/no-such-file").has_value());
}

}  // namespace
}  // namespace heapgauge
