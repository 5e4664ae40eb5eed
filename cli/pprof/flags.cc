#include "cli/pprof/flags.h"

#include <algorithm>
#include <map>
#include <vector>

#include "cli/pprof/flag_table.h"
#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"

namespace heapgauge::cli {

// The flags of jeprof and google-pprof, from words to perl::Options: fills in line->perl and what
// of line->source the perl tools have flags for. REQUIRES: the perl tools know all of the flags.
Status TakePerlFlags(const std::vector<GivenFlag>& flags, PprofCommandLine* line);

namespace {

template <typename T>
Result<T> NumberOf(const GivenFlag& flag) {
  if (const auto value = NumberIn<T>(flag.value)) return *value;
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

namespace {

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// What was said before any flag is looked at closely.
std::optional<Dialect> SaidDialect(const std::vector<std::string>& arguments,
                                   const std::string& called_as) {
  for (const std::string& word : arguments) {
    if (word == "--") break;
    if (word == "--jeprof" || word == "-jeprof") return Dialect::kJeprof;
    if (word == "--google-pprof" || word == "-google-pprof") return Dialect::kGooglePprof;
    if (word == "--perl" || word == "-perl") return Dialect::kPerl;
  }
  if (EndsWith(called_as, "google-pprof")) return Dialect::kGooglePprof;
  if (EndsWith(called_as, "jeprof")) return Dialect::kJeprof;
  return std::nullopt;
}

// By the flags that only one side has. Mixing the sides is an error, which says who knows what.
Result<Dialect> DialectOf(const std::vector<GivenFlag>& flags, std::optional<Dialect> said) {
  const GivenFlag* of_perl = nullptr;
  const GivenFlag* of_pprof = nullptr;
  const GivenFlag* of_jeprof = nullptr;
  const GivenFlag* of_google = nullptr;
  for (const GivenFlag& flag : flags) {
    if ((flag.owners & kPprofFlag) == 0) of_perl = &flag;
    if ((flag.owners & kPerlFlags) == 0) of_pprof = &flag;
    if ((flag.owners & (kPprofFlag | kPerlFlags)) == kJeprofFlag) of_jeprof = &flag;
    if ((flag.owners & (kPprofFlag | kPerlFlags)) == kGooglePprofFlag) of_google = &flag;
  }
  if (of_pprof != nullptr && (of_perl != nullptr || said)) {
    return Fail(ErrorCode::kInvalidArgument,
                "-" + of_pprof->name + " is pprof's and does not go with " +
                    (of_perl != nullptr ? "--" + of_perl->name + ", which only the perl tools have"
                                        : "the options of the perl tools"));
  }
  if (of_jeprof != nullptr && (of_google != nullptr || said == Dialect::kGooglePprof)) {
    return Fail(ErrorCode::kInvalidArgument,
                "--" + of_jeprof->name + " is jeprof's, google-pprof has no such option" +
                    (of_google != nullptr ? " (but --" + of_google->name + ")" : ""));
  }
  if (of_google != nullptr && said == Dialect::kJeprof) {
    return Fail(ErrorCode::kInvalidArgument,
                "--" + of_google->name + " is google-pprof's, jeprof has no such option");
  }
  if (of_jeprof != nullptr) return Dialect::kJeprof;
  if (of_google != nullptr) return Dialect::kGooglePprof;
  if (said) return *said;
  return of_perl != nullptr ? Dialect::kPerl : Dialect::kPprof;
}

bool IsElfFile(const std::string& path) {
  const auto file = File::OpenForReading(path);
  char magic[4] = {};
  return file && file->ReadAt(0, magic, sizeof magic) == sizeof magic &&
         std::string_view(magic, sizeof magic) ==
             "\x7f"
             "ELF";
}

// A build-id rather than the number of a process: those are shorter.
bool LooksLikeBuildId(const std::string& word) {
  return word.size() >= 8 &&
         word.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos &&
         !File::OpenForReading(word);
}

// The first of several words may be the program.
void TakeProgram(std::vector<std::string> words, PprofSourceOptions* source) {
  if (words.size() > 1) {
    if (IsElfFile(words.front())) {
      source->program = words.front();
      words.erase(words.begin());
    } else if (source->build_id.empty() && LooksLikeBuildId(words.front())) {
      source->build_id = words.front();
      words.erase(words.begin());
    }
  }
  source->sources = std::move(words);
}

Result<int> WholeNumber(const GivenFlag& flag) {
  if (const auto value = NumberIn<int>(flag.value)) return *value;
  return Fail(ErrorCode::kInvalidArgument,
              "-" + flag.name + " takes a whole number, not '" + Printable(flag.value) + "'");
}

// Flags that say where profiles come from. False: it is none of these.
Result<bool> TakeSourceFlag(const GivenFlag& flag, PprofSourceOptions* source) {
  const std::map<std::string, std::string*> texts = {
      {"symbolize", &source->symbolize}, {"buildid", &source->build_id},
      {"add_comment", &source->comment}, {"tools", &source->tools},
      {"tls_cert", &source->tls_cert},   {"tls_key", &source->tls_key},
      {"tls_ca", &source->tls_ca},
  };
  if (const auto it = texts.find(flag.name); it != texts.end()) {
    *it->second = flag.value;
  } else if (flag.name == "seconds") {
    HG_ASSIGN(source->seconds, WholeNumber(flag));
  } else if (flag.name == "timeout") {
    HG_ASSIGN(source->timeout, WholeNumber(flag));
  } else if (flag.name == "all_frames") {
    source->all_frames = flag.on();
  } else if (flag.name == "base" || flag.name == "diff_base") {
    if (flag.value.empty()) return true;
    const bool diff = flag.name == "diff_base";
    if (!source->bases.empty() && source->diff_base != diff) {
      return Fail(
          ErrorCode::kInvalidArgument,
          "-base and -diff_base cannot be given both: -base subtracts, -diff_base compares");
    }
    source->diff_base = diff;
    source->bases.push_back(flag.value);
  } else {
    return false;
  }
  return true;
}

// -inuse_space and the like. The first in this order wins, whatever their order was.
void TakeValueAliases(const std::map<std::string, bool>& switches, PprofCommandLine* line) {
  static constexpr std::pair<const char*, const char*> kAliases[] = {
      {"total_delay", "delay"},           {"mean_delay", "delay"},
      {"contentions", "contentions"},     {"inuse_space", "inuse_space"},
      {"inuse_objects", "inuse_objects"}, {"alloc_space", "alloc_space"},
      {"alloc_objects", "alloc_objects"},
  };
  std::string& index = line->settings.config.sample_index;
  for (const auto& [name, type] : kAliases) {
    const auto it = switches.find(name);
    if (it == switches.end() || !it->second) continue;
    if (index.empty()) {
      index = type;
    } else {
      line->warnings.push_back(std::string("Multiple value selections, ignoring -") + name);
    }
  }
  const auto mean = switches.find("mean_delay");
  if (mean != switches.end() && mean->second) line->settings.config.mean = true;
}

Status SetOrExplain(const pprof::Setting& setting, const std::string& value,
                    pprof::Settings* settings) {
  auto status = pprof::SetSetting(setting, value, settings);
  if (!status) status.error().message = "-" + status.error().message;
  return status;
}

Status TakeChoices(const std::map<std::string, bool>& switches, pprof::Settings* settings) {
  for (const pprof::Setting& setting : pprof::AllSettings()) {
    std::vector<std::string> chosen;
    for (const char* choice : setting.choices) {
      const auto it = switches.find(choice);
      if (it != switches.end() && it->second) chosen.emplace_back(choice);
    }
    if (chosen.size() > 1) {
      return Fail(ErrorCode::kInvalidArgument,
                  "-" + chosen[0] + " and -" + chosen[1] + " exclude each other; give one of them");
    }
    if (!chosen.empty()) HG_TRY(SetOrExplain(setting, chosen.front(), settings));
  }
  return {};
}

Status TakePprofFlags(const std::vector<GivenFlag>& flags, PprofCommandLine* line) {
  std::map<std::string, bool> switches;
  std::map<std::string, std::string> reports;  // with their patterns
  bool no_browser = false;
  for (const GivenFlag& flag : flags) {
    HG_ASSIGN(const bool taken, TakeSourceFlag(flag, &line->source));
    if (taken) continue;
    const pprof::ReportCommand* command = pprof::FindCommand(flag.name);
    const pprof::Setting* setting = pprof::FindSetting(flag.name);
    if (command != nullptr) {
      const bool wanted = command->takes_pattern ? !flag.value.empty() : flag.on();
      if (wanted) {
        reports[flag.name] = command->takes_pattern ? flag.value : "";
      } else {
        reports.erase(flag.name);
      }
    } else if (setting != nullptr && flag.name == setting->name) {
      HG_TRY(SetOrExplain(*setting, flag.value, &line->settings));
    } else if (flag.name == "http") {
      line->http = flag.value;
    } else if (flag.name == "no_browser") {
      no_browser = flag.on();
    } else {
      switches[flag.name] = flag.on();
    }
  }
  HG_TRY(TakeChoices(switches, &line->settings));
  if (reports.size() > 1) {
    return Fail(ErrorCode::kInvalidArgument, "one report at a time: -" + reports.begin()->first +
                                                 " or -" + std::next(reports.begin())->first);
  }
  if (!reports.empty()) {
    line->command = pprof::FindCommand(reports.begin()->first);
    line->pattern = reports.begin()->second;
  }
  if (line->command != nullptr && !line->http.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "-http serves all reports and does not go with -" + reports.begin()->first);
  }
  if (no_browser && line->http.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "-no_browser only goes with -http");
  }
  TakeValueAliases(switches, line);
  line->source.normalize = line->settings.config.normalize;
  if (line->source.normalize && line->source.bases.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "-normalize scales to a base profile; name one with -base or -diff_base");
  }
  return {};
}

}  // namespace

