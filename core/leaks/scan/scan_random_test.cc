// The scan beside one that is written for nothing but to be right, on many small random heaps.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/leaks/scan/scan.h"
#include "core/leaks/scan/test_image.h"

namespace heapgauge::leaks {
namespace {

struct Program {
  TestImage image;
  std::vector<KnownBlock> blocks;
  Roots roots;
};

constexpr uint64_t kRoot = 0x10000;
constexpr uint64_t kFile = 0x20000;
constexpr uint64_t kCode = 0x30000;

Program Random(uint64_t max_blocks, std::mt19937_64* random) {
  const auto below = [random](uint64_t n) { return (*random)() % n; };
  Program program;
  program.image.Map(kRoot, 256);
  program.roots.ranges.push_back({{kRoot, kRoot + 256}, RootKind::kData, 0, 0});
  program.image.Map(kFile, 256);
  program.image.Put(kFile + 64, kCode + 8);
  program.image.Put(kFile + 72, kCode + 16);
  program.roots.files = {{kFile, kFile + 256}};
  program.roots.code = {{kCode, kCode + 4096}};

  // One or two parts of heap, which need not begin with a page.
  const int parts = 1 + static_cast<int>(below(2));
  uint64_t at = 0x100000 + below(200) * 8;
  for (int part = 0; part < parts; ++part) {
    const uint64_t start = at;
    const uint64_t count = 1 + below(max_blocks);
    for (uint64_t i = 0; i < count; ++i) {
      if (below(3) == 0) at += below(6) * 8;
      if (below(8) == 0) at += below(9000);
      if (below(6) != 0) at = (at + 15) / 16 * 16;
      KnownBlock block;
      block.address = at;
      const uint64_t sizes[] = {0, 1, 8, 12, 16, 24, 25, 32, 35, 40, 64, 108, 5000, 70000};
      block.size = sizes[below(below(4) != 0 ? 11 : below(20) != 0 ? 13 : 14)];
      program.blocks.push_back(block);
      at += std::max<uint64_t>(block.size, 1);
    }
    if (below(2) == 0) at += below(6000);
    const uint64_t end = (at + 15) / 16 * 16;
    program.roots.heap.push_back({start, end});
    program.image.Map(start / 8 * 8, end - start / 8 * 8);
    at = end + 8 + below(10000);
  }
  const auto some_address = [&]() -> uint64_t {
    if (below(5) == 0) {
      const AddressRange& heap = program.roots.heap[below(program.roots.heap.size())];
      return heap.start + below(heap.size() + 8);
    }
    const KnownBlock& block = program.blocks[below(program.blocks.size())];
    switch (below(8)) {
      case 0:
        return block.address + 8;
      case 1:
        return block.address + 24;
      case 2:
        return block.address + below(block.size + 2);
      default:
        return block.address;
    }
  };
  const auto put = [&](uint64_t address) {
    const uint64_t small[] = {1, 2, 3, 10, 16, 24, 56, 100, kFile + 64};
    const bool is_pointer = below(4) != 0;
    program.image.Put(address, is_pointer ? some_address() : small[below(9)]);
  };
  // Of many blocks each has one pointer or two: circles and chains of any length.
  for (uint64_t i = below(6); i > 0; --i) put(kRoot + below(32) * 8);
  for (uint64_t i = below(2); i > 0; --i) {
    program.roots.registers.push_back({some_address(), 1, "rax"});
  }
  for (const AddressRange& heap : program.roots.heap) {
    const AddressRange words = {(heap.start + 7) / 8 * 8, heap.end / 8 * 8};
    for (uint64_t i = below(8); i > 0 && words.size() > 0; --i) {
      put(words.start + below(words.size() / 8) * 8);
    }
  }
  for (const KnownBlock& block : program.blocks) {
    if (block.address % 8 != 0) continue;
    for (uint64_t i = block.size < 5000 ? 0 : below(block.size / 16); i > 0; --i) {
      put(block.address + below(block.size / 8) * 8);
    }
    for (uint64_t offset = 0; offset + 8 <= std::min<uint64_t>(block.size, 48); offset += 8) {
      if (below(3) == 0) put(block.address + offset);
    }
  }
  return program;
}

// Every word of memory is a pointer from its owner to what it points to; rules are applied until
// nothing changes.
class Reference {
 public:
  Reference(const Program& program, bool exact) : p_(program), exact_(exact) {
    kinds.resize(p_.blocks.size(), Kind::kDefinite);
    heuristics.resize(p_.blocks.size(), false);
    leaders.resize(p_.blocks.size(), kNoBlock);
    Reach();
    Lose();
  }

  std::vector<Kind> kinds;
  std::vector<bool> heuristics;
  std::vector<uint32_t> leaders;

