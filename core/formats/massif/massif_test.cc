// massif.out files: parsing, profiles of them, writing them again.
#include <gtest/gtest.h>

#include <random>

#include "core/formats/massif/massif_file.h"
#include "core/formats/massif/massif_reader.h"
#include "core/recording/read_profile.h"

namespace heapgauge {
namespace {

const char* const kFile =
    "desc: --time-unit=B\n"
    "cmd: ./server -p 80\n"
    "time_unit: B\n"
    "#-----------\n"
    "snapshot=0\n"
    "#-----------\n"
    "time=0\n"
    "mem_heap_B=0\n"
    "mem_heap_extra_B=0\n"
    "mem_stacks_B=0\n"
    "heap_tree=empty\n"
    "#-----------\n"
    "snapshot=1\n"
    "#-----------\n"
    "time=5000\n"
    "mem_heap_B=4000\n"
    "mem_heap_extra_B=96\n"
    "mem_stacks_B=0\n"
    "heap_tree=peak\n"
    "n3: 4000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
    " n2: 3000 0x109151: grab (m.c:4)\n"
    "  n0: 2000 0x1091E3: main (m.c:10)\n"
    "  n0: 1000 0x10918F: std::map<int, {lambda()#1}>::operator[](int const&) (in /usr/bin/x)\n"
    " n0: 900 0x10: ??? (in /usr/lib/libc.so.6)\n"
    " n0: 60 in 7 places, all below massif's threshold (1.00%)\n"
    "#-----------\n"
    "snapshot=2\n"
    "#-----------\n"
    "time=9000\n"
    "mem_heap_B=10\n"
    "mem_heap_extra_B=6\n"
    "mem_stacks_B=0\n"
    "heap_tree=detailed\n"
    "n1: 10 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
    " n0: 10 0x109151: grab (m.c:4)\n";

Result<MassifFile> Parse(const std::string& text) {
  const auto stream = StreamOf(text);
  return ParseMassif(stream.get(), "massif.out.7");
}

Result<Profile> Read(const std::string& text, const std::string& at = "") {
  const auto stream = StreamOf(text);
  auto profile = ReadMassif(stream.get(), "massif.out.7", at);
  if (profile) {
    const Status status = profile->Check();
    EXPECT_TRUE(status) << status.error().message;
  }
  return profile;
}

// "4000 grab<-main" for each row.
std::vector<std::string> Rows(const Profile& profile) {
  std::vector<std::string> rows;
  std::vector<LocationId> stack;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    profile.StackOf(row, &stack);
    std::string text = std::to_string(profile.value(row, 0)) + " ";
    for (const LocationId id : stack) {
      if (id != stack.front()) text += "<-";
      text += profile.functions[profile.frames[profile.locations[id].first_frame].function].name;
    }
    rows.push_back(text);
  }
  return rows;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(MassifParser, KeepsAllThatTheFileSays) {
  const auto file = Parse(kFile);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->command, "./server -p 80");
  EXPECT_EQ(file->descriptions, std::vector<std::string>{"--time-unit=B"});
  EXPECT_EQ(file->unit, MassifUnit::kBytes);
  ASSERT_EQ(file->snapshots.size(), 3u);
  EXPECT_EQ(file->snapshots[1].total_bytes(), 4096u);
  EXPECT_EQ(file->snapshots[1].tree.size(), 6u);
  EXPECT_EQ(file->PeakSnapshot(), 1u);
  StringSink written;
  ASSERT_TRUE(WriteMassif(*file, &written));
  // ms_print would take the rest of the line for a comment.
  EXPECT_EQ(written.text(), Replaced(kFile, "lambda()#1", "lambda() 1"));
}

TEST(MassifWriter, WritesTheSameOfWhatItHasWritten) {
  auto file = Parse(kFile);
  ASSERT_TRUE(file);
  file->descriptions = {"#1 of 2"};
  file->command = "# ./server #";
  StringSink written;
  ASSERT_TRUE(WriteMassif(*file, &written));
  const auto back = Parse(written.text());
  ASSERT_TRUE(back) << back.error().message;
  StringSink again;
  ASSERT_TRUE(WriteMassif(*back, &again));
  EXPECT_EQ(again.text(), written.text());
}

TEST(MassifParser, TakesLateHeadersSecondsAndFractions) {
  const auto file = Parse(
      "snapshot=0\ntime=0.5\nmem_heap_B=1\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n"
      "snapshot=1\ntime=2\nmem_heap_B=1\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n"
      "desc: heaptrack\ncmd: ./m\ntime_unit: s\n");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->unit, MassifUnit::kMilliseconds);
  EXPECT_EQ(file->snapshots[0].time, 500u);
  EXPECT_EQ(file->snapshots[1].time, 2000u);
  EXPECT_EQ(file->command, "./m");
}

