#include "core/voices/perl/objdump.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/number_in.h"
#include "core/base/regex.h"

namespace heapgauge::perl {
namespace {

constexpr size_t kMaxOutput = size_t{256} << 20;

Result<std::string> Output(std::vector<std::string> words) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return Fail(ErrorCode::kIo, fmt::format("pipe: {}", std::strerror(errno)));
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (error != 0) {
    close(pipe_ends[0]);
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: {} (install binutils, or name it with --tools)", words[0],
                            std::strerror(error)));
  }
  std::string text;
  char buffer[65536];
  while (text.size() < kMaxOutput) {
    const ssize_t got = read(pipe_ends[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  close(pipe_ends[0]);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace

std::string ToolPath(const std::string& name, const Options& options) {
  std::string found;
  size_t begin = 0;
  while (begin < options.tools.size()) {
    const size_t end = std::min(options.tools.find(',', begin), options.tools.size());
    const std::string item = options.tools.substr(begin, end - begin);
    begin = end + 1;
    if (item.starts_with(name + ":")) return item.substr(name.size() + 1);
    if (item.find(':') != std::string::npos || !found.empty()) continue;
    if (access((item + name).c_str(), X_OK) == 0) found = item + name;
  }
  return found.empty() ? name : found;
}

Result<std::vector<ListedInstruction>> Disassemble(const std::string& path, uint64_t start,
                                                   uint64_t end, const Options& options) {
  HG_ASSIGN(const std::string output,
            Output({ToolPath("objdump", options), "-C", "-d", "-l", "--no-show-raw-insn",
                    fmt::format("--start-address=0x{:x}", start),
                    fmt::format("--stop-address=0x{:x}", end), path}));
  static const Regex kPlace(R"(([^:\s]+):(\d+)\s*$)");
  static const Regex kCode(R"(^ +([0-9a-f]{1,16}):\s*(.*))");
  std::vector<ListedInstruction> instructions;
  std::string file;
  int64_t line_number = -1;
  std::string_view rest(output);
  while (!rest.empty()) {
    const size_t length = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    std::string_view name, number, text;
    if (kPlace.Matches(line, &name, &number)) {
      file = std::string(name);
      line_number = NumberIn<int64_t>(number).value_or(0);
    } else if (kCode.Matches(line, &number, &text)) {
      ListedInstruction instruction;
      instruction.address = *NumberIn<uint64_t>(number, 16);
      instruction.text = std::string(text);
      if (!instructions.empty()) instructions.back().limit = instruction.address;
      instruction.limit = end;
      instruction.file = file;
      instruction.line = line_number;
      instructions.push_back(std::move(instruction));
    }
  }
  return instructions;
}

}  // namespace heapgauge::perl
