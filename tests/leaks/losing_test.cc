// Tests that leak, and tests that do not, for leak_scopes_test.py: what heapgauge's scopes and its
// listener say of them depends on whether `heapgauge run --leaks` is around.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "include/heapgauge/gtest_leak_listener.h"
#include "include/heapgauge/leak_check.h"

namespace {

std::vector<void*> kept;

__attribute__((noinline)) void* Allocate(size_t bytes) {
  void* const block = std::malloc(bytes);
  std::memset(block, 0, bytes);
  return block;
}

// Not in the frame of a test: what is left on its stack would hold the block.
__attribute__((noinline)) void LoseBlocks(size_t count, size_t bytes) {
  for (size_t i = 0; i < count; ++i) {
    [[maybe_unused]] void* volatile block = Allocate(bytes);
    block = nullptr;
  }
}

__attribute__((noinline)) void WipeStack() {
  volatile char waste[16384];
  for (volatile char& byte : waste) byte = 0;
}

TEST(Listener, LetsPassWhatFreesAll) {
  const auto text = std::make_unique<std::string>(1000, 'x');
  EXPECT_EQ(text->size(), 1000U);
}

TEST(Listener, FailsWhatLosesABlock) {
  LoseBlocks(1, 64);
  WipeStack();
}

TEST(Listener, LetsPassWhatKeepsABlock) { kept.push_back(Allocate(100)); }

TEST(Listener, FailsWhatLosesInAThread) {
  std::thread([] {
    LoseBlocks(3, 32);
    WipeStack();
  }).join();
}

class Suite : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    LoseBlocks(1, 48);
    WipeStack();
  }
  static void TearDownTestSuite() {
    LoseBlocks(1, 56);
    WipeStack();
  }
};
TEST_F(Suite, LosesBeforeItsFirstTest) {}
TEST_F(Suite, LosesNothingInItsSecond) {}

class World : public ::testing::Environment {
 public:
  void SetUp() override {
    LoseBlocks(1, 72);
    WipeStack();
  }
  void TearDown() override {
    LoseBlocks(1, 80);
    WipeStack();
  }
};

TEST(Scope, CountsWhatIsLostAndWhatIsKept) {
  const size_t before = kept.size();
  kept.reserve(before + 100);
  LoseBlocks(1, 200);  // not of the scope
  WipeStack();
  const heapgauge::LeakCheck check;
  LoseBlocks(4, 50);
  for (int i = 0; i < 3; ++i) kept.push_back(Allocate(70));
  kept.push_back(static_cast<char*>(Allocate(90)) + 48);
  WipeStack();
  const heapgauge::LeakCheck::Result found = check.Look();
  if (!found.checked) {
    EXPECT_FALSE(found.still_live());
    EXPECT_NE(found.why_not, "");
    std::printf("not checked: %s\n", found.why_not.c_str());
    return;
  }
  EXPECT_EQ(found.lost_blocks, 4U);
  EXPECT_EQ(found.lost_bytes, 200U);
  EXPECT_EQ(found.possible_blocks, 1U);
  EXPECT_EQ(found.possible_bytes, 90U);
  EXPECT_EQ(found.reachable_blocks, 3U);
  EXPECT_EQ(found.reachable_bytes, 210U);
  EXPECT_NE(found.report.find("LoseBlocks"), std::string::npos) << found.report;
  EXPECT_NE(found.report.find("definitely lost"), std::string::npos) << found.report;
  std::printf("checked\n");
}

TEST(Scope, ManyThreadsMayLookAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 3; ++j) {
        const heapgauge::LeakCheck check;
        const auto mine = std::make_unique<int>(j);
        const heapgauge::LeakCheck::Result found = check.Look();
        EXPECT_EQ(found.lost_blocks, 0U) << found.report;
        if (found.checked) {
          EXPECT_GE(found.reachable_blocks, 1U);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  heapgauge::FailTestsThatLeak();
  if (std::getenv("LOSE_IN_ENVIRONMENTS") != nullptr) {
    ::testing::AddGlobalTestEnvironment(new World);
  }
  return RUN_ALL_TESTS();
}
