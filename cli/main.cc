// heapgauge: the command line. Lists the commands, parses, and runs the one that was chosen.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "cli/cli.h"
#include "core/base/text.h"

namespace heapgauge::cli {
namespace {

constexpr const char* kFooter = R"(
First steps:
  heapgauge run -- ./server --port 80     profile a program; nothing to rebuild
  heapgauge ps                            what is profiled on this host
  heapgauge top 4242                      where the memory of process 4242 is, now
  heapgauge top server.4242.hg            the same from its file, also after it was killed
  heapgauge tree 4242                     through which calls
  heapgauge diff old.hg 4242              what grew since
  heapgauge leaks 4242                    what is lost, and what only grows
  heapgauge flame -o heap.svg 4242        a picture for the browser
  heapgauge run --trace -- ./batch        every allocation and free; then timeline, stats, top --at peak
  heapgauge proto -o heap.pb.gz 4242      for go tool pprof
  heapgauge pprof -top heap.pb.gz         pprof's flags and output, on any profile
  heapgauge ui 4242                       look at it in a browser
  heapgauge report -o x.html server.hgt   the same as one file, for others
  heapgauge serve                         the same for curl and pprof's clients
  heapgauge doctor 4242                   why is there no data, or little?

heapgauge COMMAND --help tells more. Exit codes: 0 done, 1 a check failed, 2 bad usage or input.
)";

// In the order of --help.
constexpr const CommandEntry* kCommands[] = {
    &kRunCommand,        &kTopCommand,        &kTimelineCommand, &kTreeCommand,
    &kPeekCommand,       &kListCommand,       &kTracesCommand,   &kDiffCommand,
    &kLeaksCommand,      &kLifetimesCommand,  &kStatsCommand,    &kQueryCommand,
    &kFlameCommand,      &kDotCommand,        &kSvgCommand,      &kPngCommand,
    &kPdfCommand,        &kCollapsedCommand,  &kProtoCommand,    &kPprofCommand,
    &kShellCommand,      &kGperftoolsCommand, &kJemallocCommand, &kCallgrindCommand,
    &kSpeedscopeCommand, &kHeaptrackCommand,  &kDhatCommand,     &kImportCommand,
    &kJsonCommand,       &kRawCommand,        &kSaveCommand,     &kServeCommand,
    &kUiCommand,         &kReportCommand,     &kMemoryCommand,   &kPsCommand,
    &kCtlCommand,        &kDoctorCommand,
};

// The command that was named, if it is one of ours.
std::string NamedCommand(const std::vector<std::string>& names, int argc, char** argv) {
  if (argc < 2 || std::find(names.begin(), names.end(), argv[1]) == names.end()) return "";
  return argv[1];
}

int UnknownCommand(const std::vector<std::string>& names, const char* word) {
  const std::string near = Nearest(word, names);
  return FailWith("there is no command '" + std::string(word) + "'" +
                  (near.empty() ? "; heapgauge --help lists them"
                                : "; did you mean 'heapgauge " + near + "'?"));
}

// A file that is opened while a standard stream is closed would get its number, and what is meant
// for people would be written into it. Reading and writing fail as before, and a program that is
// started finds the stream closed.
void OccupyStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    const int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    static_cast<void>(open("/dev/null", mode | O_CLOEXEC));  // takes the lowest free number
  }
}

int Main(int argc, char** argv) {
  // These have flags of another kind.
  if (IsPprofName(argv[0])) return RunPprof({argv + 1, argv + argc}, argv[0]);
  if (argc > 1 && std::strcmp(argv[1], "pprof") == 0) {
    return RunPprof({argv + 2, argv + argc}, argv[0]);
  }
  if (argc > 1 && std::strcmp(argv[1], "shell") == 0) {
    return RunShellCommand({argv + 2, argv + argc});
  }

  // Everything after "--" belongs to the program that is run, whatever it looks like.
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") != 0) continue;
    CommandAfterDashes().assign(argv + i + 1, argv + argc);
    argc = i;
    break;
  }

  CommandLine line(
      "heapgauge tells where the memory of a native program is, what leaks, what changed.", kFooter,
      std::string("heapgauge ") + Version());
  Action action;
  for (const CommandEntry* entry : kCommands) {
    line.Add(entry->name, entry->summary,
             [entry, &action](Command command) { entry->describe(command, &action); });
  }

  const std::vector<std::string> names = line.CommandNames();
  const std::string command = NamedCommand(names, argc, argv);
  if (argc > 1 && argv[1][0] != '-' && command.empty()) return UnknownCommand(names, argv[1]);
  if (!CommandAfterDashes().empty() && command != "run" && command != "doctor") {
    return FailWith("'--' and a command after it only go with heapgauge run and doctor");
  }
  const auto parsed = line.Parse(argc, argv);
  if (!parsed) {
    return FailWith(parsed.error().message + " (see heapgauge " +
                    (command.empty() ? "" : command + " ") + "--help)");
  }
  if (!*parsed) return kDone;
  if (!action) {
    return FailWith(
        "a command is needed, for example: heapgauge run -- ./program "
        "(see heapgauge --help)");
  }
  return action();
}

}  // namespace
}  // namespace heapgauge::cli

int main(int argc, char** argv) {
  heapgauge::cli::OccupyStandardStreams();
  try {
    return heapgauge::cli::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    return heapgauge::cli::FailWith(
        "there is not enough memory for that: ask about less (of a trace: --from and --to, or a "
        "filter), or look at it on a larger machine");
  } catch (const std::exception& error) {  // our own mistake
    return heapgauge::cli::FailWith(std::string("internal error: ") + error.what());
  }
}
