#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/byte_stream.h"
#include "core/base/sinks.h"

namespace heapgauge {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// A folder for one test.
class Folder {
 public:
  Folder() {
    std::string name = ::testing::TempDir() + "/sinks_XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  size_t Files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

TEST(GzipSink, WhatGoesInComesOut) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i * 7919) + "\n";
  StringSink packed;
  GzipSink gzip(&packed);
  for (size_t at = 0; at < text.size(); at += 1000) {
    ASSERT_TRUE(gzip.Write(std::string_view(text).substr(at, 1000)));
  }
  ASSERT_TRUE(gzip.Finish());
  EXPECT_LT(packed.text().size(), text.size());
  auto stream = Decompressed(StreamOf(packed.text()), "x");
  ASSERT_TRUE(stream);
  std::string out(text.size() + 1, '\0');
  size_t size = 0;
  for (size_t got = 1; got > 0; size += got) {
    got = (*stream)->Read(out.data() + size, out.size() - size).value();
  }
  out.resize(size);
  EXPECT_EQ(out, text);
}

TEST(ZstdSink, WhatGoesInComesOut) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i * 7919) + "\n";
  StringSink packed;
  ZstdSink zstd(&packed);
  for (size_t at = 0; at < text.size(); at += 1000) {
    ASSERT_TRUE(zstd.Write(std::string_view(text).substr(at, 1000)));
  }
  ASSERT_TRUE(zstd.Finish());
  EXPECT_LT(packed.text().size(), text.size());
  auto stream = Decompressed(StreamOf(packed.text()), "x");
  ASSERT_TRUE(stream);
  std::string out(text.size() + 1, '\0');
  size_t size = 0;
  for (size_t got = 1; got > 0; size += got) {
    got = (*stream)->Read(out.data() + size, out.size() - size).value();
  }
  out.resize(size);
  EXPECT_EQ(out, text);
}

TEST(GzipSink, FailsWhereTheSinkBelowDoes) {
  class FullSink final : public TextSink {
   public:
    Status Write(std::string_view) override { return Fail(ErrorCode::kIo, "full"); }
  } full;
  GzipSink gzip(&full);
  (void)gzip.Write("text");
  EXPECT_EQ(gzip.Finish().error().message, "full");
}

TEST(FileSink, AFileAppearsWhenItIsComplete) {
  const Folder folder;
  const std::string path = folder / "out";
  auto sink = FileSink::Create(path);
  ASSERT_TRUE(sink);
  EXPECT_TRUE((*sink)->Write("all of it"));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE((*sink)->Finish());
  EXPECT_EQ(Contents(path), "all of it");
  struct stat st {};
  ASSERT_EQ(stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  EXPECT_EQ(folder.Files(), 1u);
}

TEST(FileSink, WhatWasThereStaysUntilThen) {
  const Folder folder;
  const std::string path = folder / "out";
  std::ofstream(path) << "old";
  {
    auto sink = FileSink::Create(path);
    ASSERT_TRUE(sink);
    EXPECT_TRUE((*sink)->Write("new"));
  }
  EXPECT_EQ(Contents(path), "old") << "it was never finished";
  EXPECT_EQ(folder.Files(), 1u) << "and nothing remains of it";
}

TEST(FileSink, DirectoriesAndMissingFoldersAreErrors) {
  const Folder folder;
  EXPECT_NE(FileSink::Create(folder / ".").error().message.find("is a directory"),
            std::string::npos);
  EXPECT_FALSE(FileSink::Create(folder / "no/such/folder"));
}

TEST(FileSink, DevicesAreWrittenDirectly) {
  auto sink = FileSink::Create("/dev/null");
  ASSERT_TRUE(sink);
  EXPECT_TRUE((*sink)->Write("text"));
  EXPECT_TRUE((*sink)->Finish());
}

}  // namespace
}  // namespace heapgauge
