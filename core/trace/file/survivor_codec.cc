#include "core/trace/file/survivor_codec.h"

#include "core/trace/file/column.h"
#include "core/trace/file/segment_columns.h"

namespace heapgauge::trace {
namespace {

enum SurvivorColumn : uint16_t { kCount = 1, kWhen = 2, kWhat = 3, kWhere = 4 };

}  // namespace

std::span<const uint8_t> EncodeSurvivors(std::span<const Block> blocks, ChunkMaker* chunk) {
  ColumnWriter count;
  ColumnWriter when;
  ColumnWriter what;
  ColumnWriter where;
  count.Number(blocks.size());
  Block last;
  for (Block b : blocks) {
    if (b.stack >= kMaxStacks) b.stack = 0;
    if (b.thread >= kMaxThreads) b.thread = kNoIndex;
    when.Number(b.number - last.number);
    when.Number(b.birth_ns - last.birth_ns);
    when.Number(b.previous == kNoBlock ? 0 : b.number - b.previous);
    what.Difference(b.stack, last.stack);
    what.Difference(b.size, last.size);
    what.Number(uint32_t{b.thread + 1});
    what.Number(b.slack);
    what.Byte(b.function);
    what.Byte(b.alignment_log2);
    what.Byte(b.is_mapping ? 1 : 0);
    where.Difference(b.address, last.address);
    last = b;
  }
  chunk->Begin(ChunkType::kSurvivors);
  chunk->Add(kCount, count.bytes());
  chunk->Add(kWhen, when.bytes());
  chunk->Add(kWhat, what.bytes());
  chunk->Add(kWhere, where.bytes());
  return chunk->Finish();
}

Status DecodeSurvivors(const ByteSource& source, const ChunkReader& chunk,
                       const SegmentLimits& limits, uint64_t blocks_in_trace,
                       std::vector<Block>* out) {
  constexpr size_t kLimit = kMaxSurvivors * 48;
  std::vector<uint8_t> bytes[4];
  for (const SurvivorColumn id : {kCount, kWhen, kWhat, kWhere}) {
    HG_TRY(chunk.Column(source, id, kLimit, &bytes[id - 1]));
  }
  const uint64_t count = ColumnReader(bytes[0]).Number();
  if (count > kMaxSurvivors) return chunk.Damaged("too many survivors");
  ColumnReader when(bytes[1]);
  ColumnReader what(bytes[2]);
  ColumnReader where(bytes[3]);
  out->clear();
  Block last;
  for (uint64_t i = 0; i < count; ++i) {
    Block b;
    b.number = last.number + when.Number();
    b.birth_ns = last.birth_ns + when.Number();
    const uint64_t back = when.Number();
    if (back != 0) b.previous = b.number - back;
    const uint64_t stack = what.Difference(last.stack);
    b.size = what.Difference(last.size);
    const uint64_t thread = what.Number();
    b.slack = static_cast<uint16_t>(what.Number());
    b.function = what.Byte();
    b.alignment_log2 = what.Byte();
    b.is_mapping = what.Byte() != 0;
    b.address = where.Difference(last.address);
    if (b.number >= blocks_in_trace || back > b.number || stack >= limits.stacks ||
        thread > limits.threads || (i != 0 && b.number <= last.number) ||
        b.birth_ns < last.birth_ns) {
      return chunk.Damaged("bad survivors");
    }
    b.stack = static_cast<uint32_t>(stack);
    b.thread = static_cast<uint32_t>(thread) - 1;
    out->push_back(b);
    last = b;
  }
  if (!when.done() || !what.done() || !where.done()) return chunk.Damaged("bad survivors");
  return {};
}

}  // namespace heapgauge::trace
