#include "core/voices/pprof/stack_walk.h"

#include <algorithm>
#include <array>
#include <thread>

namespace heapgauge::pprof {

// By digits from the lowest: a million entries in a few milliseconds, and equal nodes stay in
// order.
void StackPlan::SortByNode(std::vector<AtNode>* list) {
  const auto less = [](const AtNode& a, const AtNode& b) { return a.node < b.node; };
  if (std::is_sorted(list->begin(), list->end(), less)) return;
  constexpr size_t kBits = 11;
  constexpr size_t kDigits = size_t{1} << kBits;
  std::vector<AtNode> other(list->size());
  for (size_t shift = 0; shift < 32; shift += kBits) {
    std::array<uint32_t, kDigits> start = {};
    const auto digit = [shift](const AtNode& entry) {
      return (entry.node >> shift) & (kDigits - 1);
    };
    for (const AtNode& entry : *list) ++start[digit(entry)];
    uint32_t sum = 0;
    for (uint32_t& count : start) {
      sum += count;
      count = sum - count;
    }
    for (const AtNode& entry : *list) other[start[digit(entry)]++] = entry;
    list->swap(other);
  }
}

StackPlan::StackPlan(const RowValues& values) : values_(values) {
  const Profile& profile = *values.profile;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const NodeId leaf = profile.rows[row].leaf;
    if (leaf != kNone && values.Of(row).any) rows_.push_back({leaf, row});
  }
  SortByNode(&rows_);
  by_rows_ = SharesLittle();
  if (!by_rows_) MakeChains();
}

// A visit of the trie takes several times as long for a node as one by rows takes for a frame.
bool StackPlan::SharesLittle() const {
  constexpr size_t kTimes = 3;
  constexpr size_t kRows = 1000;  // are enough to tell
  const std::vector<Node>& nodes = values_.profile->nodes;
  const size_t step = rows_.size() / kRows + 1;
  size_t frames = 0;
  for (size_t row = 0; row < rows_.size(); row += step) {
    for (NodeId node = rows_[row].node; node != kNone; node = nodes[node].parent) ++frames;
  }
  return frames * step <= kTimes * nodes.size();
}

void StackPlan::MakeChains() const {
  if (rows_.empty()) return;
  const Profile& profile = *values_.profile;
  for (NodeId node = 0; node < profile.nodes.size(); ++node) {
    const NodeId parent = profile.nodes[node].parent;
    if (node > 0 && parent == node - 1) continue;
    const auto chain = static_cast<uint32_t>(chains_.size());
    chains_.push_back({node, 0, 0});
    if (parent == kNone) {
      roots_.push_back(chain);
    } else {
      children_.push_back({parent, chain});
    }
  }
  SortByNode(&children_);
  uint32_t child = 0;
  uint32_t row = 0;
  for (uint32_t chain = 0; chain < chains_.size(); ++chain) {
    const NodeId end = end_of(chain);
    while (child < children_.size() && children_[child].node < end) ++child;
    while (row < rows_.size() && rows_[row].node < end) ++row;
    chains_[chain].children_end = child;
    chains_[chain].rows_end = row;
  }
}

uint32_t StackPlan::parts() const {
  constexpr size_t kWorthAThread = 500'000;
  constexpr size_t kMost = 8;
  const size_t worth = values_.profile->nodes.size() / kWorthAThread;
  return static_cast<uint32_t>(
      std::clamp<size_t>(std::min<size_t>(worth, std::thread::hardware_concurrency()), 1, kMost));
}

}  // namespace heapgauge::pprof
