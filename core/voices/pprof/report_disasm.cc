#include <fmt/format.h>

#include <algorithm>

#include "core/base/numbers.h"
#include "core/base/regex.h"
#include "core/source/object_code.h"
#include "core/source/source_files.h"
#include "core/voices/pprof/frame_filter.h"
#include "core/voices/pprof/graph.h"
#include "core/voices/pprof/legend.h"
#include "core/voices/pprof/report.h"

namespace heapgauge::pprof {
namespace {

// A function of a module, with the nodes of the graph that lie in it, by address.
struct Routine {
  CodeSymbol symbol;
  ModuleId module = kNone;
  std::vector<GraphId> nodes;
};

// An instruction with all that weighs on it.
struct Annotated {
  Instruction code;
  int64_t flat = 0;
  int64_t flat_div = 0;
  int64_t cum = 0;
  int64_t cum_div = 0;

  void Add(const GraphNode& node) {
    flat = WrapAdd(flat, node.flat);
    flat_div = WrapAdd(flat_div, node.flat_div);
    cum = WrapAdd(cum, node.cum);
    cum_div = WrapAdd(cum_div, node.cum_div);
  }
};

class Disassembly {
 public:
  Disassembly(const ReportInput& input, const Graph& graph)
      : input_(input), graph_(graph), code_(input.profile) {}

  // Of all modules; `*trouble` tells why one could not be read.
  std::vector<Routine> FindRoutines(const Regex& regex, std::string* trouble) {
    const uint64_t address = AddressOfPattern(regex.pattern()).value_or(0);
    std::vector<Routine> routines;
    for (ModuleId id = 0; id < input_.profile.modules.size(); ++id) {
      const Module& module = input_.profile.modules[id];
      const bool at_address = address != 0 && module.start <= address && address <= module.end;
      if (module.path.empty() || (!at_address && !HasMatch(module.path, regex))) continue;
      const ObjectCode::File& file = code_.Open(id);
      if (file.elf == nullptr) {
        *trouble = file.error;
        continue;
      }
      const uint64_t wanted = at_address ? address - file.bias : 0;
      for (CodeSymbol& symbol : ObjectCode::FindSymbols(file.elf.get(), regex, wanted)) {
        Routine routine{std::move(symbol), id, {}};
        routine.nodes = NodesIn(routine.symbol, module, file.bias);
        if (!routine.nodes.empty()) routines.push_back(std::move(routine));
      }
    }
    std::sort(routines.begin(), routines.end(), [](const Routine& a, const Routine& b) {
      if (a.symbol.names[0] != b.symbol.names[0]) return a.symbol.names[0] < b.symbol.names[0];
      return a.symbol.start < b.symbol.start;
    });
    return routines;
  }

  Result<std::vector<Annotated>> Annotate(const Routine& routine) {
    const ObjectCode::File& file = code_.Open(routine.module);
    HG_ASSIGN(std::vector<Instruction> code,
              Disassemble(file.elf->path(), routine.symbol.start, routine.symbol.last,
                          input_.config().intel_syntax));
    std::vector<Annotated> result;
    auto node = routine.nodes.begin();
    for (size_t i = 0; i < code.size(); ++i) {
      // What was sampled in the middle of an instruction belongs to it.
      const uint64_t next = i + 1 < code.size() ? code[i + 1].address : ~uint64_t{0};
      Annotated line{std::move(code[i])};
      if (!line.code.file.empty()) line.code.file = LastPart(line.code.file);
      for (; node != routine.nodes.end(); ++node) {
        if (graph_.info(*node).address - file.bias >= next) break;
        Add(*node, &line);
      }
      result.push_back(std::move(line));
    }
    return result;
  }

 private:
  bool HasMatch(const std::string& path, const Regex& regex) const {
    return std::any_of(graph_.order.begin(), graph_.order.end(), [&](GraphId id) {
      const NodeInfo& info = graph_.info(id);
      return info.object == path && regex.Matches(PrintableName(info));
    });
  }

