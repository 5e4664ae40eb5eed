// The test is the program.
#include "core/leaks/capture/epoll_pointers.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <map>

namespace heapgauge::leaks {
namespace {

class EpollPointersTest : public ::testing::Test {
 protected:
  EpollPointersTest() {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    EXPECT_EQ(pipe(first_), 0);
    EXPECT_EQ(pipe(second_), 0);
  }
  ~EpollPointersTest() override {
    for (const int fd : {epoll_, first_[0], first_[1], second_[0], second_[1]}) close(fd);
  }
  void Give(int fd, uint64_t data) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = data;
    ASSERT_EQ(epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event), 0);
  }
  std::map<uint64_t, uint32_t> Found(const EpollPointers& epoll) const {
    std::map<uint64_t, uint32_t> found;
    for (const RootRegister& root : epoll.roots()) {
      EXPECT_EQ(root.kind, RootKind::kEpoll);
      found[root.value] = root.descriptor;
    }
    return found;
  }
  int epoll_ = -1;
  int first_[2] = {-1, -1};
  int second_[2] = {-1, -1};
};

TEST_F(EpollPointersTest, WhatTheKernelHoldsBeforeAndAfterIsFound) {
  Give(first_[0], 0x55d5c0ffee10);
  EpollPointers epoll(static_cast<uint32_t>(getpid()));
  ASSERT_EQ(epoll_ctl(epoll_, EPOLL_CTL_DEL, first_[0], nullptr), 0);
  Give(first_[1], 0x55d5c0ffee21);
  Give(second_[0], 7);
  epoll.ReadAgain();
  const auto fd = static_cast<uint32_t>(epoll_);
  EXPECT_EQ(Found(epoll),
            (std::map<uint64_t, uint32_t>{{0x55d5c0ffee10, fd}, {0x55d5c0ffee20, fd}}));
  EXPECT_EQ(epoll.Note(), "");
}

TEST_F(EpollPointersTest, TooMuchIsToldAndNotRead) {
  Give(first_[0], 0x55d5c0ffee10);
  const EpollPointers epoll(static_cast<uint32_t>(getpid()), 16);
  EXPECT_TRUE(epoll.roots().empty());
  EXPECT_NE(epoll.Note().find("not all"), std::string::npos);
}

TEST_F(EpollPointersTest, AProcessThatCannotBeReadIsTold) {
  const EpollPointers epoll(0x7fffffff);
  EXPECT_TRUE(epoll.roots().empty());
  EXPECT_NE(epoll.Note().find("could not be listed"), std::string::npos);
}

TEST_F(EpollPointersTest, LinesThatMakeNoSenseArePassedOver) {
  EpollPointers epoll(0x7fffffff);
  epoll.Add(
      "pos:\t0\ntfd: 5 data:\ntfd: 5 events: 1 data: zz\ntfd: 1 data: ffffffffffffffffff\n\n"
      "data: 123456\ntfd:        5 events:       19 data:           123458 pos:0\ntfd: 5 data: "
      "123450",
      4);
  EXPECT_EQ(Found(epoll), (std::map<uint64_t, uint32_t>{{0x123458, 4}, {0x123450, 4}}));
}

}  // namespace
}  // namespace heapgauge::leaks
