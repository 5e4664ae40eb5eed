// The endpoint over this very process: one for the debug port and for whatever framework mounts
// it, so that all share snapshots, names and kept profiles.
//
// Made when it is first asked for, and anew in a forked child. Never destroyed. Threads: any.
#pragma once

#include "endpoint/endpoint.h"

namespace heapgauge::service {

endpoint::Endpoint& OwnEndpoint();

// In a forked child: what was the parent's is left alone.
void ForgetOwnEndpoint();

}  // namespace heapgauge::service
