#include "core/source/source_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace heapgauge {
namespace {

struct SourceFilesTest : ::testing::Test {
  SourceFilesTest() {
    std::string name = ::testing::TempDir() + "/sourcesXXXXXX";
    root = mkdtemp(name.data());
    std::filesystem::create_directories(root + "/project/src/deep");
    Write("/project/src/a.c", "one\ntwo\r\nthree");
  }
  ~SourceFilesTest() override { std::filesystem::remove_all(root); }
  void Write(const std::string& path, const std::string& text) {
    std::ofstream(root + path) << text;
  }
  static std::string First(SourceFiles files, const std::string& path) {
    const auto line = files.Line(path, 1);
    return line ? std::string(*line) : "(" + files.ErrorOf(path) + ")";
  }
  SourceFiles In(const std::string& search, const std::string& trim = "") const {
    SourceOptions options;
    options.search_path = search;
    options.trim_path = trim;
    return SourceFiles(options);
  }
  std::string root;
};

TEST_F(SourceFilesTest, LinesAreCountedFromOneWithoutTheirEnds) {
  SourceFiles files = In("/nowhere");
  const std::string path = root + "/project/src/a.c";
  EXPECT_EQ(files.Line(path, 0), std::nullopt);
  EXPECT_EQ(files.Line(path, 1), "one");
  EXPECT_EQ(files.Line(path, 2), "two");
  EXPECT_EQ(files.Line(path, 3), "three");
  EXPECT_EQ(files.Line(path, 4), std::nullopt);
  EXPECT_EQ(files.ErrorOf(path), "");
}

TEST_F(SourceFilesTest, RelativePathsAreLookedForInTheSearchPathAndAbove) {
  EXPECT_EQ(First(In(root + "/project"), "src/a.c"), "one");
  EXPECT_EQ(First(In(root + "/project/src/deep"), "src/a.c"), "one");
  EXPECT_EQ(First(In("/nowhere:" + root + "/project"), "src/a.c"), "one");
  EXPECT_EQ(First(In("/nowhere"), "src/a.c"), "(could not find file src/a.c on path /nowhere)");
}

TEST_F(SourceFilesTest, WhatStandsBeforeTheNameOfASearchDirectoryIsCut) {
  EXPECT_EQ(First(In(root + "/project"), "/build/7/project/src/a.c"), "one");
}

TEST_F(SourceFilesTest, TrimPathIsCut) {
  EXPECT_EQ(First(In(root, "/build/x"), "/build/x/project/src/a.c"), "one");
}

TEST_F(SourceFilesTest, LeadingDirectoriesThatAreNotHereAreLeftOut) {
  EXPECT_EQ(First(In(root + "/project"), "/build/app/src/a.c"), "one");
  EXPECT_EQ(First(In(root + "/project/src"), "/build/app/source/a.c"), "one");
}

TEST_F(SourceFilesTest, AMissingFileIsToldInGosWords) {
  EXPECT_EQ(First(In("/nowhere"), "/no/such/file.c"),
            "(open /no/such/file.c: no such file or directory)");
}

TEST_F(SourceFilesTest, FilesAreSeenThroughTheRootOfTheProcess) {
  SourceOptions options;
  options.pid = static_cast<uint32_t>(getpid());
  options.trim_path = "/nothing";
  SourceFiles files(options);
  // The path of this process's root leads to the same file, but only step 3 can find it.
  const std::string path = root + "/project/src/a.c";
  EXPECT_EQ(files.Line(path, 1), "one");
}

TEST_F(SourceFilesTest, WhatIsNoRegularFileIsNotRead) {
  ASSERT_EQ(mkfifo((root + "/pipe.c").c_str(), 0600), 0);
  SourceFiles files = In("/nowhere");
  EXPECT_EQ(files.Line(root + "/pipe.c", 1), std::nullopt);
  EXPECT_EQ(files.Line(root + "/project", 1), std::nullopt);
}

TEST_F(SourceFilesTest, ALineOfMoreThan64KilobytesEndsTheFile) {
  Write("/long.c", "first\n" + std::string(70000, 'x') + "\nlast\n");
  SourceFiles files = In("/nowhere");
  EXPECT_EQ(files.Line(root + "/long.c", 1), "first");
  EXPECT_EQ(files.Line(root + "/long.c", 2), std::nullopt);
}

TEST_F(SourceFilesTest, AListingReachesFromTheFirstLineToFiveBehindTheLastWeight) {
  std::string text;
  for (int i = 1; i <= 40; ++i) text += "line " + std::to_string(i) + "\n";
  Write("/f.c", text);
  SourceFiles files = In("/nowhere");
  const auto lines = ListLines(
      root + "/f.c", "", {{20, 0, 1, 2, 0, 0}, {22, 0, 0, 4, 0, 0}, {20, 0, 3, 3, 0, 0}}, &files);
  ASSERT_EQ(lines.size(), 13u);
  EXPECT_EQ(lines.front().number, 15);
  EXPECT_EQ(lines.back().number, 27);
  EXPECT_EQ(lines[5].text, "line 20");
  EXPECT_EQ(lines[5].sum.flat, 4);
  EXPECT_EQ(lines[5].sum.cum, 5);
  EXPECT_EQ(lines[7].sum.cum, 4);
  EXPECT_EQ(ListLines(root + "/f.c", "", {{38, 30, 1, 1, 0, 0}}, &files).size(), 11u);
}

}  // namespace
}  // namespace heapgauge
