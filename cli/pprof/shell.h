// The interactive shell with pprof's commands (core/voices/pprof/words/shell_line.h has the
// grammar).
//
// On a terminal lines are edited, completed and remembered. From a pipe it answers byte for byte as
// `go tool pprof` does, prompts included: people write scripts that way. Single-threaded.
#pragma once

#include "cli/pprof/source_options.h"
#include "core/model/profile.h"
#include "core/voices/pprof/words/settings.h"

namespace heapgauge::cli {

// Until the user leaves. Returns the exit code.
int RunShell(const Profile& profile, pprof::Settings settings, const Say& say);

}  // namespace heapgauge::cli