TEST(MassifReader, ShowsThePeakWithWhatMassifFoldedAndWhatNoChildHas) {
  const auto profile = Read(kFile);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(
      Rows(*profile),
      (std::vector<std::string>{
          "2000 grab<-main", "1000 grab<-std::map<int, {lambda()#1}>::operator[](int const&)",
          "900 libc.so.6 0x10", "60 (in 7 places, all below massif's threshold (1.00%))", "40 "}));
  EXPECT_EQ(profile->Total(0).value, 4000);
  EXPECT_EQ(profile->sample_types[0].name, "inuse_space");
  ASSERT_EQ(profile->timeline.size(), 3u);
  EXPECT_EQ(profile->timeline[1].live_bytes, 4000u);
  EXPECT_EQ(profile->timeline_axis, TimeAxis::kBytes);
  EXPECT_EQ(profile->timeline[1].at, 5000u);
  EXPECT_EQ(profile->timeline[1].time_ns, 0u);
  EXPECT_TRUE(profile->timeline_live_only);
  EXPECT_EQ(profile->recording.peak_bytes, 4000u);
  const Location& grab = profile->locations[0];
  EXPECT_EQ(grab.lookup_address(), 0x109151u);
  EXPECT_EQ(profile->frames[grab.first_frame].line, 4u);
  EXPECT_EQ(profile->functions[profile->frames[grab.first_frame].function].file, "m.c");
}

TEST(MassifReader, FindsOtherMoments) {
  for (const char* at : {"end", "9000", "snapshot=2", "100%", "8.8K", "99M"}) {
    const auto profile = Read(kFile, at);
    ASSERT_TRUE(profile) << at << ": " << profile.error().message;
    EXPECT_EQ(Rows(*profile), std::vector<std::string>{"10 grab"}) << at;
    EXPECT_TRUE(profile->notes.empty()) << at;
  }
  const auto start = Read(kFile, "start");
  ASSERT_TRUE(start);
  ASSERT_EQ(start->notes.size(), 1u);
  EXPECT_EQ(start->notes[0],
            "snapshot 0 at 0 B has no tree; this is the nearest one that has, snapshot 1 at "
            "4.9 kB");
  EXPECT_FALSE(Read(kFile, "yesterday"));
  EXPECT_FALSE(Read(kFile, "snapshot=3"));
}

