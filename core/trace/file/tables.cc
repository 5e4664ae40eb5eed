#include "core/trace/file/tables.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "core/base/text.h"
#include "core/gauge/gauge_names.h"
#include "core/gauge/gauge_tables.h"
#include "core/trace/file/segment_columns.h"

namespace heapgauge::trace {
namespace {

enum TableColumn : uint16_t {
  kModules = 1,
  kNodeLinks = 2,
  kNodePcs = 3,
  kStacks = 4,
  kLabels = 5,
  kThreads = 6,
  kMemory = 7,
  kMarkers = 8,
  kCounts = 9,
};

constexpr uint32_t kMaxModules = 65535;
constexpr uint64_t kMaxColumnBytes = 1 << 30;
constexpr size_t kMaxName = 256;

std::string_view CText(const char* text, size_t size) { return {text, strnlen(text, size)}; }

void CopyText(std::string_view text, char* field, size_t size) { text.copy(field, size - 1); }

}  // namespace

void TableWriter::AddModule(uint32_t index, const wire::ModuleRecord& m) {
  modules_.Number(index);
  modules_.Number(m.start);
  modules_.Number(m.end);
  modules_.Number(m.load_bias);
  modules_.Number(m.code_start);
  modules_.Number(m.code_end);
  modules_.Number(m.code_offset);
  modules_.Number(m.flags);
  const size_t id_bytes = std::min<size_t>(m.build_id_bytes, sizeof m.build_id);
  modules_.Text({reinterpret_cast<const char*>(m.build_id), id_bytes});
  modules_.Text(CText(m.path, sizeof m.path));
}

void TableWriter::AddStack(uint32_t index, const StackEntry& stack) {
  if (index >= kMaxStacks) return;
  stacks_.emplace_back(index, stack);
  stack_count_ = std::max(stack_count_, index + 1);
}

void TableWriter::AddLabelSet(uint32_t index, const wire::LabelRecord& record) {
  labels_.Number(index);
  labels_.Number(record.parent);
  labels_.Number(record.depth);
  labels_.Number(record.flags);
  labels_.Number(record.thread_name);
  labels_.Text(CText(record.key, sizeof record.key));
  labels_.Text(CText(record.value, sizeof record.value));
}

void TableWriter::SetThread(uint32_t index, const Thread& thread) {
  if (index >= kMaxThreads) return;
  threads_.Number(index);
  threads_.Number(thread.id);
  threads_.Number(thread.first_ns);
  threads_.Text(std::string_view(thread.name).substr(0, kMaxName));
  thread_count_ = std::max(thread_count_, index + 1);
}

void TableWriter::AddMemory(const MemoryPoint& point) {
  const MemoryPoint& last = last_memory_;
  memory_.Difference(point.time_ns, last.time_ns);
  memory_.Difference(point.resident_bytes, last.resident_bytes);
  memory_.Difference(point.anonymous_bytes, last.anonymous_bytes);
  memory_.Difference(point.proportional_bytes, last.proportional_bytes);
  memory_.Difference(point.swapped_bytes, last.swapped_bytes);
  memory_.Difference(point.cgroup_bytes, last.cgroup_bytes);
  memory_.Difference(point.cgroup_limit, last.cgroup_limit);
  last_memory_ = point;
}

void TableWriter::AddMarker(const Marker& marker) {
  markers_.Difference(marker.time_ns, last_marker_ns_);
  markers_.Text(marker.text);
  last_marker_ns_ = marker.time_ns;
}

bool TableWriter::pending() const {
  return !early_nodes_.empty() || !node_links_.empty() || !stacks_.empty() || !modules_.empty() ||
         !labels_.empty() || !threads_.empty() || !memory_.empty() || !markers_.empty();
}

uint32_t TableWriter::NodeNumber(uint32_t index) {
  return index < node_numbers_.size() ? node_numbers_[index] : 0;
}

// Nodes come in order of their indexes as a rule, callers first. One that comes before its caller
// waits for it.
void TableWriter::AddNode(uint32_t index, const wire::NodeRecord& node) {
  if (node.parent == 0 || NodeNumber(node.parent) != 0) [[likely]] {
    EncodeNode(index, node);
  } else {
    early_nodes_.emplace_back(index, node);
  }
}

void TableWriter::EncodeNode(uint32_t index, const wire::NodeRecord& node) {
  if (index == 0) return;
  if (index >= node_numbers_.size()) {
    node_numbers_.resize(std::max<size_t>(size_t{index} + 1, node_numbers_.size() * 3 / 2));
  }
  uint32_t& number = node_numbers_[index];
  // 0: a new node. Else how far back the one is that this replaces.
  if (number == 0) {
    number = node_count_++;
    node_links_.Number(0);
  } else {
    node_links_.Number(node_count_ - number);
  }
  const uint32_t parent = NodeNumber(node.parent);
  node_links_.Number((parent < number ? number - parent : number) << 2 | (node.flags & 3));
  const auto next = static_cast<uint32_t>(pcs_.size());
  const uint32_t pc = pcs_.FindWord(node.pc_module, next);
  node_pcs_.Number(pc == next ? 0 : pc + 1);
  if (pc == next) node_pcs_.Number(node.pc_module);
}

// Callers have smaller indexes than what they call, so in order of indexes they come first.
void TableWriter::EncodeEarlyNodes() {
  std::stable_sort(early_nodes_.begin(), early_nodes_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [index, node] : early_nodes_) EncodeNode(index, node);
  early_nodes_.clear();
}

void TableWriter::Encode(ChunkMaker* chunk) {
  EncodeEarlyNodes();
  uint32_t last_index = 0;
  uint32_t last_leaf = 0;
  stack_column_.Clear();
  for (const auto& [index, stack] : stacks_) {
    const uint32_t leaf = NodeNumber(stack.leaf);
    stack_column_.Difference(index, last_index + 1);
    stack_column_.Difference(leaf, last_leaf);
    stack_column_.Number(stack.labels);
    stack_column_.Number(stack.flags);
    last_index = index;
    last_leaf = leaf;
  }
  stacks_.clear();
  ColumnWriter counts;
  counts.Number(stack_count_);
  chunk->Add(kCounts, counts.bytes());
  for (auto [id, column] : {std::pair{kModules, &modules_},
                            {kNodeLinks, &node_links_},
                            {kNodePcs, &node_pcs_},
                            {kStacks, &stack_column_},
                            {kLabels, &labels_},
                            {kThreads, &threads_},
                            {kMemory, &memory_},
                            {kMarkers, &markers_}}) {
    chunk->Add(id, column->bytes());
    column->Clear();
  }
}

size_t TableBudget::plain_bytes() const {
  return static_cast<size_t>(std::min(plain_bytes_ - spent_, kMaxColumnBytes));
}
uint64_t TableBudget::stacks() const { return std::min<uint64_t>(kMaxStacks, stacks_); }

namespace {

Status Load(const ByteSource& source, const ChunkReader& chunk, TableColumn id, TableBudget* budget,
            std::vector<uint8_t>* out) {
  HG_TRY(chunk.Column(source, id, budget->plain_bytes(), out));
  budget->Spend(out->size());
  return {};
}

bool DecodeModules(ColumnReader in, StackTables* out) {
  while (in.left() != 0) {
    const uint64_t index = in.Number();
    wire::ModuleRecord m{};
    m.start = in.Number();
    m.end = in.Number();
    m.load_bias = in.Number();
    m.code_start = in.Number();
    m.code_end = in.Number();
    m.code_offset = in.Number();
    m.flags = static_cast<uint32_t>(in.Number());
    const std::string_view id = in.Text();
    const std::string_view path = in.Text();
    if (!in.ok() || index >= kMaxModules || id.size() > sizeof m.build_id) return false;
    m.build_id_bytes = static_cast<uint32_t>(id.size());
    id.copy(reinterpret_cast<char*>(m.build_id), sizeof m.build_id);
    CopyText(path, m.path, sizeof m.path);
    if (index >= out->modules.size()) out->modules.resize(index + 1);
    out->modules[index] = ToModule(m, true);
  }
  return in.ok();
}

bool DecodeNodes(ColumnReader links, ColumnReader pcs, StackTables* out) {
  while (links.left() != 0) {
    const uint64_t back = links.Number();
    const uint64_t link = links.Number();
    const uint64_t pc_number = pcs.Number();
    if (pc_number == 0) out->pcs.push_back(pcs.Number());
    if (!links.ok() || !pcs.ok() || pc_number > out->pcs.size()) return false;
    if (back >= out->nodes.size()) return false;  // 0 is not replaced
    const uint64_t number = out->nodes.size() - back;
    const uint64_t up = link >> 2;
    if (up == 0 || up > number) return false;
    wire::NodeRecord node{};
    node.pc_module = pc_number == 0 ? out->pcs.back() : out->pcs[pc_number - 1];
    node.parent = static_cast<uint32_t>(number - up);
    node.flags = link & 3;
    if (back == 0) {
      out->nodes.push_back(node);
    } else {
      out->nodes[number] = node;
    }
  }
  return pcs.done();
}

bool DecodeStacks(ColumnReader in, uint64_t limit, StackTables* out) {
  uint64_t index = 0;
  uint64_t leaf = 0;
  while (in.left() != 0) {
    index = in.Difference(index + 1);
    leaf = in.Difference(leaf);
    const uint64_t labels = in.Number();
    const uint64_t flags = in.Number();
    if (!in.ok() || index >= limit || leaf >= out->nodes.size()) return false;
    if (index >= out->stacks.size()) out->stacks.resize(index + 1);
    out->stacks[index] = {static_cast<uint32_t>(leaf), static_cast<uint16_t>(labels),
                          static_cast<uint16_t>(flags)};
  }
  return in.ok();
}

bool DecodeLabels(ColumnReader in, StackTables* out) {
  while (in.left() != 0) {
    const uint64_t index = in.Number();
    wire::LabelRecord record{};
    record.valid = 1;
    record.parent = static_cast<uint16_t>(in.Number());
    record.depth = static_cast<uint16_t>(in.Number());
    record.flags = static_cast<uint16_t>(in.Number());
    record.thread_name = static_cast<uint16_t>(in.Number());
    CopyText(in.Text(), record.key, sizeof record.key);
    CopyText(in.Text(), record.value, sizeof record.value);
    if (!in.ok() || index > wire::kMaxLabelSets) return false;
    if (index >= out->labels.size()) out->labels.resize(index + 1);
    out->labels[index] = record;
  }
  return in.ok();
}

bool DecodeThreads(ColumnReader in, uint64_t limit, PlainTables* out) {
  while (in.left() != 0) {
    const uint64_t index = in.Number();
    Thread thread;
    thread.id = static_cast<uint32_t>(in.Number());
    thread.first_ns = in.Number();
    thread.name = Printable(in.Text());
    if (!in.ok() || index >= limit) return false;
    if (index >= out->threads.size()) out->threads.resize(index + 1);
    out->threads[index] = std::move(thread);
  }
  return in.ok();
}

bool DecodeMemory(ColumnReader in, PlainTables* out) {
  MemoryPoint point = out->memory.empty() ? MemoryPoint{} : out->memory.back();
  while (in.left() != 0) {
    for (uint64_t* field :
         {&point.time_ns, &point.resident_bytes, &point.anonymous_bytes, &point.proportional_bytes,
          &point.swapped_bytes, &point.cgroup_bytes, &point.cgroup_limit}) {
      *field = in.Difference(*field);
    }
    if (!in.ok()) return false;
    out->memory.push_back(point);
  }
  return in.ok();
}

bool DecodeMarkers(ColumnReader in, PlainTables* out) {
  uint64_t time = out->markers.empty() ? 0 : out->markers.back().time_ns;
  while (in.left() != 0) {
    time = in.Difference(time);
    const std::string_view text = in.Text();
    if (!in.ok()) return false;
    out->markers.push_back({time, Printable(text)});
  }
  return in.ok();
}

}  // namespace

Status ReadStackTables(const ByteSource& source, const ChunkReader& chunk, TableBudget* budget,
                       StackTables* out) {
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> pcs;
  HG_TRY(Load(source, chunk, kModules, budget, &bytes));
  if (!DecodeModules(ColumnReader(bytes), out)) return chunk.Damaged("bad modules");
  HG_TRY(Load(source, chunk, kNodeLinks, budget, &bytes));
  HG_TRY(Load(source, chunk, kNodePcs, budget, &pcs));
  if (!DecodeNodes(ColumnReader(bytes), ColumnReader(pcs), out)) {
    return chunk.Damaged("bad nodes of stacks");
  }
  HG_TRY(Load(source, chunk, kStacks, budget, &bytes));
  if (!DecodeStacks(ColumnReader(bytes), budget->stacks(), out)) {
    return chunk.Damaged("bad stacks");
  }
  HG_TRY(Load(source, chunk, kLabels, budget, &bytes));
  if (!DecodeLabels(ColumnReader(bytes), out)) return chunk.Damaged("bad labels");
  return {};
}

Status ReadPlainTables(const ByteSource& source, const ChunkReader& chunk, TableBudget* budget,
                       PlainTables* out) {
  std::vector<uint8_t> bytes;
  HG_TRY(Load(source, chunk, kThreads, budget, &bytes));
  if (!DecodeThreads(ColumnReader(bytes), std::min<uint64_t>(kMaxThreads, budget->threads()),
                     out)) {
    return chunk.Damaged("bad threads");
  }
  HG_TRY(Load(source, chunk, kMemory, budget, &bytes));
  if (!DecodeMemory(ColumnReader(bytes), out)) return chunk.Damaged("bad memory figures");
  HG_TRY(Load(source, chunk, kMarkers, budget, &bytes));
  if (!DecodeMarkers(ColumnReader(bytes), out)) return chunk.Damaged("bad markers");
  HG_TRY(Load(source, chunk, kCounts, budget, &bytes));
  ColumnReader counts(bytes);
  const uint64_t stacks = bytes.empty() ? 1 : counts.Number();
  if (!counts.done() || stacks == 0 || stacks > budget->stacks()) {
    return chunk.Damaged("bad counts");
  }
  out->stack_count = std::max(out->stack_count, static_cast<uint32_t>(stacks));
  return {};
}

namespace {

// Node i of the profile is node i + 1 of the trace. A node that leads to no address, or lies too
// deep, is no node: stacks through it are cut there.
std::vector<bool> MakeNodes(const StackTables& tables, Profile* profile) {
  const size_t count = tables.nodes.size() - 1;
  std::vector<CodeAddress> addresses(count);
  for (size_t i = 0; i < count; ++i) {
    const wire::NodeRecord& node = tables.nodes[i + 1];
    addresses[i] = {node.pc_module, (node.flags & wire::kNodeExactPc) != 0};
  }
  std::vector<CodeAddress> distinct = addresses;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  profile->locations.resize(distinct.size());
  for (size_t i = 0; i < distinct.size(); ++i) {
    Location& location = profile->locations[i];
    location.address = wire::NodePc(distinct[i].pc_module);
    location.module = wire::NodeModule(distinct[i].pc_module) - 1;  // 0 becomes kNone
    location.exact = distinct[i].exact;
  }
  std::vector<bool> truncated(count);
  std::vector<uint16_t> depth(count);
  profile->nodes.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const wire::NodeRecord& node = tables.nodes[i + 1];
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), addresses[i]);
    profile->nodes[i].location = static_cast<LocationId>(at - distinct.begin());
    truncated[i] = (node.flags & wire::kNodeTruncated) != 0;
    if (node.parent == 0) continue;
    const NodeId parent = node.parent - 1;
    if (depth[parent] == Profile::kMaxDepth - 1) {
      truncated[i] = true;
      continue;
    }
    profile->nodes[i].parent = parent;
    depth[i] = static_cast<uint16_t>(depth[parent] + 1);
    truncated[i] = truncated[i] || truncated[parent];
  }
  return truncated;
}

}  // namespace

