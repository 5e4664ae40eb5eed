// Damaged and hostile gauge files: none may crash the reader, make it hang, or make it use memory
// out of proportion. Best run with the address sanitizer (preset asan).

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <random>

#include "core/gauge/gauge_reader.h"
#include "core/gauge/testing/gauge_builder.h"

#if defined(__SANITIZE_ADDRESS__)
#define HG_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HG_ADDRESS_SANITIZER 1
#endif
#endif

namespace heapgauge {
namespace {

using testing::GaugeBuilder;

// The address sanitizer holds back what was freed, so resident memory says nothing under it.
#ifdef HG_ADDRESS_SANITIZER
constexpr bool kResidentMemoryTells = false;
#else
constexpr bool kResidentMemoryTells = true;
#endif

std::string Sample() {
  GaugeBuilder b;
  b.AddModule("/bin/server", 0x1000, 0x90000, 0x1000, "build-id");
  b.AddModule("/lib/x.so", 0x100000, 0x200000, 0x100000, "another");
  for (uint64_t i = 0; i < 40; ++i) {
    const uint32_t stack = b.AddStack({0x1000 + i * 16, 0x100000 + i % 5, 0x2000 + i % 3, 0x1100});
    b.AddLive(stack, 100 << (i % 16), wire::kDefaultIntervalBytes, i);
    b.AddFreed(stack, 5000);
    b.AddPeak(stack, 1000 * i);
    b.AddTick(i * wire::kTickNs, i);
    const uint16_t set = b.AddLabel(i % 4 == 0 ? 0 : static_cast<uint16_t>(i), "key", "value");
    b.stacks()[stack].labels = set;
    const uint32_t piece = b.AddStack({0x1000 + i * 16, 0x1100});
    b.stacks()[piece].labels = set;
    b.AddPoolBlock(piece, 300 * (i + 1));
  }
  return b.Build();
}

// Reads it in all ways; whatever comes out must keep the model's promises.
bool Survives(const std::string& bytes) {
  bool readable = false;
  for (const int way : {0, 1, 2}) {
    GaugeReadOptions options;
    options.peak = way == 1;
    options.kind = way == 2 ? ProfileKind::kPool : ProfileKind::kHeap;
    const auto profile = ReadGauge(MemorySource(bytes), "x.hg", options);
    if (!profile) {
      EXPECT_FALSE(profile.error().message.empty());
      EXPECT_EQ(profile.error().message.find('\n'), std::string::npos);
      continue;
    }
    readable = true;
    const auto check = profile->Check();
    EXPECT_TRUE(check) << check.error().message;
  }
  return readable;
}

uint64_t MaxResidentKb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss);
}

TEST(HostileGauge, EveryWordOfHeaderAndDirectory) {
  const std::string good = Sample();
  ASSERT_TRUE(Survives(good));
  const uint64_t before = MaxResidentKb();
  const size_t fixed_part = offsetof(wire::Header, allocator_path);
  std::vector<size_t> offsets;
  for (size_t at = 0; at < fixed_part; at += 4) offsets.push_back(at);
  for (size_t at = offsetof(wire::Header, label_bytes); at < sizeof(wire::Header); at += 4) {
    offsets.push_back(at);
  }
  for (size_t i = 0; i < 12; ++i) offsets.push_back(wire::kHeaderBytes + i * 4);
  for (const size_t at : offsets) {
    uint32_t word = 0;
    std::memcpy(&word, &good[at], sizeof word);
    for (const uint32_t value : {0u, 1u, 7u, word + 1, word - 1, word * 2, 0x7fffffffu, 0x80000000u,
                                 0xffffffffu, 0x7fc00000u, word ^ 0x100u, word ^ 0x10000u}) {
      std::string bad = good;
      std::memcpy(&bad[at], &value, sizeof value);
      Survives(bad);
    }
  }
  if (kResidentMemoryTells) {
    EXPECT_LT(MaxResidentKb(), before + 64 * 1024) << "memory stays in proportion to the file";
  }
}

TEST(HostileGauge, TextsWithoutAnEnd) {
  std::string bytes = Sample();
  std::memset(&bytes[offsetof(wire::Header, allocator_path)], 0xff,
              offsetof(wire::Header, label_bytes) - offsetof(wire::Header, allocator_path));
  const auto profile = ReadGauge(MemorySource(bytes), "x.hg");
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->recording.program, std::string(sizeof(wire::Header::exe), '?'));
}

