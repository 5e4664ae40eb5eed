#include "cli/cli.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

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

int FailWith(const std::string& message) {
  EndProgress();
  std::fprintf(stderr, "heapgauge: %s\n", Printable(message).c_str());
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
