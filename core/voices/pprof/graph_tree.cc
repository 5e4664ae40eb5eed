#include "core/voices/pprof/graph_tree.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/voices/pprof/graph_build.h"

namespace heapgauge::pprof {

GraphTree::GraphTree(const StackPlan& plan, const NodeTable& table, bool drop_negative) {
  const Profile& profile = *plan.values().profile;
  // Only stacks of rows that weigh anything make nodes.
  std::vector<bool> used(profile.nodes.size());
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const NodeId leaf = profile.rows[row].leaf;
    if (leaf != kNone && plan.values().Of(row).any) used[leaf] = true;
  }
  for (size_t i = profile.nodes.size(); i-- > 0;) {
    if (used[i] && profile.nodes[i].parent != kNone) used[profile.nodes[i].parent] = true;
  }
  of_trie_.assign(profile.nodes.size(), kNone);
  EdgeTable children;
  for (NodeId i = 0; i < profile.nodes.size(); ++i) {
    if (!used[i]) continue;
    const Node& node = profile.nodes[i];
    GraphId at = node.parent == kNone ? kNone : of_trie_[node.parent];
    const std::span<const EntryId> entries = table.Of(node.location);
    for (size_t k = entries.size(); k-- > 0;) {
      const GraphId child = children.Find(at, entries[k]);
      if (child == nodes_.size()) nodes_.push_back({at, entries[k]});
      nodes_[child].inlined &= k != entries.size() - 1;
      at = child;
    }
    of_trie_[i] = at;
  }
  CountWeights(plan);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].shown = IsShown(flat_[i].value, cum_[i].value, drop_negative);
  }
}

void GraphTree::CountWeights(const StackPlan& plan) {
  const Profile& profile = *plan.values().profile;
  flat_.resize(nodes_.size());
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const NodeId leaf = profile.rows[row].leaf;
    const Weight weight = plan.values().Of(row);
    if (leaf != kNone && weight.any) flat_[of_trie_[leaf]].Add(weight);
  }
  cum_ = flat_;
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (nodes_[i].parent != kNone) cum_[nodes_[i].parent].Add(cum_[i]);
  }
}

int64_t GraphTree::FlatSum() const {
  int64_t sum = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].shown) sum = WrapAdd(sum, flat_[i].value);
  }
  return sum;
}

int GraphTree::DropLight(int64_t cutoff) {
  int dropped = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].shown || Abs64(cum_[i].value) >= cutoff) continue;
    nodes_[i].shown = false;
    nodes_[i].cut = true;
    ++dropped;
  }
  return dropped;
}

void GraphTree::MoveTo(Graph* graph) {
  // Going outwards over nodes that are cut: whether all calls there were inlined.
  std::vector<bool> inlined(nodes_.size(), true);
  in_graph_.assign(nodes_.size(), kNone);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const TreeNode& node = nodes_[i];
    const bool parent_cut = node.parent != kNone && nodes_[node.parent].cut;
    const GraphId caller = node.parent == kNone ? kNone : in_graph_[node.parent];
    const bool all_inlined = node.inlined && (!parent_cut || inlined[node.parent]);
    if (node.cut) {
      in_graph_[i] = caller;
      inlined[i] = all_inlined;
      continue;
    }
    const auto id = static_cast<GraphId>(graph->nodes.size());
    in_graph_[i] = id;
    GraphNode& made = graph->nodes.emplace_back();
    made.entry = node.entry;
    made.flat = flat_[i].value;
    made.flat_div = flat_[i].divisor;
    made.cum = cum_[i].value;
    made.cum_div = cum_[i].divisor;
    if (node.shown) graph->order.push_back(id);
    graph_parent_.push_back(caller);
    if (caller == kNone) continue;
    graph->edges.push_back({caller, id, cum_[i].value, cum_[i].divisor, parent_cut, all_inlined});
  }
  graph->LinkEdges();
}

GraphTree::Place GraphTree::PlaceOf(NodeId trie_node) const {
  const GraphId tree_node = of_trie_[trie_node];
  if (tree_node == kNone) return {};
  return {in_graph_[tree_node], !nodes_[tree_node].cut};
}

