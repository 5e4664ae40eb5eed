#include "core/voices/pprof/words/shell_line.h"

#include <algorithm>
#include <optional>

#include "core/base/encode.h"
#include "core/base/text.h"
#include "core/voices/pprof/measure.h"

namespace heapgauge::pprof {
namespace {

constexpr std::string_view kRemark = "//:";

std::string Quoted(std::string_view text) {
  return '"' + WithBackslashes(Printable(text), "\"\\") + '"';
}

ShellStep MakeError(std::string text) {
  ShellStep step;
  step.kind = ShellStep::Kind::kError;
  step.text = std::move(text);
  return step;
}

ShellStep MakeMessage(std::string text) {
  ShellStep step;
  step.kind = ShellStep::Kind::kMessage;
  step.text = std::move(text);
  return step;
}

// Lines that stand for others.
std::vector<std::string> Expand(std::string_view line, const ShellProfile& profile) {
  line = Trim(line);
  if (line == ":") return {"focus=", "ignore=", "hide=", "tagfocus=", "tagignore="};
  for (const std::string& type : profile.sample_types) {
    const std::string choose = "sample_index=" + type;
    if (line == type) return {choose};
    if (line == "total_" + type) return {"mean=0", choose};
    if (line == "mean_" + type) return {"mean=1", choose};
  }
  return {std::string(line)};
}

// NAME=VALUE or NAME. Nothing if it is no option.
std::optional<ShellStep> Assign(std::string_view line, const ShellProfile& profile,
                                Settings* settings) {
  const size_t equals = line.find('=');
  const bool has_value = equals != std::string_view::npos;
  const std::string name(Trim(line.substr(0, equals)));
  std::string_view value;
  if (has_value) {
    value = line.substr(equals + 1);
    value = Trim(value.substr(0, value.rfind(kRemark)));
  }
  const Setting* setting = FindSetting(name);
  if (setting == nullptr) return std::nullopt;
  const bool is_choice = name != setting->name;
  const bool is_switch = is_choice || setting->type == SettingType::kSwitch;
  if (!has_value && !is_switch) {
    return MakeError("please specify a value, e.g. " + name + "=<val>");
  }
  if (is_choice) {
    const auto on = ParseSwitch(value);
    if (!on || !*on) return MakeError("unknown config field " + Quoted(name));
    const Status status = SetSetting(*setting, name, settings);
    return status ? ShellStep{} : MakeError(status.error().message);
  }
  std::string text(value);
  if (name == "sample_index") {
    const auto index = SampleIndexOf(profile, value);
    if (!index) return MakeError(index.error().message);
    text = profile.sample_types[*index];
  }
  const Status status = SetSetting(*setting, text, settings);
  return status ? ShellStep{} : MakeError(status.error().message);
}

void AddPattern(std::string_view word, std::string* pattern) {
  if (!pattern->empty() && !word.empty()) *pattern += '|';
  *pattern += word;
}

// The command that a word names; digits behind it become the first argument.
const ReportCommand* TakeCommand(std::vector<std::string>* words) {
  std::string& name = words->front();
  if (const ReportCommand* command = FindCommand(name)) return command;
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits == name.size()) return nullptr;
  const ReportCommand* command = FindCommand(std::string_view(name).substr(0, digits));
  if (command == nullptr) return nullptr;
  const std::string number = name.substr(digits);
  name.resize(digits);
  words->insert(words->begin() + 1, number);
  return command;
}

ShellStep Report(std::vector<std::string> words, const Settings& settings) {
  const std::string typed = words.front();
  const ReportCommand* command = TakeCommand(&words);
  if (command == nullptr) {
    const size_t digits = typed.find_last_not_of("0123456789") + 1;
    const std::string name = digits == 0 ? typed : typed.substr(0, digits);
    if (SettingHelp(name) != nullptr) {
      std::string value = words.size() > 1 ? words[1] : "<val>";
      if (name.size() < typed.size()) value = typed.substr(digits);
      return MakeError("did you mean: " + name + "=" + value);
    }
    return MakeError("unrecognized command: " + Quoted(name));
  }
  ShellStep step;
  step.kind = ShellStep::Kind::kReport;
  step.command = command;
  step.settings = settings;
  Config& config = step.settings.config;
  size_t next = 1;
  if (command->takes_pattern) {
    if (words.size() < 2) {
      return MakeError("command " + std::string(command->name) + " requires an argument");
    }
    step.pattern = words[next++];
  }
  std::string focus;
  std::string ignore;
  for (; next < words.size(); ++next) {
    const std::string& word = words[next];
    if (const auto number = GoNumber<int>(word)) {
      config.node_count = *number;
    } else if (word.front() == '>') {
      step.settings.output = word.substr(1);
      if (!step.settings.output.empty()) continue;
      if (++next >= words.size()) return MakeError("unexpected end of line after >");
      step.settings.output = words[next];
    } else if (word == "-cum" || word == "--cum") {
      config.sort_by_cum = true;
    } else if (word.front() == '-') {
      AddPattern(std::string_view(word).substr(1), &ignore);
    } else {
      AddPattern(word, &focus);
    }
  }
  const bool tags = command->kind == ReportKind::kTags;
  if (!focus.empty()) (tags ? config.tag_focus : config.focus) = focus;
  if (!ignore.empty()) (tags ? config.tag_ignore : config.ignore) = ignore;
  if (command->kind == ReportKind::kTop && config.node_count == -1) config.node_count = 10;
  return step;
}

std::string HelpRow(std::string_view name, std::string_view help) {
  std::string row = "    " + std::string(name);
  if (row.size() < 20) row.resize(20, ' ');
  row += ' ';
  row += help.substr(0, help.find('\n'));
  return row + "\n";
}

std::string HelpOverview() {
  std::string text = "  Commands:\n";
  for (const ReportCommand& command : AllCommands()) text += HelpRow(command.name, command.summary);
  text += HelpRow("o/options", "The options and their values");
  text += HelpRow("help NAME", "More about a command or an option");
  text += HelpRow("q/quit/exit/^D", "Leave");
  text += "\n  Options (NAME=VALUE; for switches NAME alone switches on):\n";
  for (const Setting& setting : AllSettings()) {
    if (setting.type != SettingType::kChoice) text += HelpRow(setting.name, setting.help);
  }
  for (const Setting& setting : AllSettings()) {
    if (setting.type != SettingType::kChoice) continue;
    text += "\n  " + std::string(setting.name) + ", one of:\n";
    for (const char* choice : setting.choices) text += HelpRow(choice, SettingHelp(choice));
  }
  return text +
         "\n  The name of a value (inuse_space) shows that value; total_NAME and mean_NAME too.\n"
         "  :   Clear focus, ignore, hide, tagfocus and tagignore\n";
}

}  // namespace

