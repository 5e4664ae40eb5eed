#include "core/formats/massif/massif_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "core/formats/text/scan.h"

namespace heapgauge {
namespace {

constexpr const char* kRule = "#-----------\n";

// On one line, without what would be a comment, and as it is read again: nothing around it.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '#' || c == '\n' || c == '\r') c = ' ';
  }
  return std::string(Trimmed(text));
}

const char* KindName(MassifSnapshot::Kind kind) {
  switch (kind) {
    case MassifSnapshot::Kind::kEmpty:
      break;
    case MassifSnapshot::Kind::kDetailed:
      return "detailed";
    case MassifSnapshot::Kind::kPeak:
      return "peak";
  }
  return "empty";
}

void AppendTree(const MassifFile& file, const std::vector<MassifNode>& tree, std::string* out) {
  std::vector<uint32_t> missing;  // children that are still to come, by level
  for (const MassifNode& node : tree) {
    while (!missing.empty() && missing.back() == 0) missing.pop_back();
    if (!missing.empty()) --missing.back();
    out->append(missing.size(), ' ');
    fmt::format_to(std::back_inserter(*out), "n{}: {} {}\n", node.children, node.bytes,
                   OneLine(file.texts[node.text]));
    missing.push_back(node.children);
  }
}

}  // namespace

Status WriteMassif(const MassifFile& file, TextSink* out) {
  std::string text;
  for (const std::string& line : file.descriptions) text += "desc: " + OneLine(line) + "\n";
  if (file.descriptions.empty()) text += "desc: (none)\n";
  text += "cmd: " + OneLine(file.command) + "\n";
  text += fmt::format("time_unit: {}\n", MassifUnitName(file.unit));
  for (const MassifSnapshot& s : file.snapshots) {
    fmt::format_to(std::back_inserter(text), "{}snapshot={}\n{}", kRule, s.number, kRule);
    fmt::format_to(std::back_inserter(text),
                   "time={}\nmem_heap_B={}\nmem_heap_extra_B={}\nmem_stacks_B={}\nheap_tree={}\n",
                   s.time, s.heap_bytes, s.extra_bytes, s.stack_bytes, KindName(s.kind));
    AppendTree(file, s.tree, &text);
    HG_TRY(out->Write(text));
    text.clear();
  }
  return out->Write(text);
}

}  // namespace heapgauge
