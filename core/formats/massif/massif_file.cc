#include "core/formats/massif/massif_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/formats/text/scan.h"

namespace heapgauge {

const char* MassifUnitName(MassifUnit unit) {
  switch (unit) {
    case MassifUnit::kInstructions:
      break;
    case MassifUnit::kMilliseconds:
      return "ms";
    case MassifUnit::kBytes:
      return "B";
  }
  return "i";
}

size_t MassifFile::PeakSnapshot() const {
  size_t best = snapshots.size();
  const auto rank = [this](size_t i) {
    const MassifSnapshot& s = snapshots[i];
    return std::make_tuple(s.kind == MassifSnapshot::Kind::kPeak, !s.tree.empty(), s.total_bytes());
  };
  for (size_t i = 0; i < snapshots.size(); ++i) {
    if (best == snapshots.size() || rank(i) > rank(best)) best = i;
  }
  return best;
}

namespace {

// "in 3 places, all below massif's threshold (1.00%)", "in 1 place, below ..."
bool IsFolded(std::string_view text) {
  size_t at = 0;
  int64_t places = 0;
  if (!TakeText(text, &at, "in ") || TakeDecimal(text, &at, &places) != Taken::kYes) return false;
  return text.substr(at).starts_with(" place") && text.find("threshold") != std::string_view::npos;
}

// "(x.c:12)" and "(in /usr/bin/x)", at the end.
void TakePlace(std::string_view* text, MassifFrame* frame) {
  if (!text->ends_with(')')) return;
  const size_t open = text->rfind(" (");
  if (open == std::string_view::npos) return;
  const std::string_view place = text->substr(open + 2, text->size() - open - 3);
  if (place.starts_with("in ")) {
    frame->module = Trim(place.substr(3));
  } else {
    const size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) return;
    const auto line = NumberIn<uint32_t>(place.substr(colon + 1));
    if (!line) return;
    frame->line = *line;
    frame->file = place.substr(0, colon);
  }
  *text = Trim(text->substr(0, open));
}

}  // namespace

MassifFrame ParseMassifFrame(std::string_view text) {
  MassifFrame frame;
  if (IsFolded(text)) {
    frame.folded = true;
    frame.name = text;
    return frame;
  }
  size_t at = 0;
  if (TakeText(text, &at, "0x") && TakeHex(text, &at, &frame.address) == Taken::kYes &&
      TakeChar(text, &at, ':')) {
    text = Trim(text.substr(at));
  } else {
    frame.address = 0;
  }
  TakePlace(&text, &frame);
  if (text != "???") frame.name = text;
  return frame;
}

std::string MassifFrameText(const MassifFrame& frame) {
  if (frame.folded) return std::string(frame.name);
  std::string text =
      fmt::format("0x{:X}: {}", frame.address, frame.name.empty() ? "???" : frame.name);
  if (!frame.file.empty()) {
    text += fmt::format(" ({}:{})", frame.file, frame.line);
  } else if (!frame.module.empty()) {
    text += fmt::format(" (in {})", frame.module);
  }
  return text;
}

namespace {

constexpr const char* kRule = "#-----------\n";

// On one line, without what would be a comment, and as it is read again: nothing around it.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '#' || c == '\n' || c == '\r') c = ' ';
  }
  return std::string(Trim(text));
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
