#include "core/formats/dhat/dhat_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/byte_stream.h"
#include "core/formats/dhat/dhat_file.h"
#include "core/recording/read_profile.h"

namespace heapgauge {
namespace {

Result<Profile> Read(const std::string& text) {
  auto profile = ReadProfile(StreamOf(text), "x.json");
  if (profile) {
    const Status status = profile->Check();
    EXPECT_TRUE(status) << status.error().message;
  }
  return profile;
}

int64_t Value(const Profile& profile, RowId row, std::string_view type) {
  const size_t at = profile.FindType(type);
  return at < profile.sample_types.size() ? profile.value(row, at) : -1;
}

std::string StackText(const Profile& profile, RowId row) {
  std::vector<LocationId> stack;
  profile.StackOf(row, &stack);
  std::string text;
  for (const LocationId id : stack) {
    const Location& location = profile.locations[id];
    for (uint32_t i = 0; i < location.frame_count; ++i) {
      const Frame& frame = profile.frames[location.first_frame + i];
      const Function& function = profile.functions[frame.function];
      text += function.name + "@" + function.file + ":" + std::to_string(frame.line) +
              (frame.inlined ? "i " : " ");
    }
  }
  return text;
}

constexpr const char* kHeap = R"json({"dhatFileVersion":2
,"mode":"heap","verb":"Allocated"
,"bklt":true,"bkacc":true
,"tu":"instrs","Mtu":"Minstr","tuth":500
,"cmd":"./p -x","pid":77,"te":1960437,"tg":1934877
,"pps":
 [{"tb":1045,"tbk":10,"tl":381215,"mb":900,"mbk":9,"gb":800,"gbk":8,"eb":700,"ebk":7
  ,"rb":3,"wb":4,"acc":[-64,0,5],"fs":[1,2,3,4]}
 ,{"tb":5,"tbk":1,"tl":1,"mb":5,"mbk":1,"gb":0,"gbk":0,"eb":0,"ebk":0,"rb":0,"wb":0,"fs":[5]}
 ,{"tb":1,"tbk":1,"tl":1,"mb":5,"mbk":1,"gb":0,"gbk":0,"eb":0,"ebk":0,"rb":0,"wb":0,"fs":[]}
 ]
,"ftbl":
 ["[root]"
 ,"0x48417B4: malloc (in /usr/libexec/preload.so)"
 ,"0x10924F: Inl(int (*)()) (p.cc:7)"
 ,"0x10924F: main (p.cc:10)"
 ,"0x49037B9: ??? (in /usr/lib/libstdc++.so.6)"
 ,"0x77: ???"
 ]
})json";

TEST(DhatReader, ReadsAllFiguresOfAHeapProfile) {
  const auto p = Read(kHeap);
  ASSERT_TRUE(p) << p.error().message;
  ASSERT_EQ(p->rows.size(), 3u);
  EXPECT_EQ(p->rows[0].samples, 0u) << "all is known, nothing was sampled";
  EXPECT_EQ(Value(*p, 0, "alloc_space"), 1045);
  EXPECT_EQ(Value(*p, 0, "alloc_objects"), 10);
  EXPECT_EQ(Value(*p, 0, "inuse_space"), 700);
  EXPECT_EQ(Value(*p, 0, "inuse_objects"), 7);
  EXPECT_EQ(Value(*p, 0, "peak_space"), 800);
  EXPECT_EQ(Value(*p, 0, "peak_objects"), 8);
  EXPECT_EQ(Value(*p, 0, "own_peak_space"), 900);
  EXPECT_EQ(Value(*p, 0, "own_peak_objects"), 9);
  EXPECT_EQ(Value(*p, 0, "lifetimes"), 381215);
  EXPECT_EQ(Value(*p, 0, "read_space"), 3);
  EXPECT_EQ(Value(*p, 0, "written_space"), 4);
  EXPECT_EQ(p->sample_types[p->FindType("lifetimes")].unit, "instrs");
  EXPECT_EQ(p->sample_types[p->DefaultType()].name, "alloc_space");
  EXPECT_EQ(p->recording.command_line, (std::vector<std::string>{"./p", "-x"}));
  EXPECT_EQ(p->recording.peak_bytes, 800u);
  ASSERT_EQ(p->comments.size(), 1u);
  EXPECT_EQ(p->comments[0], "DHAT, mode heap, pid 77: ended at 1960437 instrs, peak at 1934877");
}

TEST(DhatReader, PutsInlinedCallsIntoOneLocation) {
  const auto p = Read(kHeap);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(StackText(*p, 0),
            "malloc@:0 Inl(int (*)())@p.cc:7i main@p.cc:10 libstdc++.so.6 0x49037b9@:0 ");
  std::vector<LocationId> stack;
  p->StackOf(0, &stack);
  ASSERT_EQ(stack.size(), 3u);
  EXPECT_EQ(p->locations[stack[1]].address, 0x10924Fu);
  EXPECT_EQ(p->modules[p->locations[stack[2]].module].path, "/usr/lib/libstdc++.so.6");
  EXPECT_EQ(p->modules[0].path, "./p") << "the program comes first";
  EXPECT_EQ(StackText(*p, 1), "0x77@:0 ");
  EXPECT_EQ(p->rows[2].leaf, kNone);
}

