// The reports by pprof's names, and what becomes of their output: text for the terminal, a file for
// programs, a picture, a viewer. Flags (-top) and the shell (top) use the same table.
//
// Plain data.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/voices/pprof/config.h"

namespace heapgauge::pprof {

enum class Delivery {
  kText,    // to standard output
  kFile,    // to standard output unless that is a terminal: then to profileNNN.EXTENSION
  kViewer,  // to a temporary file that a program shows
};

struct ReportCommand {
  const char* name;
  ReportKind kind;
  Delivery delivery;
  const char* picture;    // draw the dot report in this format; null: it is what the kind writes
  const char* extension;  // of the file
  const char* viewer;     // program that shows it; "browser": the user's
  bool takes_pattern;
  const char* summary;
  bool counts;  // takes a number of entries, focus and ignore words, >file
};

std::span<const ReportCommand> AllCommands();
const ReportCommand* FindCommand(std::string_view name);

// How the command is typed in the shell, lines of text.
std::string CommandUsage(const ReportCommand& command);

}  // namespace heapgauge::pprof
