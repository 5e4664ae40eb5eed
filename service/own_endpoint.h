// The endpoint over this very process, and the two ways to reach it: through a web framework that
// mounts it (Handle), and on a debug port of its own (OpenPort). One endpoint serves both, so that
// they share snapshots, names and kept profiles.
//
// Threads: any.
#pragma once

#include <string>

#include "core/base/result.h"
#include "endpoint/endpoint.h"
#include "include/heapgauge/heapgauge.h"

namespace heapgauge::service {

// Made when it is first asked for, and anew in a forked child. Never destroyed.
endpoint::Endpoint& OwnEndpoint();

// In a forked child: what was the parent's is left alone.
void ForgetOwnEndpoint();

// heapgauge_handle(): the endpoint for a web framework to mount. Requests and answers are copied
// between the program's plain texts and ours.
//
// A promised answer is waited for in the calling thread, by a few at a time; others are told to
// come back later.
int Handle(const heapgauge_request* request, heapgauge_response* response);
void FreeResponse(heapgauge_response* response);

// Opens the debug port: the endpoint behind the HTTP server, in one thread that takes no signals
// and whose memory is not profiled. "%p" in the address stands for the number of the process. The
// same address again is no error.
//
// The thread is started once and runs until the process ends, however that comes about: nothing it
// uses is ever destroyed. A forked child has no such thread; it closes the sockets, and may open a
// port of its own. Programs that are executed inherit nothing.
Status OpenPort(const std::string& address, const std::string& token_file, bool insecure);

// In a forked child: there is no port any more. Also drops the parent's endpoint.
void ForgetPort();

// The program ends: removes a unix socket.
void EndPort();

// As a client would write it; "" if there is none. Good until the port is opened in a forked child.
const char* PortUrl();

}  // namespace heapgauge::service
