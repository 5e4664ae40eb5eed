#include "core/memory/ownership.h"

#include <gtest/gtest.h>

#include <cstring>

namespace heapgauge {
namespace {

MappingUsage Map(uint64_t start, uint64_t end, const char* rights, uint64_t inode = 0,
                 const std::string& name = "") {
  MappingUsage m;
  m.start = start;
  m.end = end;
  m.readable = rights[0] == 'r';
  m.writable = rights[1] == 'w';
  m.executable = rights[2] == 'x';
  m.shared = rights[3] == 's';
  m.inode = inode;
  m.name = name;
  m.resident = end - start;
  return m;
}

OwnershipInput NoKnowledge(const std::vector<MappingUsage>& mappings) {
  OwnershipInput input;
  input.is_stack.resize(mappings.size());
  return input;
}

std::vector<Owner> OwnersOf(const std::vector<Piece>& pieces) {
  std::vector<Owner> owners;
  for (const Piece& piece : pieces) owners.push_back(piece.owner);
  return owners;
}

// Every second page is in memory.
class EverySecondPage final : public ByteSource {
 public:
  uint64_t Size() const override { return 0; }
  size_t ReadAt(uint64_t offset, void* buffer, size_t size) const override {
    for (size_t at = 0; at + 8 <= size; at += 8) {
      const uint64_t entry = (offset + at) / 8 % 2 == 0 ? uint64_t{1} << 63 : 0;
      std::memcpy(static_cast<char*>(buffer) + at, &entry, 8);
    }
    return size;
  }
};

TEST(Ownership, GoesByNamesWhereThereAreAny) {
  std::vector<MappingUsage> mappings = {
      Map(0x1000, 0x2000, "r-xp", 7, "/usr/bin/server"),
      Map(0x2000, 0x3000, "rw-p", 7, "/usr/bin/server"),
      Map(0x10000, 0x20000, "rw-p", 0, "[heap]"),
      Map(0x20000, 0x21000, "r--p", 8, "/usr/lib/locale/C.utf8/LC_CTYPE"),
      Map(0x30000, 0x31000, "rw-s", 9, "/dev/shm/queue"),
      Map(0x31000, 0x32000, "rw-s", 10, "/memfd:x (deleted)"),
      Map(0x32000, 0x33000, "rw-s", 11, "/run/user/x"),
      Map(0x40000, 0x41000, "rw-s", 12, "/gauges/server.7.hg"),
      Map(0x50000, 0x51000, "r-xp", 13, "/opt/lib/libheapgauge.so"),
      Map(0x51000, 0x52000, "rw-p", 13, "/opt/lib/libheapgauge.so"),
      Map(0x52000, 0x53000, "rw-p"),
      Map(0x60000, 0x61000, "r-xp", 0, "[vdso]"),
      Map(0x70000, 0x71000, "rw-p", 0, "[stack]"),
      Map(0x80000, 0xa0000, "rw-p"),
      Map(0xb0000, 0xb1000, "rw-p", 0, "[anon:jemalloc_pg]"),
  };
  mappings[6].device_minor = 45;
  OwnershipInput input = NoKnowledge(mappings);
  input.memory_devices = {{0, 45}};
  input.gauge_path = "/elsewhere/server.7.hg";
  input.gauge_inode = 12;
  PageMap no_pages;
  using O = Owner;
  const std::vector<Owner> expected = {O::kProgram, O::kProgram, O::kHeap,  O::kFile,    O::kShared,
                                       O::kShared,  O::kShared,  O::kAgent, O::kAgent,   O::kAgent,
                                       O::kAgent,   O::kKernel,  O::kStack, O::kUnknown, O::kHeap};
  EXPECT_EQ(OwnersOf(FindOwners(mappings, input, &no_pages)), expected);
}

TEST(Ownership, CutsOneMappingIntoTheRangesOfItsOwners) {
  const std::vector<MappingUsage> mappings = {Map(0x100000, 0x200000, "rw-p")};
  OwnershipInput input = NoKnowledge(mappings);
  input.agent = {{0xf0000, 0x110000}};
  input.allocator = {{0x120000, 0x130000}};
  input.recorded = {{{0x110000, 0x118000}, 5, false}, {{0x140000, 0x150000}, 6, true}};
  PageMap pages(std::make_unique<EverySecondPage>());
  std::vector<MappingUsage> half = mappings;
  half[0].resident = 0x80000;
  const std::vector<Piece> pieces = FindOwners(half, input, &pages);
  using O = Owner;
  const std::vector<Owner> expected = {O::kAgent,   O::kMapped, O::kUnknown, O::kHeap,
                                       O::kUnknown, O::kHeap,   O::kUnknown};
  ASSERT_EQ(OwnersOf(pieces), expected);
  EXPECT_EQ(pieces[1].record, 5u);
  uint64_t sum = 0;
  for (const Piece& piece : pieces) {
    EXPECT_EQ(piece.resident, (piece.end - piece.start) / 2);
    sum += piece.resident;
  }
  EXPECT_EQ(sum, 0x80000u);
}

TEST(Ownership, SharesInProportionWithoutAPageMapAndAddsUp) {
  std::vector<MappingUsage> mappings = {Map(0x100000, 0x200000, "rw-p")};
  mappings[0].resident = 0x12345;
  OwnershipInput input = NoKnowledge(mappings);
  input.agent = {{0x110000, 0x120000}, {0x1f0000, 0x300000}};
  PageMap no_pages;
  uint64_t sum = 0;
  for (const Piece& piece : FindOwners(mappings, input, &no_pages)) sum += piece.resident;
  EXPECT_EQ(sum, 0x12345u);
}

TEST(Ownership, BlocksMakeAMappingTheHeapsAndStacksComeAfter) {
  const std::vector<MappingUsage> mappings = {Map(0x100000, 0x200000, "rw-p"),
                                              Map(0x300000, 0x400000, "rw-p"),
                                              Map(0x500000, 0x600000, "rw-p")};
  OwnershipInput input = NoKnowledge(mappings);
  input.is_stack = {true, true, false};
  input.blocks = {0x150000, 0x4fffff, 0x600000};
  PageMap no_pages;
  const std::vector<Owner> expected = {Owner::kHeap, Owner::kStack, Owner::kUnknown};
  EXPECT_EQ(OwnersOf(FindOwners(mappings, input, &no_pages)), expected);
}

TEST(Ownership, ZeroDataEndsWhereTheObjectDoes) {
  const std::vector<MappingUsage> mappings = {Map(0x1000, 0x2000, "r-xp", 7, "/lib/x.so"),
                                              Map(0x2000, 0x3000, "rw-p", 7, "/lib/x.so"),
                                              Map(0x3000, 0x103000, "rw-p")};
  OwnershipInput input = NoKnowledge(mappings);
  PageMap no_pages;
  using O = Owner;
  const std::vector<Owner> all = {O::kProgram, O::kProgram, O::kProgram};
  EXPECT_EQ(OwnersOf(FindOwners(mappings, input, &no_pages)), all);
  input.zero_data[0x3000] = 0x5000;
  const std::vector<Owner> cut = {O::kProgram, O::kProgram, O::kProgram, O::kUnknown};
  EXPECT_EQ(OwnersOf(FindOwners(mappings, input, &no_pages)), cut);
  input.zero_data[0x3000] = 0x3000;
  const std::vector<Owner> none = {O::kProgram, O::kProgram, O::kUnknown};
  EXPECT_EQ(OwnersOf(FindOwners(mappings, input, &no_pages)), none);
}

}  // namespace
}  // namespace heapgauge
