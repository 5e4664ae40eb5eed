#include "core/voices/pprof/words/settings.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <variant>

#include "core/base/numbers.h"
#include "core/base/text.h"

namespace heapgauge::pprof {
namespace {

constexpr ReportCommand kCommands[] = {
    {"callgrind", ReportKind::kCallgrind, Delivery::kFile, nullptr, "callgraph.out", nullptr, false,
     "The call graph for callgrind's tools", true},
    {"comments", ReportKind::kComments, Delivery::kText, nullptr, nullptr, nullptr, false,
     "Remarks that the profile carries", false},
    {"disasm", ReportKind::kDisasm, Delivery::kText, nullptr, nullptr, nullptr, true,
     "Assembly of matching functions, with the values of each instruction", true},
    {"dot", ReportKind::kDot, Delivery::kText, nullptr, nullptr, nullptr, false,
     "The call graph in Graphviz's language", true},
    {"eog", ReportKind::kDot, Delivery::kViewer, "svg", "svg", "eog", false,
     "Show the call graph with eog", true},
    {"evince", ReportKind::kDot, Delivery::kViewer, "pdf", "pdf", "evince", false,
     "Show the call graph with evince", true},
    {"gif", ReportKind::kDot, Delivery::kFile, "gif", "gif", nullptr, false,
     "The call graph as a GIF picture", true},
    {"gv", ReportKind::kDot, Delivery::kViewer, "ps", "ps", "gv --noantialias", false,
     "Show the call graph with gv", true},
    {"kcachegrind", ReportKind::kCallgrind, Delivery::kViewer, nullptr, "grind", "kcachegrind",
     false, "Show the call graph with KCachegrind", true},
    {"list", ReportKind::kList, Delivery::kText, nullptr, nullptr, nullptr, true,
     "Source of matching functions, with the values of each line", true},
    {"pdf", ReportKind::kDot, Delivery::kFile, "pdf", "pdf", nullptr, false,
     "The call graph as PDF", true},
    {"peek", ReportKind::kPeek, Delivery::kText, nullptr, nullptr, nullptr, true,
     "Callers and callees of matching functions", true},
    {"png", ReportKind::kDot, Delivery::kFile, "png", "png", nullptr, false,
     "The call graph as a PNG picture", true},
    {"proto", ReportKind::kProto, Delivery::kFile, nullptr, "pb.gz", nullptr, false,
     "The profile in pprof's own format", false},
    {"ps", ReportKind::kDot, Delivery::kFile, "ps", "ps", nullptr, false,
     "The call graph as PostScript", true},
    {"raw", ReportKind::kRaw, Delivery::kText, nullptr, nullptr, nullptr, false,
     "Everything that is in the profile, as text", false},
    {"svg", ReportKind::kDot, Delivery::kFile, "svg", "svg", nullptr, false,
     "The call graph as SVG", true},
    {"tags", ReportKind::kTags, Delivery::kText, nullptr, nullptr, nullptr, false,
     "Labels of the samples and what they add up to", true},
    {"text", ReportKind::kTop, Delivery::kText, nullptr, nullptr, nullptr, false, "The same as top",
     true},
    {"top", ReportKind::kTop, Delivery::kText, nullptr, nullptr, nullptr, false,
     "The largest entries, one in a line", true},
    {"topproto", ReportKind::kTopProto, Delivery::kFile, nullptr, "pb.gz", nullptr, false,
     "The largest entries as a profile", false},
    {"traces", ReportKind::kTraces, Delivery::kText, nullptr, nullptr, nullptr, false,
     "Every sample with its whole stack", false},
    {"tree", ReportKind::kTree, Delivery::kText, nullptr, nullptr, nullptr, false,
     "Entries with their callers and callees", true},
    {"web", ReportKind::kDot, Delivery::kViewer, "svg", "svg", "browser", false,
     "Show the call graph in a browser", true},
    {"weblist", ReportKind::kWeblist, Delivery::kViewer, nullptr, "html", "browser", true,
     "Show annotated source in a browser", true},
};

}  // namespace

std::span<const ReportCommand> AllCommands() { return kCommands; }

const ReportCommand* FindCommand(std::string_view name) {
  for (const ReportCommand& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

std::string CommandUsage(const ReportCommand& command) {
  const std::string name = command.name;
  if (!command.counts) return name + " [>FILE]\nThe report goes to FILE if it is named.";
  if (command.kind == ReportKind::kTags) {
    return name +
           " [LABEL]... [-LABEL]... [>FILE]\n"
           "Words select labels by key:value, words after '-' leave them out.";
  }
  std::string usage = name;
  if (command.takes_pattern) usage += " FUNCTION";
  if (!command.takes_pattern) usage += " [N]";
  usage += " [FOCUS]... [-IGNORE]...";
  const bool sorted = command.kind == ReportKind::kTop || command.kind == ReportKind::kTree;
  if (sorted) usage += " [-cum]";
  if (command.delivery != Delivery::kViewer) usage += " [>FILE]";
  if (command.takes_pattern) {
    usage += "\nFUNCTION is a regular expression";
    usage += command.kind == ReportKind::kPeek ? "." : ", or an address.";
  } else {
    usage += "\nShows N entries at most.";
  }
  usage += "\nOnly stacks that match a FOCUS word, and none that matches an IGNORE word.";
  if (sorted) usage += "\n-cum puts the largest cumulative values first.";
  if (command.delivery != Delivery::kViewer) usage += "\nThe report goes to FILE if it is named.";
  return usage;
}

namespace {

constexpr const char* kSortChoices[] = {"cum", "flat"};
constexpr const char* kShapeChoices[] = {"functions", "filefunctions", "files", "lines",
                                         "addresses"};

constexpr Setting kSettings[] = {
    {"output", SettingType::kText, {}, "Write the report to this file\n"},
    {"call_tree",
     SettingType::kSwitch,
     {},
     "Keep call paths apart in graphs\n"
     "A function that is reached in several ways becomes several nodes.\n"},
    {"relative_percentages",
     SettingType::kSwitch,
     {},
     "Percentages of what the filters leave\n"
     "Otherwise 100% is the whole profile, so that filtered and unfiltered reports compare.\n"},
    {"unit",
     SettingType::kText,
     {},
     "Unit of the values\n"
     "bytes, kilobytes, megabytes, ... for memory; seconds, milliseconds, ... for time.\n"
     "minimum: one unit for the whole report, small enough for its smallest value.\n"
     "auto: for each value the unit that suits it.\n"},
    {"compact_labels", SettingType::kSwitch, {}, "Short header above reports\n"},
    {"source_path", SettingType::kText, {}, "Where to look for source files\n"},
    {"trim_path",
     SettingType::kText,
     {},
     "Leading directories to take off source paths before they are looked for\n"},
    {"intel_syntax",
     SettingType::kSwitch,
     {},
     "Assembly in Intel's notation\nOnly disasm and weblist show any.\n"},
    {"mean",
     SettingType::kSwitch,
     {},
     "Mean for each object: values divided by the first value of the profile\n"},
    {"sample_index",
     SettingType::kText,
     {},
     "Which value of the profile to show\n"
     "By name (inuse_space), or by number from 0.\n"},
    {"divide_by",
     SettingType::kNumber,
     {},
     "Divide all values by this number\nSuch as the number of jobs that a profile adds up.\n"},
    {"normalize", SettingType::kSwitch, {}, "Scale the profile to the total of the base\n"},
    {"sort", SettingType::kChoice, kSortChoices, "Order of entries\n"},
    {"tagroot",
     SettingType::kText,
     {},
     "Show these labels as frames at the root of each stack\n"
     "Names of labels, separated by commas; the first becomes the outermost frame.\n"},
    {"tagleaf",
     SettingType::kText,
     {},
     "Show these labels as frames at the leaf of each stack\n"
     "Names of labels, separated by commas; the last becomes the innermost frame.\n"},
    {"drop_negative",
     SettingType::kSwitch,
     {},
     "Leave out negative differences\nFor comparisons: entries that shrank are not shown.\n"},
    {"nodecount",
     SettingType::kWhole,
     {},
     "Show at most so many entries\n"
     "In graphs the most telling ones are chosen, and dotted edges skip the others.\n"},
    {"nodefraction", SettingType::kNumber, {}, "Hide entries below this share of the total\n"},
    {"edgefraction", SettingType::kNumber, {}, "Hide edges below this share of the total\n"},
    {"trim",
     SettingType::kSwitch,
     {},
     "Leave small entries out\n"
     "Off: nodecount, nodefraction and edgefraction have no effect.\n"},
    {"focus",
     SettingType::kText,
     {},
     "Only stacks with a frame that matches\n"
     "Regular expressions are matched against function, file and object names.\n"},
    {"ignore",
     SettingType::kText,
     {},
     "No stacks with a frame that matches\n"
     "Regular expressions are matched against function, file and object names.\n"},
    {"prune_from",
     SettingType::kText,
     {},
     "Cut off the innermost frames that match, with all they called\n"},
    {"hide",
     SettingType::kText,
     {},
     "Take matching frames out of the stacks\n"
     "The stacks stay; a hidden frame's own value goes to its caller.\n"},
    {"show",
     SettingType::kText,
     {},
     "Only frames that match\nAll other frames are taken out of the stacks.\n"},
    {"show_from",
     SettingType::kText,
     {},
     "Cut off the callers of the outermost frame that matches\n"
     "Stacks without a match are left out.\n"},
    {"tagfocus",
     SettingType::kText,
     {},
     "Only samples with a label that matches\n"
     "Numbers by value or range (1kb, 1kb:10kb, bytes=32mb:), texts by regular expression\n"
     "(foo, key=foo.*bar).\n"},
    {"tagignore",
     SettingType::kText,
     {},
     "No samples with a label that matches\nThe notation is that of tagfocus.\n"},
    {"tagshow", SettingType::kText, {}, "Only labels whose names match\n"},
    {"taghide", SettingType::kText, {}, "No labels whose names match\n"},
    {"noinlines",
     SettingType::kSwitch,
     {},
     "Inlined calls count for the function that they were inlined into\n"},
    {"showcolumns", SettingType::kSwitch, {}, "Column numbers beside lines\n"},
    {"granularity", SettingType::kChoice, kShapeChoices, "What an entry is\n"},
};

constexpr std::pair<const char*, const char*> kChoiceHelp[] = {
    {"cum", "Largest cumulative values first\n"},
    {"flat", "Largest own values first\n"},
    {"functions", "By function\nWhichever file defines it.\n"},
    {"filefunctions", "By function and file\nEqual names in several files stay apart.\n"},
    {"files", "By source file\n"},
    {"lines", "By source line\n"},
    {"addresses", "By address\nNames are shown with their addresses.\n"},
};

using Pointer = std::variant<std::string*, bool*, int*, double*>;

// Where a setting that is no choice is kept.
Pointer PlaceOf(std::string_view name, Settings* s) {
  Config& c = s->config;
  const std::pair<std::string_view, Pointer> places[] = {
      {"output", &s->output},
      {"call_tree", &c.call_tree},
      {"relative_percentages", &c.relative_percentages},
      {"unit", &c.unit},
      {"compact_labels", &c.compact_labels},
      {"source_path", &c.source_path},
      {"trim_path", &c.trim_path},
      {"intel_syntax", &c.intel_syntax},
      {"mean", &c.mean},
      {"sample_index", &c.sample_index},
      {"divide_by", &c.divide_by},
      {"normalize", &c.normalize},
      {"tagroot", &c.tag_root},
      {"tagleaf", &c.tag_leaf},
      {"drop_negative", &c.drop_negative},
      {"nodecount", &c.node_count},
      {"nodefraction", &c.node_fraction},
      {"edgefraction", &c.edge_fraction},
      {"trim", &c.trim},
      {"focus", &c.focus},
      {"ignore", &c.ignore},
      {"prune_from", &c.prune_from},
      {"hide", &c.hide},
      {"show", &c.show},
      {"show_from", &c.show_from},
      {"tagfocus", &c.tag_focus},
      {"tagignore", &c.tag_ignore},
      {"tagshow", &c.tag_show},
      {"taghide", &c.tag_hide},
      {"noinlines", &c.no_inlines},
      {"showcolumns", &c.show_columns},
  };
  for (const auto& [key, place] : places) {
    if (key == name) return place;
  }
  return static_cast<std::string*>(nullptr);
}

template <typename T>
bool ParseNumber(std::string_view text, T* value) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  const std::optional<T> parsed = NumberIn<T>(text);
  if (parsed) *value = *parsed;
  return parsed.has_value();
}

Status SetChoice(const Setting& setting, std::string_view value, Settings* settings) {
  for (size_t i = 0; i < setting.choices.size(); ++i) {
    if (value != setting.choices[i]) continue;
    if (std::string_view(setting.name) == "sort") {
      settings->config.sort_by_cum = i == 0;
    } else {
      settings->config.granularity = static_cast<Shape>(i);
    }
    return {};
  }
  return Fail(ErrorCode::kInvalidArgument,
              "invalid \"" + std::string(setting.name) + "\" value \"" + Printable(value) + "\"");
}

}  // namespace

std::span<const Setting> AllSettings() { return kSettings; }

const Setting* FindSetting(std::string_view name) {
  for (const Setting& setting : kSettings) {
    if (name == setting.name) return &setting;
    for (const char* choice : setting.choices) {
      if (name == choice) return &setting;
    }
  }
  return nullptr;
}

const char* SettingHelp(std::string_view name) {
  for (const auto& [choice, help] : kChoiceHelp) {
    if (name == choice) return help;
  }
  const Setting* setting = FindSetting(name);
  return setting == nullptr ? nullptr : setting->help;
}

Result<bool> ParseSwitch(std::string_view text) {
  const std::string lower = LowerCase(text);
  for (const char* word : {"true", "t", "yes", "y", "1", ""}) {
    if (lower == word) return true;
  }
  for (const char* word : {"false", "f", "no", "n", "0"}) {
    if (lower == word) return false;
  }
  return Fail(ErrorCode::kInvalidArgument,
              "illegal value \"" + Printable(text) + "\" for bool variable");
}

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  const double size = std::fabs(value);
  // Large and small numbers with an exponent, as pprof shows them.
  const bool fixed = value == 0 || (size >= 1e-4 && size < 1e21);
  std::array<char, 64> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                    fixed ? std::chars_format::fixed : std::chars_format::scientific);
  return error == std::errc() ? std::string(buffer.data(), end) : "";
}

