#include "core/formats/collapsed/collapsed.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

Result<Profile> Read(const std::string& text) {
  const auto stream = StreamOf(text);
  auto profile = ReadCollapsed(stream.get(), "x.txt", {});
  if (profile) {
    const Status status = profile->Check();
    EXPECT_TRUE(status) << status.error().message;
  }
  return profile;
}

std::string Stack(const Profile& profile, RowId row) {
  std::vector<LocationId> stack;
  profile.StackOf(row, &stack);
  std::string text;
  for (const LocationId id : stack) {
    text +=
        profile.functions[profile.frames[profile.locations[id].first_frame].function].name + "|";
  }
  return text;
}

TEST(CollapsedReader, ReadsStacksFromTheOutermostOn) {
  const auto p = Read("main;a b(int, char);c 12\nmain;c 3\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(Stack(*p, 0), "c|a b(int, char)|main|");
  EXPECT_EQ(Stack(*p, 1), "c|main|");
  EXPECT_EQ(p->values, (std::vector<int64_t>{12, 3}));
  EXPECT_EQ(p->sample_types[0].name, "samples");
  EXPECT_EQ(p->functions.size(), 3u);
  EXPECT_TRUE(p->estimates.empty());
}

TEST(CollapsedReader, TakesFractionsSignsAndComments) {
  const auto p = Read("# type: inuse_space/bytes\n\nmain 1.5\nmain;x -7\n# end\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->sample_types[0].name, "inuse_space");
  EXPECT_EQ(p->sample_types[0].unit, "bytes");
  EXPECT_EQ(p->values, (std::vector<int64_t>{2, -7}));
  ASSERT_EQ(p->estimates.size(), 2u);
  EXPECT_DOUBLE_EQ(p->estimates[0].value, 1.5);
}

TEST(CollapsedReader, ReadsWhatTheWriterWrites) {
  const std::string text = "(truncated);a;b 30\n(unknown stack) 50\nmain;x 7\n";
  const auto p = Read(text);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_TRUE(p->rows[0].truncated);
  EXPECT_EQ(p->rows[1].leaf, kNone);
  std::vector<std::string> names;
  for (const Frame& frame : p->frames) names.push_back(p->functions[frame.function].name);
  StringSink sink;
  ASSERT_TRUE(WriteCollapsed(*p, 0, {}, names, false, &sink));
  EXPECT_EQ(sink.text(), text);
}

TEST(CollapsedReader, SaysWhereSomethingIsWrong) {
  EXPECT_EQ(Read("main;x 7\nmain;y\n").error().message,
            "collapsed stacks: x.txt: line 2: no number at the end (outer;inner 123): \"main;y\"");
  EXPECT_FALSE(Read("main nan\n"));
  EXPECT_FALSE(Read("main 1e999\n"));
  EXPECT_FALSE(Read(""));
  std::string deep = "main";
  for (int i = 0; i < 65536; ++i) deep += ";x";
  EXPECT_FALSE(Read(deep + " 1\n"));
}

}  // namespace
}  // namespace heapgauge
