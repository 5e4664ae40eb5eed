// The endpoint over this very process: one for the debug port and for whatever framework mounts
// it, so that all share snapshots, names and kept profiles.
//
// Made when it is first asked for, and anew in a forked child. Never destroyed. Threads: any.
#pragma once

#include "endpoint/endpoint.h"
#include "include/heapgauge/heapgauge.h"

namespace heapgauge::service {

endpoint::Endpoint& OwnEndpoint();

// In a forked child: what was the parent's is left alone.
void ForgetOwnEndpoint();

// heapgauge_handle(): the endpoint for a web framework to mount. Requests and answers are copied
// between the program's plain texts and ours.
//
// Threads: any number. A promised answer is waited for in the calling thread, by a few at a time;
// others are told to come back later.

int Handle(const heapgauge_request* request, heapgauge_response* response);
void FreeResponse(heapgauge_response* response);

}  // namespace heapgauge::service
