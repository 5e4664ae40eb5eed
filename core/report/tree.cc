#include "core/report/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/analysis/call_tree.h"
#include "core/analysis/interval.h"
#include "core/analysis/pruned_tree.h"
#include "core/base/text.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/top.h"

namespace heapgauge {
namespace {

struct Grown {
  FunctionReport totals;  // entities, total and selected figures; no rows
  CallTree tree;
  PrunedTree pruned;
  Labels labels;
};

Result<Grown> Grow(const Profile& profile, const TreeOptions& options) {
  HG_ASSIGN(const std::vector<bool> selected,
            SelectRows(profile, options.filter, options.granularity));
  Grown grown;
  grown.totals.entities = Entities(profile, options.granularity);
  const std::vector<HeapFigures> figures = FiguresOfRows(profile);
  for (RowId row = 0; row < figures.size(); ++row) {
    grown.totals.total.Add(figures[row]);
    if (selected[row]) grown.totals.selected.Add(figures[row]);
  }
  PruneOptions prune;
  prune.sort = options.sort == SortKey::kAge ? SortKey::kLive : options.sort;
  prune.least = options.fold / 100;
  prune.depth = options.depth;
  prune.max_nodes = options.rows + 1;
  if (options.callers) {
    std::vector<double> values;
    for (const HeapFigures& f : figures) values.push_back(SortValue(f, prune.sort, 0));
    grown.tree = BuildCallersTree(profile, grown.totals.entities, selected, values,
                                  {prune.least, prune.max_nodes, prune.depth});
  } else {
    grown.tree = BuildCallTree(profile, grown.totals.entities, selected);
  }
  grown.pruned = Prune(grown.tree, figures, prune);
  std::vector<EntityId> shown;
  for (const PrunedTree::Node& node : grown.pruned.nodes) {
    shown.push_back(grown.tree.nodes[node.in_tree].entity);
  }
  grown.labels =
      Labels(profile, grown.totals.entities, std::move(shown), options.names, options.layout);
  return grown;
}

// Draws the lines of a grown tree.
class Drawing {
 public:
  Drawing(const Profile& profile, const Grown& grown, const TreeOptions& options)
      : profile_(profile), grown_(grown), options_(options) {
    by_allocated_ = options.sort == SortKey::kAllocated;
    has_objects_ = options.layout.width >= 100 || options.sort == SortKey::kCount;
    has_range_ = options.layout.width >= 110;
  }

  StyledText Draw() {
    Heading();
    const auto& nodes = grown_.pruned.nodes;
    // What stands before the name of a node, and before the lines of those below it.
    std::vector<std::string> lead(nodes.size());
    std::vector<std::string> below(nodes.size());
    std::vector<size_t> left(nodes.size());  // children still to come
    // A fold ends behind the last line of its node's branches; the innermost comes first.
    std::vector<uint32_t> open;
    for (uint32_t i = 1; i < nodes.size(); ++i) {
      const uint32_t parent = nodes[i].parent;
      while (!open.empty() && open.back() != parent) CloseFold(&open, below);
      const PrunedTree::Node& above = nodes[parent];
      const bool branches = above.children + (above.folded > 0 ? 1 : 0) > 1;
      const bool last = ++left[parent] == above.children && above.folded == 0;
      lead[i] = below[parent] + (!branches ? "" : last ? "\u2514\u2500 " : "\u251c\u2500 ");
      below[i] = below[parent] + (!branches ? "" : last ? "   " : "\u2502  ");
      uint32_t shown = i;
      std::string chain;
      if (options_.compress) {
        chain = LabelOf(i);
        while (nodes[shown].children == 1 && nodes[shown].folded == 0) {
          ++shown;
          chain += options_.layout.utf8 ? " \u203a " : " > ";
          chain += LabelOf(shown);
        }
      }
      Line(shown, lead[i], chain);
      below[shown] = below[i];
      left[shown] = left[i];
      i = shown;
      open.push_back(i);
    }
    while (!open.empty()) CloseFold(&open, below);
    if (!nodes.empty() && nodes[0].folded > 0) Fold(0, "");
    return std::move(text_);
  }

 private:
  void CloseFold(std::vector<uint32_t>* open, const std::vector<std::string>& below) {
    const uint32_t node = open->back();
    open->pop_back();
    if (grown_.pruned.nodes[node].folded > 0) Fold(node, below[node]);
  }

  std::string LabelOf(uint32_t i) const {
    const CallTree::Node& node = grown_.tree.nodes[grown_.pruned.nodes[i].in_tree];
    return grown_.labels[node.entity];
  }

  void Heading() {
    text_.AddLeft(by_allocated_ ? "allocated" : "live", 10, Style::kHeading);
    text_.AddLeft(has_range_ ? "95 % range" : "\u00b1", has_range_ ? 15 : 7, Style::kHeading);
    text_.AddLeft("share", 7, Style::kHeading);
    if (has_objects_) text_.AddLeft("objects", 10, Style::kHeading);
    text_.Add("  ").Add(options_.callers ? "what allocates, then its callers" : "calls",
                        Style::kHeading);
    text_.Add("\n");
  }