  std::vector<GraphId> NodesIn(const CodeSymbol& symbol, const Module& module,
                               uint64_t bias) const {
    std::vector<GraphId> nodes;
    for (const GraphId id : graph_.order) {
      const NodeInfo& info = graph_.info(id);
      const uint64_t address = info.address - bias;
      if (info.object == module.path && address >= symbol.start && address <= symbol.last) {
        nodes.push_back(id);
      }
    }
    std::sort(nodes.begin(), nodes.end(), [this](GraphId a, GraphId b) {
      return graph_.info(a).address < graph_.info(b).address;
    });
    return nodes;
  }

  void Add(GraphId id, Annotated* line) const {
    const NodeInfo& info = graph_.info(id);
    line->Add(graph_.nodes[id]);
    if (line->code.file.empty() && !info.file.empty()) line->code.file = LastPart(info.file);
    if (line->code.line == 0) line->code.line = info.line;
    if (line->code.function.empty()) line->code.function = info.name;
  }

  const ReportInput& input_;
  const Graph& graph_;
  ObjectCode code_;
};

// Writes instructions with their source where that changes.
class CodeWriter {
 public:
  explicit CodeWriter(const ValueFormat& format) : format_(format) {}

  void Append(const Annotated& line, std::string* out) {
    const Instruction& code = line.code;
    std::string where;
    if (code.function != function_ || code.file != file_ || code.line != line_) {
      function_ = code.function;
      file_ = code.file;
      line_ = code.line;
      if (!code.function.empty()) where = code.function + " ";
      if (!code.file.empty()) {
        where += code.file;
        if (code.line != 0) where += fmt::format(":{}", code.line);
      }
    }
    // Long instructions have it on a line of their own.
    constexpr size_t kShort = 40;
    const bool beside = code.text.size() < kShort;
    if (!where.empty() && !beside) *out += std::string(74, ' ') + ";" + where + "\n";
    *out += fmt::format("{:>10} {:>10} {:>10x}: ", ValueOrDot(MeanOf(line.flat, line.flat_div)),
                        ValueOrDot(MeanOf(line.cum, line.cum_div)), code.address);
    *out += code.text;
    if (!where.empty() && beside) {
      const size_t length = CountCharacters(code.text);
      if (length < kShort) out->append(kShort - length, ' ');
      *out += ";" + where;
    }
    *out += '\n';
  }

 private:
  std::string ValueOrDot(int64_t value) const { return value == 0 ? "." : format_(value); }

  const ValueFormat& format_;
  std::string function_;
  std::string file_;
  int64_t line_ = 0;
};

}  // namespace

Status WriteDisasm(const ReportInput& input, TextSink* out) {
  HG_ASSIGN(const Regex regex, Regex::Compile(input.request.pattern));
  NodeOptions options = NodeOptionsOf(input.config());
  options.object_names = true;
  const NodeTable table(input.profile, options);
  GraphWants wants;
  wants.edges = false;
  const Trimmed trimmed = TrimmedGraph(input, table, wants);
  const Graph& graph = trimmed.graph;
  Disassembly disassembly(input, graph);
  std::string trouble;
  const std::vector<Routine> routines = disassembly.FindRoutines(regex, &trouble);
  if (routines.empty()) {
    std::string message = "no matches found for regexp: " + input.request.pattern;
    if (!trouble.empty()) message += " (" + trouble + ")";
    return Fail(ErrorCode::kNotFound, std::move(message));
  }

  const ValueFormat format = FormatOf(input);
  std::string text = "Total: " + format(input.total) + "\n";
  for (const Routine& routine : routines) {
    HG_ASSIGN(const auto lines, disassembly.Annotate(routine));
    Annotated sum;
    for (const GraphId id : routine.nodes) sum.Add(graph.nodes[id]);
    for (size_t i = 0; i < routine.symbol.names.size(); ++i) {
      text += i == 0 ? "ROUTINE" : "    AKA";
      text += " ======================== " + routine.symbol.names[i] + "\n";
    }
    text += fmt::format(
        "{:>10} {:>10} (flat, cum) {} of Total\n", format(MeanOf(sum.flat, sum.flat_div)),
        format(MeanOf(sum.cum, sum.cum_div)), Percentage(sum.cum, input.total_weight));
    CodeWriter writer(format);
    for (const Annotated& line : lines) writer.Append(line, &text);
    HG_TRY(out->Write(text));
    text.clear();
  }
  return {};
}

}  // namespace heapgauge::pprof