void CutTree(Graph* graph) {
  for (GraphId id = 0; id < graph->nodes.size(); ++id) {
    if (!graph->nodes[id].cut) continue;
    const std::vector<EdgeId> in = graph->nodes[id].in;
    const std::vector<EdgeId> out = graph->nodes[id].out;
    graph->nodes[id].in.clear();
    graph->nodes[id].out.clear();
    if (in.empty()) {
      for (EdgeId edge : out) graph->nodes[graph->edges[edge].dest].in.clear();
      continue;
    }
    const GraphEdge into = graph->edges[in[0]];
    std::vector<EdgeId>& siblings = graph->nodes[into.src].out;
    std::erase(siblings, in[0]);
    for (EdgeId edge : out) {
      graph->edges[edge].src = into.src;
      graph->edges[edge].residual = true;
      graph->edges[edge].inlined &= into.inlined;
      siblings.push_back(edge);
    }
  }
}

namespace {

using TagId = uint32_t;

// What all rows of one tag have in common.
struct TagName {
  std::string name;
  uint32_t texts = 0;  // for numbers: the text labels that they came with
  bool number = false;
};

// Which tags each set of labels stands for. A set is looked at once, however many rows have it.
class TagNames {
 public:
  TagNames(const Profile& profile, const TagOptions& options)
      : profile_(profile), options_(options), of_set_(profile.label_sets.size()) {
    TextsOf("");
  }

  struct OfSet {
    bool known = false;
    TagId texts = kNone;
    std::vector<std::pair<TagId, int64_t>> numbers;  // with the exact number
  };
  const OfSet& Of(RowId row) {
    OfSet& of = of_set_[profile_.rows[row].labels];
    if (!of.known) Fill(row, &of);
    return of;
  }

  const std::vector<TagName>& tags() const { return tags_; }
  const std::string& texts(uint32_t id) const { return texts_names_[id]; }

 private:
  void Fill(RowId row, OfSet* of) {
    of->known = true;
    std::vector<std::string> texts;
    for (const heapgauge::Label& label : profile_.LabelsOf(row)) {
      const std::string& key = profile_.strings[label.key];
      if (label.is_number() || key == "pprof::base") continue;
      texts.push_back(key + ":" + profile_.strings[label.text]);
    }
    std::sort(texts.begin(), texts.end());
    std::string joined;
    for (const std::string& text : texts) {
      if (&text != &texts[0]) joined += "\\n";
      joined += text;
    }
    const uint32_t texts_id = TextsOf(joined);
    if (!joined.empty()) of->texts = TagOf({joined, texts_id, false});
    for (const heapgauge::Label& label : profile_.LabelsOf(row)) {
      if (!label.is_number() || profile_.strings[label.key] != "bytes") continue;
      std::string name = ScaledLabel(label.number, options_.bytes_unit, options_.unit);
      of->numbers.emplace_back(TagOf({std::move(name), texts_id, true}), label.number);
    }
  }

  uint32_t TextsOf(const std::string& joined) {
    const auto [it, added] =
        texts_ids_.try_emplace(joined, static_cast<uint32_t>(texts_names_.size()));
    if (added) texts_names_.push_back(joined);
    return it->second;
  }

  TagId TagOf(TagName tag) {
    std::string key = (tag.number ? "n" : "t") + std::to_string(tag.texts) + ":" + tag.name;
    const auto [it, added] = tag_ids_.try_emplace(std::move(key), static_cast<TagId>(tags_.size()));
    if (added) tags_.push_back(std::move(tag));
    return it->second;
  }

  const Profile& profile_;
  const TagOptions& options_;
  std::vector<OfSet> of_set_;
  std::unordered_map<std::string, uint32_t> texts_ids_;
  std::vector<std::string> texts_names_;
  std::unordered_map<std::string, TagId> tag_ids_;
  std::vector<TagName> tags_;
};

// A row that carries a tag.
struct TaggedRow {
  TagId tag = 0;
  RowId row = 0;
  int64_t number = 0;
};

// Rows come sorted by tag, so that the sums of one tag are in an array by node.
class TagCounter {
 public:
  TagCounter(const RowValues& values, const std::vector<GraphId>& some, const GraphTree* tree,
             Graph* graph)
      : values_(values),
        profile_(*values.profile),
        tree_(tree),
        graph_(graph),
        wanted_(graph->nodes.size()),
        seen_(graph->nodes.size()),
        sums_(graph->nodes.size()) {
    for (GraphId id : some) wanted_[id] = 1;
    if (tree != nullptr) return;
    location_wanted_.resize(profile_.locations.size());
    for (LocationId location = 0; location < profile_.locations.size(); ++location) {
      for (EntryId entry : graph->table->Of(location)) location_wanted_[location] |= wanted_[entry];
    }
  }

  void Add(const TaggedRow& row) {
    ++round_;
    weight_ = values_.Of(row.row);
    number_ = row.number;
    if (tree_ != nullptr) {
      AddInTree(profile_.rows[row.row].leaf);
    } else {
      AddInGraph(profile_.rows[row.row].leaf);
    }
  }