TEST(DhatReader, ReadsFramesInAllTheirForms) {
  const DhatFrame rust = ParseDhatFrame("0x10af2: <T as A>::f (src/alloc.rs:83:14)");
  EXPECT_EQ(rust.function, "<T as A>::f");
  EXPECT_EQ(rust.file, "src/alloc.rs");
  EXPECT_EQ(rust.line, 83u);
  EXPECT_EQ(rust.column, 14u);
  const DhatFrame plain = ParseDhatFrame("0x1: operator() (int)");
  EXPECT_EQ(plain.function, "operator() (int)");
  EXPECT_EQ(plain.file, "");
  const DhatFrame bare = ParseDhatFrame("main (a.c:1)");
  EXPECT_FALSE(bare.has_address);
  EXPECT_EQ(bare.function, "main");
  const DhatFrame odd = ParseDhatFrame("0x1: f (a:b:x)");
  EXPECT_EQ(odd.file, "a:b:x");
  EXPECT_EQ(odd.line, 0u);
  EXPECT_EQ(ParseDhatFrame("").function, "");
  EXPECT_EQ(ParseDhatFrame("0x: f").function, "0x: f");
  EXPECT_EQ(ParseDhatFrame("0x1: ??? (in /a (b)/c.so)").function, "??? (in /a (b)/c.so)")
      << "a path with a blank and a parenthesis cannot be told from a name";
}

TEST(DhatReader, HasOtherFiguresForCopiesAndEvents) {
  const auto copy = Read(
      R"({"dhatFileVersion":2,"mode":"copy","verb":"Copied","bklt":false,"bkacc":false,"tu":"instrs",
"Mtu":"M","cmd":"c","pid":1,"te":1,"pps":[{"tb":7,"tbk":2,"fs":[1]}],"ftbl":["[root]","0x1: f"]})");
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(copy->sample_types.size(), 2u);
  EXPECT_EQ(Value(*copy, 0, "copied_space"), 7);
  EXPECT_EQ(Value(*copy, 0, "copies"), 2);
  const auto events = Read(
      R"({"dhatFileVersion":2,"mode":"rust-ad-hoc","verb":"Occurred","bklt":false,"bkacc":false,
"bu":"unit","bsu":"units","bksu":"events","tu":"µs","Mtu":"s","cmd":"c","pid":1,"te":2500000,
"ftbl":["[root]","0x1: f"],"pps":[{"tb":7,"tbk":2,"fs":[1]}]})");
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(Value(*events, 0, "event_units"), 7);
  EXPECT_EQ(events->sample_types[1].unit, "units");
  EXPECT_EQ(events->recording.duration_ns, 2500000000u);
}

TEST(DhatReader, SaysWhatIsWrong) {
  const std::string head = R"({"dhatFileVersion":2,"bklt":false,)";
  const std::pair<std::string, const char*> kBad[] = {
      {R"({"dhatFileVersion":1,"pps":[]})", "file version 1 is not 2"},
      {R"({"dhatFileVersion":-2,"pps":[]})", "is not 2"},
      {head, "not JSON"},
      {head + R"("pps":[]})", "no frame table"},
      {head + R"("ftbl":[]})", "no program points"},
      {head + R"("ftbl":["[root]"],"pps":[{"tb":1,"fs":[1]}]})", "names frame 1, but there are 1"},
      {head + R"("ftbl":["[root]"],"pps":[{"tbk":1,"fs":[]}]})", "without \"tb\""},
      {head + R"("ftbl":[],"pps":[{"tb":-1,"fs":[]}]})", "no whole number"},
      {head + R"("ftbl":[],"pps":[{"tb":9223372036854775808,"fs":[]}]})", "no whole number"},
      {head + R"("ftbl":[],"pps":[{"tb":1e300,"fs":[]}]})", "no whole number"},
      {head + R"("ftbl":[],"pps":[{"tb":1,"fs":[-1]}]})", "a frame that cannot be"},
      {head + R"("ftbl":[],"pps":[{"tb":1,"fs":[99999999999]}]})", "a frame that cannot be"},
      {head + R"("ftbl":[]],"pps":[]})", "not JSON"},
      {R"({"x":{"dhatFileVersion":2},"pps":[],"ftbl":[]})", "there is no dhatFileVersion"},
  };
  for (const auto& [text, says] : kBad) {
    const auto profile = Read(text);
    ASSERT_FALSE(profile) << text;
    EXPECT_NE(profile.error().message.find(says), std::string::npos) << profile.error().message;
    EXPECT_EQ(profile.error().message.find('\n'), std::string::npos);
  }
}

TEST(DhatReader, IsNotImpressedByDepthOrLength) {
  const std::string head = R"({"dhatFileVersion":2,"x":)";
  EXPECT_FALSE(Read(head + std::string(1000000, '[')));
  EXPECT_TRUE(
      Read(head + std::string(100000, '[') + std::string(100000, ']') + R"(,"pps":[],"ftbl":[]})"));
  const auto longer = Read(head + "\"" + std::string(17 << 20, 'x') + R"(","pps":[],"ftbl":[]})");
  ASSERT_FALSE(longer);
  EXPECT_NE(longer.error().message.find("more than 16 MB"), std::string::npos);
  std::string deep = R"({"dhatFileVersion":2,"ftbl":["r"],"pps":[{"tb":1,"fs":[0)";
  for (int i = 0; i < 70000; ++i) deep += ",0";
  const auto frames = Read(deep + "]}]}");
  ASSERT_FALSE(frames);
  EXPECT_NE(frames.error().message.find("more than 65535 frames"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge
