// The one way in which the command line shows a leak check, for `leaks` and `run --leaks`.
#pragma once

#include "cli/leak_options.h"
#include "core/leaks/scan/check.h"
#include "core/leaks/scan/owner_path.h"

namespace heapgauge::cli {

// Names the stacks of the check, and writes it as the options say. Where suppressions are asked for
// they are all that is written, and the report goes to standard error, unless it goes there anyway
// or has to look like memcheck's: then they are in it. The exit code: that of the options if there
// are errors, else kDone; kBadInput if it cannot be written.
int ShowCheck(leaks::Check check, LeakSetup setup, const LeakOptions& options);

// Shows who points at what the options ask for in its place. `pointers` are those to the block at
// an address that was asked for. kDone, or kBadInput if there is nothing to show.
int ShowOwners(leaks::Check check, LeakSetup setup, const LeakOptions& options,
               const leaks::PointersTo& pointers);

}  // namespace heapgauge::cli
