#include "core/gauge/gauge_tables.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "core/gauge/gauge_reader.h"
#include "core/gauge/testing/gauge_builder.h"

namespace heapgauge {
namespace {

using testing::GaugeBuilder;
using Texts = std::map<std::string, std::string>;

Result<Profile> Read(GaugeBuilder* b, ProfileKind kind = ProfileKind::kHeap) {
  const std::string bytes = b->Build();
  GaugeReadOptions options;
  options.kind = kind;
  return ReadGauge(MemorySource(bytes), "test.hg", options);
}

Texts LabelsOf(const Profile& profile, RowId row) {
  Texts texts;
  for (const Label& label : profile.LabelsOf(row)) {
    texts[profile.strings[label.key]] = profile.strings[label.text];
  }
  return texts;
}

// A stack under a set of labels, with one block.
void AddBlock(GaugeBuilder* b, uint16_t labels, uint64_t size = 100) {
  const uint32_t stack = b->AddStack({0x1234, 0x2000});
  b->stacks()[stack].labels = labels;
  b->AddLive(stack, size);
}

TEST(GaugeLabels, RowsHaveTheLabelsOfTheirSet) {
  GaugeBuilder b;
  const uint16_t handler = b.AddLabel(0, "handler", "search");
  const uint16_t tenant = b.AddLabel(handler, "tenant", "blue");
  AddBlock(&b, 0);
  AddBlock(&b, handler);
  AddBlock(&b, tenant);
  const auto profile = Read(&b);
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_TRUE(profile->Check()) << profile->Check().error().message;
  ASSERT_EQ(profile->rows.size(), 3u);
  EXPECT_EQ(LabelsOf(*profile, 0), Texts{});
  EXPECT_EQ(LabelsOf(*profile, 1), (Texts{{"handler", "search"}}));
  EXPECT_EQ(LabelsOf(*profile, 2), (Texts{{"handler", "search"}, {"tenant", "blue"}}));
  EXPECT_EQ(profile->recording.unreadable_records, 0u);
}

TEST(GaugeLabels, TheInnerValueHidesTheOuterOne) {
  GaugeBuilder b;
  const uint16_t outer = b.AddLabel(0, "phase", "load");
  const uint16_t other = b.AddLabel(outer, "a", "x");
  AddBlock(&b, b.AddLabel(other, "phase", "parse"));
  const auto profile = Read(&b);
  ASSERT_TRUE(profile);
  EXPECT_EQ(LabelsOf(*profile, 0), (Texts{{"a", "x"}, {"phase", "parse"}}));
  EXPECT_EQ(profile->LabelsOf(0).size(), 2u);
}

TEST(GaugeLabels, EqualSetsAreOneHoweverOftenTheyAreNumbered) {
  GaugeBuilder b;
  AddBlock(&b, b.AddLabel(0, "k", "v"));
  AddBlock(&b, b.AddLabel(0, "k", "v"));
  const uint16_t two = b.AddLabel(b.AddLabel(0, "k", "hidden"), "k", "v");
  AddBlock(&b, two);
  const auto profile = Read(&b);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->label_sets.size(), 1u);
  EXPECT_EQ(profile->rows[0].labels, profile->rows[2].labels);
}

TEST(GaugeLabels, DamagedSetsCostTheLabelsAndAreCounted) {
  GaugeBuilder b;
  const uint16_t unfinished = b.AddLabel(0, "k", "v");
  const uint16_t child = b.AddLabel(unfinished, "l", "w");
  const uint16_t forward = b.AddLabel(0, "k", "v");
  const uint16_t itself = b.AddLabel(0, "k", "v");
  const uint16_t no_key = b.AddLabel(0, "", "v");
  b.labels()[unfinished].valid = 0;
  b.labels()[forward].parent = itself;
  b.labels()[itself].parent = itself;
  for (const uint16_t set : {unfinished, child, forward, itself, no_key}) AddBlock(&b, set);
  AddBlock(&b, 60000);  // is not there
  const auto profile = Read(&b);
  ASSERT_TRUE(profile);
  ASSERT_TRUE(profile->Check());
  ASSERT_EQ(profile->rows.size(), 6u);
  for (RowId row = 0; row < 6; ++row) EXPECT_EQ(LabelsOf(*profile, row), Texts{}) << row;
  EXPECT_EQ(profile->recording.unreadable_records, 6u);
  EXPECT_GT(profile->Total(kInuseSpace).value, 0);
}

TEST(GaugeLabels, ChainsEndAtTheDepthThatTheFormatAllows) {
  GaugeBuilder b;
  uint16_t set = 0;
  for (uint32_t i = 0; i < wire::kMaxLabelDepth; ++i)
    set = b.AddLabel(set, "k" + std::to_string(i), "v");
  AddBlock(&b, set);
  AddBlock(&b, b.AddLabel(set, "one", "more"));
  const auto profile = Read(&b);
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->LabelsOf(0).size(), wire::kMaxLabelDepth);
  EXPECT_EQ(profile->LabelsOf(1).size(), 0u);
}

