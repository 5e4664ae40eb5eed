#include "core/source/objdump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/base/file.h"
#include "core/base/numbers.h"
#include "core/base/text.h"
#include "core/os/process.h"

extern char** environ;

namespace heapgauge {
namespace {

// What a child is started with; freed with it.
class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Reads until the writer is done. False if it had to be stopped.
bool ReadAll(int fd, const ToolLimits& limits, std::string* output) {
  const uint64_t deadline = MonotonicNow() + limits.seconds * 1'000'000'000;
  char buffer[64 << 10];
  for (;;) {
    const uint64_t now = MonotonicNow();
    if (now >= deadline || output->size() > limits.bytes) return false;
    pollfd ready{fd, POLLIN, 0};
    const int wait_ms = static_cast<int>((deadline - now) / 1'000'000 + 1);
    if (poll(&ready, 1, wait_ms) < 0 && errno != EINTR) return false;
    if (ready.revents == 0) continue;
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) output->append(buffer, static_cast<size_t>(got));
  }
}

}  // namespace

Result<std::string> RunTool(const std::vector<std::string>& arguments, const ToolLimits& limits) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(SystemError("cannot make a pipe", errno));
  SpawnActions actions;
  posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(actions.get(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words[0], actions.get(), nullptr, words.data(), environ);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    const bool missing = error == ENOENT || error == ENOTDIR || error == EACCES;
    return Fail(missing ? ErrorCode::kNotFound : ErrorCode::kIo,
                "cannot run " + arguments[0] + ": " + SystemError("", error).message);
  }
  std::string output;
  const bool finished = ReadAll(ends[0], limits, &output);
  close(ends[0]);
  if (!finished) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!finished) {
    return Fail(ErrorCode::kIo, arguments[0] + " was stopped: it took longer than " +
                                    std::to_string(limits.seconds) +
                                    " seconds or printed more than " +
                                    std::to_string(limits.bytes >> 20) + " MB");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Fail(ErrorCode::kIo, arguments[0] + " failed");
  }
  return output;
}

namespace {

// "401136:	push %rbp"
bool ParseInstruction(std::string_view line, Instruction* out) {
  const auto address = TakeNumber<uint64_t>(&line, 16);
  if (!address || (!line.starts_with(": ") && !line.starts_with(":\t"))) return false;
  out->address = *address;
  out->text = Trim(line.substr(1));
  return true;
}

// LLVM's objdump puts "; " before lines about the source.
std::string_view WithoutMark(std::string_view line) {
  if (line.starts_with(';')) line.remove_prefix(1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

// "/src/a.c:12", also with " (discriminator 2)" behind it.
bool ParseFileLine(std::string_view line, std::string* file, int64_t* number) {
  line = WithoutMark(line);
  for (size_t colon = line.rfind(':'); colon != std::string_view::npos && colon > 0;
       colon = line.rfind(':', colon - 1)) {
    std::string_view behind = line.substr(colon + 1);
    const auto value = TakeNumber<int64_t>(&behind);
    if (!value || *value < 0) continue;
    *file = line.substr(0, colon);
    *number = *value;
    return true;
  }
  return false;
}

// "main():" or "0000000000401136 <main>:"
bool ParseFunction(std::string_view line, std::string* function) {
  const std::string_view plain = WithoutMark(line);
  if (plain.ends_with("():") && plain.size() > 3) {
    *function = plain.substr(0, plain.size() - 3);
    return true;
  }
  if (!line.ends_with(':')) return false;
  line.remove_suffix(1);
  const size_t name = line.find('<');
  if (name != std::string_view::npos && line.ends_with('>')) {
    line = line.substr(name + 1, line.size() - name - 2);
  }
  *function = line;
  return true;
}

std::string FindObjdump() {
  const char* tools = std::getenv("PPROF_TOOLS");
  std::string_view list = tools == nullptr ? "" : tools;
  while (!list.empty()) {
    const std::string entry(TakeUntil(&list, ','));
    const size_t colon = entry.find(':');
    if (colon != std::string::npos && entry.substr(0, colon) != "objdump") continue;
    std::string path = colon == std::string::npos ? entry : entry.substr(colon + 1);
    struct stat facts {};
    if (stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) path += "/objdump";
    if (stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode)) return path;
  }
  return "objdump";
}

}  // namespace

std::vector<Instruction> ParseObjdump(std::string_view output) {
  std::vector<Instruction> result;
  std::string function;
  std::string file;
  int64_t number = 0;
  while (!output.empty()) {
    const std::string_view line = Trim(TakeUntil(&output, '\n'));
    Instruction instruction;
    if (ParseInstruction(line, &instruction)) {
      instruction.function = function;
      instruction.file = file;
      instruction.line = number;
      result.push_back(std::move(instruction));
    } else if (!ParseFileLine(line, &file, &number) && !ParseFunction(line, &function)) {
      function.clear();
      file.clear();
      number = 0;
    }
  }
  return result;
}

Result<std::vector<Instruction>> Disassemble(const std::string& file, uint64_t start, uint64_t last,
                                             bool intel_syntax) {
  std::vector<std::string> arguments = {FindObjdump(),
                                        "--disassemble",
                                        "--demangle",
                                        "--no-show-raw-insn",
                                        "--line-numbers",
                                        fmt::format("--start-address={:#x}", start),
                                        fmt::format("--stop-address={:#x}", last + 1)};
  if (intel_syntax) arguments.insert(arguments.end(), {"-M", "intel"});
  // A name that begins with "-" must not become an option.
  arguments.push_back(file.starts_with('-') ? "./" + file : file);
  auto output = RunTool(arguments);
  if (!output) {
    if (output.error().code != ErrorCode::kNotFound) return tl::unexpected(output.error());
    return Fail(ErrorCode::kNotFound,
                "there is no objdump to disassemble with; install binutils or set PPROF_TOOLS");
  }
  return ParseObjdump(*output);
}

}  // namespace heapgauge
