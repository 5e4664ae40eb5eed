// What the stubs do when there is something to do (slow_path.cc); they call it by itself. Other
// entry points begin it all: after a wake-up the stubs need not wait for the next call that would
// notice.
#pragma once

namespace heapgauge::agent {

// Begins to sample, in the mode that the settings and the allocator ask for. Any thread.
void StartCounting();

}  // namespace heapgauge::agent
