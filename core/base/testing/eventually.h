// A test waits for an event, not for a time: ASSERT_TRUE(Eventually("the copy ends", [&] { ... })).
//
// The bound turns a wait that would never end into a failure that names the event. It is far more
// than a busy machine needs and says nothing about how long the event may take.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace heapgauge {

inline constexpr std::chrono::seconds kLongestTestWait{120};

// Succeeds as soon as `happened` returns true. It is called again and again, at first without a nap
// in between. A test that must act right after the event passes a nap of 0.
template <typename Happened>
::testing::AssertionResult Eventually(
    const std::string& event, Happened&& happened,
    std::chrono::microseconds nap = std::chrono::milliseconds(1)) {
  constexpr int kPollsWithoutNap = 100;
  const auto deadline = std::chrono::steady_clock::now() + kLongestTestWait;
  for (int polls = 0; !happened(); ++polls) {
    if (std::chrono::steady_clock::now() > deadline) {
      return ::testing::AssertionFailure()
             << "waited " << kLongestTestWait.count() << " s in vain: " << event;
    }
    if (polls < kPollsWithoutNap || nap.count() == 0) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(nap);
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace heapgauge
