#include "core/trace/file/stacks_reader.h"

#include <algorithm>

#include "core/gauge/gauge_labels.h"
#include "core/gauge/gauge_modules.h"
#include "core/gauge/gauge_names.h"

namespace heapgauge::trace {
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
