#include "core/leaks/verdict/sampled_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/gauge/gauge_facts.h"
#include "core/gauge/gauge_layout.h"
#include "core/gauge/gauge_reader.h"
#include "core/os/process.h"

namespace heapgauge::leaks {

uint64_t MakeDistinct(std::vector<KnownBlock>* blocks) {
  std::sort(blocks->begin(), blocks->end(), [](const KnownBlock& a, const KnownBlock& b) {
    return a.address != b.address ? a.address < b.address : a.birth_ns < b.birth_ns;
  });
  std::vector<KnownBlock> distinct;
  distinct.reserve(blocks->size());
  for (const KnownBlock& block : *blocks) {
    bool counts = true;
    while (block.address != 0 && !distinct.empty()) {
      const KnownBlock& last = distinct.back();
      if (block.address - last.address >= std::max<uint64_t>(last.size, 1)) break;
      if (last.birth_ns > block.birth_ns) {
        counts = false;
        break;
      }
      distinct.pop_back();
    }
    if (counts) distinct.push_back(block);
  }
  const uint64_t dropped = blocks->size() - distinct.size();
  *blocks = std::move(distinct);
  return dropped;
}

namespace {

constexpr uint64_t kAddressSpace = uint64_t{1} << 57;

Result<LiveRecords> CopyRecords(const ByteSource& source, const std::string& name,
                                uint64_t born_before) {
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(source, name));
  LiveRecords live;
  live.records.reserve(layout.record_count(wire::SegmentKind::kLive));
  live.left_out = ForEachStable<wire::LiveRecord>(
      source, layout, wire::SegmentKind::kLive,
      [&](uint32_t, const wire::LiveRecord& record) { live.records.push_back(record); });
  const uint64_t now = MonotonicNow();
  const uint64_t start = layout.header().start_monotonic_ns;
  if (now > start) live.now_ns = now - start;
  if (born_before != 0) live.born_before_ns = born_before > start ? born_before - start : 1;
  return live;
}

// Counters of the stacks that the blocks name. Rows of the profile are stacks; which one a number
// of the file has become is known by the blocks.
Status ReadHistories(const File& file, const std::vector<wire::LiveRecord>& records,
                     const Profile& profile, std::vector<StackHistory>* histories) {
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, file.path()));
  std::vector<RowId> row_of(layout.record_count(wire::SegmentKind::kStacks), kNone);
  for (size_t i = 0; i < profile.blocks.size(); ++i) {
    if (records[i].stack < row_of.size()) row_of[records[i].stack] = profile.blocks[i].row;
  }
  histories->resize(profile.rows.size());
  // Also turns away NaN.
  const auto is_amount = [](double v) { return v >= 0 && v <= 1e30; };
  ForEachRecord<wire::StackRecord>(
      file, layout, wire::SegmentKind::kStacks, [&](uint32_t index, const wire::StackRecord& r) {
        if (row_of[index] == kNone || !is_amount(r.allocated_bytes) || !is_amount(r.freed_bytes)) {
          return;
        }
        StackHistory& history = (*histories)[row_of[index]];
        history.taken = static_cast<double>(r.samples);
        history.allocated_bytes = r.allocated_bytes;
        history.freed_bytes = std::min(r.freed_bytes, r.allocated_bytes);
        // Samples that were freed are not counted for each stack, their bytes are.
        if (r.allocated_bytes >= 1) {
          history.freed = history.taken * (history.freed_bytes / history.allocated_bytes);
        }
      });
  return {};
}

}  // namespace

Result<LiveRecords> LiveRecords::Copy(const File& file, uint64_t born_before) {
  return CopyRecords(file, file.path(), born_before);
}

Result<KnownBlocks> SampledBlocks(const std::string& path, const LiveRecords& live) {
  HG_ASSIGN(const File file, File::OpenForReading(path));
  HG_ASSIGN(const GaugeLayout layout, GaugeLayout::Read(file, path));
  // What the reader would leave out, so that blocks and records go side by side.
  std::vector<wire::LiveRecord> records;
  records.reserve(live.records.size());
  uint64_t damaged = 0;
  for (const wire::LiveRecord& record : live.records) {
    if (!IsPlausible(record) || record.address >= kAddressSpace) {
      ++damaged;
    } else if (record.birth_ns >= layout.header().reset_ns) {
      records.push_back(record);
    }
  }
  GaugeReadOptions options;
  options.live = &records;
  KnownBlocks known;
  HG_ASSIGN(known.profile, ReadGaugeFile(path, options));
  Profile& profile = known.profile;
  if (profile.blocks.size() != records.size()) {
    return Fail(ErrorCode::kUnavailable, "'" + path + "' was reset while it was read; try again");
  }
  known.now_ns = live.now_ns != 0 ? live.now_ns : profile.recording.duration_ns;
  known.stacks.reserve(profile.rows.size());
  for (const Row& row : profile.rows) known.stacks.push_back({row.leaf, row.labels});
  HG_TRY(ReadHistories(file, records, profile, &known.histories));
  known.blocks.reserve(profile.blocks.size());
  for (size_t i = 0; i < profile.blocks.size(); ++i) {
    const heapgauge::SampledBlock& block = profile.blocks[i];
    KnownBlock& out = known.blocks.emplace_back();
    out.address = block.address;
    out.size = block.size;
    out.birth_ns = std::min(block.birth_ns, known.now_ns);
    out.stack = block.row;
    out.thread = block.thread & 0xffffff;
    out.function = std::min(records[i].function, kNoFunction) & 0xff;
    out.weight = WeightOf(block.size, block.interval).objects;
  }
  const uint64_t dropped = MakeDistinct(&known.blocks);
  if (dropped != 0) {
    profile.notes.push_back(fmt::format(
        "{} sampled blocks were freed unseen: others have their place now, and count", dropped));
  }
  // Only now: what had the place of a young block before was freed.
  if (live.born_before_ns != 0) {
    std::erase_if(known.blocks,
                  [&](const KnownBlock& block) { return block.birth_ns >= live.born_before_ns; });
  }
  if (live.left_out != 0) {
    profile.notes.push_back(
        fmt::format("{} live records were being written and are left out", live.left_out));
  }
  if (damaged != 0) {
    profile.notes.push_back(fmt::format("{} live records make no sense and are left out", damaged));
  }
  return known;
}

Result<KnownBlocks> SampledBlocks(const std::string& path) {
  HG_ASSIGN(const File file, File::OpenForReading(path));
  HG_ASSIGN(LiveRecords live, LiveRecords::Copy(file));
  live.now_ns = 0;
  return SampledBlocks(path, live);
}

}  // namespace heapgauge::leaks
