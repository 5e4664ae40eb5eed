// Makes a report and brings it to where it belongs: the terminal, a file, a picture, a viewer.
//
// Single-threaded.
#pragma once

#include <functional>
#include <string>

#include "cli/pprof/flags.h"
#include "core/base/result.h"
#include "core/base/sinks.h"
#include "core/model/profile.h"
#include "core/voices/pprof/words/settings.h"

namespace heapgauge::cli {

struct Destination {
  std::string output;     // file, "" none
  bool in_shell = false;  // files for programs never go to the terminal; viewers run beside us
  Say say;
};

// Writes the report `command` on the profile. In the shell on a terminal, a text longer than the
// screen is shown by $PAGER.
Status WriteCommand(Profile profile, const pprof::ReportCommand& command,
                    const std::string& pattern, const pprof::Settings& settings, bool in_shell,
                    const Say& say);

// What is behind it, for reports of other origin: `delivery`, `extension` and `viewer` are those of
// pprof::ReportCommand.
Status DeliverText(const std::string& text, pprof::Delivery delivery, const std::string& extension,
                   const std::string& viewer, const Destination& destination);

}  // namespace heapgauge::cli