TEST(HostileGauge, EveryWordOfTheFirstRecords) {
  const std::string good = Sample();
  const auto layout = GaugeLayout::Read(MemorySource(good), "x");
  ASSERT_TRUE(layout);
  for (uint32_t kind = 2; kind < wire::kSegmentKinds; ++kind) {
    const auto k = static_cast<wire::SegmentKind>(kind);
    const auto segment = layout->SegmentOffset(k, 0);
    if (!segment) continue;
    const size_t bytes = std::min<size_t>(3 * layout->record_bytes(k), 1200);
    for (size_t at = 0; at < bytes; at += 4) {
      for (const uint32_t value : {0u, 1u, 0x7fffffffu, 0xffffffffu, 0x7ff00000u, 0xfff80000u}) {
        std::string bad = good;
        std::memcpy(&bad[*segment + at], &value, sizeof value);
        EXPECT_TRUE(Survives(bad)) << "damage in records does not make the whole unreadable";
      }
    }
  }
}

TEST(HostileGauge, CutAnywhere) {
  const std::string good = Sample();
  std::vector<size_t> sizes;
  for (size_t size = 0; size < good.size(); size += 4096) sizes.push_back(size);
  for (size_t size : {1u, 7u, 8u, 9u, 100u, 4095u, 8191u, 8193u, 65535u, 65537u})
    sizes.push_back(size);
  sizes.push_back(good.size() - 1);
  for (const size_t size : sizes) {
    const std::string cut = good.substr(0, size);
    EXPECT_FALSE(Survives(cut)) << size << " bytes of " << good.size();
  }
}

TEST(HostileGauge, ThousandsOfFlippedBits) {
  const std::string good = Sample();
  std::mt19937_64 random(20240607);
  // Most of a small file is zero; damage goes where the data is.
  std::vector<size_t> used;
  for (size_t i = 0; i < good.size(); ++i) {
    if (good[i] != 0) used.push_back(i);
  }
  for (int round = 0; round < 4000; ++round) {
    std::string bad = good;
    const int flips = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < flips; ++i) {
      const size_t at = random() % 4 == 0 ? random() % good.size() : used[random() % used.size()];
      bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    }
    Survives(bad);
  }
}

TEST(HostileGauge, RandomWordsInRecords) {
  const std::string good = Sample();
  std::mt19937_64 random(77);
  for (int round = 0; round < 300; ++round) {
    std::string bad = good;
    for (size_t at = wire::kSegmentBytes; at + 8 <= bad.size(); at += 8 * (1 + random() % 64)) {
      const uint64_t value = random() >> (random() % 64);
      std::memcpy(&bad[at], &value, sizeof value);
    }
    EXPECT_TRUE(Survives(bad));
  }
}

// Chains as long as the file, all modules on top of each other, all records unsettled: bounded
// work.
TEST(HostileGauge, WorstCasesEnd) {
  GaugeBuilder b;
  for (uint32_t i = 0; i < 200; ++i) {
    b.AddModule("/m", 0x1000, 0x100000000);
  }
  for (uint32_t i = 1; i < 50'000; ++i)
    b.nodes().push_back({wire::PackPc(0x1000 + i, i), i - 1, 0});
  for (uint32_t i = 1; i < 50'000; ++i) {
    wire::StackRecord stack{};
    stack.node = i;
    stack.samples = 1;
    b.stacks().push_back(stack);
  }
  for (uint32_t i = 0; i < 50'000; ++i) {
    wire::LiveRecord record{};
    record.state = 2 + i % 2;
    record.size = 1;
    record.stack = i;
    b.live().push_back(record);
  }
  const std::string bytes = b.Build();
  const auto profile = ReadGauge(MemorySource(bytes), "x.hg");
  ASSERT_TRUE(profile);
  EXPECT_TRUE(profile->Check());
  std::vector<LocationId> stack;
  for (RowId row = 0; row < profile->rows.size(); ++row) {
    profile->StackOf(row, &stack);
    ASSERT_LE(stack.size(), wire::kMaxFrames);
  }
}

}  // namespace
}  // namespace heapgauge
