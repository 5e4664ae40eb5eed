#include "core/formats/heap_text/heap_text.h"

#include <gtest/gtest.h>

#include "core/formats/symbolized/symbolized_reader.h"

namespace heapgauge {
namespace {

Profile Read(const std::string& text) {
  const auto stream = StreamOf(text);
  auto profile = ReadHeapText(stream.get(), "x.heap", {});
  EXPECT_TRUE(profile) << profile.error().message << "\n" << text;
  return profile ? *std::move(profile) : Profile();
}

std::string Write(const Profile& profile, const TextWriteOptions& options = {}) {
  StringSink sink;
  const Status status = WriteHeapText(profile, options, &sink);
  return status ? sink.Take() : status.error().message;
}

TEST(HeapTextWriter, WritesWhatWasRead) {
  const std::string text =
      "heap profile:      3:    30816 [     4:    40032] @ heap_v2/4096\n"
      "     1:     9216 [     2:    18432] @ 0x1235 0x2345\n"
      "     2:    21600 [     2:    21600] @ 0x1236 0x2345\n"
      "\n"
      "MAPPED_LIBRARIES:\n"
      "00001000-00003000 r-xp 00000000 00:00 0           /bin/my program\n";
  EXPECT_EQ(Write(Read(text)), text);
}

TEST(HeapTextWriter, WritesExactProfilesAsTheyAre) {
  const Profile p = Read(
      "heap profile: 3: 300 [ 5: 500] @ heapprofile\n1: 100 [2: 200] @ 0x11\n2: 200 [3: 300] @\n");
  const std::string text = Write(p);
  EXPECT_NE(text.find("] @ heapprofile\n"), std::string::npos) << text;
  EXPECT_EQ(Read(text).values, p.values);
}

TEST(HeapTextWriter, GivesDifferencesTheExactForm) {
  Profile p = Read("heap profile: 1: 9216 [ 0: 0] @ heap_v2/524288\n1: 9216 [0: 0] @ 0x11\n");
  p.estimates.clear();
  p.values = {-57, -528909};
  const std::string text = Write(p);
  EXPECT_NE(text.find("@ heapprofile"), std::string::npos) << text;
  EXPECT_NE(text.find("-57:  -528909 ["), std::string::npos) << text;
  EXPECT_EQ(Read(text).values, p.values) << "the header is one that readers know";
}

TEST(HeapTextWriter, WritesAddressesThatAreLookedUpAsTheyAre) {
  Profile p = Read("heap profile: 1: 9 [ 0: 0] @ heapprofile\n1: 9 [0: 0] @ 0x11\n");
  p.locations[0].address = 0x55;
  p.locations[0].exact = true;
  EXPECT_EQ(Read(Write(p)).locations[0].lookup_address(), 0x55u);
}

TEST(HeapTextWriter, WritesNamesForPlacesWithoutAddresses) {
  Profile p;
  p.sample_types = {{"objects", "count"}, {"space", "bytes"}};
  p.functions = {{"main", "", ""}, {"operator--(int)", "", ""}, {"inner", "", ""}};
  p.frames = {{0, 1, false}, {2, 2, true}, {1, 3, false}};
  p.locations.resize(2);
  p.locations[0].frame_count = 1;
  p.locations[1].first_frame = 1;
  p.locations[1].frame_count = 2;
  p.nodes = {{kNone, 0}, {0, 1}};
  p.rows.resize(1);
  p.rows[0].leaf = 1;
  p.values = {2, 50};
  EXPECT_NE(Write(p).find("--symbolized"), std::string::npos);
  TextWriteOptions options;
  options.symbolized = true;
  const std::string text = Write(p, options);
  const auto stream = StreamOf(text);
  const auto back = ReadSymbolized(stream.get(), "x", {});
  ASSERT_TRUE(back) << back.error().message << text;
  EXPECT_EQ(back->value(0, 1), 50);
  const Location& leaf = back->locations[back->nodes[back->rows[0].leaf].location];
  ASSERT_EQ(leaf.frame_count, 2u);
  EXPECT_EQ(back->functions[back->frames[leaf.first_frame].function].name, "inner");
  EXPECT_EQ(back->functions[back->frames[leaf.first_frame + 1].function].name, "operator- -(int)");
}

TEST(HeapTextWriter, WritesSelectedRowsAndRefusesOtherProfiles) {
  Profile p =
      Read("heap profile: 3: 30 [ 0: 0] @ heapprofile\n1: 9 [0: 0] @ 0x11\n2: 21 [0: 0] @ 0x21\n");
  TextWriteOptions options;
  options.selected = {false, true};
  const Profile back = Read(Write(p, options));
  EXPECT_EQ(back.values, (std::vector<int64_t>{2, 21}));
  p.sample_types = {{"samples", "count"}, {"cpu", "nanoseconds"}};
  EXPECT_NE(Write(p).find("needs blocks and bytes in use"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge
