#include "agent/record/samples.h"

#include <gtest/gtest.h>

namespace heapgauge::agent {
namespace {

int told = 0;
void Told() { ++told; }

class WatchTest : public ::testing::Test {
 protected:
  void SetUp() override { told = 0; }
  Watch watch_{};
};

TEST_F(WatchTest, CountsBeforeAnybodyAsks) {
  watch_.CountAllocation(100);
  watch_.CountFree(30);
  EXPECT_EQ(watch_.Totals().allocated, 100u);
  EXPECT_EQ(watch_.Totals().freed, 30u);
  EXPECT_EQ(watch_.Totals().live, 70u);
}

TEST_F(WatchTest, TellsOnceThatAMarkWasPassed) {
  watch_.Set(&Told, {.allocated = 100});
  watch_.CountAllocation(99);
  EXPECT_EQ(told, 0);
  watch_.CountAllocation(1);
  watch_.CountAllocation(1000);
  EXPECT_EQ(told, 1);
  watch_.Set(&Told, {.allocated = 2000});
  watch_.CountAllocation(900);
  EXPECT_EQ(told, 2);
}

TEST_F(WatchTest, LiveMemoryFallsWithFrees) {
  watch_.Set(&Told, {.live = 100});
  for (int i = 0; i < 50; ++i) {
    watch_.CountAllocation(60);
    watch_.CountFree(60);
  }
  EXPECT_EQ(told, 0);
  watch_.CountAllocation(100);
  EXPECT_EQ(told, 1);
}

TEST_F(WatchTest, FreesHaveAMarkOfTheirOwn) {
  watch_.Set(&Told, {.freed = 100});
  watch_.CountAllocation(500);
  watch_.CountFree(99);
  EXPECT_EQ(told, 0);
  watch_.CountFree(1);
  EXPECT_EQ(told, 1);
}

TEST_F(WatchTest, CountsFromTheLastReset) {
  watch_.CountAllocation(500);
  watch_.Forget();
  EXPECT_EQ(watch_.Totals().allocated, 0u);
  watch_.CountFree(10);  // of a parent's block
  EXPECT_EQ(watch_.Totals().live, 0u);
}

}  // namespace
}  // namespace heapgauge::agent
