// The words of a command before it is run: which file they mean, and what the first of them is
// known to do to the program behind it (valgrind, emulators, sudo, containers).
//
// Runs nothing.
#pragma once

#include <string>
#include <vector>

#include "core/doctor/finding.h"

namespace heapgauge {

// The file that a command name means, by $PATH; "" if there is none.
std::string FindCommand(const std::string& name);

Findings CheckCommand(const std::vector<std::string>& arguments);

// "valgrind" or "qemu" and the like if an executable of this path runs other programs on a
// processor of its own; "" otherwise.
std::string EmulatorName(const std::string& path);
bool IsValgrind(const std::string& path);

// True for a `heapgauge run`, which starts the program and stays beside it.
bool IsWatcher(const std::vector<std::string>& arguments);

// The command as one would type it.
std::string Quoted(const std::vector<std::string>& arguments);

}  // namespace heapgauge
