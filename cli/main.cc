// heapgauge: the command line. Registers the commands, parses, and runs the one that was chosen.

#include <cstring>
#include <exception>

#include <CLI/CLI.hpp>

#include "cli/cli.h"
#include "cli/pprof/cmd_pprof.h"
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
  heapgauge flame -o heap.svg 4242        a picture for the browser
  heapgauge proto -o heap.pb.gz 4242      for go tool pprof
  heapgauge pprof -top heap.pb.gz         pprof's flags and output, on any profile
  heapgauge doctor 4242                   why is there no data, or little?

heapgauge COMMAND --help tells more. Exit codes: 0 done, 1 a check failed, 2 bad usage or input.
)";

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// The command that was named, if it is one of ours.
std::string NamedCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return "";
  for (const CLI::App* sub : app.get_subcommands(nullptr)) {
    if (sub->get_name() == argv[1]) return argv[1];
  }
  return "";
}

int UnknownCommand(const CLI::App& app, const char* word) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(nullptr)) names.push_back(sub->get_name());
  const std::string near = Nearest(word, names);
  return FailWith("there is no command '" + std::string(word) + "'" +
                  (near.empty() ? "; heapgauge --help lists them"
                                : "; did you mean 'heapgauge " + near + "'?"));
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

  CLI::App app{
      "heapgauge tells where the memory of a native program is, what leaks, what changed."};
  app.footer(kFooter);
  app.set_version_flag("--version", std::string("heapgauge ") + Version());
  app.require_subcommand(0, 1);
  Action action;
  AddRun(&app, &action);
  AddTop(&app, &action);
  AddTree(&app, &action);
  AddPeek(&app, &action);
  AddList(&app, &action);
  AddTraces(&app, &action);
  AddDiff(&app, &action);
  AddFlame(&app, &action);
  AddDot(&app, &action);
  AddCollapsed(&app, &action);
  AddProto(&app, &action);
  DescribePprof(&app);
  AddTextFormats(&app, &action);
  AddCallgrind(&app, &action);
  AddSpeedscope(&app, &action);
  AddJson(&app, &action);
  AddRaw(&app, &action);
  AddSave(&app, &action);
  AddMemory(&app, &action);
  AddPs(&app, &action);
  AddCtl(&app, &action);
  AddDoctor(&app, &action);

  const std::string command = NamedCommand(app, argc, argv);
  if (argc > 1 && argv[1][0] != '-' && command.empty()) return UnknownCommand(app, argv[1]);
  if (!CommandAfterDashes().empty() && command != "run" && command != "doctor") {
    return FailWith("'--' and a command after it only go with heapgauge run and doctor");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return FailWith(FirstLine(error.what()) + " (see heapgauge " +
                    (command.empty() ? "" : command + " ") + "--help)");
  }
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
  try {
    return heapgauge::cli::Main(argc, argv);
  } catch (const std::exception& error) {  // out of memory, or our own mistake
    return heapgauge::cli::FailWith(std::string("internal error: ") + error.what());
  }
}
