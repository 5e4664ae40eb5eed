#include "core/report/views/tree.h"
#include "core/base/json.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/fold/call_tree.h"
#include "core/fold/statistics.h"
#include "core/report/csv.h"
#include "core/report/recording_text.h"
#include "core/report/report_json.h"
#include "core/report/value_text.h"
#include "core/report/views/top.h"

namespace heapgauge {
namespace {

// Draws the lines of a grown tree.
class Drawing {
 public:
  Drawing(const Profile& profile, const GrownTree& grown, const TreeOptions& options)
      : profile_(profile), grown_(grown), options_(options) {
    const Measures& measures = grown.totals.measures;
    by_allocated_ = options.sort == SortKey::kAllocated && measures.has_allocated();
    by_count_ = options.sort == SortKey::kCount && measures.has_objects();
    has_objects_ =
        measures.has_objects() && (options.layout.width >= 100 || options.sort == SortKey::kCount);
    const Estimate& whole =
        by_allocated_ ? grown.totals.total.allocated_bytes : grown.totals.total.live_bytes;
    has_sureness_ = whole.variance > 0 || measures.has_samples;
    has_range_ = has_sureness_ && options.layout.width >= 110;
    main_width_ = std::max<size_t>(10, DisplayWidth(Title()) + 1);
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

  std::string Title() const { return by_allocated_ ? "allocated" : grown_.totals.measures.name; }

  void Heading() {
    text_.AddLeft(Title(), main_width_, Style::kHeading);
    if (has_sureness_) {
      text_.AddLeft(has_range_ ? "95 % range" : "\u00b1", has_range_ ? 15 : 7, Style::kHeading);
    }
    text_.AddLeft("share", 7, Style::kHeading);
    if (has_objects_) text_.AddLeft("objects", 10, Style::kHeading);
    text_.Add("  ").Add(options_.callers ? "what allocates, then its callers" : "calls",
                        Style::kHeading);
    text_.Add("\n");
  }

  std::string CountText(const HeapFigures& f) const {
    return by_allocated_ ? FormatCount(f.allocated_objects)
                         : FormatMainCount(f.live_objects, grown_.totals.measures);
  }
  std::string Text(double value) const {
    return by_allocated_ ? FormatBytes(value) : FormatMain(value, grown_.totals.measures);
  }

  // What a share is a share of: what branches are sorted by.
  double Shared(const HeapFigures& f) const {
    if (by_count_) return f.live_objects;
    return by_allocated_ ? f.allocated_bytes.value : f.live_bytes.value;
  }

  // Figures that repeat those of the line above are `dim`.
  void Figures(const HeapFigures& f, bool dim) {
    const Estimate& bytes = by_allocated_ ? f.allocated_bytes : f.live_bytes;
    const Interval range = Interval95(bytes);
    const bool any = by_allocated_ ? f.has_allocated() : f.has_live();
    const std::string& unit = grown_.totals.measures.unit;
    text_.AddLeft(any ? Text(bytes.value) : "-", main_width_, dim ? Style::kDim : Style::kNumber);
    if (has_range_) {
      text_.AddLeft(any ? FormatValueRange(range.low, range.high, unit) : "", 15, Style::kDim);
    } else if (has_sureness_) {
      text_.AddLeft(FormatPlusMinus(bytes.value, range.low, range.high), 7, Style::kDim);
    }
    text_.AddLeft(FormatShare(Shared(f), Shared(grown_.totals.total)), 7,
                  dim ? Style::kDim : Style::kPlain);
    if (has_objects_) {
      text_.AddLeft(any ? CountText(f) : "-", 10, dim ? Style::kDim : Style::kPlain);
    }
    text_.Add("  ");
  }

  // Lines of the tree, and the columns that are left for a name.
  size_t Lead(const std::string& lead) {
    const size_t left = 9 + main_width_ +
                        (has_range_      ? 15
                         : has_sureness_ ? 7
                                         : 0) +
                        (has_objects_ ? 10 : 0);
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
  const GrownTree& grown_;
  const TreeOptions& options_;
  bool by_count_ = false;
  bool by_allocated_;
  bool has_objects_;
  bool has_range_;
  bool has_sureness_;
  size_t main_width_;
  StyledText text_;
};

}  // namespace

Result<StyledText> TreeText(const Profile& profile, const std::vector<std::string>& notes,
                            const TreeOptions& options) {
  HG_ASSIGN(const GrownTree grown, GrowTree(profile, options));
  StyledText text = RecordingText(profile, grown.totals.total, notes, options.layout);
  text.Add(SelectedText(grown.totals)).Add(ShrunkText(grown));
  text.Add("\n");
  if (grown.pruned.nodes.size() < 2 && grown.pruned.nodes[0].folded == 0) {
    text.Add(grown.totals.selected.samples + grown.totals.selected.live_samples == 0
                 ? NothingText(profile.recording)
             : grown.totals.measures.has_allocated() && grown.totals.measures.name == "live"
                 ? "Nothing is live; --sort allocated shows what was.\n"
                 : "Everything is zero.\n");
    return text;
  }
  text.Add(Drawing(profile, grown, options).Draw());
  return text;
}

Result<std::string> TreeJson(const Profile& profile, const std::vector<std::string>& notes,
                             const TreeOptions& options) {
  HG_ASSIGN(const GrownTree grown, GrowTree(profile, options));
  const Measures& measures = grown.totals.measures;
  Json nodes = Json::Array();
  for (const PrunedTree::Node& node : grown.pruned.nodes) {
    const CallTree::Node& call = grown.tree.nodes[node.in_tree];
    const bool is_root = node.parent == kNone;
    Json entry = is_root ? Json::Object() : EntityJson(profile, grown.totals.entities, call.entity);
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
    entry["figures"] = FiguresJson(node.figures, measures, profile.recording);
    if (node.folded > 0) {
      entry["folded"] = {
          {"branches", node.folded},
          {"figures", FiguresJson(node.folded_figures, measures, profile.recording)}};
    }
    nodes.Add(std::move(entry));
  }
  Json json = {{"recording", RecordingJson(profile.recording)},
               {"profile", ProfileJson(profile, measures)},
               {"total", FiguresJson(grown.totals.total, measures, profile.recording)},
               {"selected", FiguresJson(grown.totals.selected, measures, profile.recording)},
               {"notes", notes},
               {"granularity", GranularityName(options.granularity)},
               {"callers", options.callers},
               {"nodes", std::move(nodes)}};
  if (!IsRecorded(profile.recording)) json.Remove("recording");  // of other tools
  return json.Text();
}

Result<std::string> TreeCsv(const Profile& profile, const TreeOptions& options) {
  HG_ASSIGN(const GrownTree grown, GrowTree(profile, options));
  Csv csv;
  csv.Text("node").Text("parent").Text("depth");
  AddFigureHeadings(grown.totals.measures, "", &csv);
  AddEntityHeadings(&csv);
  csv.EndRow();
  for (size_t i = 1; i < grown.pruned.nodes.size(); ++i) {
    const PrunedTree::Node& node = grown.pruned.nodes[i];
    const CallTree::Node& call = grown.tree.nodes[node.in_tree];
    csv.Number(uint64_t{i}).Number(uint64_t{node.parent}).Number(uint64_t{node.depth});
    AddFigures(node.figures, grown.totals.measures, &csv);
    AddEntity(profile, grown.totals.entities, call.entity, call.lines_differ ? kNone : call.frame,
              &csv);
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace heapgauge
