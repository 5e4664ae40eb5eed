#include "core/voices/pprof/nodes.h"

#include <gtest/gtest.h>

#include "core/source/source_files.h"
#include "core/voices/pprof/report_dot.h"

namespace heapgauge::pprof {
namespace {

TEST(PathsTest, CleansPaths) {
  EXPECT_EQ(CleanPath(""), ".");
  EXPECT_EQ(CleanPath("/"), "/");
  EXPECT_EQ(CleanPath("a/./b/../c/"), "a/c");
  EXPECT_EQ(CleanPath("/../a"), "/a");
  EXPECT_EQ(CleanPath("../../a"), "../../a");
  EXPECT_EQ(CleanPath("a/../../b"), "../b");
  EXPECT_EQ(CleanPath("//a//b"), "/a/b");
}

TEST(PathsTest, TakesTheLastPart) {
  EXPECT_EQ(LastPart(""), ".");
  EXPECT_EQ(LastPart("/"), "/");
  EXPECT_EQ(LastPart("///"), "/");
  EXPECT_EQ(LastPart("/a/b/"), "b");
  EXPECT_EQ(LastPart("b"), "b");
}

TEST(PathsTest, TrimsWhatTheBuilderHadInFront) {
  EXPECT_EQ(TrimSourcePath("/build/x/a.c", "/other:/build", ""), "x/a.c");
  EXPECT_EQ(TrimSourcePath("/remote/proj/src/a.c", "", "/home/me/proj"), "src/a.c");
  EXPECT_EQ(TrimSourcePath("/remote/proj/src/a.c", "/nowhere", "/home/me/proj"),
            "/remote/proj/src/a.c");
  EXPECT_EQ(TrimSourcePath("/proc/self/cwd/./a.c", "", ""), "a.c");
  EXPECT_EQ(TrimSourcePath("/proc/self/cwd/a.c", "", ""), "a.c");
  EXPECT_EQ(TrimSourcePath("a.c", "", ""), "a.c");
}

TEST(NodesTest, NamesTellWhatIsKnown) {
  NodeInfo info;
  EXPECT_EQ(PrintableName(info), "<unknown>");
  info.object = "/usr/lib/libx.so";
  EXPECT_EQ(PrintableName(info), "[libx.so]");
  info.address = 0x401000;
  EXPECT_EQ(PrintableName(info), "0000000000401000 [libx.so]");
  info.name = "main";
  EXPECT_EQ(PrintableName(info), "0000000000401000 main");
  info.file = "/src/a.c";
  EXPECT_EQ(PrintableName(info), "0000000000401000 main /src/a.c");
  info.line = 12;
  EXPECT_EQ(PrintableName(info), "0000000000401000 main /src/a.c:12");
}

TEST(NodesTest, PicturesShortenNames) {
  EXPECT_EQ(ShortenFunctionName("ns::inner::Class::Method<a::b>"), "Class::Method<a::b>");
  EXPECT_EQ(ShortenFunctionName("ns::function"), "ns::function");
  EXPECT_EQ(ShortenFunctionName("(anonymous namespace)::f"), "f");
  EXPECT_EQ(ShortenFunctionName("example.com/a/b/v2/c.(*T).M"), "c.(*T).M");
  EXPECT_EQ(ShortenFunctionName("example.com/a/b.f"), "b.f");
  EXPECT_EQ(ShortenFunctionName("com.example.Outer$Inner.method$1(int)"), "Outer$Inner.method$1");
  EXPECT_EQ(ShortenFunctionName("java.util.List.<init>"), "List.<init>");
  EXPECT_EQ(ShortenFunctionName("\xff\xfe::Class::m"), "\xff\xfe::Class::m");
}

TEST(NodesTest, PicturesQuoteAndColour) {
  EXPECT_EQ(DotEscaped("a\"b\\c\nd"), "a\\\"b\\\\c\\ld");
  EXPECT_EQ(DotColor(1, false), "#b20000");
  EXPECT_EQ(DotColor(2, true), "#edd5d5");
  EXPECT_EQ(DotColor(0, false), "#b2b2b2");
  EXPECT_EQ(DotColor(-1, false), "#00b200");
}

}  // namespace
}  // namespace heapgauge::pprof
