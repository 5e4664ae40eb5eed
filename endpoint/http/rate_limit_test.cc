#include "endpoint/http/limits.h"

#include <gtest/gtest.h>

namespace heapgauge::endpoint {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

int Taken(RateLimit* limit, uint64_t peer, uint64_t now, int tries) {
  int taken = 0;
  for (int i = 0; i < tries; ++i) taken += limit->Take(peer, now) ? 1 : 0;
  return taken;
}

TEST(RateLimit, AllowsABurstAndThenTheRate) {
  RateLimit limit(10);
  EXPECT_EQ(Taken(&limit, 1, kSecond, 100), 20);
  EXPECT_EQ(Taken(&limit, 1, kSecond, 100), 0);
  EXPECT_EQ(Taken(&limit, 1, 2 * kSecond, 100), 10);
  EXPECT_EQ(Taken(&limit, 1, 100 * kSecond, 100), 20);
  EXPECT_EQ(Taken(&limit, 2, 100 * kSecond, 100), 20) << "another peer has its own";
}

TEST(RateLimit, IsOffAtZero) {
  RateLimit limit(0);
  EXPECT_EQ(Taken(&limit, 1, kSecond, 1000), 1000);
}

TEST(RateLimit, StaysBoundedWithAnyNumberOfPeers) {
  RateLimit limit(1);
  size_t taken = 0;
  for (uint64_t peer = 0; peer < 3 * RateLimit::kMostPeers; ++peer) {
    taken += limit.Take(peer, kSecond) ? 1 : 0;
  }
  EXPECT_EQ(taken, RateLimit::kMostPeers + 2) << "the others share one";
  EXPECT_TRUE(limit.Take(5 * RateLimit::kMostPeers, 100 * kSecond)) << "old ones make room";
}

}  // namespace
}  // namespace heapgauge::endpoint
