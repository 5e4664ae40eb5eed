#include "cli/pprof/perl_flags.h"

#include <charconv>
#include <map>

#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

template <typename T>
Result<T> NumberOf(const GivenFlag& flag) {
  T value{};
  const char* end = flag.value.data() + flag.value.size();
  const auto [stop, error] = std::from_chars(flag.value.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  return Fail(ErrorCode::kInvalidArgument,
              "--" + flag.name + " takes a number, not '" + Printable(flag.value) + "'");
}

const std::map<std::string, perl::Report>& Reports() {
  static const std::map<std::string, perl::Report> reports = {
      {"text", perl::Report::kText}, {"symbols", perl::Report::kSymbols},
      {"raw", perl::Report::kRaw},   {"collapsed", perl::Report::kCollapsed},
      {"list", perl::Report::kList}, {"disasm", perl::Report::kDisasm},
      {"dot", perl::Report::kDot},   {"callgrind", perl::Report::kCallgrind},
      {"ps", perl::Report::kPs},     {"pdf", perl::Report::kPdf},
      {"svg", perl::Report::kSvg},   {"gif", perl::Report::kGif},
      {"gv", perl::Report::kGv},     {"evince", perl::Report::kEvince},
      {"web", perl::Report::kWeb},
  };
  return reports;
}

// True if the flag is one that just fills in a field.
Result<bool> TakeField(const GivenFlag& flag, PprofCommandLine* line) {
  perl::Options& options = line->perl;
  const std::map<std::string, bool*> switches = {
      {"cum", &options.cum},
      {"show_bytes", &options.show_bytes},
      {"drop_negative", &options.drop_negative},
      {"heapcheck", &options.heapcheck},
      {"stacks", &options.stacks},
      {"no_strip_temp", &options.no_strip_temp},
      {"show_addresses", &options.show_addresses},
      {"no-auto-signal-frm", &options.no_auto_signal_frames},
      {"debug-syms-by-id", &options.debug_syms_by_id},
      {"interactive", &line->perl_interactive},
  };
  const std::map<std::string, std::string*> texts = {
      {"focus", &options.focus},           {"ignore", &options.ignore},
      {"retain", &options.retain},         {"exclude", &options.exclude},
      {"lib_prefix", &options.lib_prefix}, {"add_lib", &options.add_lib},
      {"tools", &options.tools},           {"thread", &options.thread},
  };
  if (const auto it = switches.find(flag.name); it != switches.end()) {
    *it->second = flag.on();
  } else if (const auto text = texts.find(flag.name); text != texts.end()) {
    *text->second = flag.value;
  } else if (flag.name == "nodecount") {
    HG_ASSIGN(options.node_count, NumberOf<int64_t>(flag));
  } else if (flag.name == "maxdegree") {
    HG_ASSIGN(options.max_degree, NumberOf<int64_t>(flag));
  } else if (flag.name == "scale") {
    HG_ASSIGN(options.scale, NumberOf<int64_t>(flag));
  } else if (flag.name == "nodefraction") {
    HG_ASSIGN(options.node_fraction, NumberOf<double>(flag));
  } else if (flag.name == "edgefraction") {
    HG_ASSIGN(options.edge_fraction, NumberOf<double>(flag));
  } else if (flag.name == "seconds") {
    HG_ASSIGN(line->source.seconds, NumberOf<int>(flag));
  } else if (flag.name == "base") {
    line->source.bases.clear();
    if (!flag.value.empty()) line->source.bases.push_back(flag.value);
  } else {
    return flag.name == "debug";  // theirs is about their own workings
  }
  return true;
}

// The one name that is switched on, "" if none is. More than one is an error.
template <typename Choices>
Result<std::string> OneOf(const Choices& choices, const std::map<std::string, bool>& switches,
                          const char* what) {
  std::string chosen;
  for (const auto& [name, value] : choices) {
    const auto it = switches.find(name);
    if (it == switches.end() || !it->second) continue;
    if (!chosen.empty()) {
      return Fail(ErrorCode::kInvalidArgument,
                  std::string("only one ") + what + " at a time: --" + chosen + " or --" + name);
    }
    chosen = name;
  }
  return chosen;
}

}  // namespace

Status TakePerlFlags(const std::vector<GivenFlag>& flags, PprofCommandLine* line) {
  perl::Options& options = line->perl;
  std::map<std::string, bool> switches;
  for (const GivenFlag& flag : flags) {
    if (flag.name == "test") {
      return Fail(ErrorCode::kUnsupported, "--test is how jeprof tests itself; heapgauge has none");
    }
    HG_ASSIGN(const bool taken, TakeField(flag, line));
    if (taken) continue;
    if (flag.name == "list" || flag.name == "disasm") {
      switches[flag.name] = !flag.value.empty();
      options.pattern = flag.value;
    } else {
      switches[flag.name] = flag.on();
    }
  }

  static const std::map<std::string, perl::Grain> grains = {{"functions", perl::Grain::kFunctions},
                                                            {"lines", perl::Grain::kLines},
                                                            {"files", perl::Grain::kFiles},
                                                            {"addresses", perl::Grain::kAddresses}};
  static const std::map<std::string, perl::HeapValue> heap_values = {
      {"inuse_space", perl::HeapValue::kInuseSpace},
      {"inuse_objects", perl::HeapValue::kInuseObjects},
      {"alloc_space", perl::HeapValue::kAllocSpace},
      {"alloc_objects", perl::HeapValue::kAllocObjects}};
  static const std::map<std::string, perl::DelayValue> delay_values = {
      {"total_delay", perl::DelayValue::kTotalDelay},
      {"contentions", perl::DelayValue::kContentions},
      {"mean_delay", perl::DelayValue::kMeanDelay}};
  HG_ASSIGN(const std::string grain, OneOf(grains, switches, "granularity"));
  if (!grain.empty()) options.grain = grains.at(grain);
  HG_ASSIGN(const std::string heap, OneOf(heap_values, switches, "value"));
  if (!heap.empty()) options.heap_value = heap_values.at(heap);
  HG_ASSIGN(const std::string delay, OneOf(delay_values, switches, "value"));
  if (!delay.empty()) options.delay_value = delay_values.at(delay);
  HG_ASSIGN(const std::string report, OneOf(Reports(), switches, "output"));
  if (!report.empty() && line->perl_interactive) {
    return Fail(ErrorCode::kInvalidArgument,
                "only one output at a time: --" + report + " or --interactive");
  }
  line->perl_report_given = !report.empty();
  if (!report.empty()) options.report = Reports().at(report);
  return {};
}

}  // namespace heapgauge::cli
