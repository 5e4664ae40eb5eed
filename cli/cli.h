// What the commands share: how they are registered, how they fail, how they find their input.
//
// A command is a file cmd_<verb>.cc with one Add<Verb>() that describes its options and says
// what to run. Commands parse, call core and print; what they compute belongs into core. Exit
// codes: 0 done, 1 a check failed, 2 bad usage or unreadable input, with exactly one line on
// standard error.
#ifndef HEAPGAUGE_CLI_CLI_H_
#define HEAPGAUGE_CLI_CLI_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "core/base/result.h"

namespace heapgauge::cli {

inline constexpr int kDone = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kBadInput = 2;

// Set by the command that was chosen; called after parsing.
using Action = std::function<int()>;

void AddRun(Command app, Action* action);
void AddMemory(Command app, Action* action);
void AddPs(Command app, Action* action);
void AddDoctor(Command app, Action* action);
void AddCtl(Command app, Action* action);
void AddSave(Command app, Action* action);
void AddServe(Command app, Action* action);
void AddTimeline(Command app, Action* action);
void AddTop(Command app, Action* action);
void AddUi(Command app, Action* action);
void AddTree(Command app, Action* action);
void AddTraces(Command app, Action* action);
void AddCollapsed(Command app, Action* action);
void AddProto(Command app, Action* action);
void AddTextFormats(Command app, Action* action);
void AddCallgrind(Command app, Action* action);
void AddDiff(Command app, Action* action);
void AddDot(Command app, Action* action);  // svg, png and pdf too
void AddFlame(Command app, Action* action);
void AddJson(Command app, Action* action);
void AddLifetimes(Command app, Action* action);
void AddLeaks(Command app, Action* action);
void AddList(Command app, Action* action);
void AddPeek(Command app, Action* action);
void AddQuery(Command app, Action* action);
void AddRaw(Command app, Action* action);
void AddReportPage(Command app, Action* action);
void AddSpeedscope(Command app, Action* action);
void AddHeaptrack(Command app, Action* action);
void AddDhat(Command app, Action* action);
void AddImport(Command app, Action* action);
void AddStats(Command app, Action* action);

// Where the resident memory of a running program is, in one line; "" if that cannot be told, or
// not at once.
std::string MemoryLineOf(const std::string& gauge_path);

// Arguments after a bare "--", which belong to the command of `run` or `doctor`.
std::vector<std::string>& CommandAfterDashes();

// Prints "heapgauge: <message>" as one line on standard error; returns kBadInput.
int FailWith(const std::string& message);
inline int FailWith(const Error& error) { return FailWith(error.message); }

// Writes text to standard output; a closed pipe (| head) is not an error.
int PrintOut(const std::string& text);

// Columns of the terminal; 120 where there is none. cli/terminal.h knows more.
size_t TerminalWidth();

// The version, as --version prints it.
const char* Version();

// Parses a size option; fails with the option's name in the message.
Result<uint64_t> SizeOption(const std::string& option, const std::string& text);

}  // namespace heapgauge::cli

#endif  // HEAPGAUGE_CLI_CLI_H_
