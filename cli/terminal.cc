#include "cli/terminal.h"

#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace heapgauge::cli {
namespace {

bool IsSet(const char* value) { return value != nullptr && *value != 0; }

}  // namespace

bool WantsColour(const std::string& option, bool is_terminal, const VariableLookup& variable) {
  if (option == "always") return true;
  if (option == "never" || IsSet(variable("NO_COLOR"))) return false;
  const char* force = variable("CLICOLOR_FORCE");
  if (IsSet(force) && std::strcmp(force, "0") != 0) return true;
  const char* term = variable("TERM");
  return is_terminal && IsSet(term) && std::strcmp(term, "dumb") != 0;
}

bool ShowsUtf8(const VariableLookup& variable) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* locale = variable(name);
    if (!IsSet(locale)) continue;
    return strcasestr(locale, "utf-8") != nullptr || strcasestr(locale, "utf8") != nullptr;
  }
  return true;
}

Terminal DescribeTerminal(int fd, const std::string& colour) {
  Terminal terminal;
  terminal.is_terminal = isatty(fd) == 1;
  const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
  terminal.look.colour = WantsColour(colour, terminal.is_terminal, variable);
  terminal.look.utf8 = ShowsUtf8(variable);
  size_t width = 120;
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width = size.ws_col;
    terminal.height = std::clamp<size_t>(size.ws_row, 2, 1000);
  } else if (const char* columns = std::getenv("COLUMNS"); IsSet(columns)) {
    const size_t asked = std::strtoul(columns, nullptr, 10);
    if (asked != 0) width = asked;
  }
  terminal.width = std::clamp<size_t>(width, 40, 400);
  return terminal;
}

}  // namespace heapgauge::cli
