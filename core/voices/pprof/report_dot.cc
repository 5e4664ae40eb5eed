#include "core/voices/pprof/report_dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/base/regex.h"
#include "core/source/source_files.h"
#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/measure.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::pprof {
namespace {

// A package path of Go with a major version: "example.com/a/v2/b".
const Regex& GoVersion() {
  static const Regex expression(R"(^(.*?)/v(?:[2-9]|[1-9][0-9]+)([./].*)$)");
  return expression;
}

// The rest of a Go name behind its last directory.
const Regex& GoPath() {
  static const Regex expression(R"(^(?:[\w\-\.]+/)+(.+))");
  return expression;
}

// Class and method of a Java name, in front of parameters or the end.
const Regex& JavaMethod() {
  static const Regex expression(
      R"(^(?:[a-z]\w*\.)*([A-Z][\w\$]*\.(?:<init>|[a-z][\w\$]*(?:\$\d+)?))(?:\(|$))");
  return expression;
}

// Class and method of a C++ name, with template arguments.
const Regex& CppMethod() {
  static const Regex expression(R"(^(?:[_a-zA-Z]\w*::)+(_*[A-Z]\w*::~?[_a-zA-Z]\w*(?:<.*>)?))");
  return expression;
}

}  // namespace

std::string ShortenFunctionName(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (name.starts_with(kAnonymous)) name.remove_prefix(kAnonymous.size());
  std::string text(name);
  std::string_view head, tail, found;
  if (GoVersion().Matches(name, &head, &tail)) text = std::string(head) += tail;
  for (const Regex* expression : {&GoPath(), &JavaMethod(), &CppMethod()}) {
    if (expression->Matches(text, &found)) return std::string(found);
  }
  return text;
}

namespace {

std::string Replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string result;
  for (size_t at; (at = text.find(what)) != std::string_view::npos;) {
    result += text.substr(0, at);
    result += with;
    text.remove_prefix(at + what.size());
  }
  return result.append(text);
}

unsigned Channel(double value) {
  return static_cast<unsigned>(static_cast<uint64_t>(ToInt64(value * 255)) & 0xff);
}

}  // namespace

std::string DotColor(double share, bool background) {
  double saturation = background ? 0.1 : 1.0;
  const double value = background ? 0.93 : 0.7;
  if (share > 1) share = 1;
  if (share < -1) share = -1;
  // Grey near zero, where the hue would say yellow.
  if (std::abs(share) < 0.2) saturation *= std::abs(share) / 0.2;
  // Small shares are moved away from grey, so that their sign can be seen.
  constexpr double kExponent = 0.3;
  if (share > 0) share = std::pow(share, kExponent);
  if (share < 0) share = -std::pow(-share, kExponent);
  const double red = share < 0 ? value * (1 + saturation * share) : value;
  const double green = share < 0 ? value : value * (1 - saturation * share);
  const double blue = value * (1 - saturation);
  return fmt::format("#{:02x}{:02x}{:02x}", Channel(red), Channel(green), Channel(blue));
}

