#include "core/formats/heaptrack/heaptrack_reader.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <map>
#include <memory>
#include <string>

#include "core/base/byte_stream.h"
#include "core/formats/heaptrack/heaptrack_names.h"
#include "core/formats/heaptrack/heaptrack_parser.h"
#include "core/formats/heaptrack/live_blocks.h"
#include "core/recording/read_profile.h"

namespace heapgauge {
namespace {

Result<Profile> Read(std::string_view text) { return ReadProfile(StreamOf(text), "x"); }

int64_t Sum(const Profile& profile, std::string_view type) {
  const size_t at = profile.FindType(type);
  int64_t sum = 0;
  for (RowId row = 0; row < profile.rows.size(); ++row) sum += profile.value(row, at);
  return sum;
}

// "inner;outer" by function name, of all rows.
std::map<std::string, int64_t> ByStack(const Profile& profile, std::string_view type) {
  std::map<std::string, int64_t> result;
  std::vector<LocationId> stack;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    profile.StackOf(row, &stack);
    std::string key;
    for (const LocationId location : stack) {
      const Location& at = profile.locations[location];
      for (uint32_t i = 0; i < at.frame_count; ++i) {
        const Frame& frame = profile.frames[at.first_frame + i];
        key += profile.functions[frame.function].name + ";";
      }
    }
    result[key] += profile.value(row, profile.FindType(type));
  }
  return result;
}

constexpr const char* kInterpreted =
    "v 10400 3\nX ./server --port 80\nI 1000 5e2991\n"
    "s b /bin/server\ns 4 main\ns 6 main.c\ns 3 Put\ns 4 Grow\ns 9 libc.so.6\n"
    "i 100 6\nt 1 0\n"                // 1: libc, nothing known
    "i 200 1 2 3 a\nt 2 1\n"          // 2: main
    "i 300 1 4 3 14 5 3 15\nt 3 2\n"  // 3: Put, inlined into Grow
    "a 64 3\na a 2\n+ 1\n- 1\n+ 0\n+ 0\nc a\nR 10\n+ 1\n- 0\n- 1\nc 14\n# strings: 6\n";

TEST(HeaptrackReader, AddsUpAnInterpretedFile) {
  const auto profile = Read(kInterpreted);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_TRUE(profile->Check());
  EXPECT_EQ(Sum(*profile, "alloc_objects"), 4);
  EXPECT_EQ(Sum(*profile, "alloc_space"), 220);
  EXPECT_EQ(Sum(*profile, "inuse_objects"), 1);
  EXPECT_EQ(Sum(*profile, "inuse_space"), 100);
  EXPECT_EQ(Sum(*profile, "peak_objects"), 3);
  EXPECT_EQ(Sum(*profile, "peak_space"), 210);
  EXPECT_EQ(Sum(*profile, "temporary_objects"), 1);
  EXPECT_EQ(Sum(*profile, "temporary_space"), 10);
  EXPECT_EQ(profile->sample_types[profile->DefaultType()].name, "inuse_space");
  EXPECT_EQ(profile->rows[0].samples, 0u) << "all is known, nothing was sampled";
  EXPECT_EQ(profile->recording.peak_bytes, 210u);
  EXPECT_EQ(profile->recording.peak_ns, 10'000'000u);
  EXPECT_EQ(profile->recording.duration_ns, 20'000'000u);
  EXPECT_EQ(profile->recording.command_line,
            (std::vector<std::string>{"./server", "--port", "80"}));
  EXPECT_TRUE(profile->notes.empty()) << profile->notes.front();
}

TEST(HeaptrackReader, KeepsNamesLinesAndInlinedCallsOfAnInterpretedFile) {
  const auto profile = Read(kInterpreted);
  ASSERT_TRUE(profile) << profile.error().message;
  const std::map<std::string, int64_t> live = ByStack(*profile, "inuse_space");
  EXPECT_EQ(live.at("Put;Grow;main;libc.so.6 0x100;"), 100);
  EXPECT_EQ(live.at("main;libc.so.6 0x100;"), 0);
  ASSERT_EQ(profile->modules.size(), 2u);
  EXPECT_EQ(profile->modules[0].path, "/bin/server") << "the program comes first";
  const Location& put = profile->locations[2];
  EXPECT_EQ(put.module, 0u);
  EXPECT_EQ(profile->frames[put.first_frame].line, 0x14u);
  EXPECT_TRUE(profile->frames[put.first_frame].inlined);
  EXPECT_FALSE(profile->frames[put.first_frame + 1].inlined);
  EXPECT_EQ(profile->functions[profile->frames[put.first_frame].function].file, "main.c");
}

TEST(HeaptrackReader, MakesATimelineOfTimesAndPages) {
  const auto profile = Read(kInterpreted);
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->timeline.size(), 3u);
  EXPECT_EQ(profile->timeline[0].live_bytes, 200u);
  EXPECT_EQ(profile->timeline[1].time_ns, 10'000'000u);
  EXPECT_EQ(profile->timeline[1].resident_bytes, 65536u);
  EXPECT_EQ(profile->timeline[2].live_bytes, 100u);
  EXPECT_EQ(profile->timeline[2].freed_bytes, 120u);
}

