#include "core/leaks/verdict/exact_blocks.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "core/gauge/gauge_modules.h"
#include "core/trace/file/stacks_reader.h"

namespace heapgauge::leaks {
namespace {

using trace::LoadShared;
using trace::MappedGauge;
using trace::StackEntry;
using trace::StackTables;
using trace::TraceFile;
using wire::SegmentKind;

// The records of the gauge file that the stacks of some blocks lead to, numbered anew.
class NeededTables {
 public:
  explicit NeededTables(MappedGauge* gauge) : gauge_(*gauge) { gauge->Refresh(); }

  // The new number of a stack; 0 unknown.
  uint32_t Stack(uint32_t record) {
    if (record == 0) return 0;
    const auto [it, is_new] = stacks_.emplace(record, 0);
    if (!is_new) return it->second;
    wire::StackRecord stack;
    if (!Load(SegmentKind::kStacks, gauge_.header().stack_bytes, record, &stack)) return 0;
    StackEntry entry;
    entry.leaf = Node(stack.node);
    entry.labels = stack.labels;
    entry.flags = stack.flags;
    most_labels_ = std::max<uint32_t>(most_labels_, stack.labels);
    it->second = static_cast<uint32_t>(tables_.stacks.size());
    tables_.stacks.push_back(entry);
    return it->second;
  }

  StackTables Take() {
    const uint32_t modules = LoadShared(gauge_.header().module_count);
    for (uint32_t i = 0; i < modules; ++i) {
      wire::ModuleRecord record;
      if (!Load(SegmentKind::kModules, gauge_.header().module_bytes, i, &record)) break;
      tables_.modules.push_back(ToModule(record, true));
    }
    for (uint32_t i = 0; i <= most_labels_; ++i) {
      wire::LabelRecord record{};
      Load(SegmentKind::kLabels, gauge_.header().label_bytes, i, &record);
      tables_.labels.push_back(record);
    }
    return std::move(tables_);
  }

 private:
  template <typename Record>
  bool Load(SegmentKind kind, uint32_t told_bytes, uint32_t index, Record* out) const {
    if (told_bytes < sizeof(Record) || told_bytes > wire::kSegmentBytes || told_bytes % 8 != 0) {
      return false;
    }
    const uint8_t* const at = gauge_.record(kind, told_bytes, index);
    if (at == nullptr) return false;
    std::memcpy(out, at, sizeof *out);
    return true;
  }

  // Parents come first, and have smaller numbers: so no file leads in circles.
  uint32_t Node(uint32_t record) {
    struct Step {
      uint32_t record;
      wire::NodeRecord node;
    };
    std::vector<Step> way;
    uint32_t parent = 0;
    uint32_t last = UINT32_MAX;
    while (record != 0 && record < last && way.size() < wire::kMaxFrames) {
      if (const auto it = nodes_.find(record); it != nodes_.end()) {
        parent = it->second;
        break;
      }
      Step step{record, {}};
      if (!Load(SegmentKind::kNodes, gauge_.header().node_bytes, record, &step.node)) break;
      if (step.node.pc_module == 0) break;
      way.push_back(step);
      last = record;
      record = step.node.parent;
    }
    while (!way.empty()) {
      wire::NodeRecord node = way.back().node;
      node.parent = parent;
      parent = static_cast<uint32_t>(tables_.nodes.size());
      nodes_.emplace(way.back().record, parent);
      tables_.nodes.push_back(node);
      way.pop_back();
    }
    return parent;
  }

  const MappedGauge& gauge_;
  StackTables tables_;
  std::unordered_map<uint32_t, uint32_t> stacks_;
  std::unordered_map<uint32_t, uint32_t> nodes_;
  uint32_t most_labels_ = 0;
};

// By address; of two that overlap the younger one is there.
void Order(std::vector<KnownBlock>* blocks) {
  std::sort(blocks->begin(), blocks->end(), [](const KnownBlock& a, const KnownBlock& b) {
    return a.address != b.address ? a.address < b.address : a.birth_ns < b.birth_ns;
  });
  size_t kept = 0;
  for (size_t i = 0; i < blocks->size(); ++i) {
    const KnownBlock block = (*blocks)[i];
    bool overlaps = false;
    while (kept != 0) {
      const KnownBlock& before = (*blocks)[kept - 1];
      if (before.address + std::max<uint64_t>(before.size, 1) <= block.address) break;
      if (before.birth_ns > block.birth_ns) {
        overlaps = true;
        break;
      }
      --kept;
    }
    if (!overlaps) (*blocks)[kept++] = block;
  }
  blocks->resize(kept);
}

}  // namespace

KnownBlocks ExactBlocks(trace::ProcessRecorder* recorder) {
  KnownBlocks known;
  NeededTables tables(&recorder->gauge());
  recorder->matcher().ForEachSurvivor([&](const trace::Block& block) {
    if (block.is_mapping) return;
    KnownBlock out;
    out.address = block.address;
    out.size = std::min(block.size, UINT64_MAX - block.address);
    out.birth_ns = block.birth_ns;
    out.stack = tables.Stack(block.stack);
    out.thread = recorder->thread_id(block.thread) & 0xffffff;
    out.function = block.function;
    known.blocks.push_back(out);
  });
  Order(&known.blocks);
  const StackTables needed = tables.Take();
  TraceFile::Stacks stacks =
      MakeStacks(needed, static_cast<uint32_t>(needed.stacks.size()), "", recorder->gauge().path());
  known.profile = std::move(stacks.profile);
  known.profile.recording = recorder->facts().recording;
  known.stacks.reserve(stacks.stacks.size());
  for (const TraceFile::Stacks::Stack& stack : stacks.stacks) {
    known.stacks.push_back({stack.leaf, stack.labels});
  }
  const wire::Header& header = recorder->gauge().header();
  known.exact = LoadShared(header.trace.lost) == 0;
  if (!known.exact) known.gap = Gap::kEvents;
  known.now_ns = recorder->now_ns();
  return known;
}

}  // namespace heapgauge::leaks