TraceStacks MakeStacks(const StackTables& tables, uint32_t stack_count, std::string_view names,
                       const std::string& path) {
  TraceStacks out;
  Profile& profile = out.profile;
  profile.sample_types = HeapSampleTypes();
  profile.default_type = kInuseSpace;
  profile.period_type = {"space", "bytes"};
  const std::vector<bool> truncated = MakeNodes(tables, &profile);

  GaugeModules modules;
  for (uint32_t i = 0; i < tables.modules.size(); ++i) {
    modules.by_record.push_back(tables.modules[i] ? i : kNone);
    modules.modules.push_back(tables.modules[i].value_or(Module{}));
  }
  profile.modules = modules.modules;
  if (!names.empty()) {
    const Status status = AttachNames(names, path, &profile);
    if (!status) profile.notes.push_back(status.error().message);
  }
  for (Location& location : profile.locations) {
    location.module =
        FindModule(modules, {wire::PackPc(location.address, location.module + 1), location.exact});
  }

  std::vector<uint16_t> label_numbers(stack_count);
  out.stacks.resize(stack_count);
  for (uint32_t i = 1; i < std::min<size_t>(stack_count, tables.stacks.size()); ++i) {
    const StackEntry& entry = tables.stacks[i];
    label_numbers[i] = entry.labels;
    if (entry.leaf == 0) continue;
    out.stacks[i].leaf = entry.leaf - 1;
    out.stacks[i].truncated = truncated[entry.leaf - 1];
  }
  std::vector<LabelSetId> sets;
  const LabelRecords records = [&](const LabelVisitor& visit) {
    for (uint32_t i = 0; i < tables.labels.size(); ++i) visit(i, tables.labels[i]);
  };
  const uint64_t unreadable = MakeLabelSets(static_cast<uint32_t>(tables.labels.size()), records,
                                            label_numbers, &profile, &sets);
  if (unreadable != 0) {
    profile.notes.push_back("labels of " + std::to_string(unreadable) + " stacks are missing");
  }
  for (uint32_t i = 0; i < stack_count; ++i) out.stacks[i].labels = sets[i];
  return out;
}

}  // namespace heapgauge::trace