 private:
  uint32_t BlockAt(uint64_t address) const {
    uint32_t i = 0;
    for (const KnownBlock& block : p_.blocks) {
      if (address >= block.address && address < block.address + std::max<uint64_t>(block.size, 1)) {
        return i;
      }
      if (block.address > address) break;
      ++i;
    }
    return kNoBlock;
  }
  // A word of the heap that is wholly outside of known blocks.
  bool IsUnknown(uint64_t word) const {
    bool in_heap = false;
    for (const AddressRange& heap : p_.roots.heap) {
      in_heap = in_heap || (word >= heap.start && word + 8 <= heap.end);
    }
    for (uint64_t i = 0; i < 8; ++i) in_heap = in_heap && BlockAt(word + i) == kNoBlock;
    return in_heap;
  }
  bool InHeap(uint64_t address) const {
    for (const AddressRange& heap : p_.roots.heap) {
      if (address >= heap.start && address < heap.end) return true;
    }
    return false;
  }
  std::vector<uint64_t> WordsIn(uint64_t start, uint64_t end) const {
    std::vector<uint64_t> words;
    for (uint64_t at = (start + 7) / 8 * 8; at + 8 <= end; at += 8) {
      words.push_back(p_.image.Get(at));
    }
    return words;
  }
  std::vector<uint64_t> WordsOfBlock(uint32_t block) const {
    return WordsIn(p_.blocks[block].address, p_.blocks[block].address + p_.blocks[block].size);
  }

  bool IsTable(uint64_t address) const { return address == kFile + 64; }
  bool CountsAsStart(uint64_t address, uint32_t number) const {
    const KnownBlock& block = p_.blocks[number];
    const uint64_t offset = address - block.address;
    if (offset == 0) return true;
    if (block.address % 8 != 0) return false;
    const uint64_t first = block.size >= 8 ? p_.image.Get(block.address) : 0;
    const uint64_t second = block.size >= 16 ? p_.image.Get(block.address + 8) : 0;
    if (offset == 24 && second + 25 == block.size && first <= second) return true;
    if (offset == 8 && first == block.size - 8) return true;
    if (offset == 8 && first > 0 && (block.size - 8) % first == 0) return true;
    return offset % 8 == 0 && offset + 8 <= block.size && IsTable(first) &&
           IsTable(p_.image.Get(address));
  }

  // The words that a pointer into unknown memory reaches.
  void ReachUnknown(uint64_t address, std::vector<uint64_t>* words) const {
    for (uint64_t word = address / 16 * 16; word <= address; word += 8) {
      if (IsUnknown(word)) words->push_back(word);
    }
    for (uint64_t word = address / 8 * 8 + 8; word + 8 <= address + 4096; word += 8) {
      if (!IsUnknown(word)) break;
      words->push_back(word);
    }
  }

  void Reach() {
    std::vector<uint64_t> pointers = WordsIn(kRoot, kRoot + 256);
    for (const RootRegister& root : p_.roots.registers) pointers.push_back(root.value);
    std::vector<uint64_t> inside;  // pointers of reached memory that do not count
    std::vector<bool> by_start(p_.blocks.size());
    std::vector<uint64_t> reached_words;
    while (!pointers.empty()) {
      const uint64_t pointer = pointers.back();
      pointers.pop_back();
      const uint32_t block = BlockAt(pointer);
      if (block != kNoBlock) {
        if (pointer == p_.blocks[block].address) by_start[block] = true;
        if (!CountsAsStart(pointer, block)) {
          inside.push_back(pointer);
        } else if (kinds[block] != Kind::kReachable) {
          kinds[block] = Kind::kReachable;
          for (const uint64_t word : WordsOfBlock(block)) pointers.push_back(word);
        }
      } else if (!exact_ && InHeap(pointer)) {
        std::vector<uint64_t> words;
        ReachUnknown(pointer, &words);
        for (const uint64_t word : words) {
          if (std::find(reached_words.begin(), reached_words.end(), word) != reached_words.end()) {
            continue;
          }
          reached_words.push_back(word);
          pointers.push_back(p_.image.Get(word));
        }
      }
    }
    for (uint32_t i = 0; i < kinds.size(); ++i) {
      heuristics[i] = kinds[i] == Kind::kReachable && !by_start[i];
    }
    if (!exact_) {  // what nothing reaches points to blocks that may be lost
      for (const AddressRange& heap : p_.roots.heap) {
        for (uint64_t word = (heap.start + 7) / 8 * 8; word + 8 <= heap.end; word += 8) {
          const bool seen =
              std::find(reached_words.begin(), reached_words.end(), word) != reached_words.end();
          if (!seen && IsUnknown(word)) inside.push_back(p_.image.Get(word));
        }
      }
    }
    while (!inside.empty()) {
      const uint32_t block = BlockAt(inside.back());
      inside.pop_back();
      if (block == kNoBlock || kinds[block] != Kind::kDefinite) continue;
      kinds[block] = Kind::kPossible;
      for (const uint64_t word : WordsOfBlock(block)) inside.push_back(word);
    }
  }

