#include "core/leaks/scan/owner_path.h"

#include <gtest/gtest.h>
#include <link.h>

#include "core/leaks/scan/data_symbols.h"
#include "core/leaks/scan/scan.h"
#include "core/leaks/scan/test_image.h"

// A variable of this program to be found by its name.
namespace owner_path_test {
uint64_t known_table[4];
}

namespace heapgauge::leaks {
namespace {

constexpr uint64_t kData = 0x10000;
constexpr uint64_t kStack = 0x20000;
constexpr uint64_t kHeap = 0x100000;

class LeakOwner : public ::testing::Test {
 protected:
  LeakOwner() {
    image_.Map(kData, 0x1000);
    image_.Map(kStack, 0x1000);
    image_.Map(kHeap, 0x40000);
    check_.roots.objects.push_back({"/usr/bin/server", 0x10000});
    check_.roots.ranges = {{{kData, kData + 0x1000}, RootKind::kData, 0, 1},
                           {{kStack, kStack + 0x1000}, RootKind::kStack, 77, 0}};
    check_.roots.heap = {{kHeap, kHeap + 0x40000}};
    check_.known.exact = true;
  }
  uint32_t Make(uint64_t size) {
    KnownBlock block;
    block.address = next_;
    block.size = size;
    check_.known.blocks.push_back(block);
    next_ += (size + 31) / 16 * 16;
    return static_cast<uint32_t>(check_.known.blocks.size() - 1);
  }
  uint64_t At(uint32_t block, uint64_t offset = 0) const {
    return check_.known.blocks[block].address + offset;
  }
  void Run() {
    check_.verdicts =
        Scan(image_, check_.known.blocks, check_.known.exact, check_.roots, {}).verdicts;
  }
  std::vector<std::string> Path(uint32_t block, size_t limit = 64) {
    std::vector<std::string> lines;
    for (const PointerPlace& place : PathToBlock(check_, block, limit).places) {
      lines.push_back(DescribePlace(check_, place, nullptr));
    }
    return lines;
  }

