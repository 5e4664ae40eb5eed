#include "core/report/grown_tree.h"

#include <utility>
#include <vector>

#include "core/report/value_text.h"

namespace heapgauge {

Result<GrownTree> GrowTree(const Profile& profile, const TreeOptions& options) {
  HG_ASSIGN(std::vector<bool> selected, SelectRows(profile, options.filter, options.granularity));
  GrownTree grown;
  grown.totals.measures = MeasuresOf(profile);
  grown.totals.entities = Entities(profile, options.granularity);
  const std::vector<HeapFigures> figures = FiguresOfRows(profile);
  const bool by_main = options.sort == SortKey::kLive || options.sort == SortKey::kAge;
  for (RowId row = 0; row < figures.size(); ++row) {
    const double value = figures[row].live_bytes.value;
    const bool grew = value > 0 || (value == 0 && figures[row].live_objects > 0);
    if (grown.totals.measures.is_change && by_main && !grew) {
      if (selected[row]) grown.shrunk += value;
      selected[row] = false;
      continue;
    }
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

StyledText ShrunkText(const GrownTree& grown) {
  StyledText text;
  if (grown.shrunk == 0) return text;
  text.AddRight("grown", 11, Style::kLabel);
  const Measures& measures = grown.totals.measures;
  text.Add(FormatMain(grown.totals.selected.live_bytes.value, measures), Style::kNumber);
  return text.Add("; stacks that shrank are left out: " + FormatMain(grown.shrunk, measures) +
                  "\n");
}

}  // namespace heapgauge
