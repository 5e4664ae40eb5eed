// What the commands share: how they are registered, how they fail, how they find their input.
//
// A command is a file cmd_<verb>.cc with one k<Verb>Command: how it is called, what describes its
// options and says what to run. Commands parse, call core and print; what they compute belongs into
// core. Exit codes: 0 done, 1 a check failed, 2 bad usage or unreadable input, with exactly one
// line on standard error.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.h"
#include "core/base/result.h"

namespace heapgauge::cli {

inline constexpr int kDone = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kBadInput = 2;

// Set by the command that was chosen; called after parsing.
using Action = std::function<int()>;

// What --help lists of a command, and what describes it to the parser if it is the one that is
// meant: its footer, its options, and the action.
struct CommandEntry {
  const char* name;
  const char* summary;
  void (*describe)(Command command, Action* action);
};
extern const CommandEntry kCallgrindCommand;
extern const CommandEntry kCollapsedCommand;
extern const CommandEntry kCtlCommand;
extern const CommandEntry kDhatCommand;
extern const CommandEntry kDiffCommand;
extern const CommandEntry kDoctorCommand;
extern const CommandEntry kDotCommand;
extern const CommandEntry kFlameCommand;
extern const CommandEntry kGperftoolsCommand;
extern const CommandEntry kHeaptrackCommand;
extern const CommandEntry kImportCommand;
extern const CommandEntry kJemallocCommand;
extern const CommandEntry kJsonCommand;
extern const CommandEntry kLeaksCommand;
extern const CommandEntry kLifetimesCommand;
extern const CommandEntry kListCommand;
extern const CommandEntry kMemoryCommand;
extern const CommandEntry kPdfCommand;
extern const CommandEntry kPeekCommand;
extern const CommandEntry kPngCommand;
extern const CommandEntry kPprofCommand;
extern const CommandEntry kProtoCommand;
extern const CommandEntry kPsCommand;
extern const CommandEntry kQueryCommand;
extern const CommandEntry kRawCommand;
extern const CommandEntry kReportCommand;
extern const CommandEntry kRunCommand;
extern const CommandEntry kSaveCommand;
extern const CommandEntry kServeCommand;
extern const CommandEntry kShellCommand;
extern const CommandEntry kSpeedscopeCommand;
extern const CommandEntry kStatsCommand;
extern const CommandEntry kSvgCommand;
extern const CommandEntry kTimelineCommand;
extern const CommandEntry kTopCommand;
extern const CommandEntry kTracesCommand;
extern const CommandEntry kTreeCommand;
extern const CommandEntry kUiCommand;

// Where the resident memory of a running program is, in one line; "" if that cannot be told, or
// not at once.
std::string MemoryLineOf(const std::string& gauge_path);

// Arguments after a bare "--", which belong to the command of `run` or `doctor`.
std::vector<std::string>& CommandAfterDashes();

// Prints "heapgauge: <message>" as one line on standard error; returns kBadInput.
int FailWith(const std::string& message);
inline int FailWith(const Error& error) { return FailWith(error.Text("--")); }

// Writes text to standard output; a closed pipe (| head) is not an error.
int PrintOut(const std::string& text);

// Columns of the terminal; 120 where there is none. cli/terminal.h knows more.
size_t TerminalWidth();

// The version, as --version prints it.
const char* Version();

// Parses a size option; fails with the option's name in the message.
Result<uint64_t> SizeOption(const std::string& option, const std::string& text);

// Words on standard error beside a program that runs or has run. Nothing comes of it if they cannot
// be written: the exit code is the program's, also where nobody reads, the disk is full or there is
// no standard error. fmt::print would throw.
template <typename... Values>
void TellUser(fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  std::fputs(text.c_str(), stderr);
}

// Whether a program of this name (argv[0]) is meant to be one of pprof's kind.
bool IsPprofName(const std::string& called_as);

// The commands pprof and shell, whose words are pprof's. command_line.h does not know flags of this
// kind: it only lists both in the help of the whole program. `arguments` without the name of the
// command.
int RunPprof(const std::vector<std::string>& arguments, const std::string& called_as);
int RunShellCommand(const std::vector<std::string>& arguments);

}  // namespace heapgauge::cli
