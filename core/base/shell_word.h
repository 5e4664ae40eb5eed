// Commands to paste: names of files in them have to reach the program as one word.
//
// Pure function.
#ifndef HEAPGAUGE_CORE_BASE_SHELL_WORD_H_
#define HEAPGAUGE_CORE_BASE_SHELL_WORD_H_

#include <string>
#include <string_view>

namespace heapgauge {

// The text as one writes it in a shell to mean just that: as it is where nothing in it means
// something there, else in quotes. What cannot be shown is written as \ooo in the form $'...' of
// bash, ksh and zsh; so the result can be printed.
std::string ShellWord(std::string_view text);

}  // namespace heapgauge

#endif  // HEAPGAUGE_CORE_BASE_SHELL_WORD_H_