TEST(GaugeLabels, TextsAreMadePrintable) {
  GaugeBuilder b;
  const uint16_t set = b.AddLabel(0, "k", "v");
  std::memset(b.labels()[set].key, '\x1b', sizeof b.labels()[set].key);  // no NUL either
  std::memset(b.labels()[set].value, '\xff', sizeof b.labels()[set].value);
  AddBlock(&b, set);
  const auto profile = Read(&b);
  ASSERT_TRUE(profile);
  const Texts labels = LabelsOf(*profile, 0);
  ASSERT_EQ(labels.size(), 1u);
  EXPECT_EQ(labels.begin()->first.find('\x1b'), std::string::npos);
  EXPECT_EQ(labels.begin()->second.find('\xff'), std::string::npos);
}

TEST(GaugeLabels, FilesOfTheVersionBeforeAreRead) {
  GaugeBuilder b;
  AddBlock(&b, 0);
  b.header().version = 2;
  b.header().label_bytes = 0;
  const auto plain = Read(&b);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->recording.unreadable_records, 0u);
  // What lies where version 3 has labels means nothing there.
  AddBlock(&b, b.AddLabel(0, "k", "v"));
  const auto odd = Read(&b);
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->label_sets.size(), 0u);
  EXPECT_EQ(odd->recording.unreadable_records, 0u);
}

TEST(GaugeLabels, ARecordSizeThatCannotBeIsAnError) {
  GaugeBuilder b;
  AddBlock(&b, b.AddLabel(0, "k", "v"));
  for (const uint32_t bytes : {0u, 255u, 65537u}) {
    b.header().label_bytes = bytes;
    const auto profile = Read(&b);
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(profile.error().message.find("label record size"), std::string::npos);
  }
}

TEST(GaugePools, AreAProfileOfTheirOwn) {
  GaugeBuilder b;
  const uint32_t heap = b.AddStack({0x1234});
  b.AddLive(heap, 1 << 20);
  const uint32_t pool = b.AddStack({0x1234});
  b.stacks()[pool].labels = b.AddLabel(0, "pool", "arena");
  b.AddPoolBlock(pool, 5000, 1);
  const auto of_heap = Read(&b);
  ASSERT_TRUE(of_heap);
  ASSERT_EQ(of_heap->rows.size(), 1u);
  EXPECT_EQ(of_heap->blocks[0].size, 1u << 20);
  const auto of_pools = Read(&b, ProfileKind::kPool);
  ASSERT_TRUE(of_pools) << of_pools.error().message;
  ASSERT_TRUE(of_pools->Check());
  ASSERT_EQ(of_pools->rows.size(), 1u);
  EXPECT_EQ(of_pools->sample_types[kInuseSpace].name, "pool_space");
  EXPECT_EQ(of_pools->value(0, kInuseSpace), 5000);
  EXPECT_EQ(of_pools->value(0, kAllocSpace), 5000);
  EXPECT_EQ(of_pools->recording.samples, 1u);
  EXPECT_EQ(LabelsOf(*of_pools, 0), (Texts{{"pool", "arena"}}));
}

TEST(GaugePools, AProgramWithoutPoolsIsTold) {
  GaugeBuilder b;
  AddBlock(&b, 0);
  const auto profile = Read(&b, ProfileKind::kPool);
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(profile.error().message.find("heapgauge_pool"), std::string::npos);
}

}  // namespace
}  // namespace heapgauge
