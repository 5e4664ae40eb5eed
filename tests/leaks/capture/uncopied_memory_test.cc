// The test is the program, and a child that it forks the copy.
#include "core/leaks/capture/uncopied_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <optional>

#include "core/leaks/verdict/check_process.h"
#include "tests/leaks/capture/child.h"
#include "tests/leaks/capture/started_program.h"
#include "tests/leaks/capture/tracing_test.h"

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kPageBytes = 4096;

class UncopiedMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why = WhyNoTracing();
    if (!why.empty()) GTEST_SKIP() << why;
    // Pages that children do not get, between others that they do.
    void* const memory =
        mmap(nullptr, 300 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    start_ = reinterpret_cast<uint64_t>(memory);
    ASSERT_EQ(madvise(At(100), 100 * kPageBytes, MADV_DONTFORK), 0);
    for (const uint64_t page : {99, 100, 101, 150, 199, 200}) *At(page) = page;
  }
  void TearDown() override {
    if (start_ != 0) munmap(At(0), 300 * kPageBytes);
  }

  uint64_t Page(uint64_t page) const { return start_ + page * kPageBytes; }
  uint64_t* At(uint64_t page) const { return reinterpret_cast<uint64_t*>(Page(page)); }
  uint64_t start_ = 0;
  std::optional<PausingChild> copy_;
};

TEST_F(UncopiedMemoryTest, WhatTheCopyLacksIsReadFromTheProgram) {
  UncopiedMemory uncopied(static_cast<uint32_t>(getpid()));
  copy_.emplace();
  // Made later: a copy need not have it.
  void* const later = mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  uncopied.ReadMissing(copy_->id());
  munmap(later, kPageBytes);
  EXPECT_EQ(uncopied.ranges(),
            (std::vector<AddressRange>{
                {Page(100), Page(102)}, {Page(150), Page(151)}, {Page(199), Page(200)}}));
  EXPECT_EQ(uncopied.missing_bytes(), 4 * kPageBytes);
  EXPECT_EQ(uncopied.unread_missing_bytes(), 0u);

  const ProcessMemoryImage image(copy_->id());
  const CompletedImage whole(image, uncopied);
  uint64_t words[3 * kPageBytes / 8] = {};
  EXPECT_EQ(image.Read(Page(99), sizeof words, words), kPageBytes);
  ASSERT_EQ(whole.Read(Page(99), sizeof words, words), sizeof words);
  for (const uint64_t i : {0, 1, 2}) EXPECT_EQ(words[i * kPageBytes / 8], 99 + i);
  EXPECT_EQ(whole.Read(Page(101), sizeof words, words), kPageBytes);
  EXPECT_EQ(whole.Read(Page(199) + 8, 2 * kPageBytes, words), 2 * kPageBytes);
  EXPECT_EQ(words[kPageBytes / 8 - 1], 200u);
  EXPECT_EQ(whole.NextReadable(Page(102), Page(103)), Page(103));
  EXPECT_EQ(whole.NextReadable(Page(149), Page(160)), Page(150));
}

TEST_F(UncopiedMemoryTest, TooMuchOfItIsToldAndNotRead) {
  UncopiedMemory uncopied(static_cast<uint32_t>(getpid()), 2 * kPageBytes);
  copy_.emplace();
  uncopied.ReadMissing(copy_->id());
  EXPECT_EQ(uncopied.ranges(), (std::vector<AddressRange>{{Page(100), Page(102)}}));
  EXPECT_EQ(uncopied.unread_missing_bytes(), 2 * kPageBytes);
  uncopied.ReadWiped({{Page(200), Page(201)}});
  EXPECT_EQ(uncopied.unread_missing_bytes(), 2 * kPageBytes);
  EXPECT_EQ(uncopied.unread_wiped_bytes(), kPageBytes);
}

// Blocks to which only such memory points, or only the kernel, are not lost.
TEST(UncopiedMemoryCheck, PointersThatChildrenDoNotGetCount) {
  if (const std::string why = WhyNoTracing(); !why.empty()) GTEST_SKIP() << why;
  StartedProgram program({HEAPGAUGE_HOLDERS});
  KnownBlocks known;
  known.exact = true;
  std::vector<std::pair<uint64_t, Kind>> expected;
  for (std::string line = program.ReadLine(); line != "ready 0"; line = program.ReadLine()) {
    ASSERT_FALSE(line.empty());
    for (const std::string name : {"unforked ", "wiped ", "epoll ", "lost "}) {
      if (!line.starts_with(name)) continue;
      KnownBlock block;
      block.address = std::strtoull(line.c_str() + name.size(), nullptr, 16);
      block.size = 3000;
      known.blocks.push_back(block);
      expected.emplace_back(block.address, name == "lost " ? Kind::kDefinite : Kind::kReachable);
    }
  }
  ASSERT_EQ(expected.size(), 4u);
  std::sort(expected.begin(), expected.end());
  std::sort(known.blocks.begin(), known.blocks.end(),
            [](const KnownBlock& a, const KnownBlock& b) { return a.address < b.address; });
  CheckOptions options;
  options.known_blocks = [&]() -> Result<KnownBlocks> { return known; };
  const auto check = CheckProcess(static_cast<uint32_t>(program.pid()), options);
  ASSERT_TRUE(check) << check.error().message;
  EXPECT_EQ(check->look, Look::kCopy);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(check->verdicts[i].kind, expected[i].second) << i;
  }
  ASSERT_EQ(check->notes.size(), 1u);
  EXPECT_NE(check->notes[0].find("keeps from its children was read while it ran"),
            std::string::npos)
      << check->notes[0];
}

}  // namespace
}  // namespace heapgauge::leaks
