#include "core/trace/record/table_copier.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

namespace heapgauge::trace {
namespace {

using wire::SegmentKind;

// Records that may be unfinished at one time: as many as the program has threads, if it is honest.
constexpr size_t kMostOpen = 65536;

size_t HashOf(const wire::ModuleRecord& module) {
  return std::hash<std::string_view>()(
      std::string_view(reinterpret_cast<const char*>(&module), sizeof module));
}

}  // namespace

TableCopier::TableCopier(MappedGauge* gauge, TraceWriter* writer) : gauge_(gauge), writer_(writer) {
  const wire::Header& header = gauge->header();
  // The sizes were checked when the file was opened; should they have changed since, they are
  // checked again here.
  const auto bytes = [](uint32_t told, size_t least) {
    const bool fits = told >= least && told <= wire::kSegmentBytes && told % 8 == 0;
    return fits ? told : static_cast<uint32_t>(least);
  };
  modules_.kind = SegmentKind::kModules;
  modules_.record_bytes = bytes(LoadShared(header.module_bytes), sizeof(wire::ModuleRecord));
  nodes_.kind = SegmentKind::kNodes;
  nodes_.record_bytes = bytes(LoadShared(header.node_bytes), sizeof(wire::NodeRecord));
  nodes_.next = 1;  // the root
  stacks_.kind = SegmentKind::kStacks;
  stacks_.record_bytes = bytes(LoadShared(header.stack_bytes), sizeof(wire::StackRecord));
  stacks_.next = 1;
  labels_.kind = SegmentKind::kLabels;
  labels_.record_bytes = bytes(LoadShared(header.label_bytes), sizeof(wire::LabelRecord));
  labels_.next = 1;
}

// add(index, record) returns false if the record is not finished. The first word of each record is
// the one that is written last; records are copied before they are looked at.
template <typename Record, typename Add>
void TableCopier::Copy(Table* table, uint32_t count, Add add) {
  const auto try_one = [&](uint32_t index) {
    const uint8_t* const at = gauge_->record(table->kind, table->record_bytes, index);
    if (at == nullptr) return false;
    Record record;
    static_cast<void>(LoadShared(*reinterpret_cast<const uint32_t*>(at)));
    std::memcpy(&record, at, sizeof record);
    return static_cast<bool>(add(index, record));
  };
  for (auto it = table->open.begin(); it != table->open.end();) {
    it = try_one(*it) ? table->open.erase(it) : std::next(it);
  }
  const uint32_t per_segment = wire::kSegmentBytes / table->record_bytes;
  count = std::min(count, gauge_->segment_count(table->kind) * per_segment);
  for (; table->next < count; ++table->next) {
    if (try_one(table->next)) continue;
    if (table->open.size() < kMostOpen) table->open.insert(table->next);
  }
}

void TableCopier::CopyNew() {
  // From what names to what is named: all that a record names was there before it.
  const wire::Header& header = gauge_->header();
  const uint32_t stacks = LoadShared(header.stack_count);
  const uint32_t labels = std::min(LoadShared(header.label_count), wire::kMaxLabelSets + 1);
  const uint32_t nodes = LoadShared(header.node_count);
  const uint32_t modules = LoadShared(header.module_count);
  if (stacks <= stacks_.next && nodes <= nodes_.next && modules <= modules_.next &&
      labels <= labels_.next && stacks_.open.empty() && nodes_.open.empty() &&
      modules_.open.empty() && labels_.open.empty()) {
    return;
  }
  gauge_->Refresh();
  Copy<wire::ModuleRecord>(&modules_, modules,
                           [this](uint32_t index, const wire::ModuleRecord& module) {
                             if (module.start == 0) return false;
                             if (module_hashes_.size() <= index) module_hashes_.resize(index + 1);
                             module_hashes_[index] = HashOf(module);
                             writer_->AddModule(index, module);
                             return true;
                           });
  Copy<wire::NodeRecord>(&nodes_, nodes, [this](uint32_t index, const wire::NodeRecord& node) {
    if (node.pc_module == 0) return false;
    wire::NodeRecord checked = node;
    if (checked.parent >= index) checked.parent = 0;  // no circles
    writer_->AddNode(index, checked);
    return true;
  });
  Copy<wire::LabelRecord>(&labels_, labels, [this](uint32_t index, const wire::LabelRecord& set) {
    if (set.valid == 0) return false;
    writer_->AddLabelSet(index, set);
    return true;
  });
  Copy<wire::StackRecord>(&stacks_, stacks, [this](uint32_t index, const wire::StackRecord& stack) {
    if (stack.node == 0) return false;
    writer_->AddStack(index, stack.node, stack.labels, stack.flags);
    return true;
  });
}

void TableCopier::CopyChanged() {
  CopyNew();
  for (uint32_t i = 0; i < module_hashes_.size(); ++i) {
    const uint8_t* const at = gauge_->record(SegmentKind::kModules, modules_.record_bytes, i);
    if (at == nullptr) continue;
    wire::ModuleRecord module;
    std::memcpy(&module, at, sizeof module);
    if (module.start == 0 || HashOf(module) == module_hashes_[i]) continue;
    module_hashes_[i] = HashOf(module);
    writer_->AddModule(i, module);
  }
}

}  // namespace heapgauge::trace