  TestImage image_;
  Check check_;
  uint64_t next_ = kHeap;
};

using Lines = std::vector<std::string>;

TEST_F(LeakOwner, PathLeadsFromTheRootThroughBlocks) {
  const uint32_t a = Make(64), b = Make(32), c = Make(8);
  image_.Put(kData + 0x18, At(a));
  image_.Put(At(a, 16), At(b));
  image_.Put(At(b, 24), At(c));
  Run();
  EXPECT_EQ(Path(c), (Lines{"data of /usr/bin/server at 0x10018",
                            "offset 16 of the block at 0x100000 (64 bytes)",
                            "offset 24 of the block at 0x100050 (32 bytes)"}));
  const OwnerPath path = PathToBlock(check_, c);
  EXPECT_EQ(path.block, c);
  EXPECT_EQ(path.places[1].block, a);
  EXPECT_EQ(path.places[2].offset, 24u);
  EXPECT_EQ(path.left_out, 0u);
}

TEST_F(LeakOwner, RegistersAndStacksAreNamed) {
  const uint32_t a = Make(64), b = Make(32);
  const uint32_t c = Make(16);
  check_.roots.registers = {
      {5, 76, "rax"}, {At(a), 76, "r12"}, {At(c), 0, "", RootKind::kEpoll, 3}};
  image_.Put(kStack + 8, At(b));
  Run();
  EXPECT_EQ(Path(c), Lines{"epoll descriptor 3"});
  EXPECT_EQ(Path(a), Lines{"register r12 of thread 76"});
  EXPECT_EQ(Path(b), Lines{"stack of thread 77 at 0x20008"});
}

TEST_F(LeakOwner, NothingPointsToALostBlock) {
  const uint32_t a = Make(64), b = Make(16);
  image_.Put(At(a, 8), At(b));
  Run();
  EXPECT_TRUE(PathToBlock(check_, a).places.empty());
  EXPECT_EQ(Path(b), Lines{"offset 8 of the block at 0x100000 (64 bytes)"});
}

TEST_F(LeakOwner, UnknownHeapMemoryIsSaidToBeThat) {
  const uint32_t a = Make(64);
  check_.known.exact = false;
  image_.Put(kData, kHeap + 0x3000);
  image_.Put(kHeap + 0x3010, At(a));
  Run();
  EXPECT_EQ(Path(a), Lines{"heap memory at 0x103010, of no known block"});
}

TEST_F(LeakOwner, LongChainsAreCutInTheMiddle) {
  std::vector<uint32_t> list;
  for (int i = 0; i < 100; ++i) list.push_back(Make(32));
  image_.Put(kData, At(list[0]));
  for (int i = 0; i + 1 < 100; ++i) image_.Put(At(list[i]), At(list[i + 1]));
  Run();
  const OwnerPath whole = PathToBlock(check_, list[99], 1000);
  ASSERT_EQ(whole.places.size(), 100u);
  EXPECT_EQ(whole.left_out, 0u);
  for (const size_t limit : {2u, 3u, 7u, 10u, 99u, 100u}) {
    const OwnerPath path = PathToBlock(check_, list[99], limit);
    ASSERT_EQ(path.places.size(), limit);
    EXPECT_EQ(path.left_out, 100 - limit);
    for (size_t i = 0; i < limit; ++i) {
      const size_t expected = i < path.kept_first ? i : i + path.left_out;
      EXPECT_EQ(path.places[i].address, whole.places[expected].address) << limit << " " << i;
    }
  }
}

TEST_F(LeakOwner, AChainThatGoesInCirclesEnds) {
  Make(32);
  Make(32);
  check_.verdicts.resize(2);
  for (uint32_t i = 0; i < 2; ++i) {
    check_.verdicts[i].has_pointer = true;
    check_.verdicts[i].set_pointer(At(1 - i));
    check_.verdicts[i].from = 1 - i;
  }
  EXPECT_LE(PathToBlock(check_, 0, 4).places.size(), 4u);
}

TEST_F(LeakOwner, FindsEveryPlaceThatPointsToARange) {
  const uint32_t a = Make(64), b = Make(64), c = Make(60);
  check_.roots.registers = {{At(b, 63), 3, "rsi"}, {At(b, 64), 3, "rdi"}};
  image_.Put(kData, At(b));
  image_.Put(kStack + 0x20, At(b, 8));
  image_.Put(At(a, 56), At(b, 1));
  image_.Put(At(a, 64), At(b));  // in no block
  image_.Put(At(c, 56), At(b));  // not wholly in it
  image_.Put(At(b, 0), At(b, 32));
  const PointersTo found = FindPointersTo(image_, check_, {At(b), At(b) + 64});
  Lines lines;
  for (const PointerTo& pointer : found.pointers) {
    lines.push_back(DescribePlace(check_, pointer.place, nullptr) + " +" +
                    std::to_string(pointer.value - At(b)));
  }
  EXPECT_EQ(lines, (Lines{"register rsi of thread 3 +63", "data of /usr/bin/server at 0x10000 +0",
                          "stack of thread 77 at 0x20020 +8",
                          "offset 56 of the block at 0x100000 (64 bytes) +1",
                          "offset 0 of the block at 0x100050 (64 bytes) +32"}));
  EXPECT_EQ(found.count, 5u);
  check_.known.exact = false;
  EXPECT_EQ(FindPointersTo(image_, check_, {At(b), At(b) + 64}).count, 6u);
  const PointersTo two = FindPointersTo(image_, check_, {At(b), At(b) + 64}, 2);
  EXPECT_EQ(two.pointers.size(), 2u);
  EXPECT_EQ(two.count, 6u);
  EXPECT_EQ(FindPointersTo(image_, check_, {8, 8}).count, 0u);
}

TEST_F(LeakOwner, FindsABlockByAnyAddressInIt) {
  const uint32_t a = Make(64), b = Make(0);
  EXPECT_EQ(FindBlock(check_.known, At(a)), a);
  EXPECT_EQ(FindBlock(check_.known, At(a, 63)), a);
  EXPECT_EQ(FindBlock(check_.known, At(a, 64)), kNoBlock);
  EXPECT_EQ(FindBlock(check_.known, At(b)), b);
  EXPECT_EQ(FindBlock(check_.known, 0), kNoBlock);
}

TEST(LeakDataSymbols, NameAVariableOfAProgram) {
  Roots roots;
  Roots::Object program;
  program.path = "/proc/self/exe";
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* bias) {
        *static_cast<uint64_t*>(bias) = info->dlpi_addr;
        return 1;  // the first one is the program
      },
      &program.load_bias);
  roots.objects.push_back(program);
  roots.objects.push_back({"/nowhere/at/all", 0});
  DataSymbols symbols(roots, {});
  const auto address = reinterpret_cast<uint64_t>(&owner_path_test::known_table);
  EXPECT_EQ(symbols.Name(1, address), "owner_path_test::known_table");
  EXPECT_EQ(symbols.Name(1, address + 16), "owner_path_test::known_table+0x10");
  EXPECT_EQ(symbols.Name(1, 1), "");
  EXPECT_EQ(symbols.Name(0, address), "");
  EXPECT_EQ(symbols.Name(2, address), "");
  EXPECT_EQ(symbols.Name(9, address), "");

  Check check;
  check.roots = roots;
  check.roots.ranges = {{{address - 64, address + 64}, RootKind::kData, 0, 1}};
  EXPECT_EQ(DescribePlace(check, PlaceOfAddress(check, address + 8), &symbols),
            "owner_path_test::known_table+0x8, data of /proc/self/exe");
}

}  // namespace
}  // namespace heapgauge::leaks