ShellProfile DescribeForShell(const Profile& profile) {
  ShellProfile described;
  for (const SampleType& type : profile.sample_types) described.sample_types.push_back(type.name);
  if (!profile.sample_types.empty()) described.default_type = profile.DefaultType();
  return described;
}

Result<size_t> SampleIndexOf(const ShellProfile& profile, std::string_view text) {
  const size_t count = profile.sample_types.size();
  if (text.empty() && count > 0) return profile.default_type;
  if (const auto number = GoNumber<int>(text)) {
    if (*number >= 0 && static_cast<size_t>(*number) < count) return static_cast<size_t>(*number);
    return Fail(ErrorCode::kInvalidArgument,
                "sample_index " + std::string(text) + " is outside the range [0.." +
                    std::to_string(static_cast<int64_t>(count) - 1) + "]");
  }
  // Older profiles call inuse_space just space.
  const std::string_view in_use = text.substr(0, 6) == "inuse_" ? text.substr(6) : text;
  for (size_t i = 0; i < count; ++i) {
    if (profile.sample_types[i] == text || profile.sample_types[i] == in_use) return i;
  }
  return Fail(ErrorCode::kInvalidArgument, "sample_index " + Quoted(text) + " must be one of: [" +
                                               Join(profile.sample_types, " ") + "]");
}