constexpr const char* kRaw =
    "v 10400 3\nx 7 /bin/sh\nX sh\nI 1000 10\nm 1 -\nm 1 x 1000 0 800\n"
    "m c /lib/libx.so 10000 0 1000 2000 100\n"
    "t 1010 0\nt 11fff 1\nt 12050 1\nt 90000 1\n"
    "+ 10 2 aa0\n- aa0\n+ 20 2 bb0\n+ 30 3 cc0\n- ff0\n- bb0\n+ 8 4 cc0\n"
    "m 1 -\nm 1 x 1000 0 800\nm c /lib/liby.so 10000 0 1000 2000 100\nt 12050 1\n+ 7 5 dd0\nc 3\n";

TEST(HeaptrackReader, MatchesFreesOfARawFileByAddress) {
  const auto profile = Read(kRaw);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_TRUE(profile->Check());
  EXPECT_EQ(Sum(*profile, "alloc_objects"), 5);
  EXPECT_EQ(Sum(*profile, "temporary_objects"), 1);
  EXPECT_EQ(Sum(*profile, "peak_space"), 0x20 + 0x30);
  EXPECT_EQ(Sum(*profile, "inuse_space"), 0x30 + 8 + 7) << "cc0 was never freed, as heaptrack says";
  ASSERT_EQ(profile->notes.size(), 2u);
  EXPECT_NE(profile->notes[0].find("1 frees of blocks that it does not know"), std::string::npos);
  EXPECT_NE(profile->notes[1].find("handed out again"), std::string::npos);
}

TEST(HeaptrackReader, FindsTheModulesOfARawFileAsTheyWereAtTheTime) {
  const auto profile = Read(kRaw);
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_EQ(profile->modules.size(), 3u);
  EXPECT_EQ(profile->modules[0].path, "/bin/sh");
  EXPECT_EQ(profile->modules[1].start, 0x10000u);
  EXPECT_EQ(profile->modules[1].end, 0x12100u);
  std::map<uint64_t, std::string> places;
  for (const Location& location : profile->locations) {
    places[location.address] +=
        location.module == kNone ? "none " : profile->modules[location.module].path + " ";
  }
  EXPECT_EQ(places[0x1010], "/bin/sh ");
  EXPECT_EQ(places[0x11fff], "/lib/libx.so ");
  EXPECT_EQ(places[0x12050], "/lib/libx.so /lib/liby.so ") << "another object took its place";
  EXPECT_EQ(places[0x90000], "none ");
}

TEST(HeaptrackReader, ReadsTheOldestVersion) {
  const auto profile = Read(
      "v 10000 0\nX ./q\ns /lib/m\ns f with blanks\ni 100 1 2\nt 1 0\n+ 10 1 aa0\n+ 20 1 bb0\n"
      "- bb0\n- aa0\n+ 30 1 cc0\nc 5\n");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(Sum(*profile, "temporary_objects"), 1);
  EXPECT_EQ(Sum(*profile, "peak_space"), 48);
  EXPECT_EQ(Sum(*profile, "inuse_space"), 48);
  EXPECT_EQ(profile->functions[0].name, "f with blanks");
}

TEST(HeaptrackReader, CountsTemporaryAsHeaptrackPrintDoes) {
  // A free of the first pair of size and stack right behind another free counts too.
  const auto interpreted =
      Read("v 10400 3\ns 1 m\ni 100 1\nt 1 0\na 10 1\na 20 1\n+ 0\n+ 1\n- 1\n- 0\n");
  ASSERT_TRUE(interpreted) << interpreted.error().message;
  EXPECT_EQ(Sum(*interpreted, "temporary_objects"), 2);
  const auto raw = Read("v 10400 3\nx 1 q\nt 100 0\n+ 10 1 a0\n+ 20 1 b0\n- b0\n- a0\n");
  ASSERT_TRUE(raw) << raw.error().message;
  EXPECT_EQ(Sum(*raw, "temporary_objects"), 2);
}

