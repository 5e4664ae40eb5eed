#include "core/memory/regions.h"

#include <gtest/gtest.h>

namespace heapgauge {
namespace {

MappingUsage Mapping(uint64_t start, uint64_t end, const std::string& name, uint64_t resident) {
  MappingUsage m;
  m.start = start;
  m.end = end;
  m.name = name;
  m.readable = m.writable = true;
  m.resident = resident;
  m.private_dirty = resident / 2;
  m.swapped = resident / 4;
  return m;
}

Piece PieceOf(uint64_t start, uint64_t end, Owner owner, uint32_t mapping, uint64_t resident) {
  Piece piece;
  piece.start = start;
  piece.end = end;
  piece.owner = owner;
  piece.mapping = mapping;
  piece.resident = resident;
  return piece;
}

MemorySurvey Survey() {
  MemorySurvey survey;
  survey.smaps.mappings = {Mapping(0x1000, 0x9000, "[heap]", 0x8000),
                           Mapping(0x20000, 0x30000, "", 0x8000)};
  survey.pieces = {PieceOf(0x1000, 0x5000, Owner::kHeap, 0, 0x4000),
                   PieceOf(0x5000, 0x9000, Owner::kHeap, 0, 0x4000),
                   PieceOf(0x20000, 0x28000, Owner::kStack, 1, 0x6000),
                   PieceOf(0x28000, 0x30000, Owner::kHeap, 1, 0x2000)};
  return survey;
}

SampledBlock Sampled(uint64_t address, uint64_t size, RowId row) {
  SampledBlock block;
  block.address = address;
  block.size = size;
  block.row = row;
  return block;  // every block is sampled: an interval of 1
}

TEST(Regions, JoinNeighboursAndShareOutWhatOnlyTheMappingKnows) {
  const Regions regions = RegionsOf(Survey(), Profile(), 100);
  ASSERT_EQ(regions.regions.size(), 3u);
  EXPECT_EQ(regions.regions[0].end, 0x9000u);
  EXPECT_EQ(regions.regions[0].resident, 0x8000u);
  EXPECT_EQ(regions.regions[0].dirty, 0x4000u);
  EXPECT_EQ(regions.regions[0].permissions, "rw-p");
  EXPECT_EQ(regions.regions[1].dirty, 0x3000u);
  EXPECT_EQ(regions.regions[2].dirty, 0x1000u);
  EXPECT_EQ(regions.regions[1].swapped + regions.regions[2].swapped, 0x2000u);
  ASSERT_EQ(regions.owners.size(), 2u);
  EXPECT_EQ(regions.owners[0].owner, Owner::kHeap);
  EXPECT_EQ(regions.owners[0].resident, 0xa000u);
  EXPECT_EQ(regions.owners[0].regions, 2u);
}

TEST(Regions, KnowWhatWasSampledInThem) {
  Profile profile;
  profile.blocks = {Sampled(0x1100, 100, 3), Sampled(0x8fff, 300, 4), Sampled(0x2000, 250, 3),
                    Sampled(0x28000, 50, 5), Sampled(0x15000, 999, 6)};
  const Regions regions = RegionsOf(Survey(), profile, 100);
  EXPECT_DOUBLE_EQ(regions.regions[0].live_bytes, 650);
  EXPECT_EQ(regions.regions[0].samples, 3u);
  EXPECT_EQ(regions.regions[0].largest, 3u);
  EXPECT_DOUBLE_EQ(regions.regions[0].largest_bytes, 350);
  EXPECT_EQ(regions.regions[1].samples, 0u);
  EXPECT_EQ(regions.regions[2].largest, 5u);
}

TEST(Regions, LeaveOutTheSmallestAndSaySo) {
  const Regions regions = RegionsOf(Survey(), Profile(), 1);
  ASSERT_EQ(regions.regions.size(), 1u);
  EXPECT_EQ(regions.regions[0].start, 0x1000u);
  EXPECT_EQ(regions.left_out, 2u);
  EXPECT_EQ(regions.left_out_resident, 0x8000u);
  EXPECT_EQ(regions.owners.size(), 2u);
}

}  // namespace
}  // namespace heapgauge
