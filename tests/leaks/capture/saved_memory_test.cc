#include "core/leaks/capture/saved_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>

#include "core/leaks/capture/picture.h"
#include "core/leaks/verdict/check_process.h"
#include "tests/leaks/capture/call_filter.h"
#include "tests/leaks/capture/child.h"
#include "tests/leaks/capture/tracing_test.h"

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kOnePage = 4096;
constexpr uint64_t kSavedPages = 16 * 1024;
constexpr uint64_t kFirstWord = 0x1234567;

// A range of which each second page is filled; and a child that has it, cannot be copied, and
// counts in the first word.
class SavedMemoryTest : public TracingTest {
 protected:
  void SetUp() override {
    TracingTest::SetUp();
    if (IsSkipped()) return;
    start_ = static_cast<uint64_t*>(mmap(nullptr, kSavedPages * kOnePage, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(start_, MAP_FAILED);
    madvise(start_, kSavedPages * kOnePage, MADV_NOHUGEPAGE);
    for (uint64_t i = 0; i < kSavedPages; i += 2) *Page(i) = kFirstWord + i;
  }
  void TearDown() override { munmap(start_, kSavedPages * kOnePage); }

  uint64_t* Page(uint64_t i) const { return start_ + i * kOnePage / sizeof(uint64_t); }
  uint64_t Address(uint64_t i) const { return reinterpret_cast<uint64_t>(Page(i)); }

  // What the child does with the memory.
  void Count() const {
    while (true) {
      for (uint64_t i = 0; i < 4; ++i) std::atomic_ref<uint64_t>(*Page(i)).fetch_add(1);
      usleep(100);
    }
  }

  uint64_t* start_ = nullptr;
};

TEST_F(SavedMemoryTest, MemoryIsThatOfTheInstantAndTheProgramGoesOn) {
  const Child child([&](auto ready) {
    if (ForbidCalls(SYS_clone, Calls::kThis)) ready();
    Count();
  });
  auto saved = SavedMemory::Prepare(child.id(), 10'000'000'000);
  ASSERT_TRUE(saved) << saved.error().message;
  PictureOptions options;
  options.in_place = true;
  options.save_to = saved->get();
  const auto picture = Picture::Take(child.id(), options);
  ASSERT_TRUE(picture) << picture.error().message;
  EXPECT_EQ((*picture)->look(), Look::kSaved);
  EXPECT_GT((*picture)->pause_ns(), 0u);
  EXPECT_GE((*saved)->saved_bytes(), kSavedPages / 2 * kOnePage);
  const auto first = [&] {
    uint64_t value = 0;
    EXPECT_EQ((*saved)->Read(Address(0), sizeof value, &value), sizeof value);
    return value;
  };
  const uint64_t then = first();
  const ProcessMemoryImage running(child.id());
  EXPECT_TRUE(Eventually("the program goes on", [&] {
    uint64_t now = then;
    EXPECT_EQ(running.Read(Address(0), sizeof now, &now), sizeof now);
    return now != then;
  }));
  EXPECT_EQ(first(), then);
  // Also across pages that were never touched.
  std::vector<uint64_t> words(10 * kOnePage / sizeof(uint64_t));
  ASSERT_EQ((*saved)->Read(Address(10), 10 * kOnePage, words.data()), 10 * kOnePage);
  for (uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(words[i * kOnePage / sizeof(uint64_t)], i % 2 == 0 ? kFirstWord + 10 + i : 0) << i;
  }
}

class UncopiedProgramTest : public SavedMemoryTest {
 protected:
  // Of two blocks, to one of which the memory of the child points.
  CheckOptions Options() {
    known_.exact = true;
    known_.blocks = {{.address = Address(100), .size = 64}, {.address = Address(102), .size = 64}};
    *Page(50) = Address(100);
    CheckOptions options;
    options.known_blocks = [this]() -> Result<KnownBlocks> { return known_; };
    return options;
  }
  void ExpectIsChecked(const Child& child, const CheckOptions& options, const char* why) {
    const auto check = CheckProcess(child.id(), options);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_EQ(check->look, Look::kSaved);
    EXPECT_GT(check->pause_ns, 0u);
    ASSERT_FALSE(check->notes.empty());
    EXPECT_NE(check->notes[0].find(why), std::string::npos) << check->notes[0];
    EXPECT_EQ(check->verdicts.at(0).kind, Kind::kReachable);
  }
  KnownBlocks known_;
};

TEST_F(UncopiedProgramTest, AProgramWithAFilterOfSystemCallsGoesOnWhileItIsSearched) {
  CheckOptions options = Options();
  const Child child([&](auto ready) {
    if (ForbidCalls(SYS_clone, Calls::kThis)) ready();
    Count();
  });
  options.may_stop_ns = 10'000'000'000;
  // Memory is searched behind that.
  const auto blocks = options.known_blocks;
  bool ran = false;
  options.known_blocks = [&] {
    const ProcessMemoryImage running(child.id());
    uint64_t then = 0;
    running.Read(Address(0), sizeof then, &then);
    const auto is_another = [&] {
      uint64_t now = then;
      running.Read(Address(0), sizeof now, &now);
      return now != then;
    };
    ran = static_cast<bool>(Eventually("the program goes on", is_another));
    return blocks();
  };
  ExpectIsChecked(child, options, "seccomp");
  EXPECT_TRUE(ran);
}

TEST_F(UncopiedProgramTest, WhatWouldTakeTooLongIsRefusedAndSaysHowLong) {
  CheckOptions options = Options();
  const Child child([&](auto ready) {
    if (ForbidCalls(SYS_clone, Calls::kThis)) ready();
    Count();
  });
  options.may_stop_ns = 1000;
  bool stopped = false;
  options.while_stopped = [&] { stopped = true; };
  const auto check = CheckProcess(child.id(), options);
  ASSERT_FALSE(check);
  EXPECT_NE(check.error().message.find("seccomp"), std::string::npos) << check.error().message;
  EXPECT_NE(check.error().message.find("stand still for about"), std::string::npos)
      << check.error().message;
  EXPECT_NE(check.error().message.find("--may-stop 0."), std::string::npos)
      << check.error().message;
  EXPECT_FALSE(stopped);
}

TEST_F(UncopiedProgramTest, AProgramThatMayNotForkIsSaved) {
  CheckOptions options = Options();
  const Child child([&](auto ready) {
    const rlimit none{0, 0};
    // The limit is not for root.
    const bool is_limited = geteuid() != 0 || setresuid(65534, 65534, 65534) == 0;
    if (setrlimit(RLIMIT_NPROC, &none) == 0 && is_limited) ready();
    Count();
  });
  options.may_stop_ns = 10'000'000'000;
  ExpectIsChecked(child, options, "refuses to copy");
}

}  // namespace
}  // namespace heapgauge::leaks
