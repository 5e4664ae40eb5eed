#include "agent/record/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "agent/sys/thread_state.h"
#include "agent/table/poisson.h"

namespace heapgauge::agent {
namespace {

// Allocates blocks as the stubs do and adds up what the samples stand for.
struct Estimate {
  double bytes = 0;
  double variance = 0;
  uint64_t samples = 0;
};

template <typename Size>
Estimate Allocate(Sampler* sampler, int blocks, Size size_of) {
  Estimate estimate;
  for (int i = 0; i < blocks; ++i) {
    const uint64_t size = size_of(i);
    const bool due = hg_thread.countdown < size;
    hg_thread.countdown -= size;
    if (!due) continue;
    const uint64_t interval = sampler->Decide(size, hg_thread.countdown);
    if (interval == 0) continue;
    const Weight weight = WeightOf(size, interval);
    estimate.bytes += weight.bytes;
    estimate.variance += weight.variance;
    ++estimate.samples;
  }
  return estimate;
}

class SamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    hg_thread = {};
    sampler_.Start(12345);
    sampler_.SetInterval(65536);
    sampler_.SetActive(true);
  }
  Sampler sampler_{};
};

TEST_F(SamplerTest, EstimatesMixedSizesWithoutBias) {
  double truth = 0;
  const auto size_of = [&](int i) { return i % 100 == 0 ? uint64_t{200'000} : uint64_t{24}; };
  for (int i = 0; i < 1'000'000; ++i) truth += static_cast<double>(size_of(i));
  const Estimate estimate = Allocate(&sampler_, 1'000'000, size_of);
  EXPECT_NEAR(estimate.bytes, truth, 4 * std::sqrt(estimate.variance));
}

TEST_F(SamplerTest, StaysUnbiasedWhileTheIntervalChanges) {
  double truth = 0, bytes = 0, variance = 0;
  for (int round = 0; round < 200; ++round) {
    sampler_.SetInterval(round % 3 == 0 ? 4096 : round % 3 == 1 ? 65536 : 1 << 20);
    const Estimate estimate = Allocate(&sampler_, 20'000, [](int) { return uint64_t{100}; });
    truth += 2'000'000;
    bytes += estimate.bytes;
    variance += estimate.variance;
  }
  EXPECT_NEAR(bytes, truth, 4 * std::sqrt(variance));
}

TEST_F(SamplerTest, GapsLongerThanTheCountdownDoNotBiasLargeBlocks) {
  sampler_.SetInterval(64 << 20);
  for (const uint64_t size : {uint64_t{1} << 20, uint64_t{6} << 20, uint64_t{10'000'000}}) {
    const int blocks = 300'000;
    const Estimate estimate = Allocate(&sampler_, blocks, [=](int) { return size; });
    const double truth = static_cast<double>(size) * blocks;
    EXPECT_NEAR(estimate.bytes / truth, 1, 4 * std::sqrt(estimate.variance) / truth) << size;
  }
}

TEST_F(SamplerTest, AbsurdSizesDoNotSilenceIt) {
  Allocate(&sampler_, 3, [](int) { return ~uint64_t{0}; });
  EXPECT_GT(Allocate(&sampler_, 100'000, [](int) { return uint64_t{64}; }).samples, 50u);
}

TEST_F(SamplerTest, TakesNothingWhileInactive) {
  sampler_.SetActive(false);
  EXPECT_EQ(Allocate(&sampler_, 1'000'000, [](int) { return uint64_t{64}; }).samples, 0u);
  sampler_.SetActive(true);
  EXPECT_GT(Allocate(&sampler_, 1'000'000, [](int) { return uint64_t{64}; }).samples, 500u);
}

TEST_F(SamplerTest, TheCapRaisesTheIntervalAndLetsItFallAgain) {
  sampler_.SetMaxPerSecond(100);
  uint64_t now = 5'000'000'000;
  for (int i = 0; i < 1'000; ++i) sampler_.NoteSample(now);
  EXPECT_GE(sampler_.interval_in_force(), 65536u * 8);
  EXPECT_EQ(sampler_.interval(), 65536u);
  for (int second = 0; second < 40; ++second) sampler_.NoteSample(now += 1'000'000'001);
  EXPECT_EQ(sampler_.interval_in_force(), 65536u);
}

TEST_F(SamplerTest, EachThreadDrawsNumbersOfItsOwn) {
  uint64_t here = 0, there = 0;
  Allocate(&sampler_, 1, [](int) { return uint64_t{64}; });
  here = hg_thread.random;
  std::thread([&] {
    Allocate(&sampler_, 1, [](int) { return uint64_t{64}; });
    there = hg_thread.random;
  }).join();
  EXPECT_NE(here, there);
}

}  // namespace
}  // namespace heapgauge::agent
