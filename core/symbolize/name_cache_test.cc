#include "core/symbolize/name_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace heapgauge {
namespace {

class NameCache : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "heapgauge.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    dir_ = root_ + "/cache/heapgauge";
    names_.build_id = "0123456789abcdef";
    names_.options = "some";
    names_.has_dwarf = true;
    names_.addresses = {0x10, 0x20, 0x30};
    names_.frames = {{{"inner", "a.cc", 7, true}, {"outer", "b.cc", 9, false}}, {}, {{"f", "", 0}}};
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string File() const { return dir_ + "/" + names_.build_id + ".names"; }
  std::optional<CachedNames> Load() const { return LoadNames(dir_, names_.build_id, "some"); }
  bool IsCurrent() const {
    const auto loaded = Load();
    EXPECT_TRUE(loaded);
    return loaded && loaded->current;
  }

  std::string root_;
  std::string dir_;
  CachedNames names_;
};

TEST_F(NameCache, GivesBackWhatWasSaved) {
  SaveNames(dir_, names_);
  const auto loaded = Load();
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->has_dwarf);
  EXPECT_FALSE(loaded->has_symtab);
  const auto* frames = loaded->Find(0x10);
  ASSERT_NE(frames, nullptr);
  ASSERT_EQ(frames->size(), 2u);
  EXPECT_EQ((*frames)[0].system_name, "inner");
  EXPECT_TRUE((*frames)[0].inlined);
  EXPECT_EQ((*frames)[1].file, "b.cc");
  EXPECT_EQ((*frames)[1].line, 9u);
  ASSERT_NE(loaded->Find(0x20), nullptr) << "that nothing is known is an answer too";
  EXPECT_TRUE(loaded->Find(0x20)->empty());
  EXPECT_EQ(loaded->Find(0x11), nullptr);
}

TEST_F(NameCache, IsOfNoUseForOtherBuilds) {
  SaveNames(dir_, names_);
  std::filesystem::copy(File(), dir_ + "/fedcba9876543210.names");
  EXPECT_FALSE(LoadNames(dir_, "fedcba9876543210", "some"));
  EXPECT_FALSE(LoadNames(dir_, "../../../etc/passwd", "some"));
}

TEST_F(NameCache, NoticesFilesThatChangedAppearedOrWent) {
  const std::string there = root_ + "/there";
  const std::string later = root_ + "/later.debug";
  std::ofstream(there) << "one";
  names_.stamps = {StampOf(there), StampOf(later)};
  SaveNames(dir_, names_);
  EXPECT_TRUE(IsCurrent());
  std::ofstream(later) << "debug information";
  EXPECT_FALSE(IsCurrent()) << "better names may be there now";
  std::filesystem::remove(later);
  EXPECT_TRUE(IsCurrent());
  std::ofstream(there) << "another build";
  EXPECT_FALSE(IsCurrent());
  std::filesystem::remove(there);
  EXPECT_FALSE(IsCurrent());
  EXPECT_NE(Load()->Find(0x10), nullptr) << "they are still the names of that build";
}

TEST_F(NameCache, NamesThatWereFoundWithOtherOptionsAreNotCurrent) {
  SaveNames(dir_, names_);
  const auto loaded = LoadNames(dir_, names_.build_id, "other");
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(loaded->current);
}

TEST_F(NameCache, EveryDamagedByteAndEveryCutIsNoticed) {
  const std::string good = EncodeNames(names_);
  ASSERT_TRUE(DecodeNames(good));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    EXPECT_FALSE(DecodeNames(bad)) << i;
    EXPECT_FALSE(DecodeNames(good.substr(0, i))) << i;
  }
  EXPECT_FALSE(DecodeNames(good + "x"));
}

TEST_F(NameCache, RemovesWhatWasNotUsedForLongest) {
  const std::string text(1000, 'x');
  names_.frames[2] = {{text, "", 0, false}};
  for (int i = 0; i < 10; ++i) {
    names_.build_id = "00000000000000" + std::to_string(10 + i);
    SaveNames(dir_, names_, 1 << 20);
    const timespec old[2] = {{1000 + i, 0}, {1000 + i, 0}};
    utimensat(AT_FDCWD, File().c_str(), old, 0);
  }
  names_.build_id = "0000000000000010";
  EXPECT_TRUE(Load()) << "which makes it the newest";
  names_.build_id = "ffffffffffffffff";
  SaveNames(dir_, names_, 6000);
  EXPECT_TRUE(Load());
  names_.build_id = "0000000000000010";
  EXPECT_TRUE(Load());
  names_.build_id = "0000000000000011";
  EXPECT_FALSE(Load());
}

TEST_F(NameCache, ADirectoryThatCannotBeMadeIsNoError) {
  std::ofstream(root_ + "/cache") << "a file in the way";
  SaveNames(dir_, names_);
  EXPECT_FALSE(Load());
  SaveNames("", names_);
  SaveNames("/proc/heapgauge", names_);
}

TEST_F(NameCache, LinksAreNotFollowed) {
  SaveNames(dir_, names_);
  std::filesystem::rename(File(), root_ + "/elsewhere");
  std::filesystem::create_symlink(root_ + "/elsewhere", File());
  EXPECT_FALSE(Load());
}

TEST_F(NameCache, SeveralWritersAtOnceAreNoHarm) {
  constexpr int kWriters = 3;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      // Files of different sizes, each of which tells all over who wrote it.
      const std::string mark(static_cast<size_t>(writer + 1) * 1000,
                             static_cast<char>('a' + writer));
      names_.frames[0][0].system_name = mark;
      names_.frames[2][0].file = mark;
      for (int i = 0; i < 200; ++i) SaveNames(dir_, names_);
      _exit(0);
    }
    writers.push_back(pid);
  }
  size_t loads = 0;
  for (size_t left = writers.size(); left != 0;) {
    if (waitpid(-1, nullptr, WNOHANG) > 0) --left;
    const auto loaded = Load();
    if (!loaded) {
      // Only before the first was written; from then on there is always a whole one.
      EXPECT_EQ(loads, 0u);
      continue;
    }
    ++loads;
    const std::string_view mark = loaded->Find(0x10)->front().system_name;
    EXPECT_EQ(mark.size(), static_cast<size_t>(mark[0] - 'a' + 1) * 1000);
    EXPECT_EQ(mark.find_first_not_of(mark[0]), std::string_view::npos);
    EXPECT_EQ(loaded->Find(0x30)->front().file, mark);
  }
  EXPECT_GT(loads, 0u);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
    EXPECT_EQ(entry.path(), File()) << "left behind";
    ++files;
  }
  EXPECT_EQ(files, 1u);
}

}  // namespace
}  // namespace heapgauge
