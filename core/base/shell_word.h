// Commands to paste: names of files in them have to reach the program as one word.
//
// Pure function.
#pragma once

#include <string>
#include <string_view>

namespace heapgauge {

// The text as one writes it in a shell to mean just that: as it is where nothing in it means
// something there, else in quotes. What cannot be shown is written as \ooo in the form $'...' of
// bash, ksh and zsh; so the result can be printed.
std::string ShellWord(std::string_view text);

}  // namespace heapgauge