TEST(MassifReader, TimesOfMillisecondsBecomeNanoseconds) {
  const auto profile = Read(Replaced(kFile, "time_unit: B", "time_unit: ms"), "5.5s");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->timeline_axis, TimeAxis::kTime);
  EXPECT_EQ(profile->timeline[1].time_ns, 5'000'000'000u);
  EXPECT_TRUE(profile->recording.is_peak);
  EXPECT_EQ(profile->recording.peak_ns, 5'000'000'000u);
}

TEST(MassifFrame, SurvivesTheWayThereAndBack) {
  for (const char* text :
       {"0x109151: grab (m.c:4)", "0x1: operator()(int) (in /usr/bin/my program)", "0x2: ???",
        "0x3: f(void (*)(int)) (a:b.c:12)", "in 1 place, below massif's threshold (1.00%)"}) {
    EXPECT_EQ(MassifFrameText(ParseMassifFrame(text)), text);
  }
  EXPECT_EQ(ParseMassifFrame("0x3: f(void (*)(int)) (a:b.c:12)").name, "f(void (*)(int))");
  EXPECT_EQ(ParseMassifFrame("0x3: f(x) (anonymous)").name, "f(x) (anonymous)");
}

TEST(MassifParser, SaysWhereSomethingIsWrong) {
  const auto message = [](const std::string& text) { return Parse(text).error().message; };
  EXPECT_EQ(message("desc: x\ncmd: y\n"), "massif: massif.out.7: line 2: the file has no snapshot");
  EXPECT_EQ(message("cmd: y\ntime_unit: years\n"),
            "massif: massif.out.7: line 2: a time unit that is not known (i, ms, B, s): "
            "\"time_unit: years\"");
  EXPECT_EQ(message(Replaced(kFile, "time=5000", "time=-1")),
            "massif: massif.out.7: line 15: expected time=NUMBER: \"time=-1\"");
  EXPECT_FALSE(Parse(Replaced(kFile, "n2: 3000", "n3: 3000")));
  EXPECT_FALSE(Parse(Replaced(kFile, "n2: 3000", "n99999999999: 3000")));
  EXPECT_FALSE(Parse(Replaced(kFile, "n2: 3000", "n2: -3000")));
  EXPECT_FALSE(Parse(Replaced(kFile, "mem_heap_B=4000", "mem_heap_B=99999999999999999999")));
  EXPECT_FALSE(Parse(Replaced(kFile, "mem_heap_B=4000", "mem_heap_B=9223372036854775807")));
  EXPECT_FALSE(Parse(Replaced(kFile, "heap_tree=peak", "heap_tree=full")));
  EXPECT_FALSE(Parse(Replaced(kFile, "  n0: 2000", " n0: 2000")));
}

TEST(MassifParser, RefusesATreeWithoutEnd) {
  std::string text =
      "snapshot=0\ntime=0\nmem_heap_B=1\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=peak\n";
  for (size_t i = 0; i < 6000; ++i) text += std::string(i, ' ') + "n1: 1 0x1: f (x.c:1)\n";
  const auto file = Parse(text);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("more than 4096 levels"), std::string::npos);
}

TEST(MassifReader, LivesThroughDamagedFiles) {
  const std::string good = kFile;
  std::mt19937 random(7);
  for (int i = 0; i < 4000; ++i) {
    std::string text = good;
    for (int k = 0; k < 3; ++k) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 40);
          break;
        case 2:
          text.insert(at, good.substr(random() % good.size(), random() % 60));
          break;
        default:
          text.insert(at, std::to_string(random()));
      }
    }
    if (i % 5 == 0) text.resize(random() % text.size());
    const auto profile = Read(text, i % 2 == 0 ? "" : "50%");
    if (!profile) {
      EXPECT_EQ(profile.error().message.find('\n'), std::string::npos);
    }
  }
}

TEST(MassifDetection, KnowsFilesByTheirFirstLines) {
  EXPECT_EQ(DetectFormat(kFile), ProfileFormat::kMassif);
  EXPECT_EQ(DetectFormat("#-----------\nsnapshot=0\n#-----------\ntime=0.1\n"),
            ProfileFormat::kMassif);
  EXPECT_EQ(DetectFormat("cmd: a;b;c 12\nmain;x 7\n"), ProfileFormat::kCollapsed);
  EXPECT_EQ(DetectFormat("snapshot=x;b 7\n"), ProfileFormat::kCollapsed);
}

}  // namespace
}  // namespace heapgauge
