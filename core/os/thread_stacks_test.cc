#include "core/os/memory_maps.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

MappingUsage Map(uint64_t start, uint64_t end, const char* rights, const std::string& name = "") {
  MappingUsage m;
  m.start = start;
  m.end = end;
  m.readable = rights[0] == 'r';
  m.writable = rights[1] == 'w';
  m.shared = rights[2] == 's';
  m.name = name;
  return m;
}

TEST(ThreadStacks, FindsStacksByPointerAndByShape) {
  std::vector<MappingUsage> mappings = {
      Map(0x10000, 0x20000, "rwp"),  // with a stack pointer in it
      Map(0x30000, 0x31000, "--p"),  // a guard
      Map(0x31000, 0x90000, "rwp"),  // right above: a stack
      Map(0xa0000, 0xa1000, "--p"),  // a guard
      Map(0xa2000, 0xb0000, "rwp"),  // not right above
      Map(0xc0000, 0xc1000, "--p"),  //
      Map(0xc1000, 0xd0000, "rws"),  // shared
      Map(0xe0000, 0xe1000, "--p"),  //
      Map(0xe1000, 0xf0000, "rwp"),  // an arena: not reserved
      Map(0xf0000, 0xff000, "rwp", "[stack]"),
  };
  mappings[8].no_reserve = true;
  StackPointers pointers;
  pointers.pointers = {0x18000, 0x5, 0x25000, ~uint64_t{0}, 0xc2000};
  const StackMappings stacks = FindStacks(mappings, pointers);
  const std::vector<bool> expected = {true,  false, true,  false, false,
                                      false, false, false, false, true};
  EXPECT_EQ(stacks.is_stack, expected);
  EXPECT_EQ(stacks.by_pointer, 1u);
  EXPECT_EQ(stacks.by_shape, 1u);
}

TEST(ThreadStacks, ReadsTheStackPointerOfAWaitingThread) {
  EXPECT_EQ(StackPointerIn("0 0x3 0x7 0x2 0x7 0xf 0x0 0x7fff01a22248 0x7fe3951b72ad\n"),
            0x7fff01a22248u);
  EXPECT_EQ(StackPointerIn("-1 0x7fff01a22248 0x7fe3951b72ad\n"), 0x7fff01a22248u);
  EXPECT_EQ(StackPointerIn("running\n"), 0u);
  EXPECT_EQ(StackPointerIn(""), 0u);
  EXPECT_EQ(StackPointerIn("x"), 0u);
  EXPECT_EQ(StackPointerIn(" y"), 0u);
}

}  // namespace
}  // namespace heapgauge
