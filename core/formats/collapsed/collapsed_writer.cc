#include "core/formats/collapsed/collapsed_writer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/base/pair_index.h"

namespace heapgauge {
namespace {

// Stacks of names, from the outermost inwards. Names are numbered in their order.
class NameTrie {
 public:
  NameTrie(const Profile& profile, const std::vector<std::string>& frame_names, bool join)
      : profile_(profile), join_(join), index_(profile.nodes.size()) {
    names_.reserve(frame_names.size() + 2);
    for (std::string name : frame_names) {
      std::replace(name.begin(), name.end(), ';', ':');  // the separator
      std::replace(name.begin(), name.end(), '\n', ' ');
      names_.push_back(std::move(name));
    }
    names_.emplace_back("(truncated)");
    names_.emplace_back("(unknown stack)");
    Rank();
    nodes_.push_back({kNone, kNone});
    values_.push_back(0);
  }

  void Add(RowId row, double value) {
    const Row& r = profile_.rows[row];
    uint32_t at = 0;
    if (r.leaf != kNone) {
      at = r.truncated ? Below(r.leaf, Child(0, truncated()), &below_truncated_)
                       : Below(r.leaf, 0, &below_);
    }
    if (at == 0) at = Child(0, unknown());
    values_[at] += value;
  }

  Status Write(TextSink* out) const {
    // Children side by side, each list in the order of names.
    std::vector<uint32_t> order(nodes_.size() - 1);
    std::iota(order.begin(), order.end(), 1u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(nodes_[a].parent, nodes_[a].name) <
             std::pair(nodes_[b].parent, nodes_[b].name);
    });
    std::vector<uint32_t> first(nodes_.size() + 1);
    for (size_t i = 1; i < nodes_.size(); ++i) ++first[nodes_[i].parent + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());

    struct Open {
      uint32_t node;
      uint32_t next;  // child, in `order`
      size_t length;  // of the line up to here
    };
    std::vector<Open> path{{0, first[0], 0}};
    std::string line;
    while (!path.empty()) {
      Open& open = path.back();
      line.resize(open.length);
      if (open.next == first[open.node + 1]) {
        path.pop_back();
        continue;
      }
      const uint32_t node = order[open.next++];
      if (!line.empty()) line += ';';
      line += *sorted_[nodes_[node].name];
      const size_t length = line.size();
      if (const long long value = std::llround(values_[node]); value != 0) {
        line += ' ';
        line += std::to_string(value);
        line += '\n';
        HG_TRY(out->Write(line));
      }
      path.push_back({node, first[node], length});
    }
    return {};
  }

 private:
  struct TrieNode {
    uint32_t parent;
    uint32_t name;  // in sorted_
  };

  uint32_t truncated() const { return rank_[names_.size() - 2]; }
  uint32_t unknown() const { return rank_[names_.size() - 1]; }

  void Rank() {
    std::vector<uint32_t> order(names_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return names_[a] < names_[b]; });
    rank_.resize(names_.size());
    for (const uint32_t id : order) {
      if (sorted_.empty() || *sorted_.back() != names_[id]) sorted_.push_back(&names_[id]);
      rank_[id] = static_cast<uint32_t>(sorted_.size() - 1);
    }
  }

  uint32_t Child(uint32_t parent, uint32_t name) {
    const auto next = static_cast<uint32_t>(nodes_.size());
    const uint32_t at = index_.Find(parent, name, next);
    if (at == next) {
      nodes_.push_back({parent, name});
      values_.push_back(0);
    }
    return at;
  }

  // The place of a stack below `root`; what was found is kept in `known`, by node of the profile.
  uint32_t Below(NodeId node, uint32_t root, std::vector<uint32_t>* known) {
    known->resize(profile_.nodes.size(), kNone);
    path_.clear();
    while (node != kNone && (*known)[node] == kNone) {
      path_.push_back(node);
      node = profile_.nodes[node].parent;
    }
    uint32_t at = node == kNone ? root : (*known)[node];
    for (size_t i = path_.size(); i-- > 0;) {
      const Location& location = profile_.locations[profile_.nodes[path_[i]].location];
      for (uint32_t k = location.frame_count; k-- > 0;) {
        const uint32_t name = rank_[location.first_frame + k];
        if (join_ && at != root && nodes_[at].name == name) continue;
        at = Child(at, name);
      }
      (*known)[path_[i]] = at;
    }
    return at;
  }

  const Profile& profile_;
  const bool join_;
  std::vector<std::string> names_;          // by frame, then two of our own
  std::vector<uint32_t> rank_;              // the same, in sorted_
  std::vector<const std::string*> sorted_;  // each name once
  PairIndex index_;                         // by parent and name
  std::vector<TrieNode> nodes_;             // the root is the first
  std::vector<double> values_;
  std::vector<uint32_t> below_;
  std::vector<uint32_t> below_truncated_;
  std::vector<NodeId> path_;
};

}  // namespace

Status WriteCollapsed(const Profile& profile, size_t type, const std::vector<bool>& selected,
                      const std::vector<std::string>& frame_names, bool join, TextSink* out) {
  NameTrie trie(profile, frame_names, join);
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    if (!selected.empty() && !selected[row]) continue;
    const double value = profile.estimate(row, type).value;
    if (value > 0) trie.Add(row, value);
  }
  return trie.Write(out);
}

}  // namespace heapgauge
