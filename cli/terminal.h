// What the terminal behind a stream can show: its size, colour, characters beyond ASCII. A pipe or
// a file gets plain text.
//
// Colour: --color always and never decide; else NO_COLOR, CLICOLOR_FORCE, whether it is a terminal,
// and TERM=dumb, in this order. Characters: the locale's variables decide; if none is set, UTF-8 is
// taken for granted, as in containers. Functions of their arguments and the environment.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/report/styled_text.h"

namespace heapgauge::cli {

struct Terminal {
  bool is_terminal = false;
  size_t width = 120;  // columns
  size_t height = 24;  // lines
  TextLook look;

  Layout layout() const { return {width, look.utf8}; }
};

// `colour` is auto, always or never.
Terminal DescribeTerminal(int fd, const std::string& colour = "auto");

// The decisions alone. `variable` gives the value of an environment variable, or null.
using VariableLookup = std::function<const char*(const char*)>;
bool WantsColour(const std::string& option, bool is_terminal, const VariableLookup& variable);
bool ShowsUtf8(const VariableLookup& variable);

}  // namespace heapgauge::cli
