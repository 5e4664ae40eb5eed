// Fails the GoogleTest that leaked, with the stacks that allocated what is lost. C++17,
// header-only.
//
//   int main(int argc, char** argv) {
//     ::testing::InitGoogleTest(&argc, argv);
//     heapgauge::FailTestsThatLeak();
//     return RUN_ALL_TESTS();
//   }
//
// and then `heapgauge run --leaks -- ./my_test`. Without heapgauge around it, the listener does
// nothing. What a test keeps on purpose (a cache, a singleton) is not lost and does not count,
// unless Options say so. See docs/leak-tests.md.
#ifndef HEAPGAUGE_GTEST_LEAK_LISTENER_H_
#define HEAPGAUGE_GTEST_LEAK_LISTENER_H_

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "leak_check.h"

namespace heapgauge {

class GtestLeakListener : public ::testing::EmptyTestEventListener {
 public:
  enum class Fails {
    kLost,      // only blocks that nothing leads to any more
    kPossible,  // also those that only a pointer into the middle leads to
    kLive,      // everything that the test has not freed
  };
  explicit GtestLeakListener(Fails fails = Fails::kLost) : fails_(fails) {}

  void OnTestStart(const ::testing::TestInfo&) override { check_.emplace(); }

  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (!check_) return;
    // Where this frame and that of our caller, who knows all listeners, lie now, those of the test
    // were: what they left there holds nothing.
    const LeakCheck::Result found = check_->Look(__builtin_frame_address(0), 1);
    check_.reset();
    const bool failed = fails_ == Fails::kLost       ? found.lost()
                        : fails_ == Fails::kPossible ? found.possibly_lost()
                                                     : found.still_live();
    if (!failed) return;
    uint64_t blocks = found.lost_blocks;
    uint64_t bytes = found.lost_bytes;
    if (fails_ != Fails::kLost) blocks += found.possible_blocks, bytes += found.possible_bytes;
    if (fails_ == Fails::kLive) blocks += found.reachable_blocks, bytes += found.reachable_bytes;
    ADD_FAILURE_AT(test.file(), test.line())
        << test.test_suite_name() << "." << test.name() << " leaked " << bytes << " bytes in "
        << blocks << (blocks == 1 ? " block\n" : " blocks\n") << found.report;
  }

 private:
  Fails fails_;
  std::optional<LeakCheck> check_;
};

// For main, after InitGoogleTest. GoogleTest owns the listener.
inline void FailTestsThatLeak(GtestLeakListener::Fails fails = GtestLeakListener::Fails::kLost) {
  ::testing::UnitTest::GetInstance()->listeners().Append(new GtestLeakListener(fails));
}

}  // namespace heapgauge

#endif  // HEAPGAUGE_GTEST_LEAK_LISTENER_H_
