#include "cli/pprof/flag_table.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "core/voices/pprof/words/settings.h"

namespace heapgauge::cli {
namespace {

constexpr const char* kPprofValues[] = {"diff_base", "base",     "symbolize", "buildid",
                                        "timeout",   "seconds",  "tools",     "add_comment",
                                        "http",      "tls_cert", "tls_key",   "tls_ca"};
constexpr const char* kPprofSwitches[] = {"inuse_space",   "inuse_objects", "alloc_space",
                                          "alloc_objects", "total_delay",   "contentions",
                                          "mean_delay",    "no_browser",    "all_frames"};

constexpr const char* kPerlValues[] = {
    "base",         "seconds",      "add_lib",   "lib_prefix", "list",   "disasm", "nodecount",
    "nodefraction", "edgefraction", "maxdegree", "focus",      "ignore", "scale",  "tools"};
constexpr const char* kPerlSwitches[] = {
    "cum",         "functions",     "lines",       "addresses",     "files",       "text",
    "callgrind",   "symbols",       "gv",          "evince",        "web",         "dot",
    "ps",          "pdf",           "svg",         "gif",           "raw",         "collapsed",
    "interactive", "heapcheck",     "inuse_space", "inuse_objects", "alloc_space", "alloc_objects",
    "show_bytes",  "drop_negative", "total_delay", "contentions",   "mean_delay",  "debug",
    "test"};

std::vector<FlagKind> MakeFlags() {
  std::map<std::string, FlagKind> flags;
  const auto add = [&flags](const std::string& name, bool takes_value, unsigned owner) {
    FlagKind& flag = flags[name];
    flag.name = name;
    flag.takes_value = takes_value;
    flag.owners |= owner;
  };
  for (const pprof::Setting& setting : pprof::AllSettings()) {
    for (const char* choice : setting.choices) add(choice, false, kPprofFlag);
    if (setting.type == pprof::SettingType::kChoice) continue;
    add(setting.name, setting.type != pprof::SettingType::kSwitch, kPprofFlag);
  }
  for (const pprof::ReportCommand& command : pprof::AllCommands()) {
    add(command.name, command.takes_pattern, kPprofFlag);
  }
  for (const char* name : kPprofValues) add(name, true, kPprofFlag);
  for (const char* name : kPprofSwitches) add(name, false, kPprofFlag);
  for (const char* name : kPerlValues) add(name, true, kPerlFlags);
  for (const char* name : kPerlSwitches) add(name, false, kPerlFlags);
  for (const char* name : {"thread", "retain", "exclude"}) add(name, true, kJeprofFlag);
  add("debug-syms-by-id", false, kJeprofFlag);
  for (const char* name : {"stacks", "no_strip_temp", "show_addresses", "no-auto-signal-frm"}) {
    add(name, false, kGooglePprofFlag);
  }
  for (const char* name : {"perl", "jeprof", "google-pprof", "help", "version"}) {
    add(name, false, kOwnFlag | kPprofFlag | kPerlFlags);
  }
  add("h", false, kOwnFlag | kPprofFlag | kPerlFlags);
  std::vector<FlagKind> sorted;
  for (auto& [name, flag] : flags) sorted.push_back(std::move(flag));
  return sorted;
}

const FlagKind* FindExactly(std::string_view name) {
  for (const FlagKind& flag : AllFlags()) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

// "nocum" and "no-cum" are the perl tools' way to switch a flag off.
const FlagKind* FindNegated(std::string_view name) {
  if (name.substr(0, 2) != "no") return nullptr;
  name.remove_prefix(2);
  if (!name.empty() && name.front() == '-') name.remove_prefix(1);
  const FlagKind* flag = FindExactly(name);
  return flag != nullptr && !flag->takes_value && (flag->owners & kPerlFlags) != 0 ? flag : nullptr;
}

Result<const FlagKind*> FindBeginning(const std::string& name) {
  std::vector<const FlagKind*> matches;
  for (const FlagKind& flag : AllFlags()) {
    if ((flag.owners & kPerlFlags) != 0 && flag.name.rfind(name, 0) == 0) matches.push_back(&flag);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.empty()) return nullptr;
  std::string all;
  for (const FlagKind* flag : matches) all += (all.empty() ? "--" : ", --") + flag->name;
  return Fail(ErrorCode::kInvalidArgument, "--" + name + " may mean " + all);
}

Error UnknownFlag(const std::string& word, const std::string& name) {
  std::vector<std::string> names;
  for (const FlagKind& flag : AllFlags()) names.push_back(flag.name);
  const std::string near = Nearest(name, names);
  const std::string dashes = word.rfind("--", 0) == 0 ? "--" : "-";
  return {ErrorCode::kInvalidArgument,
          "there is no option '" + Printable(dashes + name) + "'" +
              (near.empty() ? " (see heapgauge pprof --help)"
                            : "; did you mean '" + dashes + near + "'?")};
}

Result<std::string> SwitchValue(const std::string& name, const std::string& text) {
  for (const char* word : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == word) return std::string("true");
  }
  for (const char* word : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == word) return std::string("false");
  }
  return Fail(ErrorCode::kInvalidArgument,
              "-" + name + " is a switch; '" + Printable(text) + "' is neither true nor false");
}

}  // namespace

const std::vector<FlagKind>& AllFlags() {
  static const std::vector<FlagKind> flags = MakeFlags();
  return flags;
}

Result<SplitWords> SplitFlags(const std::vector<std::string>& words, bool perl) {
  SplitWords split;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      split.positional.insert(split.positional.end(), words.begin() + static_cast<long>(i) + 1,
                              words.end());
      break;
    }
    if (word.size() < 2 || word[0] != '-') {  // "-" is standard input
      split.positional.push_back(word);
      continue;
    }
    std::string name = word.substr(word[1] == '-' ? 2 : 1);
    std::string value;
    const size_t equals = name.find('=');
    const bool has_value = equals != std::string::npos;
    if (has_value) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const FlagKind* flag = FindExactly(name);
    bool negated = false;
    if (flag == nullptr && perl) {
      name = LowerCase(name);
      flag = FindExactly(name);
    }
    if (flag == nullptr) {
      flag = FindNegated(name);
      negated = flag != nullptr;
    }
    if (flag == nullptr && perl && !name.empty()) {
      HG_ASSIGN(flag, FindBeginning(name));
    }
    if (flag == nullptr) return tl::unexpected<Error>(UnknownFlag(word, name));

    GivenFlag given{flag->name, value, flag->owners};
    if (negated) {
      given.value = "false";
      given.owners &= static_cast<unsigned>(kPerlFlags);
    } else if (!flag->takes_value) {
      if (has_value) {
        HG_ASSIGN(given.value, SwitchValue(name, value));
      } else {
        given.value = "true";
      }
    } else if (!has_value) {
      if (i + 1 >= words.size()) {
        return Fail(ErrorCode::kInvalidArgument, "-" + name + " needs a value: -" + name + "=...");
      }
      given.value = words[++i];
    }
    split.flags.push_back(std::move(given));
  }
  return split;
}

}  // namespace heapgauge::cli
