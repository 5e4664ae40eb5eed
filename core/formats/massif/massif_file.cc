#include "core/formats/massif/massif_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/formats/text/line_reader.h"
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

namespace {

constexpr const char* kFormat = "massif";
constexpr size_t kMaxDepth = 4096;  // massif's own limit is 200

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

bool TakePrefix(std::string_view* line, std::string_view prefix) {
  if (!line->starts_with(prefix)) return false;
  *line = Trim(line->substr(prefix.size()));
  return true;
}

// A number that is not negative and fits, and nothing else.
bool ParseNumber(std::string_view text, uint64_t* value) {
  const auto number = NumberIn<uint64_t>(text);
  if (!number || *number > static_cast<uint64_t>(INT64_MAX)) return false;
  *value = *number;
  return true;
}

class Parser {
 public:
  Parser(ByteStream* stream, const std::string& name) : lines_(stream, kFormat, name) {}

  Result<MassifFile> Parse() {
    for (;;) {
      HG_ASSIGN(const bool more, NextLine());
      if (!more) break;
      std::string_view line = lines_.line();
      if (TakePrefix(&line, "snapshot=")) {
        HG_TRY(Snapshot(line));
      } else {
        HG_TRY(Header(line));
      }
    }
    if (file_.snapshots.empty()) {
      return lines_.Fail(ErrorCode::kTruncated, "the file has no snapshot");
    }
    return std::move(file_);
  }

 private:
  // The next line that says something.
  Result<bool> NextLine() {
    for (;;) {
      HG_ASSIGN(const bool more, lines_.Next());
      if (!more) return false;
      if (!IsBlankOrComment(lines_.line())) return true;
    }
  }

  Status Header(std::string_view line) {
    if (TakePrefix(&line, "desc:")) {
      file_.descriptions.push_back(Printable(line));
    } else if (TakePrefix(&line, "cmd:")) {
      file_.command = Printable(line);
    } else if (TakePrefix(&line, "time_unit:")) {
      return Unit(line);
    } else {
      return lines_.FailInLine("neither a snapshot nor a header (desc:, cmd:, time_unit:)");
    }
    return {};
  }

  Status Unit(std::string_view unit) {
    double factor = 1;
    if (unit == "i") {
      file_.unit = MassifUnit::kInstructions;
    } else if (unit == "B") {
      file_.unit = MassifUnit::kBytes;
    } else if (unit == "ms" || unit == "s") {
      file_.unit = MassifUnit::kMilliseconds;
      if (unit == "s") factor = 1000;
    } else {
      return lines_.FailInLine("a time unit that is not known (i, ms, B, s)");
    }
    unit_factor_ = factor;
    return {};
  }

  // "key=" and a number, on a line of its own.
  Status Field(std::string_view key, uint64_t* value) {
    HG_ASSIGN(const bool more, NextLine());
    if (!more) return Ends();
    std::string_view line = lines_.line();
    if (!TakePrefix(&line, key) || !ParseNumber(line, value)) {
      return lines_.FailInLine("expected " + std::string(key) + "NUMBER");
    }
    return {};
  }

  tl::unexpected<Error> Ends() const {
    return lines_.Fail(ErrorCode::kTruncated, "the file ends within a snapshot");
  }

  Status Snapshot(std::string_view number) {
    MassifSnapshot snapshot;
    if (!ParseNumber(number, &snapshot.number)) {
      return lines_.FailInLine("expected snapshot=NUMBER");
    }
    HG_TRY(Time(&snapshot));
    HG_TRY(Field("mem_heap_B=", &snapshot.heap_bytes));
    HG_TRY(Field("mem_heap_extra_B=", &snapshot.extra_bytes));
    HG_TRY(Field("mem_stacks_B=", &snapshot.stack_bytes));
    constexpr uint64_t kMost = INT64_MAX / 4;  // so that sums fit
    if (snapshot.heap_bytes > kMost || snapshot.extra_bytes > kMost ||
        snapshot.stack_bytes > kMost) {
      return lines_.Fail(ErrorCode::kCorrupt, "the snapshot has more bytes than there can be");
    }
    HG_ASSIGN(const bool more, NextLine());
    if (!more) return Ends();
    std::string_view kind = lines_.line();
    if (!TakePrefix(&kind, "heap_tree=")) return lines_.FailInLine("expected heap_tree=");
    if (kind == "detailed") {
      snapshot.kind = MassifSnapshot::Kind::kDetailed;
    } else if (kind == "peak") {
      snapshot.kind = MassifSnapshot::Kind::kPeak;
    } else if (kind != "empty") {
      return lines_.FailInLine("a kind of tree that is not known (empty, detailed, peak)");
    }
    if (snapshot.kind != MassifSnapshot::Kind::kEmpty) HG_TRY(Tree(&snapshot.tree));
    file_.snapshots.push_back(std::move(snapshot));
    return {};
  }