std::string GetSetting(const Settings& settings, const Setting& setting) {
  if (setting.type == SettingType::kChoice) {
    if (std::string_view(setting.name) == "sort") {
      return settings.config.sort_by_cum ? "cum" : "flat";
    }
    return kShapeChoices[static_cast<size_t>(settings.config.granularity)];
  }
  // The places are only read.
  const Pointer place = PlaceOf(setting.name, const_cast<Settings*>(&settings));
  if (const auto text = std::get_if<std::string*>(&place)) return *text == nullptr ? "" : **text;
  if (const auto on = std::get_if<bool*>(&place)) return **on ? "true" : "false";
  if (const auto whole = std::get_if<int*>(&place)) return std::to_string(**whole);
  return NumberText(*std::get<double*>(place));
}

Status SetSetting(const Setting& setting, std::string_view value, Settings* settings) {
  if (setting.type == SettingType::kChoice) return SetChoice(setting, value, settings);
  const Pointer place = PlaceOf(setting.name, settings);
  if (const auto text = std::get_if<std::string*>(&place)) {
    if (*text != nullptr) **text = value;
    return {};
  }
  if (const auto on = std::get_if<bool*>(&place)) {
    HG_ASSIGN(**on, ParseSwitch(value));
    return {};
  }
  bool understood = false;
  if (const auto whole = std::get_if<int*>(&place)) {
    understood = ParseNumber(value, *whole);
  } else {
    understood = ParseNumber(value, std::get<double*>(place));
  }
  if (understood) return {};
  return Fail(ErrorCode::kInvalidArgument,
              std::string(setting.name) + " takes a number, not \"" + Printable(value) + "\"");
}

}  // namespace heapgauge::pprof
