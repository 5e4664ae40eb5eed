#include "cli/pprof/flags.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "cli/pprof/flag_table.h"
#include "cli/pprof/perl_flags.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace heapgauge::cli {
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
  int value = 0;
  const char* end = flag.value.data() + flag.value.size();
  const auto [stop, error] = std::from_chars(flag.value.data(), end, value);
  if (error == std::errc() && stop == end) return value;
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
