// How much stack a walk takes in a signal handler: small alternate stacks must do.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "agent/unwind/walker.h"
#include "tests/unwind/probe.h"

namespace heapgauge::agent {
namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr uint8_t kPaint = 0xa5;

alignas(Walker) unsigned char walker_memory[sizeof(Walker)];
Stack walked;

void Walk(const Registers& registers, void*) {
  walked = reinterpret_cast<Walker*>(walker_memory)->Walk(registers);
}
void DoNothing(const Registers&, void*) {}

ProbeAction action;
void Handler(int) {
  hg_probe(&action);
  __asm__ volatile("");  // no tail call
}

// Bytes of the painted alternate stack that a signal with this action uses.
[[gnu::noinline]] size_t Use(uint8_t* stack, void (*function)(const Registers&, void*)) {
  memset(stack, kPaint, kStackBytes);
  action = {function, nullptr};
  raise(SIGUSR2);
  size_t untouched = 0;
  while (untouched < kStackBytes && stack[untouched] == kPaint) ++untouched;
  return kStackBytes - untouched;
}

TEST(StackUse, OfAWalkInASignalHandlerIsSmall) {
  auto* stack = static_cast<uint8_t*>(
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = kStackBytes;
  ASSERT_EQ(sigaltstack(&alternate, nullptr), 0);
  struct sigaction handler = {};
  handler.sa_handler = Handler;
  handler.sa_flags = SA_ONSTACK;
  ASSERT_EQ(sigaction(SIGUSR2, &handler, nullptr), 0);

  // One call site for all, so that the last walk meets no new code.
  void (*const functions[])(const Registers&, void*) = {DoNothing, Walk, Walk};
  size_t use[3];
  InvalidateUnwindRules();
  for (int i = 0; i < 3; ++i) {
    HG_KEEP_LOOP(i);
    walked = {};
    use[i] = Use(stack, functions[i]);
    EXPECT_EQ(walked.complete, i > 0);
    EXPECT_EQ(walked.unchanged > 0, i == 2);
  }
  ASSERT_GT(walked.count, 8u);
  const size_t base = use[0], cold = use[1], warm = use[2];
  printf("stack use of a walk: %zu bytes with all rules to evaluate, %zu with none\n", cold - base,
         warm - base);
  EXPECT_GT(cold, base);
  EXPECT_LT(cold - base, 4096u);
  EXPECT_LT(warm - base, 1024u);
  signal(SIGUSR2, SIG_DFL);
}

}  // namespace
}  // namespace heapgauge::agent
