#include "core/report/draw/flame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/fold/statistics.h"
#include "core/report/draw/svg_scripts.h"
#include "core/report/recording_text.h"
#include "core/report/value_text.h"

namespace heapgauge {
namespace {

constexpr uint32_t kWhole = 10'000'000;  // width of everything, in the units of a box
constexpr int kBoxHeight = 18;           // with the gap to the next level
constexpr int kTop = 62;                 // title, totals, details

struct Box {
  uint32_t left = 0;
  uint32_t width = 0;
};

double ValueOf(const HeapFigures& figures, SortKey sort) {
  return SortValue(figures, sort == SortKey::kAge ? SortKey::kLive : sort, 0);
}

// Where the boxes are: children side by side under their parent, the heaviest at its left edge.
std::vector<Box> Place(const PrunedTree& pruned, SortKey sort) {
  std::vector<Box> boxes(pruned.nodes.size());
  if (boxes.empty()) return boxes;
  const double total = ValueOf(pruned.nodes[0].figures, sort);
  std::vector<double> next(boxes.size());  // left edge of the next child, in terms of the figure
  boxes[0] = {0, kWhole};
  for (size_t i = 1; i < boxes.size(); ++i) {
    const uint32_t parent = pruned.nodes[i].parent;
    const double begin = next[parent];
    const double end = begin + std::max(0.0, ValueOf(pruned.nodes[i].figures, sort));
    next[parent] = end;
    next[i] = begin;
    const auto unit = [&](double at) {
      const double share = total > 0 ? std::clamp(at / total, 0.0, 1.0) : 0;
      return static_cast<uint32_t>(std::llround(share * kWhole));
    };
    boxes[i] = {unit(begin), unit(end) - unit(begin)};
  }
  return boxes;
}

// Of all that is shown, in terms of the figure.
std::string TotalText(const GrownTree& grown, SortKey sort) {
  const HeapFigures& all = grown.totals.selected;
  const Measures& m = grown.totals.measures;
  if (sort == SortKey::kAllocated && m.has_allocated()) {
    return FormatBytes(all.allocated_bytes.value);
  }
  if (sort == SortKey::kCount && m.has_objects()) return FormatMainCount(all.live_objects, m);
  return FormatMain(all.live_bytes.value, m);
}

uint32_t Hash(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash ^ hash >> 15;
}

// One hue for each module, its functions in shades of it.
std::string ColourOf(std::string_view module, std::string_view name) {
  // Neighbouring hues are hard to tell apart, so there are twelve. Memory is warm at first sight:
  // the program's own code, which comes first in a file, is orange or yellow.
  static constexpr int kHues[] = {28, 205, 95, 345, 48, 175, 265, 12, 130, 225, 310, 70};
  const double hue = kHues[Hash(module) % 12];
  const double lightness = 0.66 + 0.14 * (Hash(name) % 8) / 7.0;
  const double chroma = (1 - std::fabs(2 * lightness - 1)) * 0.78;
  const double h = hue / 60;
  const double x = chroma * (1 - std::fabs(std::fmod(h, 2) - 1));
  double rgb[3] = {0, 0, 0};
  const int sector = static_cast<int>(h);
  rgb[(sector + 1) / 2 % 3] = chroma;
  rgb[(7 - sector) % 3] = x;
  const auto byte = [&](double c) {
    return static_cast<int>(std::lround(255 * (c + lightness - chroma / 2)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(rgb[0]), byte(rgb[1]), byte(rgb[2]));
}

class FlamePicture {
 public:
  FlamePicture(const Profile& profile, const GrownTree& grown, const TreeOptions& options)
      : profile_(profile),
        grown_(grown),
        options_(options),
        boxes_(Place(grown.pruned, options.sort)) {}

  std::string Draw() {
    size_t depth = 0;
    for (const PrunedTree::Node& node : grown_.pruned.nodes) depth = std::max(depth, node.depth);
    const size_t height = kTop + (depth + 1) * kBoxHeight + 8;
    out_ = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"1200\" "
        "height=\"{}\">\n<title>{}</title>\n",
        height, HtmlText(Title()));
    out_ += kFlameStyle;
    out_ += "<rect width=\"100%\" height=\"100%\" fill=\"#fbfaf7\"/>\n";
    out_ += fmt::format("<text id=\"title\" x=\"6\" y=\"20\">{}</text>\n", HtmlText(Title()));
    out_ += fmt::format("<text id=\"sum\" x=\"6\" y=\"37\">{}</text>\n", HtmlText(Sum()));
    out_ += "<text id=\"details\" x=\"6\" y=\"54\"> </text>\n";
    out_ += "<text id=\"reset\" x=\"100%\" dx=\"-420\" y=\"20\">whole graph (Esc)</text>\n";
    out_ += "<text id=\"matched\" x=\"100%\" dx=\"-200\" y=\"37\"> </text>\n";
    out_ +=
        "<svg x=\"100%\" overflow=\"visible\"><foreignObject x=\"-200\" y=\"5\" width=\"190\" "
        "height=\"22\"><input xmlns=\"http://www.w3.org/1999/xhtml\" id=\"search\" "
        "placeholder=\"search (/), RE\"/></foreignObject></svg>\n";
    for (size_t i = 0; i < boxes_.size(); ++i) AddBox(i);
    out_ += kFlameScript;
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  const Measures& measures() const { return grown_.totals.measures; }

  bool by_allocated() const {
    return options_.sort == SortKey::kAllocated && measures().has_allocated();
  }
  bool by_count() const { return options_.sort == SortKey::kCount && measures().has_objects(); }

  std::string FigureName() const {
    return by_allocated() ? "allocated" : by_count() ? "live objects" : measures().name;
  }

  std::string Title() const {
    const RecordingFacts& r = profile_.recording;
    if (IsRecorded(r)) return fmt::format("{}  pid {}  {}", r.name(), r.pid, StateText(r));
    if (profile_.modules.empty()) return "a profile";
    return std::string(BaseName(profile_.modules[0].path));
  }

  std::string FigureText(const HeapFigures& f) const {
    if (by_count()) return FormatCount(f.live_objects);
    const Estimate& e = by_allocated() ? f.allocated_bytes : f.live_bytes;
    std::string text = by_allocated() || by_count() ? FormatValue(e.value, measures().unit)
                                                    : FormatMain(e.value, measures());
    if (e.variance > 0) {
      const Interval range = Interval95(e);
      text += " (95 %: " + FormatValueRange(range.low, range.high, measures().unit) + ")";
    }
    return text;
  }

  std::string Sum() const {
    std::string text = FigureName() + " " + FigureText(grown_.totals.selected);
    if (grown_.totals.selected.live_bytes.value != grown_.totals.total.live_bytes.value) {
      text += " of " + FigureText(grown_.totals.total);
    }
    const std::string selection = SelectionText(profile_.recording);
    if (!selection.empty()) text += " (" + selection + ")";
    text += options_.callers ? "; what allocates above, its callers below" : "";
    return text;
  }

  void AddBox(size_t i) {
    const PrunedTree::Node& node = grown_.pruned.nodes[i];
    const CallTree::Node& call = grown_.tree.nodes[node.in_tree];
    const Box& box = boxes_[i];
    if (box.width == 0) return;
    const bool is_root = node.parent == kNone;
    const std::string name = is_root ? "all" : grown_.labels[call.entity];
    std::string title = name + "\n" + FigureText(node.figures) + ", " +
                        FormatShare(ValueOf(node.figures, options_.sort),
                                    ValueOf(grown_.totals.total, options_.sort));
    if (measures().has_objects() && !by_allocated() && !by_count()) {
      title += fmt::format(", {}{} objects", profile_.recording.exact ? "" : "about ",
                           FormatCount(node.figures.live_objects));
    }
    std::string module;
    if (!is_root && call.entity != kNone) {
      const Entity& entity = grown_.totals.entities[call.entity];
      std::string place = PlaceOf(profile_, options_.granularity, call.frame);
      if (call.lines_differ) place = place.substr(0, place.rfind(':'));
      if (!place.empty()) title += "\n" + place;
      if (entity.module != kNone) module = profile_.modules[entity.module].path;
      if (!module.empty()) title += (place.empty() ? "\n" : "  ") + std::string(BaseName(module));
    }
    if (call.inlined) title += "  (inlined)";
    const size_t y = kTop + node.depth * kBoxHeight;
    const double left = 100.0 * box.left / kWhole;
    const double width = 100.0 * box.width / kWhole;
    out_ += fmt::format(
        "<g class=\"f\" data-l=\"{}\" data-w=\"{}\" data-d=\"{}\"><title>{}</title>"
        "<rect x=\"{:.4f}%\" y=\"{}\" width=\"{:.4f}%\" height=\"{}\" fill=\"{}\"/>",
        box.left, box.width, node.depth, EscapedLines(title), left, y, width, kBoxHeight - 1,
        is_root ? "#d8d4c8" : ColourOf(module, name));
    // Names for readers without scripts, at the width that the file asks for.
    const auto room = static_cast<size_t>(std::max(0.0, (width * 12 - 6) / 7));
    if (room >= 3) {
      const std::string text =
          DisplayWidth(name) <= room ? name : std::string(FirstColumns(name, room - 1)) + "\u2026";
      out_ += fmt::format("<text x=\"{:.4f}%\" dx=\"3\" y=\"{}\">{}</text>", left, y + 13,
                          HtmlText(text));
    }
    out_ += "</g>\n";
  }

  // Control characters are not allowed in XML, but for the ends of lines.
  static std::string EscapedLines(std::string_view text) {
    std::string out;
    while (true) {
      const size_t newline = text.find('\n');
      out += HtmlText(text.substr(0, newline));
      if (newline == std::string_view::npos) return out;
      out += '\n';
      text.remove_prefix(newline + 1);
    }
  }

  const Profile& profile_;
  const GrownTree& grown_;
  const TreeOptions& options_;
  std::vector<Box> boxes_;
  std::string out_;
};

}  // namespace

TreeOptions FlameOptions() {
  TreeOptions options;
  options.fold = 0.02;  // a quarter of a pixel
  options.rows = 6000;
  return options;
}

Result<std::string> FlameSvg(const Profile& profile, const TreeOptions& options) {
  HG_ASSIGN(const GrownTree grown, GrowTree(profile, options));
  return FlamePicture(profile, grown, options).Draw();
}

Result<StyledText> FlameText(const Profile& profile, const std::vector<std::string>& notes,
                             const TreeOptions& options, size_t lines) {
  HG_ASSIGN(const GrownTree grown, GrowTree(profile, options));
  StyledText text = RecordingText(profile, grown.totals.total, notes, options.layout);
  text.Add(ShrunkText(grown));
  text.Add("\n");
  const std::vector<Box> boxes = Place(grown.pruned, options.sort);
  const size_t width = std::max<size_t>(options.layout.width, 20);
  struct Cell {
    size_t left;
    size_t end;
    std::string name;
  };
  std::vector<std::vector<Cell>> levels;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const PrunedTree::Node& node = grown.pruned.nodes[i];
    if (node.depth >= lines) continue;
    const auto column = [&](uint32_t at) {
      return static_cast<size_t>(
          std::llround(static_cast<double>(at) * static_cast<double>(width) / kWhole));
    };
    const Cell cell{column(boxes[i].left), column(boxes[i].left + boxes[i].width),
                    node.parent == kNone ? "all " + TotalText(grown, options.sort)
                                         : grown.labels[grown.tree.nodes[node.in_tree].entity]};
    if (cell.end <= cell.left) continue;
    if (levels.size() <= node.depth) levels.resize(node.depth + 1);
    levels[node.depth].push_back(cell);
  }
  const char* edge = options.layout.utf8 ? "\u258f" : "|";
  size_t shade = 0;
  for (const std::vector<Cell>& cells : levels) {
    size_t at = 0;
    for (const Cell& cell : cells) {
      if (cell.left > at) text.Add(std::string(cell.left - at, ' '));
      const size_t room = cell.end - cell.left;
      // A name that is cut to a letter or two tells nothing.
      std::string name;
      if (room >= 6) {
        name = DisplayWidth(cell.name) <= room - 1
                   ? cell.name
                   : std::string(FirstColumns(cell.name, room - 2)) +
                         (options.layout.utf8 ? "\u2026" : ".");
      }
      text.Add(edge, Style::kBar);
      const Style style = ++shade % 2 == 0 ? Style::kPlain : Style::kNumber;
      text.Add(PadRight(name, room - 1), style);
      at = cell.end;
    }
    text.Add("\n");
  }
  return text;
}

}  // namespace heapgauge