TEST(HeaptrackReader, LeavesOutALastLineThatWasCut) {
  const auto profile = Read("v 10400 3\ns 1 m\ni 100 1\nt 1 0\na 10 1\n+ 0\na 20");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(Sum(*profile, "alloc_objects"), 1);
  ASSERT_EQ(profile->notes.size(), 1u);
  EXPECT_NE(profile->notes[0].find("the last line is cut"), std::string::npos);
}

// As heaptrack leaves it when it is killed: whole blocks, and no end.
std::string PackedWithoutEnd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const std::unique_ptr<ZSTD_CStream, size_t (*)(ZSTD_CStream*)> stream(ZSTD_createCStream(),
                                                                        ZSTD_freeCStream);
  ZSTD_initCStream(stream.get(), 1);
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer out{packed.data(), packed.size(), 0};
  ZSTD_compressStream2(stream.get(), &out, &in, ZSTD_e_flush);
  packed.resize(out.pos);
  return packed;
}

TEST(HeaptrackReader, TakesWhatIsThereOfAFileThatBreaksOff) {
  std::string text = "v 10400 3\ns 1 m\ni 100 1\nt 1 0\na 10 1\n";
  constexpr int kAllocations = 50'000;
  for (int i = 0; i < kAllocations; ++i) text += "+ 0\n";
  const auto profile = Read(PackedWithoutEnd(text));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(Sum(*profile, "alloc_objects"), kAllocations);
  ASSERT_EQ(profile->notes.size(), 1u);
  EXPECT_NE(profile->notes[0].find("breaks off within its compressed data"), std::string::npos);
}

struct BadFile {
  const char* text;
  const char* says;
};

TEST(HeaptrackReader, SaysWhatIsWrongAndWhere) {
  const BadFile kBad[] = {
      {"v 10400 9\nX q\n", "line 1: file version 9 is newer"},
      {"v 10400 3\n+ 0\nX q\n", "line 2: the allocation's info is not there"},
      {"v 10400 3\n- 7\nX q\n", "line 2: the free's info is not there"},
      {"v 10400 3\nt 1 0\nX q\n", "line 2: the stack's code address is not there"},
      {"v 10400 3\nx 1 q\nt 100 1\nX q\n", "line 3: the stack's parent is not there"},
      {"v 10400 3\na 10 1\nX q\n", "line 2: the stack is not there"},
      {"v 10400 3\ns 1 q\nm 1 - \nX q\n", "line 3: raw and interpreted data in one file"},
      {"v 10400 3\ns ffffffffffffffff q\nX q\n", "line 2: not a string with its length"},
      {"v 10400 3\ns 5 q\nX q\n", "line 2: not a string with its length"},
      {"v 10400 3\ni 1 1\nX q\n", "line 2: not a code address"},
      {"v 10400 3\ni 1 0 9 9 9\nX q\n", "line 2: a frame names a string that is not there"},
      {"v 10400 3\na 1000000000001 0\nX q\n", "line 2: the block is larger than any address"},
      {"v 10400 3\na 11111111111111111 0\nX q\n", "line 2: not a size and a stack"},
      {"v 10400 3\nX q\nnonsense\nX q\n", "line 3: not a line of a heaptrack file"},
      {"v 10400 3\nc x\nX q\n", "line 2: not a time"},
  };
  for (const BadFile& bad : kBad) {
    const auto profile = Read(bad.text);
    ASSERT_FALSE(profile) << bad.text;
    EXPECT_NE(profile.error().message.find(bad.says), std::string::npos) << profile.error().message;
  }
}

TEST(HeaptrackReader, RefusesSumsThatDoNotFit) {
  std::string text = "v 10400 3\na 1000000000000 0\n";
  for (int i = 0; i < 40000; ++i) text += "+ 0\n";
  const auto profile = Read(text);
  ASSERT_FALSE(profile);
  EXPECT_NE(profile.error().message.find("does not fit"), std::string::npos);
}

TEST(HeaptrackReader, RefusesStacksWithoutEnd) {
  std::string text = "v 10400 3\ns 1 m\ni 1 1\nt 1 0\n";
  for (int i = 1; i < 66000; ++i) {
    text += "t 1 ";
    char number[16];
    snprintf(number, sizeof number, "%x\n", i);
    text += number;
  }
  const auto profile = Read(text);
  ASSERT_FALSE(profile);
  EXPECT_NE(profile.error().message.find("more than 65535 frames"), std::string::npos);
}

