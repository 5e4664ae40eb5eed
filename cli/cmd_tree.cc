// tree: through which calls the memory was asked for.

#include "cli/report_source.h"
#include "core/report/views/tree.h"

namespace heapgauge::cli {
namespace {

int Tree(const ReportOptions& options) {
  const auto sorted = LoadSorted(options);
  if (!sorted) return FailWith(sorted.error());
  const Loaded* loaded = &sorted->loaded;
  TreeOptions tree;
  tree.filter = {options.focus, options.ignore};
  tree.sort = sorted->sort;
  tree.granularity = options.granularity;
  tree.names = options.names;
  tree.layout = Target(options).layout();
  tree.callers = options.callers;
  tree.compress = options.compress;
  tree.fold = options.fold;
  tree.depth = options.depth;
  tree.rows = options.RowsOr(tree.rows);
  if (options.csv) {
    TellNotes(loaded->profile.notes);
    const auto csv = TreeCsv(loaded->profile, tree);
    return csv ? Deliver(options, *csv) : FailWith(csv.error());
  }
  if (options.json) {
    const auto json = TreeJson(loaded->profile, loaded->notes, tree);
    return json ? Deliver(options, *json) : FailWith(json.error());
  }
  const auto text = TreeText(loaded->profile, loaded->notes, tree);
  return text ? Deliver(options, *text) : FailWith(text.error());
}

void DescribeTree(Command tree, Action* action) {
  auto options = std::make_shared<ReportOptions>();
  DescribeReport(tree, action, Tree, R"(
Each line is a call with all that is live of what it and the calls below it allocated. Branches
below 1 % of the total are folded into one line. A line without a branch mark is called by the one
above it.

Examples:
  heapgauge tree 4242
  heapgauge tree --callers --focus 'Cache::' 4242   from what allocates up to who asked for it
  heapgauge tree --fold 5 --depth 12 4242           the trunk alone
  heapgauge tree --modules 4242                     which library calls which)",
                 options);
  const Option json = AddTable(tree, options.get());
  AddGranularity(tree, options.get());
  AddCsv(tree, json, options.get());
  tree.Flag("--callers", &options->callers, "begin with what allocates, callers below it");
  tree.Flag("--compress", &options->compress, "calls without a branch on one line");
  tree.Add("--fold", &options->fold, "percent of the total below which branches are folded")
      .Between(0.0, 100.0);
  tree.Add("--depth", &options->depth, "calls to show from the root");
}

}  // namespace

const CommandEntry kTreeCommand = {"tree", "the calls that lead to the memory, as a tree",
                                   DescribeTree};

}  // namespace heapgauge::cli
