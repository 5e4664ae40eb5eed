// Ten million allocations, each of a stack and size that no other has: time and memory must not
// grow with the number of such pairs beyond what the stacks themselves need.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "core/trace/file/trace_file.h"
#include "core/trace/record/trace_writer.h"
#include "core/trace/testing/make_trace.h"

namespace heapgauge::trace {
namespace {

constexpr uint64_t kPairs = 10'000'000;
constexpr uint32_t kStacks = 1'000'000;

uint64_t PeakMemory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

Block Made(uint64_t number) {
  Block block;
  block.number = number;
  block.birth_ns = number * 100;
  block.address = 0x5500'0000'0000 + number * 64;
  // A permutation, so that neighbours have nothing in common.
  const uint64_t pair = number * 7'654'321 % kPairs;
  block.stack = static_cast<uint32_t>(pair % kStacks) + 1;
  block.size = 16 + pair / kStacks * 8;
  return block;
}

TEST(TraceTorture, TenMillionPairsOfStackAndSize) {
  const testing::TemporaryTrace file;
  auto writer = TraceWriter::Create(file.path(), {}, {}, true);
  ASSERT_TRUE(writer);
  (*writer)->SetThread(0, {1, "main", 0});
  uint32_t node = 0;
  for (uint32_t stack = 1; stack <= kStacks; ++stack) {
    (*writer)->AddNode(++node, {wire::PackPc(0x1000 + stack % 1000, 0), (stack / 100) + 0, 0});
    (*writer)->AddStack(stack, node, 0, 0);
  }
  uint64_t allocated = 0;
  uint64_t freed = 0;
  for (uint64_t i = 0; i < kPairs; ++i) {
    const Block block = Made(i);
    (*writer)->Allocate(block);
    allocated += block.size;
    if (i % 2 == 1 && i >= 1001) {
      Block old = Made(i - 1001);
      old.death_ns = block.birth_ns;
      old.death_thread = 0;
      old.distance = 1001;
      (*writer)->Free(old);
      freed += old.size;
    }
  }
  ASSERT_TRUE((*writer)->Finish({}));
  writer->reset();

  const auto trace = TraceFile::Open(file.path());
  ASSERT_TRUE(trace);
  EXPECT_EQ((*trace)->blocks(), kPairs);
  EXPECT_EQ((*trace)->stack_count(), kStacks + 1);
  ASSERT_TRUE((*trace)->ReadStacks());
  std::vector<StackSums> sums;
  for (size_t i = 0; i < (*trace)->segments().size(); ++i) {
    ASSERT_TRUE((*trace)->ReadSums(i, &sums));
    for (const StackSums& s : sums) {
      allocated -= s.allocated_bytes;
      freed -= s.freed_bytes;
    }
  }
  EXPECT_EQ(allocated, 0);
  EXPECT_EQ(freed, 0);
  EXPECT_LT((*trace)->file_bytes(), kPairs * 3 / 2 * 8);
  EXPECT_LT(PeakMemory(), uint64_t{1} << 30);
}

}  // namespace
}  // namespace heapgauge::trace
