// The options of pprof's reports by their names, as text: what flags, the shell's assignments and
// its list of options have in common. There is one table of them, so that a new option is known
// everywhere at once.
//
// Some options are one of a few words (sort: cum or flat). Each of these words is a switch of its
// own on the command line and in the shell.
//
// Pure functions of their arguments.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/voices/pprof/config.h"

namespace heapgauge::pprof {

// The reports by pprof's names, and what becomes of their output: text for the terminal, a file for
// programs, a picture, a viewer. Flags (-top) and the shell (top) use the same table.
//
// Plain data.
enum class Delivery {
  kText,    // to standard output
  kFile,    // to standard output unless that is a terminal: then to profileNNN.EXTENSION
  kViewer,  // to a temporary file that a program shows
};

struct ReportCommand {
  const char* name;
  ReportKind kind;
  Delivery delivery;
  const char* picture;    // draw the dot report in this format; null: it is what the kind writes
  const char* extension;  // of the file
  const char* viewer;     // program that shows it; "browser": the user's
  bool takes_pattern;
  const char* summary;
  bool counts;  // takes a number of entries, focus and ignore words, >file
};

std::span<const ReportCommand> AllCommands();
const ReportCommand* FindCommand(std::string_view name);

// How the command is typed in the shell, lines of text.
std::string CommandUsage(const ReportCommand& command);

// A report's options and where it goes.
struct Settings {
  Config config;
  std::string output;  // "": standard output, or as the kind of report has it
};

enum class SettingType { kText, kSwitch, kWhole, kNumber, kChoice };

struct Setting {
  const char* name;
  SettingType type;
  std::span<const char* const> choices;  // of kChoice
  const char* help;                      // the first line is a summary
};

// In the order in which pprof has them.
std::span<const Setting> AllSettings();

// By its name, or by one of its choices; null if there is none.
const Setting* FindSetting(std::string_view name);

// Help for an option or for one choice of an option; null if there is none.
const char* SettingHelp(std::string_view name);

std::string GetSetting(const Settings& settings, const Setting& setting);
Status SetSetting(const Setting& setting, std::string_view value, Settings* settings);

// "yes" and the like; the empty word is true.
Result<bool> ParseSwitch(std::string_view text);

// The shortest text that reads back as the same number: "0.005", "1".
std::string NumberText(double value);

}  // namespace heapgauge::pprof