std::string OptionsText(const ShellProfile& profile, const Settings& settings) {
  std::vector<std::string> rows;
  for (const Setting& setting : AllSettings()) {
    const std::string_view name = setting.name;
    if (name == "source_path") continue;
    std::string value = GetSetting(settings, setting);
    std::string remark;
    if (setting.type == SettingType::kChoice) {
      std::vector<std::string> choices(setting.choices.begin(), setting.choices.end());
      std::sort(choices.begin(), choices.end());
      remark = "[" + Join(choices, " | ") + "]";
    } else if (name == "sample_index") {
      if (value.empty() && !profile.sample_types.empty()) value = profile.sample_types.back();
      remark = "[" + Join(profile.sample_types, " | ") + "]";
    } else if (name == "nodecount" && value == "-1") {
      remark = "default";
    } else if (value.empty()) {
      value = "\"\"";
    }
    if (!remark.empty()) remark = std::string(kRemark) + " " + remark;
    std::string row = "  " + std::string(name);
    if (row.size() < 27) row.resize(27, ' ');
    row += " = ";
    if (value.size() < 20) value.resize(20, ' ');
    rows.push_back(row + value + " " + remark);
  }
  std::sort(rows.begin(), rows.end());
  return Join(rows, "\n") + "\n";
}

ShellStep HelpStep(std::string_view name, const ShellProfile& profile) {
  if (name.empty()) return MakeMessage(HelpOverview());
  if (const ReportCommand* command = FindCommand(name)) {
    std::string text = std::string(command->summary) + "\n  Usage:\n";
    const std::string all = CommandUsage(*command);
    std::string_view usage = all;
    while (!usage.empty()) {
      text += "    " + std::string(TakeUntil(&usage, '\n')) + "\n";
    }
    return MakeMessage(text + "\n");
  }
  if (const char* help = SettingHelp(name)) {
    std::string text = help;
    if (name == "sample_index") {
      text += "Values of this profile: " + Join(profile.sample_types, ", ") + "\n";
    }
    return MakeMessage(text + "\n");
  }
  return MakeError("Unknown command: " + Printable(name));
}

std::vector<ShellStep> RunShellLine(std::string_view line, const ShellProfile& profile,
                                    Settings* settings) {
  std::vector<ShellStep> steps;
  for (const std::string& input : Expand(line, profile)) {
    if (const auto assigned = Assign(input, profile, settings)) {
      steps.push_back(*assigned);
      continue;
    }
    std::vector<std::string> words = WordsOf(input);
    if (words.empty()) continue;
    const std::string& first = words.front();
    if (first == "o" || first == "options") {
      steps.push_back(MakeMessage(OptionsText(profile, *settings)));
    } else if (first == "exit" || first == "quit" || first == "q") {
      steps.emplace_back();
      steps.back().kind = ShellStep::Kind::kQuit;
    } else if (first == "help") {
      words.erase(words.begin());
      steps.push_back(HelpStep(Join(words), profile));
    } else {
      steps.push_back(Report(std::move(words), *settings));
    }
  }
  return steps;
}

std::vector<std::string> Completions(std::string_view line,
                                     const std::vector<std::string>& functions) {
  std::vector<std::string> words = WordsOf(line);
  if (!line.empty() && kSpaces.find(line.back()) != std::string_view::npos) words.emplace_back();
  if (words.empty()) words.emplace_back();
  std::string& last = words.back();
  std::vector<std::string> matches;
  if (words.size() == 1 || (words.size() == 2 && words[0] == "help")) {
    last = LowerCase(last);
    const auto add = [&](std::string_view name) {
      if (name.substr(0, last.size()) == last) matches.emplace_back(name);
    };
    for (const ReportCommand& command : AllCommands()) add(command.name);
    for (const Setting& setting : AllSettings()) {
      add(setting.name);
      for (const char* choice : setting.choices) add(choice);
    }
    for (const char* word : {"help", "options", "quit", "exit"}) add(word);
  } else {
    std::vector<std::string> command = {words.front()};
    const ReportCommand* found = TakeCommand(&command);
    if (found == nullptr || found->kind == ReportKind::kTags) return {};
    const std::string dash = last.substr(0, 1) == "-" ? "-" : "";
    const std::string part = last.substr(dash.size());
    if (part.empty()) return {};
    for (const std::string& function : functions) {
      if (function.find(part) != std::string::npos) matches.push_back(dash + function);
    }
  }
  std::sort(matches.begin(), matches.end());
  matches.erase(std::unique(matches.begin(), matches.end()), matches.end());
  return matches;
}

}  // namespace heapgauge::pprof
