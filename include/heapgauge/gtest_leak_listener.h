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

  void OnEnvironmentsSetUpStart(const ::testing::UnitTest&) override { check_.emplace(); }
  void OnEnvironmentsSetUpEnd(const ::testing::UnitTest&) override {
    Look(__builtin_frame_address(0), __FILE__, __LINE__, "Environments", "SetUp", Shared());
  }
  void OnEnvironmentsTearDownStart(const ::testing::UnitTest&) override { check_.emplace(); }
  void OnEnvironmentsTearDownEnd(const ::testing::UnitTest&) override {
    Look(__builtin_frame_address(0), __FILE__, __LINE__, "Environments", "TearDown", Shared());
  }

  void OnTestSuiteStart(const ::testing::TestSuite& suite) override {
    left_ = suite.test_to_run_count();
    check_.emplace();
  }

  void OnTestStart(const ::testing::TestInfo& test) override {
    // Before the first test of a suite: what its SetUpTestSuite lost.
    if (check_) {
      Look(__builtin_frame_address(0), test.file(), test.line(), test.test_suite_name(),
           "SetUpTestSuite", Shared());
    }
    check_.emplace();
  }

  void OnTestEnd(const ::testing::TestInfo& test) override {
    Look(__builtin_frame_address(0), test.file(), test.line(), test.test_suite_name(), test.name(),
         fails_);
    if (--left_ == 0) check_.emplace();  // what TearDownTestSuite loses
  }

  void OnTestSuiteEnd(const ::testing::TestSuite& suite) override {
    Look(__builtin_frame_address(0), __FILE__, __LINE__, suite.name(), "TearDownTestSuite",
         Shared());
  }

 private:
  // What suites and environments set up is there to be kept.
  Fails Shared() const { return fails_ == Fails::kLive ? Fails::kPossible : fails_; }

  // Where the frame of the listener's function and that of its caller, who knows all listeners, lie
  // now, those of the test were: what they left there holds nothing. Allocates nothing before it
  // looks.
  __attribute__((always_inline)) void Look(void* frame, const char* file, int line,
                                           const char* suite, const char* name, Fails fails) {
    if (!check_) return;
    const LeakCheck::Result found = check_->Look(frame, 1);
    check_.reset();
    const bool failed = fails == Fails::kLost       ? found.lost()
                        : fails == Fails::kPossible ? found.possibly_lost()
                                                    : found.still_live();
    if (!failed) return;
    uint64_t blocks = found.lost_blocks;
    uint64_t bytes = found.lost_bytes;
    if (fails != Fails::kLost) blocks += found.possible_blocks, bytes += found.possible_bytes;
    if (fails == Fails::kLive) blocks += found.reachable_blocks, bytes += found.reachable_bytes;
    ADD_FAILURE_AT(file, line) << suite << "." << name << " leaked " << bytes << " bytes in "
                               << blocks << (blocks == 1 ? " block\n" : " blocks\n")
                               << found.report;
  }

  Fails fails_;
  std::optional<LeakCheck> check_;
  int left_ = 0;  // tests of the suite that are still to run
};

// For main, after InitGoogleTest. GoogleTest owns the listener.
inline void FailTestsThatLeak(GtestLeakListener::Fails fails = GtestLeakListener::Fails::kLost) {
  ::testing::UnitTest::GetInstance()->listeners().Append(new GtestLeakListener(fails));
}

}  // namespace heapgauge

#endif  // HEAPGAUGE_GTEST_LEAK_LISTENER_H_
