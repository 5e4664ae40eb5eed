#include "cli/viewer.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/base/text.h"

extern char** environ;

namespace heapgauge::cli {
namespace {

// Removes the files that were shown when the program ends.
class ShownFiles {
 public:
  ~ShownFiles() {
    for (const std::string& path : paths_) unlink(path.c_str());
  }
  void Add(std::string path) { paths_.push_back(std::move(path)); }

 private:
  std::vector<std::string> paths_;
};

ShownFiles& Shown() {
  static ShownFiles files;
  return files;
}

std::vector<std::string> Candidates(const std::string& viewer) {
  if (viewer != "browser") return {viewer};
  std::vector<std::string> programs;
  const char* chosen = std::getenv("BROWSER");
  if (chosen != nullptr && *chosen != '\0') programs.emplace_back(chosen);
  for (const char* name : {"chrome", "google-chrome", "chromium", "firefox", "sensible-browser"}) {
    programs.emplace_back(name);
  }
  if (std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr) {
    programs.emplace_back("xdg-open");
  }
  return programs;
}

// The process, or 0 if there is no such program.
pid_t Start(const std::string& command, const std::string& path) {
  std::vector<std::string> words = WordsOf(command, " ");
  if (words.empty()) return 0;
  words.push_back(path);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  return posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ) == 0 ? pid
                                                                                            : 0;
}

}  // namespace

Status ShowFile(const std::string& path, const std::string& viewer, bool in_background) {
  for (const std::string& command : Candidates(viewer)) {
    const pid_t pid = Start(command, path);
    if (pid == 0) continue;
    Shown().Add(path);
    int status = 0;
    if (!in_background) {
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
      }
    }
    // A browser may only pass the name on to one that runs already, which needs a moment.
    sleep(1);
    if (!in_background && status != 0) {
      return Fail(ErrorCode::kUnavailable,
                  "'" + Printable(command) + "' could not show the report");
    }
    return {};
  }
  return Fail(ErrorCode::kUnavailable,
              viewer == "browser"
                  ? "no browser was found; set BROWSER. The report is " + Printable(path)
                  : "'" + viewer + "' is not installed. The report is " + Printable(path));
}

Status ShowUrl(const std::string& url) {
  for (const std::string& command : Candidates("browser")) {
    if (Start(command, url) != 0) return {};
  }
  return Fail(ErrorCode::kUnavailable, "no browser was found; set BROWSER, or open the address");
}

}  // namespace heapgauge::cli
