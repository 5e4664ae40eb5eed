#include "core/leaks/scan/scan.h"

#include <time.h>

#include "core/leaks/scan/edge_list.h"

namespace heapgauge::leaks {
namespace {

uint64_t CpuNow() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

void ReachFromRegisters(ScanState* state) {
  for (size_t i = 0; i < state->roots.registers.size(); ++i) {
    const uint64_t value = state->roots.registers[i].value;
    const uint32_t block = state->index.Find(value);
    if (block == kNoBlock) continue;
    const Place place = PlaceOf(value - state->index.extent(block).start);
    state->marks.Reach(block, place, {i, kNoBlock, true});
  }
}

// The first words of blocks, of which those that lie close together are read together.
void ReadFacts(ScanState* state) {
  constexpr uint64_t kBridge = 2048;
  const std::vector<uint32_t> blocks = state->marks.BlocksToKnow();
  const BlockIndex& index = state->index;
  for (size_t first = 0; first < blocks.size();) {
    const uint64_t start = index.extent(blocks[first]).start & ~uint64_t{7};
    uint64_t end = start + 16;
    size_t last = first + 1;  // one behind
    for (; last < blocks.size() && end - start < RangeReader::kBufferBytes; ++last) {
      const uint64_t next = index.extent(blocks[last]).start & ~uint64_t{7};
      if (next > end + kBridge) break;
      end = next + 16;
    }
    std::vector<uint64_t> words((end - start) / 8);
    state->reader.ReadTo(start, (end - start), words.data());
    for (; first < last; ++first) {
      const AddressRange& extent = index.extent(blocks[first]);
      const uint64_t* at = &words[(extent.start - start) / 8];
      const bool has_words = extent.start % 8 == 0 && extent.size() >= 8;
      const uint64_t second = extent.size() >= 16 ? at[1] : 0;
      state->marks.SetFacts(blocks[first],
                            has_words ? FactsOf(extent.size(), at[0], second) : BlockFacts{0});
    }
  }
}

uint64_t BytesToRead(const std::vector<KnownBlock>& blocks, bool exact, const Roots& roots) {
  uint64_t bytes = 0;
  for (const RootRange& root : roots.ranges) bytes += root.range.size();
  if (exact) {
    for (const KnownBlock& block : blocks) bytes += block.size;
  } else {
    for (const AddressRange& range : roots.heap) bytes += range.size();
  }
  return bytes;
}

}  // namespace

bool JudgeInteriors(ScanState* state) {
  ReadFacts(state);
  return state->marks.JudgeInteriors();
}

void TrimInteriors(ScanState* state) {
  if (!state->marks.has_many_interiors()) return;
  ReadFacts(state);
  state->marks.TrimInteriors();
}

void FinishLostBlocks(ScanState* state, std::vector<uint32_t> possible) {
  while (!possible.empty()) {
    const uint32_t block = possible.back();
    possible.pop_back();
    state->edges.ForEach(block, [&](uint64_t address, uint32_t to, Place) {
      if (state->marks.MarkPossible(to, {address, block, false})) possible.push_back(to);
    });
  }
  PutIntoCliques(state->edges, state->marks.LostBlocks(), &state->marks.verdicts());
}

void ScanAll(ScanState* state, bool exact) {
  if (!exact) state->marks.FollowAllWhenReached();
  ReachFromRegisters(state);
  if (exact) {
    ScanExact(state);
  } else {
    ScanSampled(state);
  }
}

ScanResult Scan(const MemoryImage& image, const std::vector<KnownBlock>& blocks, bool exact,
                const Roots& roots, const ScanOptions& options) {
  const uint64_t begin = CpuNow();
  const uint64_t total_bytes = options.progress != nullptr ? BytesToRead(blocks, exact, roots) : 0;
  uint64_t other_cpu_ns = 0;
  // Where a search failed all is read, from the start.
  for (const bool may_search : {true, false}) {
    ScanState state(image, blocks, roots, options);
    state.total_bytes = total_bytes;
    state.may_search = may_search;
    ScanAll(&state, exact);
    other_cpu_ns += state.other_cpu_ns;
    if (state.search_failed) continue;
    ScanResult result;
    result.verdicts = std::move(state.marks.verdicts());
    result.scanned_bytes = state.reader.read_bytes();
    result.unreadable_bytes = state.reader.unreadable_bytes();
    result.cpu_ns = CpuNow() - begin + other_cpu_ns;
    return result;
  }
  return {};
}

}  // namespace heapgauge::leaks