  Status Time(MassifSnapshot* snapshot) {
    HG_ASSIGN(const bool more, NextLine());
    if (!more) return Ends();
    std::string_view line = lines_.line();
    if (!TakePrefix(&line, "time=")) return lines_.FailInLine("expected time=NUMBER");
    if (!ParseNumber(line, &snapshot->time)) {
      const auto time = NumberIn<double>(line);
      if (!time || !(*time >= 0 && *time < 1e15)) {
        return lines_.FailInLine("expected time=NUMBER");
      }
      fractions_.resize(file_.snapshots.size(), -1);
      fractions_.push_back(*time);
    }
    return {};
  }

  Status Tree(std::vector<MassifNode>* tree) {
    std::vector<uint64_t> missing = {1};  // children that are still to come, by level
    while (!missing.empty()) {
      if (missing.back() == 0) {
        missing.pop_back();
        continue;
      }
      --missing.back();
      HG_ASSIGN(const bool more, NextLine());
      if (!more) return Ends();
      MassifNode node;
      size_t indent = 0;
      if (!Node(lines_.line(), &indent, &node)) {
        return lines_.FailInLine("expected a line of a heap tree (n2: 4096 0x1234: f (x.c:1))");
      }
      const size_t level = missing.size() - 1;
      if (indent != level) {
        return lines_.FailInLine("the line is indented by " + std::to_string(indent) +
                                 ", its place in the tree needs " + std::to_string(level));
      }
      if (level > kMaxDepth) return lines_.FailInLine("the tree has more than 4096 levels");
      tree->push_back(node);
      missing.push_back(node.children);
    }
    return {};
  }

  // indent "n" CHILDREN ": " BYTES " " TEXT
  bool Node(std::string_view line, size_t* indent, MassifNode* node) {
    size_t at = 0;
    while (at < line.size() && line[at] == ' ') ++at;
    *indent = at;
    if (!TakeChar(line, &at, 'n')) return false;
    int64_t children = 0;
    int64_t bytes = 0;
    if (TakeDecimal(line, &at, &children) != Taken::kYes || children < 0 || children > INT32_MAX ||
        !TakeChar(line, &at, ':')) {
      return false;
    }
    SkipBlanks(line, &at);
    if (TakeDecimal(line, &at, &bytes) != Taken::kYes || bytes < 0) return false;
    node->children = static_cast<uint32_t>(children);
    node->bytes = static_cast<uint64_t>(bytes);
    node->text = Text(Trim(line.substr(at)));
    return true;
  }

  uint32_t Text(std::string_view text) {
    const auto known = ids_.find(text);
    if (known != ids_.end()) return known->second;
    const auto id = static_cast<uint32_t>(file_.texts.size());
    file_.texts.push_back(Printable(text));
    ids_.emplace(text, id);
    return id;
  }

 public:
  // Units are known at the end alone, because the header may come late.
  void ScaleTimes(MassifFile* file) const {
    for (size_t i = 0; i < file->snapshots.size(); ++i) {
      uint64_t& time = file->snapshots[i].time;
      if (i < fractions_.size() && fractions_[i] >= 0) {
        time = static_cast<uint64_t>(std::llround(fractions_[i] * unit_factor_));
      } else if (unit_factor_ > 1) {
        time = time > UINT64_C(1'000'000'000'000'000) ? UINT64_C(1'000'000'000'000'000'000)
                                                      : time * static_cast<uint64_t>(unit_factor_);
      }
    }
  }

 private:
  LineReader lines_;
  MassifFile file_;
  double unit_factor_ = 1;
  std::vector<double> fractions_;  // times that are no whole numbers, by snapshot; -1 it is one
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> ids_;
};

}  // namespace

Result<MassifFile> ParseMassif(ByteStream* stream, const std::string& name) {
  Parser parser(stream, name);
  HG_ASSIGN(MassifFile file, parser.Parse());
  parser.ScaleTimes(&file);
  return file;
}

bool IsMassif(std::string_view start) {
  bool has_header = false;
  while (!start.empty()) {
    const bool whole = start.find('\n') != std::string_view::npos;
    const std::string_view line = Trim(TakeUntil(&start, '\n'));
    if (line.empty() || line.front() == '#') continue;
    uint64_t number = 0;
    if (line.starts_with("snapshot=")) return ParseNumber(line.substr(9), &number);
    if (!line.starts_with("desc:") && !line.starts_with("cmd:") &&
        !line.starts_with("time_unit:")) {
      return false;
    }
    has_header = true;
    // A command that goes on past the bytes at hand.
    if (!whole) break;
  }
  return has_header;
}

}  // namespace heapgauge