  // Hands over the sums of a tag, of weight `cutoff` and up.
  void Finish(const TagName& name, const std::string& with, const TagOptions& options) {
    for (GraphId id : touched_) {
      Sum& sum = sums_[id];
      if (Abs64(sum.flat.value) >= options.cutoff || Abs64(sum.cum.value) >= options.cutoff) {
        Tag tag;
        tag.name = name.name;
        tag.value = sum.number;
        if (name.number) tag.unit = options.bytes_unit;
        tag.flat = sum.flat.value;
        tag.flat_div = sum.flat.divisor;
        tag.cum = sum.cum.value;
        tag.cum_div = sum.cum.divisor;
        HandOver(std::move(tag), name.number, with, &graph_->tags[id]);
      }
      sum = Sum();
    }
    touched_.clear();
  }

 private:
  struct Sum {
    Weight flat;
    Weight cum;
    int64_t number = 0;  // the first of those that are written alike
    bool touched = false;
  };

  static void HandOver(Tag tag, bool number, const std::string& with, NodeTags* tags) {
    if (!number) {
      tags->texts.push_back(std::move(tag));
      return;
    }
    auto it = std::find_if(tags->numbers.begin(), tags->numbers.end(),
                           [&](const auto& entry) { return entry.first == with; });
    if (it == tags->numbers.end()) {
      it = tags->numbers.insert(it, {with, {}});
    }
    it->second.push_back(std::move(tag));
  }

  Sum* Touch(GraphId id) {
    Sum* sum = &sums_[id];
    if (!sum->touched) {
      sum->touched = true;
      sum->number = number_;
      touched_.push_back(id);
    }
    return sum;
  }

  void AddInGraph(NodeId leaf) {
    const EntryId innermost = graph_->table->Of(profile_.nodes[leaf].location)[0];
    if (wanted_[innermost] != 0) Touch(innermost)->flat.Add(weight_);
    for (NodeId node = leaf; node != kNone; node = profile_.nodes[node].parent) {
      const LocationId location = profile_.nodes[node].location;
      if (location_wanted_[location] == 0) continue;
      for (EntryId entry : graph_->table->Of(location)) {
        if (wanted_[entry] == 0 || seen_[entry] == round_) continue;
        seen_[entry] = round_;
        Touch(entry)->cum.Add(weight_);
      }
    }
  }

  void AddInTree(NodeId leaf) {
    const GraphTree::Place place = tree_->PlaceOf(leaf);
    if (place.exact && wanted_[place.node] != 0) Touch(place.node)->flat.Add(weight_);
    for (GraphId id = place.node; id != kNone; id = tree_->CallerOf(id)) {
      if (wanted_[id] != 0) Touch(id)->cum.Add(weight_);
    }
  }

  const RowValues& values_;
  const Profile& profile_;
  const GraphTree* tree_;
  Graph* graph_;
  std::vector<uint8_t> wanted_;
  std::vector<uint8_t> location_wanted_;  // some frame of it is
  std::vector<uint64_t> seen_;            // by node, the row that was here last
  std::vector<Sum> sums_;
  std::vector<GraphId> touched_;
  Weight weight_;
  int64_t number_ = 0;
  uint64_t round_ = 0;
};

}  // namespace

void CountTags(const RowValues& values, const TagOptions& options, const std::vector<GraphId>& some,
               const GraphTree* tree, Graph* graph) {
  const Profile& profile = *values.profile;
  graph->tags.assign(graph->nodes.size(), {});
  TagNames names(profile, options);
  std::vector<TaggedRow> rows;
  for (RowId row = 0; row < profile.rows.size(); ++row) {
    const Row& r = profile.rows[row];
    if (r.labels == kNone || r.leaf == kNone || !values.Of(row).any) continue;
    const TagNames::OfSet& of = names.Of(row);
    if (of.texts != kNone) rows.push_back({of.texts, row, 0});
    for (const auto& [tag, number] : of.numbers) rows.push_back({tag, row, number});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TaggedRow& a, const TaggedRow& b) { return a.tag < b.tag; });
  TagCounter counter(values, some, tree, graph);
  for (size_t i = 0; i < rows.size(); ++i) {
    counter.Add(rows[i]);
    if (i + 1 < rows.size() && rows[i + 1].tag == rows[i].tag) continue;
    const TagName& name = names.tags()[rows[i].tag];
    counter.Finish(name, names.texts(name.texts), options);
  }
}

}  // namespace heapgauge::pprof
