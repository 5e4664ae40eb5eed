// heapgauge_handle(): the endpoint for a web framework to mount. Requests and answers are copied
// between the program's plain texts and ours.
//
// Threads: any number. A promised answer is waited for in the calling thread, by a few at a time;
// others are told to come back later.
#pragma once

#include "include/heapgauge/heapgauge.h"

namespace heapgauge::service {

int Handle(const heapgauge_request* request, heapgauge_response* response);
void FreeResponse(heapgauge_response* response);

}  // namespace heapgauge::service
