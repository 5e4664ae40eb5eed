#include "core/trace/answer/selected_blocks.h"

#include <memory>
#include <utility>

#include "core/trace/answer/fold_segments.h"

namespace heapgauge::trace {

Result<StatsPeak> FindPeakOf(const TraceFile& trace, const MarkedBlocks& marked,
                             ProgressSink* progress) {
  StatsPeak peak;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  OrderedFoldOptions options;
  options.parts = kOldBlocks | kNewBlocks | kEvents;
  options.workers = WorkersFor(trace, 0);
  options.progress = progress;
  OrderedFold fold;
  fold.in_order = [&](size_t, const Segment& segment) {
    for (const Event& event : segment.events) {
      if (event.died != kNoIndex && marked.IsMarked(segment.blocks[event.died].number)) {
        bytes -= segment.blocks[event.died].size;
        --blocks;
      }
      if (event.born != kNoIndex && marked.IsMarked(segment.blocks[event.born].number)) {
        bytes += segment.blocks[event.born].size;
        ++blocks;
      }
      if (bytes > peak.bytes) peak = {bytes, blocks, event.time_ns};
    }
  };
  HG_TRY(FoldOrdered(trace, options, fold));
  return peak;
}

namespace {

struct Chosen {
  Matcher matcher;
  std::vector<bool> stacks;              // by number; empty: all
  std::unique_ptr<MarkedBlocks> marked;  // null: what is known at birth tells

  bool Matches(const Block& block) const {
    if (!stacks.empty() && (block.stack >= stacks.size() || !stacks[block.stack])) return false;
    return matcher.Matches(block);
  }
  bool Has(const Block& block) const {
    return marked == nullptr ? Matches(block) : marked->IsMarked(block.number);
  }
};

Status Mark(const TraceFile& trace, ProgressSink* progress, Chosen* chosen) {
  chosen->marked = std::make_unique<MarkedBlocks>(trace.blocks());
  OrderedFoldOptions options;
  options.parts = kOldBlocks | kNewBlocks | kAddresses | kDetails;
  options.workers = WorkersFor(trace, 0);
  options.progress = progress;
  OrderedFold fold;
  fold.each = [&](size_t, size_t, const Segment& segment) {
    ForEachDeath(segment, [&](const Block& block, size_t) {
      if (chosen->Matches(block)) chosen->marked->Mark(block.number);
    });
  };
  HG_TRY(FoldOrdered(trace, options, fold));
  return trace.ForEachSurvivor([&](const Block& block) {
    if (chosen->Matches(block)) chosen->marked->Mark(block.number);
  });
}

}  // namespace

bool Selection::any() const {
  return filter != BlockFilter() || !rows.focus.empty() || !rows.ignore.empty();
}

std::string Selection::Text() const {
  std::string text = filter.Text();
  const auto add = [&](const char* what, const std::string& pattern) {
    if (!pattern.empty()) text += (text.empty() ? "" : ", ") + std::string(what) + pattern;
  };
  add("stacks through ", rows.focus);
  add("not through ", rows.ignore);
  return text;
}

Result<std::vector<bool>> SelectStacks(const TraceFile::Stacks& stacks, const RowFilter& rows,
                                       Granularity granularity) {
  if (rows.focus.empty() && rows.ignore.empty()) return std::vector<bool>();
  Profile profile = stacks.profile;
  profile.rows.clear();
  for (const auto& stack : stacks.stacks) {
    Row row;
    row.leaf = stack.leaf;
    row.labels = stack.labels;
    profile.rows.push_back(row);
  }
  return SelectRows(profile, rows, granularity);
}

Result<BlockChoice> SelectBlocks(const TraceFile& trace, const TraceFile::Stacks& stacks,
                                 const Selection& selection, ProgressSink* progress) {
  if (!selection.any()) return BlockChoice();
  HG_ASSIGN(Matcher matcher, Matcher::Compile(selection.filter, trace, stacks));
  HG_ASSIGN(std::vector<bool> chosen_stacks,
            SelectStacks(stacks, selection.rows, selection.granularity));
  auto chosen =
      std::make_shared<Chosen>(Chosen{std::move(matcher), std::move(chosen_stacks), nullptr});
  if (selection.filter.asks_about_fate()) HG_TRY(Mark(trace, progress, chosen.get()));
  return BlockChoice([chosen](const Block& block) { return chosen->Has(block); });
}

}  // namespace heapgauge::trace
