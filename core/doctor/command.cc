#include "core/doctor/command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/base/encode.h"
#include "core/base/text.h"

namespace heapgauge {
namespace {

struct Launcher {
  const char* name;
  const char* what;
  const char* remedy;
};

constexpr Launcher kLaunchers[] = {
    {"sudo", "sudo starts the program with a clean environment: LD_PRELOAD does not get through",
     "put heapgauge behind it: sudo heapgauge run -- PROGRAM"},
    {"doas", "doas starts the program with a clean environment: LD_PRELOAD does not get through",
     "put heapgauge behind it: doas heapgauge run -- PROGRAM"},
    {"su", "su is set-user-id and starts another user's shell: LD_PRELOAD does not get through",
     "put heapgauge behind it: su USER -c 'heapgauge run -- PROGRAM'"},
    {"systemctl", "systemctl only asks systemd, which starts the service with its own environment",
     "systemctl edit SERVICE, and add: [Service] Environment=LD_PRELOAD=/path/to/libheapgauge.so"},
    {"systemd-run", "systemd-run only asks systemd, which starts the program",
     "put heapgauge behind it: systemd-run heapgauge run -- PROGRAM"},
    {"docker", "the docker command only asks a daemon, which starts the program in a container",
     "docker run -v /path/to/libheapgauge.so:/libheapgauge.so -e LD_PRELOAD=/libheapgauge.so "
     "IMAGE"},
    {"podman", "podman starts the program in a container with another environment",
     "podman run -v /path/to/libheapgauge.so:/libheapgauge.so -e LD_PRELOAD=/libheapgauge.so "
     "IMAGE"},
    {"kubectl", "kubectl only asks the cluster, which starts the program elsewhere",
     "put LD_PRELOAD and the agent into the pod's container"},
    {"ssh", "ssh starts the program on another machine", "run heapgauge there"},
};

bool CleansEnvironment(const std::vector<std::string>& arguments) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "-" || word == "--ignore-environment") return true;
    if (word == "-u" && i + 1 < arguments.size() && arguments[i + 1] == "LD_PRELOAD") return true;
    if (word == "--unset=LD_PRELOAD" || word == "-uLD_PRELOAD") return true;
    if (word.size() > 1 && word[0] == '-' && word[1] != '-' &&
        word.find('i') != std::string::npos && word.find('u') == std::string::npos) {
      return true;
    }
    if (word.starts_with("LD_PRELOAD=")) return true;
    if (word[0] != '-' && word.find('=') == std::string::npos) break;
  }
  return false;
}

}  // namespace

std::string FindCommand(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), F_OK) == 0 ? name : "";
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/bin:/usr/bin";
  for (const std::string_view directory : PiecesOf(path, ':')) {
    std::string candidate(directory.empty() ? "." : directory);
    candidate += '/';
    candidate += name;
    struct stat st {};
    if (stat(candidate.c_str(), &st) == 0 && S_ISREG(st.st_mode) &&
        access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return "";
}

bool IsValgrind(const std::string& path) {
  const std::string_view name = BaseName(path);
  // The tools are called memcheck-amd64-linux and so on, in a directory of valgrind's.
  const bool is_tool = name.size() > 12 && name.substr(name.size() - 12) == "-amd64-linux";
  return name == "valgrind" || name == "valgrind.bin" ||
         (is_tool && path.find("valgrind") != std::string::npos);
}

std::string EmulatorName(const std::string& path) {
  const std::string_view name = BaseName(path);
  for (const std::string_view known : {"qemu-", "box64", "FEX", "rr", "pin", "drrun", "gvisor"}) {
    const bool is_prefix = known.back() == '-';
    if (is_prefix ? name.starts_with(known) : name == known) return std::string(name);
  }
  return "";
}

bool IsWatcher(const std::vector<std::string>& arguments) {
  return arguments.size() > 2 && BaseName(arguments[0]) == "heapgauge" && arguments[1] == "run";
}

std::string Quoted(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) {
    if (!text.empty()) text += ' ';
    text += ShellWord(argument);
  }
  return text;
}

Findings CheckCommand(const std::vector<std::string>& arguments) {
  Findings findings;
  if (arguments.empty()) return findings;
  const std::string name(BaseName(arguments[0]));
  const std::string evidence = "the command is " + Quoted(arguments);
  if (IsValgrind(arguments[0])) {
    findings.push_back(
        Found("valgrind", "valgrind replaces malloc by its own, so the agent sees no calls",
              evidence, "run the program without valgrind: heapgauge run -- PROGRAM"));
  } else if (const std::string emulator = EmulatorName(arguments[0]); !emulator.empty()) {
    findings.push_back(Found("emulator",
                             emulator +
                                 " runs the program on a processor of its own; the agent "
                                 "would be loaded into " +
                                 emulator + " itself",
                             evidence, "run the program on an x86-64 machine without it"));
  } else if (name == "env" && CleansEnvironment(arguments)) {
    findings.push_back(Found("launcher", "env drops LD_PRELOAD before it starts the program",
                             evidence,
                             "put heapgauge behind it: env ... heapgauge run -- PROGRAM"));
  }
  for (const Launcher& launcher : kLaunchers) {
    if (name == launcher.name) {
      findings.push_back(Found("launcher", launcher.what, evidence, launcher.remedy));
    }
  }
  return findings;
}

}  // namespace heapgauge
