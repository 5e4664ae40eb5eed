#include "cli/cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "cli/progress_line.h"
#include "cli/terminal.h"
#include "core/base/file.h"
#include "core/base/text.h"

#ifndef HEAPGAUGE_VERSION
#error "HEAPGAUGE_VERSION comes from CMake"
#endif

namespace heapgauge::cli {

const char* Version() { return HEAPGAUGE_VERSION; }

std::vector<std::string>& CommandAfterDashes() {
  static std::vector<std::string> command;
  return command;
}

namespace {

constexpr size_t kLongestWord = 1024;
constexpr size_t kLongestMessage = 8192;

// Without its middle, if it is longer than `most`.
std::string WithoutMiddle(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  const size_t kept = most / 4;
  return fmt::format("{} ... {} bytes ... {}", text.substr(0, kept), text.size() - 2 * kept,
                     text.substr(text.size() - kept));
}

// Words of the command line are told back, however long they are: what is said about them is to
// be seen all the same.
std::string WithShortWords(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    const size_t space = std::min(message.find(' '), message.size());
    text += WithoutMiddle(message.substr(0, space), kLongestWord);
    message.remove_prefix(space);
    const size_t word = std::min(message.find_first_not_of(' '), message.size());
    text += message.substr(0, word);
    message.remove_prefix(word);
  }
  return WithoutMiddle(text, kLongestMessage);
}

}  // namespace

int FailWith(const std::string& message) {
  EndProgress();
  std::fprintf(stderr, "heapgauge: %s\n", Printable(WithShortWords(message)).c_str());
  return kBadInput;
}

int PrintOut(const std::string& text) {
  // Ignored here only: a program that `run` starts must find the signal as it was.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const Status status = WriteToDescriptor(STDOUT_FILENO, text, "standard output");
  const int error = errno;
  std::signal(SIGPIPE, before);
  if (!status && error != EPIPE) return FailWith(status.error());
  return kDone;
}

size_t TerminalWidth() { return DescribeTerminal(STDOUT_FILENO).width; }

Result<uint64_t> SizeOption(const std::string& option, const std::string& text) {
  auto size = ParseSize(text);
  if (!size) return Fail(ErrorCode::kInvalidArgument, option + ": " + size.error().message);
  return size;
}

}  // namespace heapgauge::cli
