#include "core/leaks/scan.h"

#include <time.h>

#include "core/leaks/cliques.h"
#include "core/leaks/scan_parts.h"

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

uint64_t BytesToRead(const std::vector<Block>& blocks, bool exact, const Roots& roots) {
  uint64_t bytes = 0;
  for (const RootRange& root : roots.ranges) bytes += root.range.size();
  if (exact) {
    for (const Block& block : blocks) bytes += block.size;
  } else {
    for (const AddressRange& range : roots.heap) bytes += range.size();
  }
  return bytes;
}

}  // namespace

void FinishLostBlocks(ScanState* state, std::vector<uint32_t> possible) {
  while (!possible.empty()) {
    const uint32_t block = possible.back();
    possible.pop_back();
    state->edges.ForEach(block, [&](uint64_t address, uint32_t to, Place) {
      if (state->marks.MarkPossible(to, {address, block, false})) possible.push_back(to);
    });
  }
  PutIntoCliques(state->edges, &state->marks.verdicts());
}

ScanResult Scan(const MemoryImage& image, const std::vector<Block>& blocks, bool exact,
                const Roots& roots, const ScanOptions& options) {
  const uint64_t begin = CpuNow();
  ScanState state(image, blocks, roots, options);
  state.total_bytes = BytesToRead(blocks, exact, roots);
  if (!exact) {
    state.marks.set_follow_before(static_cast<uint32_t>(blocks.size()));
    state.marks.set_read_facts();
  }
  ReachFromRegisters(&state);
  if (exact) {
    ScanExact(&state);
  } else {
    ScanSampled(&state);
  }
  ScanResult result;
  result.verdicts = std::move(state.marks.verdicts());
  result.scanned_bytes = state.reader.read_bytes();
  result.unreadable_bytes = state.reader.unreadable_bytes();
  result.cpu_ns = CpuNow() - begin;
  return result;
}

}  // namespace heapgauge::leaks