  void Join(uint32_t block, uint32_t leader) {
    for (const uint64_t word : WordsOfBlock(block)) {
      const uint32_t to = BlockAt(word);
      if (to == kNoBlock || kinds[to] != Kind::kDefinite || to == leader) continue;
      kinds[to] = Kind::kIndirect;
      leaders[to] = leader;
      for (uint32_t& other : leaders) {
        if (other == to) other = leader;
      }
      Join(to, leader);
    }
  }
  void Lose() {
    for (uint32_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] == Kind::kDefinite) Join(i, i);
    }
  }

  const Program& p_;
  bool exact_;
};

// Whoever follows `from` must come to a root, or to the leader, by pointers that are there.
void ExpectWaysToRoots(const Program& program, const ScanResult& result) {
  for (uint32_t i = 0; i < result.verdicts.size(); ++i) {
    const Verdict* verdict = &result.verdicts[i];
    EXPECT_EQ(verdict->has_pointer, verdict->kind != Kind::kDefinite);
    uint32_t block = i;
    for (size_t steps = 0; verdict->has_pointer; ++steps) {
      ASSERT_LE(steps, result.verdicts.size());
      const uint64_t value = verdict->by_register ? program.roots.registers[verdict->pointer].value
                                                  : program.image.Get(verdict->pointer);
      const KnownBlock& to = program.blocks[block];
      ASSERT_GE(value, to.address);
      ASSERT_LT(value, to.address + std::max<uint64_t>(to.size, 1));
      if (verdict->from == kNoBlock) break;
      const KnownBlock& from = program.blocks[verdict->from];
      ASSERT_GE(verdict->pointer, from.address);
      ASSERT_LE(verdict->pointer + 8, from.address + from.size);
      block = verdict->from;
      verdict = &result.verdicts[block];
    }
    if (result.verdicts[i].kind == Kind::kIndirect) {
      EXPECT_EQ(block, result.verdicts[i].leader);
    }
  }
}

void Compare(bool exact, uint64_t max_blocks, uint64_t seed, int rounds) {
  std::mt19937_64 random(seed);
  size_t seen[kKinds] = {};
  size_t heuristics = 0;
  for (int round = 0; round < rounds; ++round) {
    const Program program = Random(max_blocks, &random);
    const Reference expected(program, exact);
    ScanResult result = Scan(program.image, program.blocks, exact, program.roots, {});
    if (round % 2 == 1) {  // everything in small portions: more comes between
      ScanState state(program.image, program.blocks, program.roots, {});
      state.batch = 1 + random() % 3;
      state.follow_together = 1 + random() % 3;
      ScanAll(&state, exact);
      result.verdicts = state.marks.verdicts();
    }
    ASSERT_EQ(result.verdicts.size(), program.blocks.size());
    for (uint32_t i = 0; i < program.blocks.size(); ++i) {
      const Verdict& verdict = result.verdicts[i];
      ASSERT_EQ(verdict.kind, expected.kinds[i]) << "round " << round << " block " << i;
      ASSERT_EQ(verdict.heuristic != Heuristic::kNone, expected.heuristics[i])
          << "round " << round << " block " << i;
      ASSERT_EQ(verdict.leader, expected.leaders[i]) << "round " << round << " block " << i;
      ++seen[static_cast<size_t>(verdict.kind)];
      heuristics += expected.heuristics[i] ? 1 : 0;
    }
    ExpectWaysToRoots(program, result);
    if (::testing::Test::HasFailure()) return;
  }
  // The heaps must have been worth it.
  for (const size_t count : seen) EXPECT_GT(count, static_cast<size_t>(rounds) / 4);
  if (rounds >= 1000) {
    EXPECT_GT(heuristics, static_cast<size_t>(rounds) / 100);
  }
}

TEST(LeakScanBesideAPlainOne, AgreesWhereAllBlocksAreKnown) { Compare(true, 12, 1, 5000); }
TEST(LeakScanBesideAPlainOne, AgreesWhereSomeBlocksAreKnown) { Compare(false, 12, 2, 1500); }
TEST(LeakScanBesideAPlainOne, AgreesOnManyBlocksWhereAllAreKnown) { Compare(true, 4000, 3, 20); }
TEST(LeakScanBesideAPlainOne, AgreesOnManyBlocksWhereSomeAreKnown) { Compare(false, 200, 4, 30); }

}  // namespace
}  // namespace heapgauge::leaks