std::string DotEscaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (char c : text) {
    if (c == '\\') {
      escaped += "\\\\";
    } else if (c == '"') {
      escaped += "\\\"";
    } else if (c == '\n') {
      escaped += "\\l";  // a line that begins at the left
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string DotName(const NodeInfo& info) {
  std::string name = DotEscaped(ShortenFunctionName(info.name));
  name = Replaced(name, "::", "\\n");
  name = Replaced(name, "[...]", "[\u2026]");  // Go's type parameters: these dots stay together
  name = Replaced(name, ".", "\\n");
  NodeInfo shown = info;
  shown.name = name;
  if (!info.file.empty()) shown.file = LastPart(info.file);
  std::string text;
  for (const std::string& part : NameParts(shown)) text += part + "\\n";
  return text;
}

// Many numeric tags as a few boxes: "16B", "32B..64kB".

// At most `count`: the weightiest tags, each with those that are nearest to it. Sorted by weight.
std::vector<Tag> GroupNumbers(std::vector<Tag> tags, size_t count, bool flat);

namespace {

// Of `other` to `tag`, in the unit of `tag`.
double Distance(const Tag& tag, const Tag& other) {
  return std::abs(Scale(other.value, other.unit, tag.unit).value - static_cast<double>(tag.value));
}

Tag Joined(const std::vector<const Tag*>& group) {
  Tag joined;
  const Tag* min = group[0];
  const Tag* max = group[0];
  Tag sum;
  for (const Tag* tag : group) {
    if (ToInt64(Scale(tag->value, tag->unit, min->unit).value) < min->value) min = tag;
    if (ToInt64(Scale(tag->value, tag->unit, max->unit).value) > max->value) max = tag;
    sum.flat = WrapAdd(sum.flat, tag->flat);
    sum.flat_div = WrapAdd(sum.flat_div, tag->flat_div);
    sum.cum = WrapAdd(sum.cum, tag->cum);
    sum.cum_div = WrapAdd(sum.cum_div, tag->cum_div);
  }
  joined.name = Label(min->value, min->unit);
  if (group.size() > 1) joined.name += ".." + Label(max->value, max->unit);
  joined.flat = sum.flat_value();
  joined.cum = sum.cum_value();
  return joined;
}

}  // namespace

std::vector<Tag> GroupNumbers(std::vector<Tag> tags, size_t count, bool flat) {
  SortTags(flat, &tags);
  if (tags.size() <= count) return tags;
  std::vector<std::vector<const Tag*>> groups;
  for (size_t i = 0; i < count; ++i) groups.push_back({&tags[i]});
  for (size_t i = count; i < tags.size(); ++i) {
    size_t nearest = 0;
    for (size_t g = 1; g < count; ++g) {
      if (Distance(tags[i], *groups[g][0]) < Distance(tags[i], *groups[nearest][0])) nearest = g;
    }
    groups[nearest].push_back(&tags[i]);
  }
  std::vector<Tag> joined;
  for (const std::vector<const Tag*>& group : groups) joined.push_back(Joined(group));
  SortTags(flat, &joined);
  return joined;
}

namespace {

constexpr size_t kMaxTags = 4;

class DotWriter {
 public:
  DotWriter(const ReportInput& input, const Trimmed& trimmed, const ValueFormat& format,
            TextSink* out)
      : input_(input), trimmed_(trimmed), graph_(trimmed.graph), format_(format), out_(out) {}

  Status Write() {
    HG_TRY(WriteHead());
    if (!graph_.order.empty()) {
      number_.resize(graph_.nodes.size());
      has_tags_.resize(graph_.nodes.size());
      for (size_t i = 0; i < graph_.order.size(); ++i) {
        const GraphId id = graph_.order[i];
        number_[id] = i + 1;
        const auto flat = static_cast<double>(Abs64(graph_.nodes[id].flat_value()));
        max_flat_ = i == 0 ? flat : std::max(max_flat_, flat);
      }
      std::vector<EdgeId> edges;
      for (GraphId id : graph_.order) {
        HG_TRY(WriteNode(id));
        HG_TRY(WriteTagsOf(id));
        edges.insert(edges.end(), graph_.nodes[id].out.begin(), graph_.nodes[id].out.end());
      }
      // By weight, which helps the layout.
      for (EdgeId edge : graph_.Sorted(edges)) HG_TRY(WriteEdge(graph_.edges[edge]));
    }
    return out_->Write("}\n");
  }

 private:
  Status WriteHead() {
    std::string title;
    if (!input_.profile.modules.empty() && !input_.profile.modules[0].path.empty()) {
      title = LastPart(input_.profile.modules[0].path);
    }
    HG_TRY(out_->Write(fmt::format("digraph \"{}\" {{\n", title.empty() ? "unnamed" : title)));
    HG_TRY(out_->Write("node [style=filled fillcolor=\"#f8f8f8\"]\n"));
    const std::vector<std::string> labels = ReportLabels(input_, format_, trimmed_, /*full=*/true);
    std::string text;
    for (const std::string& label : labels) text += DotEscaped(label) + "\\l";
    return out_->Write(fmt::format(
        "subgraph cluster_L {{ \"{}\" [shape=box fontsize=16 label=\"{}\"{}] }}\n",
        DotEscaped(labels[0]), text, title.empty() ? "" : fmt::format(" tooltip=\"{}\"", title)));
  }

  std::string Percent(int64_t value) const { return TrimmedPercentage(value, input_.total_weight); }

  // What part of all it is, for colours.
  double Share(int64_t value) const {
    return static_cast<double>(value) / static_cast<double>(Abs64(input_.total_weight));
  }

  Status WriteNode(GraphId id) {
    const GraphNode& node = graph_.nodes[id];
    const int64_t flat = node.flat_value();
    const int64_t cum = node.cum_value();
    std::string label = DotName(graph_.info(id));
    const std::string flat_text = format_(flat);
    label += flat != 0 ? fmt::format("{} ({})", flat_text, Percent(node.flat)) : "0";
    std::string cum_text = flat_text;
    if (cum != flat) {
      cum_text = format_(cum);
      label += flat != 0 ? "\\n" : " ";
      label += fmt::format("of {} ({})", cum_text, Percent(node.cum));
    }
    // From 8 to 24, growing fast at first.
    int font_size = 8;
    const auto size = static_cast<double>(Abs64(flat));
    if (max_flat_ != 0 && flat != 0 && size <= max_flat_) {
      font_size += static_cast<int>(std::ceil(16 * std::sqrt(size / max_flat_)));
    }
    return out_->Write(fmt::format(
        "N{0} [label=\"{1}\" id=\"node{0}\" fontsize={2} shape=box tooltip=\"{3} ({4})\" "
        "color=\"{5}\" fillcolor=\"{6}\"]\n",
        number_[id], label, font_size, DotEscaped(graph_.name(id)), cum_text,
        DotColor(Share(node.cum), /*background=*/false),
        DotColor(Share(node.cum), /*background=*/true)));
  }

  Status WriteTagsOf(GraphId id) {
    if (graph_.tags.empty()) return {};
    const NodeTags& tags = graph_.tags[id];
    // Leaves of the picture show the tags of all that was cut away below them.
    const bool flat = !graph_.nodes[id].out.empty();
    std::vector<Tag> texts = tags.texts;
    SortTags(flat, &texts);
    if (texts.size() > kMaxTags) texts.resize(kMaxTags);
    std::string boxes;
    for (size_t i = 0; i < texts.size(); ++i) {
      const int64_t weight = flat ? texts[i].flat_value() : texts[i].cum_value();
      if (weight == 0) continue;
      const std::string node = fmt::format("N{}", number_[id]);
      const std::string box = fmt::format("{}_{}", node, i);
      boxes += Box(box, texts[i].name, node, weight, "");
      if (const std::vector<Tag>* numbers = NumbersWith(texts[i].name, tags)) {
        boxes += NumberBoxes(*numbers, flat, box);
      }
    }
    if (const std::vector<Tag>* numbers = NumbersWith("", tags)) {
      boxes += NumberBoxes(*numbers, flat, fmt::format("N{}", number_[id]));
    }
    has_tags_[id] = !boxes.empty();
    return out_->Write(boxes);
  }

  static const std::vector<Tag>* NumbersWith(const std::string& texts, const NodeTags& tags) {
    for (const auto& [with, numbers] : tags.numbers) {
      if (with == texts) return &numbers;
    }
    return nullptr;
  }

  std::string NumberBoxes(const std::vector<Tag>& numbers, bool flat, const std::string& source) {
    std::string boxes;
    const std::vector<Tag> groups = GroupNumbers(numbers, kMaxTags, flat);
    for (size_t i = 0; i < groups.size(); ++i) {
      const bool whole = flat || groups[i].flat_value() == groups[i].cum_value();
      const int64_t weight = whole ? groups[i].flat_value() : groups[i].cum_value();
      if (weight == 0) continue;
      boxes += Box(fmt::format("N{}_{}", source, i), groups[i].name, source, weight,
                   whole ? "" : " style=\"dotted\"");
    }
    return boxes;
  }

  std::string Box(const std::string& box, const std::string& label, const std::string& source,
                  int64_t weight, const char* style) const {
    const std::string text = format_(weight);
    return fmt::format(
        "{0} [label = \"{1}\" id=\"{0}\" fontsize=8 shape=box3d tooltip=\"{2}\"]\n"
        "{3} -> {0} [label=\" {2}\" weight=100 tooltip=\"{2}\" labeltooltip=\"{2}\"{4}]\n",
        box, label, text, source, style);
  }

  Status WriteEdge(const GraphEdge& edge) {
    const std::string text = format_(edge.weight_value());
    std::string attributes =
        fmt::format("label=\" {}{}\"", text, edge.inlined ? "\\n (inline)" : "");
    if (input_.total_weight != 0) {
      // A difference can have edges that are more than all.
      const auto part = [&](int64_t of) {
        return 1 + std::min(Abs64(WrapDivide(WrapMul(edge.weight, of), input_.total_weight)), of);
      };
      if (part(100) > 1) attributes += fmt::format(" weight={}", part(100));
      if (part(5) > 1) attributes += fmt::format(" penwidth={}", part(5));
      attributes +=
          fmt::format(" color=\"{}\"", DotColor(Share(edge.weight), /*background=*/false));
    }
    const std::string tooltip =
        fmt::format("\"{} {} {} ({})\"", DotEscaped(graph_.name(edge.src)),
                    edge.residual ? "..." : "->", DotEscaped(graph_.name(edge.dest)), text);
    attributes += fmt::format(" tooltip={0} labeltooltip={0}", tooltip);
    if (edge.residual) attributes += " style=\"dotted\"";
    if (has_tags_[edge.src]) attributes += " minlen=2";
    return out_->Write(
        fmt::format("N{} -> N{} [{}]\n", number_[edge.src], number_[edge.dest], attributes));
  }

  const ReportInput& input_;
  const Trimmed& trimmed_;
  const Graph& graph_;
  const ValueFormat& format_;
  TextSink* out_;
  double max_flat_ = 0;
  std::vector<size_t> number_;  // by node, from 1; 0 for those that are not shown
  std::vector<bool> has_tags_;
};

}  // namespace

Status WriteDot(const ReportInput& input, TextSink* out) {
  const NodeTable table(input.profile, NodeOptionsOf(input.config()));
  GraphWants wants;
  wants.visual = true;
  wants.call_tree = input.config().call_tree;
  const Trimmed trimmed = TrimmedGraph(input, table, wants);
  ValueFormat format = FormatOf(input);
  SelectOutputUnit(input, trimmed.graph, &format);
  return DotWriter(input, trimmed, format, out).Write();
}

}  // namespace heapgauge::pprof