TEST(HeaptrackReader, KeepsALongTimelineSmall) {
  std::string text = "v 10400 3\nX q\n";
  for (int i = 0; i < 200000; ++i) {
    char line[24];
    snprintf(line, sizeof line, "c %x\n", 10 * i);
    text += line;
  }
  const auto profile = Read(text);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_LE(profile->timeline.size(), size_t{1} << 15);
  EXPECT_GT(profile->timeline.size(), size_t{1} << 13);
  EXPECT_EQ(profile->timeline.back().time_ns, uint64_t{1999990} * 1'000'000);
}

TEST(HeaptrackReader, KnowsItsFilesByTheirFirstLine) {
  EXPECT_TRUE(IsHeaptrack("v 10400 3\n"));
  EXPECT_TRUE(IsHeaptrack("v 10000\nX"));
  EXPECT_FALSE(IsHeaptrack("v 10400 3"));
  EXPECT_FALSE(IsHeaptrack("v 10400 3 5\n"));
  EXPECT_FALSE(IsHeaptrack("v;w 10\n"));
  EXPECT_FALSE(IsHeaptrack("volume 3\n"));
}

TEST(HeaptrackModules, FindsObjectsAsTheyComeAndGo) {
  HeaptrackModules modules;
  EXPECT_EQ(modules.At(5), kNone);
  const std::vector<std::pair<uint64_t, uint64_t>> segments = {{0, 0x100}, {0x200, 0x80}};
  EXPECT_TRUE(modules.Add("b", 0x5000, segments));
  EXPECT_TRUE(modules.Add("a", 0x1000, segments));
  EXPECT_TRUE(modules.Add("a", 0x1000, segments)) << "the same again";
  EXPECT_TRUE(modules.Add("nothing", 0x9000, {}));
  EXPECT_TRUE(modules.Add("wraps", UINT64_MAX - 5, segments));
  ASSERT_EQ(modules.modules().size(), 2u);
  EXPECT_EQ(modules.At(0xfff), kNone);
  EXPECT_EQ(modules.At(0x1000), 1u);
  EXPECT_EQ(modules.At(0x127f), 1u);
  EXPECT_EQ(modules.At(0x1280), kNone);
  EXPECT_EQ(modules.At(0x5001), 0u);
  modules.Clear();
  EXPECT_EQ(modules.At(0x5001), kNone);
  EXPECT_TRUE(modules.Add("c", 0x4f00, {{0, 0x1000}}));
  EXPECT_TRUE(modules.Add("b", 0x5000, segments));
  EXPECT_EQ(modules.At(0x5001), 0u) << "the number that it had, and the nearer start";
  EXPECT_EQ(modules.At(0x4fff), 2u);
}

TEST(HeaptrackModules, HaveAnEnd) {
  HeaptrackModules modules;
  for (uint64_t i = 1; i < 66000; ++i) modules.Add("m", i << 20, {{0, 1}});
  EXPECT_FALSE(modules.Add("m", uint64_t{70000} << 20, {{0, 1}}));
  EXPECT_FALSE(modules.Add("m", uint64_t{70000} << 20, {{0, 1}}));
  EXPECT_EQ(modules.At(uint64_t{70000} << 20), kNone);
  EXPECT_EQ(modules.At(uint64_t{65000} << 20), 64999u);
}

TEST(AddressHashMap, FindsWhatWasPutInAndNothingElse) {
  AddressHashMap<uint32_t> map;
  std::map<uint64_t, uint32_t> model;
  uint64_t random = 1;
  for (uint32_t i = 0; i < 200000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const uint64_t address = random >> 50 << 4;
    uint32_t value = 0;
    if ((random >> 33 & 1) != 0) {
      const auto known = model.find(address);
      ASSERT_EQ(map.Put(address, i, &value), known != model.end());
      if (known != model.end()) {
        ASSERT_EQ(value, known->second);
      }
      model[address] = i;
    } else {
      const auto known = model.find(address);
      ASSERT_EQ(map.Take(address, &value), known != model.end());
      if (known != model.end()) {
        ASSERT_EQ(value, known->second);
      }
      if (known != model.end()) model.erase(known);
    }
    ASSERT_EQ(map.size(), model.size());
  }
  size_t count = 0;
  map.ForEach([&](uint64_t address, uint32_t value) {
    ++count;
    EXPECT_EQ(model.at(address), value);
  });
  EXPECT_EQ(count, model.size());
}

}  // namespace
}  // namespace heapgauge