Result<PprofCommandLine> ParsePprofFlags(const std::vector<std::string>& arguments,
                                         const std::string& called_as) {
  PprofCommandLine line;
  const std::optional<Dialect> said = SaidDialect(arguments, called_as);
  HG_ASSIGN(SplitWords words, SplitFlags(arguments, said.has_value()));
  for (const GivenFlag& flag : words.flags) {
    if ((flag.name == "help" || flag.name == "h") && flag.on()) line.help = true;
    if (flag.name == "version" && flag.on()) line.version = true;
  }
  if (line.help || line.version) return line;
  const auto own = [](const GivenFlag& flag) { return (flag.owners & kOwnFlag) != 0; };
  words.flags.erase(std::remove_if(words.flags.begin(), words.flags.end(), own), words.flags.end());

  HG_ASSIGN(line.dialect, DialectOf(words.flags, said));
  if (line.dialect == Dialect::kPprof) {
    HG_TRY(TakePprofFlags(words.flags, &line));
  } else {
    HG_TRY(TakePerlFlags(words.flags, &line));
    if (line.dialect != Dialect::kPerl) {
      line.perl.tool =
          line.dialect == Dialect::kJeprof ? perl::Tool::kJeprof : perl::Tool::kGooglePprof;
    }
  }
  if (line.dialect != Dialect::kPprof && line.perl.report == perl::Report::kSymbols &&
      words.positional.size() == 1) {
    line.source.program = words.positional.front();
    line.perl.program = line.source.program;
    return line;
  }
  if (words.positional.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "no profile is named: give a file, a PID, or a URL (see heapgauge pprof --help)");
  }
  TakeProgram(std::move(words.positional), &line.source);
  line.perl.program = line.source.program;
  return line;
}

}  // namespace heapgauge::cli
