#include "core/report/views/ms_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace heapgauge {
namespace {

using Kind = MassifSnapshot::Kind;

const std::string kRule = std::string(80, '-') + "\n";

std::string WithCommas(uint64_t value) {
  std::string text = std::to_string(value);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

// A figure in five characters, if it fits, and its unit.
struct AxisLabel {
  std::string figure;
  std::string unit;
};

AxisLabel LabelOf(uint64_t value, MassifUnit unit) {
  static constexpr const char* kPrefixes[] = {"", "K", "M", "G", "T", "P", "E"};
  double x = static_cast<double>(value);
  size_t scaled = 0;
  AxisLabel label;
  if (unit == MassifUnit::kMilliseconds) {
    static constexpr const char* kTimes[] = {"ms", "s", "h"};
    if (x >= 1000) x /= 1000, ++scaled;
    if (scaled == 1 && x >= 3600) x /= 3600, ++scaled;
    label.unit = kTimes[scaled];
  } else {
    for (; x >= 1000 && scaled + 1 < std::size(kPrefixes); ++scaled) x /= 1024;
    label.unit = kPrefixes[scaled];
    if (unit == MassifUnit::kInstructions && scaled == 1) label.unit = "k";
    label.unit += unit == MassifUnit::kBytes ? "B" : "i";
  }
  if (scaled == 0) {
    label.figure = fmt::format("{:5}", value);
  } else {
    label.figure = fmt::format("{:5.{}f}", x, x < 10 ? 3 : x < 100 ? 2 : 1);
  }
  return label;
}

// Columns and rows of characters, both from 0 at the corner of the axes.
class Grid {
 public:
  Grid(size_t width, size_t height)
      : width_(width), height_(height), cells_((width + 1) * (height + 1), ' ') {
    for (size_t x = 0; x <= width; ++x) at(x, 0) = '-';
    for (size_t y = 0; y <= height; ++y) at(0, y) = '|';
    at(0, 0) = '+';
    at(0, height) = '^';
    at(width, 0) = '>';
  }
  char& at(size_t x, size_t y) { return cells_[y * (width_ + 1) + x]; }
  std::string_view row(size_t y) const {
    return std::string_view(cells_).substr(y * (width_ + 1), width_ + 1);
  }
  size_t width() const { return width_; }
  size_t height() const { return height_; }

 private:
  size_t width_;
  size_t height_;
  std::string cells_;
};

// Which snapshot is the peak: a file should have one, of several the last one counts. None: the
// number of snapshots.
size_t PeakOf(const MassifFile& file) {
  size_t i = file.snapshots.size();
  while (i > 0 && file.snapshots[i - 1].kind != Kind::kPeak) --i;
  return i > 0 ? i - 1 : file.snapshots.size();
}

// A peak hides a detailed snapshot, which hides a normal one.
char Stronger(char a, char b) {
  const std::string_view order = " :@#";
  return order.find(a) > order.find(b) ? a : b;
}

void Draw(const MassifFile& file, uint64_t most, uint64_t end, Grid* grid) {
  const size_t peak = PeakOf(file);
  const double per_row = static_cast<double>(most) / static_cast<double>(grid->height());
  size_t last_x = 0;
  size_t last_top = 0;
  char last_mark = ':';
  for (size_t i = 0; i < file.snapshots.size(); ++i) {
    const MassifSnapshot& s = file.snapshots[i];
    const double place =
        static_cast<double>(s.time) / static_cast<double>(end) * static_cast<double>(grid->width());
    const size_t x = std::min(static_cast<size_t>(place) + 1, grid->width());
    const char mark = i == peak ? '#' : s.kind != Kind::kEmpty ? '@' : ':';
    // Between two bars the first goes on as a line.
    for (size_t gap = last_x + 1; last_top > 0 && gap < x; ++gap) {
      grid->at(gap, last_top) = Stronger(last_mark, grid->at(gap, last_top));
    }
    size_t top = 0;
    const auto total = static_cast<double>(s.total_bytes());
    for (size_t y = 1; y <= grid->height() && total >= static_cast<double>(y) * per_row; ++y) {
      grid->at(x, y) = Stronger(mark, grid->at(x, y));
      top = y;
    }
    last_x = x;
    last_top = top;
    last_mark = mark;
  }
}

void AppendGraph(const MassifFile& file, const MsPrintOptions& options, std::string* out) {
  uint64_t most = 0;
  for (const MassifSnapshot& s : file.snapshots) most = std::max(most, s.total_bytes());
  const uint64_t end = std::max<uint64_t>(file.snapshots.back().time, 1);
  most = std::max<uint64_t>(most, 1);
  Grid grid(options.width, options.height);
  Draw(file, most, end, &grid);
  const AxisLabel bytes = LabelOf(most, MassifUnit::kBytes);
  const AxisLabel time = LabelOf(end, file.unit);
  *out += fmt::format("{:>6}\n", bytes.unit);
  for (size_t y = options.height; y > 0; --y) {
    *out += y == options.height ? bytes.figure : "     ";
    *out += grid.row(y);
    *out += "\n";
  }
  *out += fmt::format("   0 {}{}\n", grid.row(0), time.unit);
  *out += fmt::format("     0{}{}\n", std::string(std::max<size_t>(options.width, 5) - 5, ' '),
                      time.figure);
}

void AppendTableHead(MassifUnit unit, std::string* out) {
  *out += kRule;
  *out += fmt::format("{:>3} {:>14} {:>16} {:>16} {:>13} {:>12}\n", "n",
                      fmt::format("time({})", MassifUnitName(unit)), "total(B)", "useful-heap(B)",
                      "extra-heap(B)", "stacks(B)");
  *out += kRule;
}

// Walks a tree in the order of the file.
class TreeText {
 public:
  TreeText(const MassifFile& file, const MassifSnapshot& snapshot, double threshold)
      : file_(file),
        tree_(snapshot.tree),
        total_(static_cast<double>(snapshot.total_bytes())),
        threshold_(threshold) {}

  std::string Take() {
    if (!tree_.empty()) Node("", "", 0);
    return std::move(text_);
  }

 private:
  double Share(uint64_t bytes) const {
    return total_ == 0 ? 0 : static_cast<double>(bytes) * 100 / total_;
  }

  // What a node and all below it take in the list.
  size_t EndOf(size_t node) const {
    uint64_t open = 1;
    while (open > 0) open += tree_[node++].children - uint64_t{1};
    return node;
  }

  // Returns where the next sibling is. `below` is what stands before lines under this one. Levels
  // are limited by the parser, so this may call itself.
  size_t Node(const std::string& prefix, const std::string& below, size_t at) {
    const MassifNode& node = tree_[at];
    fmt::format_to(std::back_inserter(text_), "{}{:05.2f}% ({}B) {}\n", prefix, Share(node.bytes),
                   WithCommas(node.bytes), file_.texts[node.text]);
    size_t next = at + 1;
    uint64_t small = 0;
    uint64_t small_bytes = 0;
    for (uint32_t i = 0; i < node.children; ++i) {
      const MassifNode& child = tree_[next];
      if (Share(child.bytes) < threshold_) {
        ++small;
        small_bytes += child.bytes;
        next = EndOf(next);
      } else {
        next = Node(below + "->", below + (i + 1 == node.children ? "  " : "| "), next);
      }
    }
    if (small > 0) {
      fmt::format_to(
          std::back_inserter(text_),
          "{}->{:05.2f}% ({}B) in {}+ places, all below ms_print's threshold ({:05.2f}%)\n", below,
          Share(small_bytes), WithCommas(small_bytes), small, threshold_);
    }
    if (small > 0 || node.children == 0) text_ += below + "\n";
    return next;
  }

  const MassifFile& file_;
  const std::vector<MassifNode>& tree_;
  const double total_;
  const double threshold_;
  std::string text_;
};

std::string DetailedList(const MassifFile& file) {
  const size_t peak = PeakOf(file);
  std::string list;
  for (size_t i = 0; i < file.snapshots.size(); ++i) {
    const MassifSnapshot& s = file.snapshots[i];
    if (s.kind == Kind::kEmpty) continue;
    if (!list.empty()) list += ", ";
    list += std::to_string(s.number);
    if (i == peak) list += " (peak)";
  }
  return list;
}

}  // namespace

Status WriteMsPrint(const MassifFile& file, const MsPrintOptions& options, TextSink* out) {
  std::string text = kRule + "Command:            " + file.command + "\nMassif arguments:  ";
  for (const std::string& line : file.descriptions) text += " " + line + "\n";
  text += "ms_print arguments: " + options.arguments + "\n" + kRule + "\n\n";
  if (!file.snapshots.empty()) AppendGraph(file, options, &text);
  text += fmt::format("\nNumber of snapshots: {}\n Detailed snapshots: [{}]\n\n",
                      file.snapshots.size(), DetailedList(file));
  AppendTableHead(file.unit, &text);
  bool head_is_due = false;
  for (const MassifSnapshot& s : file.snapshots) {
    if (head_is_due) AppendTableHead(file.unit, &text);
    text += fmt::format("{:>3} {:>14} {:>16} {:>16} {:>13} {:>12}\n", s.number, WithCommas(s.time),
                        WithCommas(s.total_bytes()), WithCommas(s.heap_bytes),
                        WithCommas(s.extra_bytes), WithCommas(s.stack_bytes));
    text += TreeText(file, s, options.threshold).Take();
    head_is_due = !s.tree.empty();
    HG_TRY(out->Write(text));
    text.clear();
  }
  return out->Write(text);
}

}  // namespace heapgauge