  // Figures that repeat those of the line above are `dim`.
  void Figures(const HeapFigures& f, bool dim) {
    const Estimate& bytes = by_allocated_ ? f.allocated_bytes : f.live_bytes;
    const double whole = by_allocated_ ? grown_.totals.total.allocated_bytes.value
                                       : grown_.totals.total.live_bytes.value;
    const Interval range = Interval95(bytes);
    const bool any = (by_allocated_ ? f.samples : f.live_samples) != 0;
    text_.AddLeft(any ? FormatBytes(bytes.value) : "-", 10, dim ? Style::kDim : Style::kNumber);
    if (has_range_) {
      text_.AddLeft(any ? FormatByteRange(range.low, range.high) : "", 15, Style::kDim);
    } else {
      text_.AddLeft(FormatPlusMinus(bytes.value, range.low, range.high), 7, Style::kDim);
    }
    text_.AddLeft(FormatShare(bytes.value, whole), 7, dim ? Style::kDim : Style::kPlain);
    if (has_objects_) {
      text_.AddLeft(any ? FormatCount(by_allocated_ ? f.allocated_objects : f.live_objects) : "-",
                    10, dim ? Style::kDim : Style::kPlain);
    }
    text_.Add("  ");
  }

  // Lines of the tree, and the columns that are left for a name.
  size_t Lead(const std::string& lead) {
    const size_t left = 19 + (has_range_ ? 15 : 7) + (has_objects_ ? 10 : 0);
    const size_t room = std::max<size_t>(options_.layout.width, left + 20) - left;
    const size_t most = room - std::min<size_t>(room, 32);
    size_t needed = DisplayWidth(lead);
    if (needed <= most) {
      text_.Add(lead, Style::kDim);
    } else {  // so deep that the near end has to do
      text_.Add(options_.layout.ellipsis(), Style::kDim);
      const size_t dots = DisplayWidth(options_.layout.ellipsis());
      text_.Add(LastColumns(lead, most > dots ? most - dots : 0), Style::kDim);
      needed = std::max(most, dots);
    }
    return room > needed ? room - needed : 1;
  }

  void Line(uint32_t i, const std::string& lead, const std::string& chain) {
    const PrunedTree::Node& node = grown_.pruned.nodes[i];
    const CallTree::Node& call = grown_.tree.nodes[node.in_tree];
    const HeapFigures& above = grown_.pruned.nodes[node.parent].figures;
    Figures(node.figures, node.parent != 0 && above.samples == node.figures.samples &&
                              above.live_samples == node.figures.live_samples);
    size_t room = Lead(lead);
    std::string marks;
    if (call.recursive) marks += " (recursive)";
    if (call.inlined) marks += " (inlined)";
    if (DisplayWidth(marks) + 16 > room) marks.clear();
    room -= DisplayWidth(marks);
    std::string place = PlaceOf(profile_, options_.granularity, call.frame);
    if (call.lines_differ) place = place.substr(0, place.rfind(':'));
    text_.Add(FitLabel(chain.empty() ? grown_.labels[call.entity] : chain, place,
                       options_.granularity, room, options_.layout));
    text_.Add(marks, Style::kDim);
    text_.Add("\n");
  }

  void Fold(uint32_t i, const std::string& below) {
    const PrunedTree::Node& node = grown_.pruned.nodes[i];
    Figures(node.folded_figures, true);
    const bool branches = node.children > 0;
    Lead(below + (branches ? "\u2514\u2500 " : ""));
    text_.Add(fmt::format("{} {} more branch{}", options_.layout.ellipsis(), node.folded,
                          node.folded == 1 ? "" : "es"),
              Style::kDim);
    text_.Add("\n");
  }

  const Profile& profile_;
  const Grown& grown_;
  const TreeOptions& options_;
  bool by_allocated_;
  bool has_objects_;
  bool has_range_;
  StyledText text_;
};

}  // namespace

Result<StyledText> TreeText(const Profile& profile, const std::vector<std::string>& notes,
                            const TreeOptions& options) {
  HG_ASSIGN(const Grown grown, Grow(profile, options));
  StyledText text = RecordingText(profile, grown.totals.total, notes, options.layout);
  text.Add(SelectedText(grown.totals));
  text.Add("\n");
  if (grown.pruned.nodes.size() < 2 && grown.pruned.nodes[0].folded == 0) {
    text.Add(grown.totals.selected.samples + grown.totals.selected.live_samples == 0
                 ? "No samples.\n"
                 : "Nothing is live; --sort allocated shows what was.\n");
    return text;
  }
  text.Add(Drawing(profile, grown, options).Draw());
  return text;
}

Result<std::string> TreeJson(const Profile& profile, const std::vector<std::string>& notes,
                             const TreeOptions& options) {
  using Json = nlohmann::ordered_json;
  HG_ASSIGN(const Grown grown, Grow(profile, options));
  Json nodes = Json::array();
  for (const PrunedTree::Node& node : grown.pruned.nodes) {
    const CallTree::Node& call = grown.tree.nodes[node.in_tree];
    const bool is_root = node.parent == kNone;
    Json entry = is_root ? Json::object() : EntityJson(profile, grown.totals.entities, call.entity);
    if (is_root) {
      entry["parent"] = nullptr;
    } else {
      entry["label"] = grown.labels[call.entity];
      if (!call.lines_differ && call.frame != kNone && !grown.totals.entities.joins_calls()) {
        entry["line"] = profile.frames[call.frame].line;
      }
      entry["parent"] = node.parent;
    }
    entry["depth"] = node.depth;
    if (call.inlined) entry["inlined"] = true;
    if (call.recursive) entry["recursive"] = true;
    entry["figures"] = FiguresJson(node.figures, profile.recording);
    if (node.folded > 0) {
      entry["folded"] = {{"branches", node.folded},
                         {"figures", FiguresJson(node.folded_figures, profile.recording)}};
    }
    nodes.push_back(std::move(entry));
  }
  const Json json = {{"recording", RecordingJson(profile.recording)},
                     {"total", FiguresJson(grown.totals.total, profile.recording)},
                     {"selected", FiguresJson(grown.totals.selected, profile.recording)},
                     {"notes", notes},
                     {"granularity", GranularityName(options.granularity)},
                     {"callers", options.callers},
                     {"nodes", std::move(nodes)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heapgauge
