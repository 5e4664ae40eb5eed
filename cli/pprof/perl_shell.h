// One line of the shell that jeprof and google-pprof have: what it means. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/voices/perl/options.h"

namespace heapgauge::cli {

struct PerlStep {
  bool quit = false;
  std::vector<std::string> messages;
  std::optional<perl::Options> report;
  std::string output;  // file of the report, "" none
};

// `options` are those of the command line.
PerlStep ParsePerlLine(std::string_view line, const perl::Options& options);

// Commands that begin with the line.
std::vector<std::string> PerlCompletions(std::string_view line);

}  // namespace heapgauge::cli
