#include "core/voices/pprof/words/commands.h"

namespace heapgauge::pprof {
namespace {

constexpr ReportCommand kCommands[] = {
    {"callgrind", ReportKind::kCallgrind, Delivery::kFile, nullptr, "callgraph.out", nullptr, false,
     "The call graph for callgrind's tools", true},
    {"comments", ReportKind::kComments, Delivery::kText, nullptr, nullptr, nullptr, false,
     "Remarks that the profile carries", false},
    {"disasm", ReportKind::kDisasm, Delivery::kText, nullptr, nullptr, nullptr, true,
     "Assembly of matching functions, with the values of each instruction", true},
    {"dot", ReportKind::kDot, Delivery::kText, nullptr, nullptr, nullptr, false,
     "The call graph in Graphviz's language", true},
    {"eog", ReportKind::kDot, Delivery::kViewer, "svg", "svg", "eog", false,
     "Show the call graph with eog", true},
    {"evince", ReportKind::kDot, Delivery::kViewer, "pdf", "pdf", "evince", false,
     "Show the call graph with evince", true},
    {"gif", ReportKind::kDot, Delivery::kFile, "gif", "gif", nullptr, false,
     "The call graph as a GIF picture", true},
    {"gv", ReportKind::kDot, Delivery::kViewer, "ps", "ps", "gv --noantialias", false,
     "Show the call graph with gv", true},
    {"kcachegrind", ReportKind::kCallgrind, Delivery::kViewer, nullptr, "grind", "kcachegrind",
     false, "Show the call graph with KCachegrind", true},
    {"list", ReportKind::kList, Delivery::kText, nullptr, nullptr, nullptr, true,
     "Source of matching functions, with the values of each line", true},
    {"pdf", ReportKind::kDot, Delivery::kFile, "pdf", "pdf", nullptr, false,
     "The call graph as PDF", true},
    {"peek", ReportKind::kPeek, Delivery::kText, nullptr, nullptr, nullptr, true,
     "Callers and callees of matching functions", true},
    {"png", ReportKind::kDot, Delivery::kFile, "png", "png", nullptr, false,
     "The call graph as a PNG picture", true},
    {"proto", ReportKind::kProto, Delivery::kFile, nullptr, "pb.gz", nullptr, false,
     "The profile in pprof's own format", false},
    {"ps", ReportKind::kDot, Delivery::kFile, "ps", "ps", nullptr, false,
     "The call graph as PostScript", true},
    {"raw", ReportKind::kRaw, Delivery::kText, nullptr, nullptr, nullptr, false,
     "Everything that is in the profile, as text", false},
    {"svg", ReportKind::kDot, Delivery::kFile, "svg", "svg", nullptr, false,
     "The call graph as SVG", true},
    {"tags", ReportKind::kTags, Delivery::kText, nullptr, nullptr, nullptr, false,
     "Labels of the samples and what they add up to", true},
    {"text", ReportKind::kTop, Delivery::kText, nullptr, nullptr, nullptr, false, "The same as top",
     true},
    {"top", ReportKind::kTop, Delivery::kText, nullptr, nullptr, nullptr, false,
     "The largest entries, one in a line", true},
    {"topproto", ReportKind::kTopProto, Delivery::kFile, nullptr, "pb.gz", nullptr, false,
     "The largest entries as a profile", false},
    {"traces", ReportKind::kTraces, Delivery::kText, nullptr, nullptr, nullptr, false,
     "Every sample with its whole stack", false},
    {"tree", ReportKind::kTree, Delivery::kText, nullptr, nullptr, nullptr, false,
     "Entries with their callers and callees", true},
    {"web", ReportKind::kDot, Delivery::kViewer, "svg", "svg", "browser", false,
     "Show the call graph in a browser", true},
    {"weblist", ReportKind::kWeblist, Delivery::kViewer, nullptr, "html", "browser", true,
     "Show annotated source in a browser", true},
};

}  // namespace

std::span<const ReportCommand> AllCommands() { return kCommands; }

const ReportCommand* FindCommand(std::string_view name) {
  for (const ReportCommand& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

std::string CommandUsage(const ReportCommand& command) {
  const std::string name = command.name;
  if (!command.counts) return name + " [>FILE]\nThe report goes to FILE if it is named.";
  if (command.kind == ReportKind::kTags) {
    return name +
           " [LABEL]... [-LABEL]... [>FILE]\n"
           "Words select labels by key:value, words after '-' leave them out.";
  }
  std::string usage = name;
  if (command.takes_pattern) usage += " FUNCTION";
  if (!command.takes_pattern) usage += " [N]";
  usage += " [FOCUS]... [-IGNORE]...";
  const bool sorted = command.kind == ReportKind::kTop || command.kind == ReportKind::kTree;
  if (sorted) usage += " [-cum]";
  if (command.delivery != Delivery::kViewer) usage += " [>FILE]";
  if (command.takes_pattern) {
    usage += "\nFUNCTION is a regular expression";
    usage += command.kind == ReportKind::kPeek ? "." : ", or an address.";
  } else {
    usage += "\nShows N entries at most.";
  }
  usage += "\nOnly stacks that match a FOCUS word, and none that matches an IGNORE word.";
  if (sorted) usage += "\n-cum puts the largest cumulative values first.";
  if (command.delivery != Delivery::kViewer) usage += "\nThe report goes to FILE if it is named.";
  return usage;
}

}  // namespace heapgauge::pprof
