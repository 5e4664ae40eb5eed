// pprof and shell: the two commands whose words are pprof's. command_line.h, which does not know
// flags of this kind, lists them in the help of the whole program and no more.
#pragma once

#include <string>
#include <vector>

namespace heapgauge::cli {

// Whether a program of this name (argv[0]) is meant to be one of pprof's kind.
bool IsPprofName(const std::string& called_as);

// `arguments` without the name of the command.
int RunPprof(const std::vector<std::string>& arguments, const std::string& called_as);
int RunShellCommand(const std::vector<std::string>& arguments);

}  // namespace heapgauge::cli
