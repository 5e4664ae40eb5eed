#include "core/leaks/capture/machine.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

namespace heapgauge::leaks {
namespace {

TEST(FindCallSiteTest, FindsBothWhereverTheyAre) {
  const std::string call = "\x0f\x05\xc3";
  const std::string handler_return("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);
  CallSite site;
  FindCallSite("nothing here", 0x1000, &site);
  EXPECT_FALSE(site.complete());
  FindCallSite("...." + call, 0x2000, &site);
  EXPECT_EQ(site.system_call, 0x2004u);
  EXPECT_FALSE(site.complete());
  FindCallSite("." + handler_return + call, 0x3000, &site);
  EXPECT_EQ(site.handler_return, 0x3001u);
  EXPECT_EQ(site.system_call, 0x2004u) << "the first one stays";
  EXPECT_TRUE(site.complete());
}

TEST(RestartTest, OnlyCallsThatEndForNoReasonAreStartedAgain) {
  MachineRegisters registers{};
  registers.orig_rax = SYS_epoll_wait;
  registers.rax = static_cast<uint64_t>(-EINTR);
  EXPECT_TRUE(RestartUnlessSignalled(&registers));
  EXPECT_EQ(static_cast<int64_t>(registers.rax), -514);
  EXPECT_FALSE(RestartUnlessSignalled(&registers));
  for (const auto call : {SYS_recvmmsg, SYS_sendmmsg, SYS_splice, SYS_sendfile}) {
    registers.orig_rax = static_cast<uint64_t>(call);
    registers.rax = static_cast<uint64_t>(-EINTR);
    EXPECT_TRUE(RestartUnlessSignalled(&registers)) << call;
  }
  // The file is closed whatever it answers.
  registers.orig_rax = SYS_close;
  registers.rax = static_cast<uint64_t>(-EINTR);
  EXPECT_FALSE(RestartUnlessSignalled(&registers));
  registers.orig_rax = SYS_epoll_wait;
  registers.rax = 3;
  EXPECT_FALSE(RestartUnlessSignalled(&registers));
}

TEST(InterruptionTest, TellsWhereAThreadWasStopped) {
  MachineRegisters registers{};
  registers.cs = 0x33;
  registers.orig_rax = ~0ull;
  EXPECT_EQ(InterruptionOf(registers), Interruption::kNone);
  registers.orig_rax = SYS_read;
  registers.rax = static_cast<uint64_t>(-512);
  EXPECT_EQ(InterruptionOf(registers), Interruption::kRestartable);
  registers.rax = static_cast<uint64_t>(-516);
  EXPECT_EQ(InterruptionOf(registers), Interruption::kTimed);
  registers.cs = 0x23;
  EXPECT_EQ(InterruptionOf(registers), Interruption::kForeign);
}

}  // namespace
}  // namespace heapgauge::leaks
